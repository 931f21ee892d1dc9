"""The study page: what it says, that it says it safely, and that it needs nothing from elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.annotate.report.voted import (
    METHODS,
    RATERS,
    Vote,
    World,
    comparison_world,
    dimensions,
    labelling_world,
    proxy,
    rankings,
)

from inpaintbench.annotate.report.material import Material, left_choices, outcomes
from inpaintbench.annotate.report.page import write_report
from inpaintbench.annotate.statistics.agreement import answers_of, krippendorff_alpha, raw_agreement, scheme_of
from inpaintbench.annotate.study import QuestionSpec, Study, StudyFile, StudyTask, Subjects
from inpaintbench.errors import WorkspaceError
from inpaintbench.pages.words import number, percent

OWN_SCRIPTS = {'<script>document.documentElement.classList.add("js");', '<script>"use strict";'}
EVIL = "<script>alert('x')</script>\"&"


@pytest.fixture(scope="module")
def compared() -> World:
    return comparison_world(items=6)


@pytest.fixture(scope="module")
def labelled() -> World:
    return labelling_world(clips=30)


def text_of(html: str) -> str:
    """Words between tags."""
    bare = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL).replace("<wbr>", "")
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", bare)).split())


def methods_in(html: str) -> list[str]:
    """Names of methods, from the top."""
    return re.findall(r'<span class="method[^>]*>.*?class="name">(.*?)</span>', html)


def page_of(world: World, folder: Path) -> str:
    path = write_report(
        folder, Material(study=world.study, votes=world.votes, events=world.events, rankings=rankings(), dimensions=dimensions())
    )
    return path.read_text(encoding="utf-8")


class Tags(HTMLParser):
    """Whether every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in ("meta", "link", "br", "wbr", "line", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "rect"):
            assert self.open.pop() == tag


def test_a_comparison_says_what_was_counted(compared: World, tmp_path: Path) -> None:
    words = text_of(page_of(compared, tmp_path))
    votes = [vote for vote in compared.votes if vote.question == "seams" and vote.purpose == "vote"]
    question = compared.study.question_of["seams"]
    answers = answers_of(votes, "seams", pairs=True)
    own, left = outcomes(votes), left_choices(votes)
    assert f"{percent(left.value)} {percent(left.interval[0])} to {percent(left.interval[1])} of {left.whole} choices" in words
    assert f"hard to distinguish {percent(own.tie.value)} n {own.tie.part}" in words
    for method in METHODS:
        assert f"{method} {percent(own.chosen[method].value)} {own.chosen[method].part} of {own.chosen[method].whole}" in words
    assert f"Krippendorff’s α {number(krippendorff_alpha(answers, scheme_of(question)).value, 2)}" in words
    assert f"Raw agreement {percent(raw_agreement(answers, scheme_of(question)).value)}" in words
    assert "Propagate 1.10 (0.75 to 1.50) 1 1–2" in words
    assert "0.10 to a strength (−0.05 to 0.25)" in words
    assert "How the dimensions go together" in words
    assert words.count("open The order is not settled yet") == 2


def test_the_headline_adds_up(compared: World, tmp_path: Path) -> None:
    words = text_of(page_of(compared, tmp_path))
    votes = sum(vote.purpose == "vote" for vote in compared.votes)
    assert f"Votes {votes:,} and {len(compared.votes) - votes} checks" in words
    assert "6 items · 5 methods · 5 questions · 2026-01-05" in words
    assert "Under way ends when the order is stable at 95 %" in words


def test_the_state_is_that_of_the_overview(compared: World, tmp_path: Path) -> None:
    told = {
        "done": True,
        "why": "The order of the candidates is settled at 95%.",
        "raters": [{"rater_id": RATERS[1], "paused": True}],
    }
    path = write_report(tmp_path, Material(study=compared.study, votes=compared.votes, overview=told))
    words = text_of(path.read_text())
    assert "Done The order of the candidates is settled at 95%." in words
    assert len(re.findall(r"rater-\d+ paused", words)) == 1


def test_labels_are_compared_with_the_machine_and_anchoring_is_told(labelled: World, tmp_path: Path) -> None:
    html = page_of(labelled, tmp_path)
    camera = html[html.index('id="question-2"') : html.index('id="question-3"')]
    assert "seen beforehand: raters may have been led by it" in text_of(camera)
    scene = text_of(html[html.index('id="question-1"') : html.index('id="question-2"')])
    assert "seen beforehand" not in scene
    assert "On average people answer" in scene
    unclear = sum(vote.choice == "unclear" and vote.question == "scene_motion" for vote in labelled.votes)
    assert f"{unclear} answers “unclear”" in scene
    assert "Also asked: other" in scene
    assert "flickr/harbour_" in scene
    assert "Keep or reject" in text_of(html)


def test_names_of_raters_stay_out(compared: World, tmp_path: Path) -> None:
    html = page_of(compared, tmp_path)
    assert not [rater for rater in RATERS if rater in unescape(html)]
    assert "rater-012" in html
    named = write_report(tmp_path, Material(study=compared.study, votes=compared.votes, names={RATERS[0]: "First <b>"}))
    assert "First &lt;b&gt;" in named.read_text()


def test_equal_input_gives_equal_bytes(labelled: World, tmp_path: Path) -> None:
    assert page_of(labelled, tmp_path / "a") == page_of(labelled, tmp_path / "b")


def test_tables_beside_the_page_are_linked(labelled: World, tmp_path: Path) -> None:
    (tmp_path / "judgements of #1.csv").write_text("")
    html = page_of(labelled, tmp_path)
    assert 'href="judgements%20of%20%231.csv" download>judgements of #1.csv</a>' in html
    assert "Download" not in text_of(page_of(labelled, tmp_path / "alone"))


def test_whatever_people_wrote_is_only_text(compared: World, labelled: World, tmp_path: Path) -> None:
    questions = tuple(spec.model_copy(update={"title": EVIL, "instruction": EVIL}) for spec in compared.study.file.questions)
    file = compared.study.file.model_copy(update={"title": EVIL, "questions": questions})
    renamed = {name: name + EVIL for name in METHODS}
    tasks = tuple(
        replace(task, caption=EVIL, prompt=EVIL, subject_id=EVIL, candidates=tuple(renamed[name] for name in task.candidates))
        for task in compared.study.tasks
    )
    votes = [
        replace(vote, subject_id=EVIL, candidates=tuple(renamed[name] for name in vote.candidates),
                shown=tuple(renamed[name] for name in vote.shown), choice=renamed.get(vote.choice, vote.choice))
        for vote in compared.votes
    ]  # fmt: skip
    fits = {
        label: {**fit, "notes": [EVIL], "methods": [{**row, "name": renamed[row["name"]]} for row in fit["methods"]]}
        for label, fit in rankings().items()
    }
    study = Study("x", file, tasks, compared.study.proxies)
    events = [event._replace(body={**event.body, "reason": EVIL}) for event in compared.events]
    path = write_report(
        tmp_path, Material(study=study, votes=votes, events=events, rankings=fits, overview={"why": EVIL},
        dimensions={**dimensions(), "notes": [EVIL]}, names=dict.fromkeys(RATERS, EVIL)),
    )  # fmt: skip
    html = path.read_text()
    assert set(re.findall(r"<script>[^;]*;", html)) == OWN_SCRIPTS
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert not tags.seen & {"iframe", "img", "object", "form"}


@pytest.mark.parametrize("kind", ["compared", "labelled"])
def test_the_page_is_whole_and_needs_nothing_else(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    html = page_of(request.getfixturevalue(kind), tmp_path)
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert "default-src 'none'" in unescape(html)
    assert set(re.findall(r"https?://[a-z0-9.]+|url\([^#]", html)) == {"http://www.w3.org"}
    assert "nan" not in text_of(html).lower().split()


def test_a_study_without_votes_has_a_page(compared: World, tmp_path: Path) -> None:
    words = text_of(write_report(tmp_path, Material(study=compared.study, votes=[])).read_text())
    assert words.count("Nobody has answered this question yet.") == 5
    assert "Coverage 0 %" in words


def test_a_single_vote_is_no_trouble(compared: World, labelled: World, tmp_path: Path) -> None:
    for world in (compared, labelled):
        page = write_report(tmp_path, Material(world.study, world.votes[:1], world.events[:1]))
        words = text_of(page.read_text())
        assert "Not defined: no unit has answers of two raters." in words
        assert "No task has two raters yet." in words


def test_a_ranking_that_could_not_be_fitted_gives_way_to_win_ratios(compared: World, tmp_path: Path) -> None:
    fit = rankings()["seams"]
    bare = {**fit, "notes": ["the methods are not connected"], "methods": [{**row, "strength": None} for row in fit["methods"]]}
    path = write_report(tmp_path, Material(study=compared.study, votes=compared.votes, rankings={"seams": bare}))
    words = text_of(path.read_text())
    assert "without intervals. The methods are not connected." in words
    assert words.count("No ranking was fitted.") == 4


def sets_and_grades() -> World:
    """Best of four, where the last is best, and grades of each."""
    rng = np.random.default_rng(5)
    specs = (QuestionSpec(leaf="best_of", raters_per_task=5), QuestionSpec(leaf="mean_opinion", raters_per_task=3))
    file = StudyFile(title="Best of four", subjects=Subjects(dataset="d", runs=("r",)), questions=specs)
    names = ("a", "b", "c", "d")
    tasks = [StudyTask(f"best-{n}", "best_of", f"i{n}", f"s{n}", names, proxy().name) for n in range(20)]
    tasks += [
        StudyTask(f"grade-{n}-{name}", "mean_opinion", f"i{n}", f"s{n}", (name,), proxy().name)
        for n in range(20)
        for name in names
    ]
    votes = []
    for task in tasks:
        for rater in RATERS[: 5 if task.question == "best_of" else 3]:
            shown = tuple(str(name) for name in rng.permutation(task.candidates))
            if len(shown) == 4:
                choice = str(rng.choice(names, p=(0.1, 0.2, 0.2, 0.5)))
                given = {"best": f"place-{shown.index(choice)}"}
            else:
                choice = str(min(5, max(1, 2 + names.index(task.candidates[0]) + int(rng.integers(-1, 2)))))
                given = {"grade": choice}
            votes.append(
                Vote(f"s{len(votes)}", rater, task.task_id, task.question, task.subject_id, task.cluster, task.candidates, shown,
                     "vote", given, choice, 3.0, 1.7e9 + 7 * len(votes))
            )  # fmt: skip
    return World(Study("x", file, tuple(tasks), {proxy().name: proxy()}), votes, [])


def test_sets_and_grades_are_ordered_by_what_people_prefer(tmp_path: Path) -> None:
    world = sets_and_grades()
    html = write_report(tmp_path, Material(study=world.study, votes=world.votes)).read_text()
    best, grades = html[html.index('id="question-1"') :].split('id="question-2"')
    assert methods_in(best)[0] == "d"
    assert "25 % by chance" in text_of(best)
    assert "Place 4" in text_of(best)
    assert methods_in(grades) == ["d", "c", "b", "a"]
    mean = np.mean([int(vote.choice) for vote in world.votes if vote.question == "mean_opinion" and vote.candidates == ("c",)])
    assert re.search(rf" c [\d.]+ to [\d.]+ · n 60 {number(float(mean), 2)} ", text_of(grades))


def test_a_folder_that_cannot_be_written_is_told(labelled: World, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="cannot be written"):
        write_report(tmp_path / "file" / "report", Material(study=labelled.study, votes=labelled.votes))


@pytest.mark.long
def test_nothing_sticks_out_on_any_screen_and_axe_finds_nothing_serious(
    compared: World, labelled: World, tmp_path: Path, browser: Any
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page_of(compared, tmp_path / "compared")
    page_of(labelled, tmp_path / "labelled")
    for name in ("compared", "labelled"):
        for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light")):
            context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
            page, told = context.new_page(), []
            page.on("console", lambda message, told=told: told.append(message.text))
            page.on("request", lambda request, told=told: told.append(request.url))
            address = (tmp_path / name / "study.html").as_uri()
            page.goto(address)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            assert [line for line in told if line != address and not line.startswith("data:")] == []
            clipped = "[...document.querySelectorAll('.panel')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
            assert page.evaluate(clipped) == 0
            grave = [one for one in axe.Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
            assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in grave] == []
            context.close()
