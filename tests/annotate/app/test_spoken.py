"""Raters read the study in the language of their browser, every page whole. INPAINTBENCH_SCREENSHOTS keeps pictures."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from annotated_server import Served, answer_to, served
from browser_checks import serious_findings
from crowds import CODES, CONSENT, write_crowd_study

from inpaintbench.annotate import study as studies
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.languages import words_of
from inpaintbench.annotate.study import Spoken, Study
from inpaintbench.errors import InputError

WHY = "Nothing is wrong with it."
SPOKEN = {
    "de": Spoken(
        title="Eine Studie", welcome="Sehen Sie kurze Filme an.", words={WHY: "An ihm ist nichts falsch."},
        consent_text="Wir sind ein Labor.\n\nWir speichern Ihre Antworten, deren Zeiten und die Größe Ihrer Bilder.",
    ),
    "zh": Spoken(
        title="一项研究", welcome="请观看短片。", words={WHY: "它没有任何问题。"},
        consent_text="我们是一个实验室。\n\n我们会保存您的回答、作答时间和画面大小。",
    ),
}  # fmt: skip
PAGE = """() => [...document.querySelectorAll("#rater-page, template")].flatMap((root) => {
  const found = [], walk = document.createTreeWalker(root.content ?? root);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (node.nodeType === Node.TEXT_NODE) found.push(node.textContent.trim());
    else for (const name of ["aria-label", "data-tip", "title", "placeholder"]) found.push(node.getAttribute?.(name) ?? "");
  }
  return found;
})"""
"""Everything that the page says or may say."""
APART = """() => {
  const shown = [...document.querySelectorAll("#rater-page :is(.top > *, .top .count, .side, .option, .control)")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length && one.textContent.trim());
  const boxes = shown.map((one) => [one, one.getBoundingClientRect()]);
  const out = boxes.filter(([, box]) => box.left < -0.5 || box.right > innerWidth + 0.5).map(([one]) => one.className);
  return out.concat(boxes.flatMap(([one, box], place) => boxes.slice(place + 1)
    .filter(([other, its]) => !one.contains(other) && box.left < its.right - 0.5 && its.left < box.right - 0.5
      && box.top < its.bottom - 0.5 && its.top < box.bottom - 0.5)
    .map(([other]) => `${one.className} over ${other.className}`)));
}"""
"""What of the page lies over something else, or sticks out."""


@dataclass
class Hall:
    study: Study
    folder: Path
    server: Served

    def link(self, person: str) -> str:
        return f"{self.server.address}/enter?PROLIFIC_PID={person}&STUDY_ID=study1&SESSION_ID=s{person}"


def offering(folder: Path, languages: dict[str, Spoken], **crowd: Any) -> Study:
    """A study whose texts are there in these languages too."""
    made = write_crowd_study(folder, "https://platform.test", **crowd)
    made = replace(made, file=made.file.model_copy(update={"languages": languages}))
    studies.save(made, folder)
    return made


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("hall") / "study"
    study = offering(folder, SPOKEN, places=40)
    with served(folder) as server:
        yield Hall(study, folder, server)


def test_whoever_asks_is_answered_in_their_language_and_the_answer_says_which(hall: Hall) -> None:
    def ask(method: str, path: str, language: str, **more: Any) -> Any:
        return hall.server.ask(method, path, Accept_Language=language, **more)

    token = ask("GET", hall.link("d1").removeprefix(hall.server.address), "de").headers["set-cookie"].split("=")[1].split(";")[0]
    for language, lang, words in (
        ("de-AT,en;q=0.5", "de", "Ich stimme zu"),
        ("zh-CN", "zh-Hans", "我同意"),
        ("fr", "en", "I agree"),
    ):
        page = ask("GET", "/rater.html", language, token=token).body.decode()
        assert f'lang="{lang}" dir="ltr"' in page
        assert words in page

    def post(path: str, language: str, **fields: Any) -> Any:
        return hall.server.post(path, fields, token=token, Accept_Language=language)

    consent = {language: post("/api/work", language).json for language in ("de", "zh", "en", "fr")}
    assert [consent[one]["crowd"]["text"] for one in consent] == [
        SPOKEN["de"].consent_text,
        SPOKEN["zh"].consent_text,
        CONSENT,
        CONSENT,
    ]
    assert [consent[one]["study"]["title"] for one in consent] == ["Eine Studie", "一项研究", "A study", "A study"]
    card = post("/api/steps", "de", step="consent").json["queue"][0]
    form = card["question"]["form"]
    assert (form["title"], [one["label"] for one in form["parts"][0]["options"]]) == (
        "Behalten oder ablehnen",
        ["Behalten", "Ablehnen"],
    )
    assert [one["value"] for one in form["parts"][0]["options"]] == ["keep", "reject"]
    assert [one["label"] for one in card["players"]] == ["Film"]
    facts = {"width": 300, "scale": 1.0, "pixel_ratio": 1.0, "zoom": 1.0, "full_screen": False, "portrait": False}
    facts |= {"hidden_seconds": 0.0, "frame_source": "callback", "language": "fr"}
    said = post("/api/answers", "de", **answer_to(card, seen=facts)).json
    assert said["feedback"] == {"right": True, "answers": ["Behalten"], "why": "An ihm ist nichts falsch."}
    with Journal(hall.folder / "journal.sqlite") as journal:
        bodies = [(event.kind, event.body) for event in journal.events(hall.study.study_id)]
    assert [body["seen"]["language"] for kind, body in bodies if kind == "answer"] == ["de"]
    read = hashlib.sha256(SPOKEN["de"].consent_text.encode()).hexdigest()
    assert [(body["text_sha256"], body["language"]) for kind, body in bodies if kind == "consent"] == [(read, "de")]
    again = post("/api/answers", "de", **answer_to(card))
    assert (again.status, again.json["error"]) == (409, words_of("de")["This task was answered before; please reload the page."])
    assert post("/api/answers", "de", lease_id=3).json["error"].startswith("Das hat nicht funktioniert (400)")
    assert post("/api/answers", "en", lease_id=3).json["error"].startswith("submission_id")


def test_while_a_text_has_no_translation_the_whole_page_is_in_english(tmp_path: Path) -> None:
    study = offering(tmp_path / "study", SPOKEN, training=0, test=0)
    with Journal(tmp_path / "study" / "journal.sqlite") as journal:
        journal.register(study.study_id, title=study.file.title)
        people = People(journal)
        secret = people.invite(study.study_id, people.add(study.study_id, "boss", role="admin").rater_id)
    with served(tmp_path / "study") as server:
        boss = server.enter(secret)

        def save(welcome: str) -> None:
            form = urlencode({"what": "welcome", "seen": 9, "value": welcome}).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{server.port}"}
            assert server.ask("POST", "/admin/edit", token=boss, body=form, **headers).status == 200

        german = (study.file.welcome, "de", "Eine Studie")
        for welcome, lang, words in (german, ("Look at clips.", "en", "A study"), german):
            save(welcome)
            login = server.ask("GET", "/login", Accept_Language="de").body.decode()
            assert f'<html lang="{lang}"' in login
            assert f"<h1>{words}</h1>" in login


def test_a_page_at_the_door_is_in_one_language_or_the_other(hall: Hall) -> None:
    page = hall.server.ask("GET", "/join/nobody", Accept_Language="de").body.decode()
    assert '<html lang="de"' in page
    assert "<h1>Leider nicht möglich (403)</h1>" in page
    assert "Diese Einladung ist nicht gültig" in page
    login = hall.server.ask("GET", "/login", Accept_Language="zh").body.decode()
    assert all(words in login for words in ('<html lang="zh-Hans"', "<h1>一项研究</h1>", "密码", "登录"))
    malformed = hall.server.ask("GET", "/enter?STUDY_ID=x", Accept_Language="de").body.decode()
    assert '<html lang="en"' in malformed
    assert "Sorry (400)" in malformed
    assert "PROLIFIC_PID is missing" in malformed


def test_a_language_with_a_gap_is_not_offered(tmp_path: Path) -> None:
    study = offering(tmp_path / "study", {**SPOKEN, "de": SPOKEN["de"].model_copy(update={"welcome": " "})})
    assert list(study.spoken) == ["en", "zh"]
    assert list(studies.missing_words(study)) == [
        "languages.de has nothing for 'Look at short films.', and nobody is shown pages half in English; give all texts"
    ]
    with served(tmp_path / "study") as server:
        assert server.warnings == list(studies.missing_words(study))
        assert "Log in" in server.ask("GET", "/login", Accept_Language="de").body.decode()
    other = offering(tmp_path / "other", {"fr": SPOKEN["de"]})
    (fault,) = studies.missing_words(other)
    assert fault.startswith("languages.fr: the page has no words for 'en'; it comes in de, zh; name a file")


@pytest.mark.parametrize("own", ["je {each} s, noch {about} {", "{} {each} {about}", "{each!r} {about}", "je {each} s"])
def test_a_text_that_values_cannot_be_put_into_is_not_offered(own: str, tmp_path: Path) -> None:
    words = SPOKEN["de"].words | {"{each} s each, about {about} left": own}
    study = offering(tmp_path / "study", {"de": SPOKEN["de"].model_copy(update={"words": words})})
    assert list(study.spoken) == ["en"]
    assert list(studies.missing_words(study)) == [
        "languages.de: the text for '{each} s each, about {about} left' needs the same values in braces, and no other brace"
    ]


def test_braces_of_the_studys_own_texts_are_its_own(tmp_path: Path) -> None:
    text = "Der Platz { bleibt {leer}."
    study = offering(tmp_path / "study", {"de": SPOKEN["de"].model_copy(update={"welcome": text})})
    assert study.spoken["de"]("Look at short films.") == text


def test_prompts_are_said_too(tmp_path: Path) -> None:
    study = offering(tmp_path / "study", {"de": SPOKEN["de"]})
    asked = replace(study, tasks=(replace(study.tasks[0], prompt="Make it snow."), *study.tasks[1:]))
    assert list(asked.spoken) == ["en"]
    assert next(studies.missing_words(asked)).startswith("languages.de has nothing for 'Make it snow.'")
    words = SPOKEN["de"].words | {"Make it snow.": "Lass es schneien."}
    file = asked.file.model_copy(update={"languages": {"de": SPOKEN["de"].model_copy(update={"words": words})}})
    assert replace(asked, file=file).spoken["de"]("Make it snow.") == "Lass es schneien."


@pytest.mark.parametrize("names", [["DE", "de"], ["de_DE"], ["de "], [""], ["d" * 36]])
def test_a_language_has_one_name_that_browsers_send(names: list[str], tmp_path: Path) -> None:
    fields = {"title": "T", "subjects": {"workspace": "W"}, "questions": [{"leaf": "keep_reject"}]}
    with pytest.raises(InputError, match=rf"here: languages\.{names[-1]}: a language is named once, as browsers name it"):
        studies.parse_study({**fields, "languages": {name: {} for name in names}}, where="here", folder=tmp_path)


def test_a_language_of_ones_own_is_a_file_beside_the_study(tmp_path: Path) -> None:
    words = {text: f"\u0645 {own}" for text, own in words_of("de").items()} | {"en": "ar", "ltr": "rtl"}
    (tmp_path / "ar.toml").write_text("".join(f"{quoted(text)} = {quoted(own)}\n" for text, own in words.items()), "utf-8")
    (tmp_path / "consent.md").write_text("\u0646\u0635")
    fields = {
        "title": "T", "subjects": {"workspace": "W"}, "questions": [{"leaf": "keep_reject"}],
        "languages": {"AR": {"title": "\u062f", "page": "ar.toml", "consent": "consent.md"}},
    }  # fmt: skip
    (spoken,) = studies.parse_study(fields, where="here", folder=tmp_path).languages.items()
    assert spoken[0] == "ar"
    assert (spoken[1].words["ltr"], spoken[1].consent_text, spoken[1].page) == ("rtl", "\u0646\u0635", "")


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


SIZES = {
    "laptop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


# In Chromium: the driver of Firefox knows no languages, and has no fingers.
@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("language", "locale"), [("en", "en-GB"), ("de", "de-DE"), ("zh", "zh-CN")])
def test_every_page_is_whole_in_the_language_of_the_browser(
    language: str, locale: str, size: str, hall: Hall, chromium: Any
) -> None:
    context = chromium.new_context(locale=locale, reduced_motion="reduce", **SIZES[size])
    page, words = context.new_page(), words_of(language)
    english = {text for text, own in words.items() if own != text}
    found: list[str] = []

    def say(text: str) -> str:
        return words.get(text, text)

    def look(name: str) -> None:
        assert page.evaluate("document.documentElement.lang") == say("en")
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), name
        assert english.isdisjoint(page.evaluate(PAGE)), (name, english & set(page.evaluate(PAGE)))
        if folder := os.environ.get("INPAINTBENCH_SCREENSHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(Path(folder) / f"{language}-{size}-{name}.png"))
        assert page.evaluate(APART) == [], name
        found.extend(f"{name}: {one}" for one in serious_findings(page))

    page.goto(hall.link(f"{language}{size}"))
    page.get_by_text(SPOKEN[language].consent_text[:10] if language in SPOKEN else CONSENT[:10]).wait_for()
    look("consent")
    page.get_by_role("button", name=say("I agree"), exact=True).click()
    page.get_by_role("button", name=re.compile(say("Begin"))).wait_for()
    look("welcome")
    page.get_by_role("button", name=re.compile(say("Begin"))).click()
    keep = page.locator('#rater-page .option[data-value="keep"][aria-disabled="false"]')
    keep.wait_for()
    look("task")
    page.locator("#rater-page .plain.help").click()
    look("help")
    page.locator("#rater-page dialog .primary").click()
    page.locator("#rater-page .plain.stop").click()
    look("stop")
    page.locator("#rater-page dialog .primary").click()
    page.locator('#rater-page [data-value="reject"]').click()
    look("second-part")
    page.locator('#rater-page [data-value="other"]').click()
    look("words")
    page.keyboard.press("Escape")
    page.locator('#rater-page [data-value="shot_change"]').click()
    page.get_by_text(say("Not quite.")).wait_for()
    look("practice")
    page.get_by_role("button", name=re.compile(say("Next"))).click()
    for number in range(1, 6):
        page.wait_for_function(f"window.raterPage.page.work.progress.answered === {number}")
        if number == 3:
            page.locator("#rater-page .plain.skip").click()
            look("skip")
            page.locator('#rater-page [data-action="back"]').click()
        keep.click()
    page.get_by_text(CODES["completed"]).wait_for()
    look("end")
    texts = {"title": "", "text": "", "kept": 3, "answers": "A", "tasks": 2, "right": 1, "why": "", "cut_short": 1, "code": "C"}
    names = page.evaluate("[...document.querySelectorAll('template[id^=part-]')].map((one) => one.id.slice(5))")
    for name in names:
        script = "async ([name, texts]) => { const { part } = await import('/static/screens.js');"
        script += " const made = part(name, texts); const shown = Boolean(made.querySelector('.message'));"
        if page.evaluate(f"{script} if (shown) raterPage.page.stage.say(made); return shown; }}", [name, texts]):
            look(f"message-{name}")
    context.close()
    assert found == []


def test_an_open_page_follows_another_choice_of_the_browser_at_once(hall: Hall, chromium: Any) -> None:
    context = chromium.new_context(locale="en-GB")
    page = context.new_page()
    page.goto(hall.link("changing"))
    page.get_by_role("button", name="I agree", exact=True).wait_for()
    context.set_extra_http_headers({"Accept-Language": "de"})
    page.evaluate("window.dispatchEvent(new Event('languagechange'))")
    page.get_by_text(SPOKEN["de"].consent_text[:10]).wait_for()
    assert page.evaluate("document.documentElement.lang") == "de"
    context.close()


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
def test_a_language_from_right_to_left_turns_the_page_and_no_picture(size: str, tmp_path: Path, chromium: Any) -> None:
    words = {text: f"\u0627 {own}" for text, own in words_of("de").items()} | {"en": "ar", "ltr": "rtl"}
    own = dict.fromkeys(("title", "welcome", "consent_text"), "\u0646\u0635 \u0642\u0635\u064a\u0631")
    offering(tmp_path / "study", {"ar": Spoken(**own, words={**words, WHY: "\u0644\u0627"})}, training=0, test=0, right=0)
    with served(tmp_path / "study") as server:
        context = chromium.new_context(locale="ar-EG", reduced_motion="reduce", **SIZES[size])
        page = context.new_page()
        page.goto(f"{server.address}/enter?PROLIFIC_PID=x&STUDY_ID=study1&SESSION_ID=sx")
        page.get_by_role("button", name=words["I agree"], exact=True).click()
        page.get_by_role("button", name=re.compile(words["Begin"])).click()
        page.locator('#rater-page .option[data-value="keep"][aria-disabled="false"]').wait_for()
        assert page.evaluate("[document.documentElement.dir, document.documentElement.lang]") == ["rtl", "ar"]

        def left(what: str) -> float:
            return float(page.locator(f"#rater-page {what}").bounding_box()["x"])

        assert left(".stop") < left(".progress")
        assert left('.option[data-value="keep"]') < left('.option[data-value="reject"]')
        assert left(".control.back") < left(".control.on")
        assert page.evaluate(APART) == []
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        if folder := os.environ.get("INPAINTBENCH_SCREENSHOTS"):
            page.screenshot(path=str(Path(folder) / f"ar-{size}-task.png"))
        assert serious_findings(page) == []
        context.close()
