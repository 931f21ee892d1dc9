"""Raters at once over real HTTP while servers are killed: every acknowledged answer is in the journal, once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from annotate_load import Result, run_load
from postgres import Postgres
from studies_made import write_study

from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.study import load

QUESTIONS = [{"leaf": "keep_reject", "raters_per_task": 3}]
RATERS, ANSWERS = 8, 160


def check(folder: Path, result: Result, *, database: str | None = None) -> None:
    journal = Journal(database or folder / "journal.sqlite")
    answers = [event for event in journal.events(load(folder).study_id) if event.kind == "answer"]
    journal.close()
    assert len(result.acknowledged) == len(set(result.acknowledged)) == ANSWERS
    assert Counter(str(event.body["submission_id"]) for event in answers) == Counter(result.acknowledged)
    by_rater = Counter((event.rater_id, event.body["task_id"]) for event in answers)
    assert max(by_rater.values()) == 1
    assert max(Counter(event.body["task_id"] for event in answers).values()) <= 3


@pytest.mark.long
def test_a_killed_server_loses_and_doubles_nothing(tmp_path: Path) -> None:
    write_study(tmp_path / "study", QUESTIONS, subjects=120, still=True, checks={"repeat_share": 0.0})
    result = run_load(tmp_path / "study", raters=RATERS, answers=ANSWERS, kills=1)
    assert result.retried > 0
    check(tmp_path / "study", result)


@pytest.mark.long
def test_two_servers_share_one_database_and_raters_move_when_one_dies(tmp_path: Path, postgres: Postgres) -> None:
    url = postgres.fresh()
    write_study(tmp_path / "study", QUESTIONS, subjects=120, still=True, checks={"repeat_share": 0.0})
    result = run_load(tmp_path / "study", raters=RATERS, answers=ANSWERS, kills=1, servers=2, database=url)
    assert result.moved > 0
    check(tmp_path / "study", result, database=url)
