"""Every text that a rater may read has one in each language, and no language has one that nobody reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markupsafe import Markup

import inpaintbench.annotate
from inpaintbench.annotate.app import routes, server
from inpaintbench.annotate.desk import attendance, cards, desk
from inpaintbench.annotate.languages import Said, Speech, best, places, shipped, words_of
from inpaintbench.annotate.questions import QUESTIONS
from inpaintbench.annotate.questions.base import SHOWN
from inpaintbench.pages import render

ROOT = Path(inpaintbench.annotate.__file__).parent
SAYING = {"Said": 0, "Refused": 1, "no": 1, "refusal": 1, "sentence_page": 1}
"""Callable -> which of its arguments raters read."""
NOT_WORDS = {"esc"}


def of_templates() -> Iterator[str]:
    """Whatever the pages of raters ask for."""
    asked: list[str] = []

    def record(text: str) -> str:
        asked.append("" if isinstance(text, Markup) else text)
        return text

    render("annotate/app/rater.html", _=record)
    for form in (True, False):
        render("annotate/app/sentence.html", title="", sentence="", form=form, tokens="", _=record)
    yield from asked


def of_code() -> Iterator[str]:
    """Literal sentences of the code that go to raters."""
    for path in (*ROOT.glob("app/*.py"), *ROOT.glob("desk/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name in SAYING and len(node.args) > SAYING[name]:
                said = node.args[SAYING[name]]
                if isinstance(said, ast.Constant):
                    yield said.value
    yield from attendance.FAREWELLS.values()
    for module in (desk, server):
        yield from (value for name, value in vars(module).items() if re.fullmatch(r"_[A-Z_]+", name) and isinstance(value, str))
    yield from (routes.UNAVAILABLE, "too many requests; wait a moment", "Every task has the answers that the study asked for.")


def of_questions() -> Iterator[str]:
    """Forms of the questions that come with the program, and the labels beside them."""
    yield from (str(reason["label"]) for reason in cards.SKIP_REASONS)
    yield from cards._LABELS.values()
    for leaf in QUESTIONS:
        kind = QUESTIONS.get(leaf)
        for question in (kind(), *([kind(both_bad=True)] if leaf == "pairwise" else [])):
            form = question.form(candidates=SHOWN[question.subject])
            yield from (form.title, form.instruction)
            for part in form.parts:
                yield from (part.prompt, *(option.label for option in part.options))


@pytest.fixture(scope="module")
def english() -> set[str]:
    return {text for text in (*of_templates(), *of_code(), *of_questions()) if re.search("[A-Za-z]{2}", text)} - NOT_WORDS


@pytest.mark.parametrize("language", shipped())
def test_each_language_has_every_text_with_its_values_and_no_other(language: str, english: set[str]) -> None:
    words = words_of(language)
    assert sorted(english - set(words)) == []
    assert sorted(set(words) - english) == []
    assert [text for text, own in words.items() if places(own) != places(text) or not own.strip()] == []
    same = {text for text, own in words.items() if own == text}
    assert same <= {"ltr", "en", "Name", "Original", "Test:", "{prompt} {words}. Change it"}, "left in English"
    marks = {text for text, own in words.items() if text[-1] in ".?…!" and own[-1] not in ".?…!。？！"}
    assert marks == set(), "a sentence ends"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"), ("en-US,en;q=0.9,de;q=0.8", "en"), ("fr, zh-CN;q=0.7, en;q=0.1", "zh"), ("", "en"),
        ("fr-CH, fr;q=0.9", "en"), ("DE", "de"), ("de;q=0", "en"), ("*", "en"), ("de;q=0.2, zh;q=0.9", "zh"),
        ("\u00e4;;q=,,", "en"),
        ("zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7", "en"), ("zh-Hant-HK", "en"), ("zh-HK, de;q=0.5", "de"),
        ("zh-TW, zh-CN;q=0.8", "zh"), ("zh-Hans-HK", "zh"), ("zh-Hans-CN", "zh"), ("deu", "en"), ("en;q=0.5, de;q=0.5", "en"),
    ],
)  # fmt: skip
def test_the_page_follows_the_browser(header: str, language: str) -> None:
    assert best(header, {"en", "de", "zh"}) == language


def test_traditional_chinese_is_a_language_of_its_own() -> None:
    found = [best(header, {"en", "zh", "zh-hant"}) for header in ("zh-TW,zh;q=0.9", "zh-Hant-HK", "zh-CN,zh;q=0.9")]
    assert found == ["zh-hant", "zh-hant", "zh"]


def test_what_goes_to_a_browser_is_said_whole_and_what_people_wrote_stays() -> None:
    speech = Speech("de", words_of("de"))
    why = Said("The order of the candidates is settled at {level}.", level="95%")
    reply = {
        "message": Said("Thank you, the study is complete. {why}", why=why), "rater": {"name": "Skip"},
        "queue": [{"label": "Input"}], "previous": {"reason_text": "Other"}, "answered": 3,
    }  # fmt: skip
    assert speech.all(reply) == {
        "message": "Vielen Dank, die Studie ist abgeschlossen. Die Reihenfolge der Ergebnisse steht fest (Sicherheit 95%).",
        "rater": {"name": "Skip"}, "queue": [{"label": "Eingabe"}], "previous": {"reason_text": "Other"}, "answered": 3,
    }  # fmt: skip
    assert Speech().all(reply) == reply
    assert reply["message"] == "Thank you, the study is complete. The order of the candidates is settled at 95%."
