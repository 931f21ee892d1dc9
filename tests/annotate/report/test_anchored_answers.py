"""Answers of raters who knew the machine's stand apart, however they came to know it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.annotate.report.voted import labelling_world

from inpaintbench.annotate.report.material import Material
from inpaintbench.annotate.report.page import write_report

LED = "raters may have been led by it"


def test_answers_given_again_after_the_machines_was_seen_are_not_taken_for_independent(tmp_path: Path) -> None:
    world = labelling_world(clips=20)
    pages = {}
    for mode in ("hidden", "after", "seen", "prefill"):
        told = [replace(vote, suggestion_shown=mode) for vote in world.votes]
        pages[mode] = write_report(tmp_path / mode, Material(study=world.study, votes=told)).read_text()
    assert [LED in page for page in pages.values()] == [False, False, True, True]
