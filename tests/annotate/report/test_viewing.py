"""How answers were seen: conditions, and the report's section."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from crowds import write_crowd_study
from program import run_here
from rater_world import answer_to

from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.report.material import Material
from inpaintbench.annotate.report.people import condition, viewing_parts
from inpaintbench.annotate.study import Spoken
from inpaintbench.errors import InputError

SEEN = {
    "width": 300, "scale": 1.5, "pixel_ratio": 2.0, "zoom": 1.0, "full_screen": False, "portrait": True,
    "browser": "Chrome 130", "hidden_seconds": 0.0, "frame_source": "callback",
}  # fmt: skip
VOTE = Vote("s", "r", "t", "q", "i", "c", (), (), "vote", {}, "keep", 1.0, 0.0, False, "hidden")


def vote(**facts: Any) -> Vote:
    return replace(VOTE, seen={**SEEN, "dropped_frames": 0, "watched_frames": 90, **facts})


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("width>=300", True), ("width > 300", False), ("scale<=1.5", True), ("zoom=1", True), ("full_screen=no", True),
        ("portrait=no", False), ("browser=Chrome", True), ("browser=Chrome 130", True), ("browser=Safari", False),
        ("dropped_frames<1", True),
    ],
)  # fmt: skip
def test_a_condition_takes_the_answers_that_were_seen_so(text: str, holds: bool) -> None:
    assert condition(text)(vote()) is holds
    assert not condition(text)(VOTE)  # nobody said how it was seen


@pytest.mark.parametrize("text", ["width", "width>=wide", "hight>=3", "full_screen=maybe", "browser>=Chrome", ""])
def test_what_is_no_condition_is_told_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError):
        condition(text)


def test_a_report_of_the_answers_that_were_seen_well(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    study = write_crowd_study(folder, "https://platform.test", training=0, test=0, gold=0)
    with Journal(folder / "journal.sqlite") as journal:
        desk = Desk(study, journal)
        for number, width in enumerate((130, 300, 640, None)):
            card = desk.work("somebody")["queue"][0]
            seen = {} if width is None else {"seen": {**SEEN, "width": width}}
            desk.answer("somebody", answer_to(card, f"s{number}", **seen))
    everything = run_here("annotate", "report", folder, "--json", "--out", tmp_path / "all")
    assert '"answers": 4' in everything.stdout, everything.stderr
    page = (tmp_path / "all" / "study.html").read_text()
    assert "Smallest pictures: 130 CSS pixels wide, median 300" in page
    assert "Told with 3 of 4 answers" in page
    some = run_here(
        "annotate", "report", folder, "--json", "--out", tmp_path / "some", "--seen", "width>=200", "--seen", "scale>=1"
    )
    assert '"answers": 2' in some.stdout, some.stderr


def test_the_report_states_what_encoding_lost(tmp_path: Path) -> None:
    study = write_crowd_study(tmp_path / "study", "https://platform.test")
    measured = {name: replace(proxy, psnr_db=40.0, flicker_added=0.07) for name, proxy in study.proxies.items()}
    parts = viewing_parts(Material(replace(study, proxies=measured), [vote()]))
    assert (
        parts[0]
        == "Proxies against what was made: 40.0 dB PSNR of luma (least 40.0), flicker +0.070 levels of 255 (most +0.070)."
    )


def test_raters_and_answers_are_counted_by_language_where_a_study_has_several(tmp_path: Path) -> None:
    study = write_crowd_study(tmp_path / "study", "https://platform.test")
    votes = [vote(), vote(language="en"), vote(language="de"), replace(vote(language="de"), rater_id="other")]
    assert [condition("language=de")(one) for one in votes] == [False, False, True, True]
    assert [part.label for part in viewing_parts(Material(study, votes))[:-1]] == ["Problem", "Browser"]
    several = replace(study, file=study.file.model_copy(update={"languages": {"de": Spoken()}}))
    table = viewing_parts(Material(several, votes))[2]
    assert [[cell.text for cell in row.cells] for row in table.rows] == [["en", "1", "2"], ["de", "2", "2"]]
