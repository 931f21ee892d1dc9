"""Answers that come in from files while their raters are at work: nobody has two votes, and undo goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rater_world import Clock, answer_to, make_study

from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.desk.state import votes
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.outcomes.judgements import Imported, import_judgements
from inpaintbench.annotate.outcomes.resolve import labels
from inpaintbench.annotate.records import Vote

CHECKS = {"gold_share": 0.0, "repeat_share": 0.0}
STUDY = make_study([{"leaf": "scene_motion", "must_watch": False, "raters_per_task": 2}], subjects=3, checks=CHECKS)


class Room:
    """A desk over a real journal, and files that are imported beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.journal = folder, Journal(folder / "journal.sqlite")
        self.clock = Clock()
        self.desk = Desk(STUDY, self.journal, clock=self.clock)

    def import_answer(self, rater: str, task: str, *, water: str) -> Imported:
        path = self.folder / "theirs.jsonl"
        row = {"rater": rater, "task_id": task, "given": {"water": water, "other": "0"}, "seconds": 1}
        path.write_text(json.dumps(row) + "\n")
        return import_judgements(path, STUDY, self.journal, at=5.0)

    def first(self, rater: str) -> tuple[dict[str, Any], str]:
        card: dict[str, Any] = self.desk.work(rater)["queue"][0]
        return card, self.task_of(card)

    def task_of(self, card: dict[str, Any]) -> str:
        leases = [one for one in self.journal.events(STUDY.study_id) if one.kind == "lease"]
        (task,) = (one.body["task_id"] for one in leases if one.body["lease_id"] == card["lease_id"])
        return str(task)

    def voted(self) -> list[Vote]:
        return votes(STUDY, self.journal.events(STUDY.study_id))

    def count(self) -> int:
        return int(self.desk.overview()["questions"][0]["votes"])

    def undo(self, rater: str, name: str) -> None:
        undoable = self.desk.work(rater)["progress"]["undoable"]
        self.desk.undo(rater, {"submission_id": name, "undoes": undoable})


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path)
    yield made
    made.journal.close()


def test_an_answer_to_a_task_that_an_import_answered_meanwhile_is_a_repeat(room: Room) -> None:
    card, task = room.first("a")
    room.import_answer("a", task, water="100")
    assert task not in [room.task_of(one) for one in room.desk.work("a")["queue"]]  # nobody is asked what they have answered
    assert room.desk.answer("a", answer_to(card, "own"))["stored"]
    assert [(vote.task_id, vote.purpose, vote.choice) for vote in room.voted()] == [
        (task, "vote", "100"), (task, "repeat", "0")
    ]  # fmt: skip
    assert room.count() == 1
    assert room.desk.overview()["raters"][0]["consistency"] == {"right": 0, "asked": 1, "share": 0.0}
    assert [row.votes for row in labels(STUDY, room.voted()).answers] == [1]


def test_both_can_be_taken_back_and_answered_again(room: Room) -> None:
    card, task = room.first("a")
    room.import_answer("a", task, water="100")
    room.desk.answer("a", answer_to(card, "own"))
    room.undo("a", "u1")
    assert [vote.choice for vote in room.voted()] == ["100"]
    room.undo("a", "u2")
    assert (room.voted(), room.count()) == ([], 0)
    work = Desk(STUDY, room.journal, clock=room.clock).work("a")
    assert work == room.desk.work("a")
    for number in range(20):
        if not work["queue"]:
            break
        work = room.desk.answer("a", answer_to(work["queue"][0], f"a{number}"))["work"]
    assert work["status"] == "done"
    assert sorted(vote.task_id for vote in room.voted() if vote.purpose == "vote") == sorted(STUDY.task_of)
    assert room.count() == 3


def test_an_import_of_what_the_rater_has_answered_is_a_repeat_and_comes_once(room: Room) -> None:
    card, task = room.first("a")
    room.desk.answer("a", answer_to(card, "own"))
    assert room.import_answer("a", task, water="100") == Imported(1, 0)
    assert room.import_answer("a", task, water="100") == Imported(0, 1)
    assert [vote.purpose for vote in room.voted()] == ["vote", "repeat"]
    assert room.count() == 1


def test_a_lease_of_a_rater_whose_vote_was_imported_holds_no_place(room: Room) -> None:
    """Two raters a task: ``a`` has one place, by the import; the other is open, and only one more rater gets it."""
    _, task = room.first("a")
    room.import_answer("a", task, water="100")
    held = [room.task_of(card) for rater in "bcd" for card in room.desk.work(rater)["queue"]]
    assert held.count(task) == 1
    other = Desk(STUDY, room.journal, clock=room.clock)
    assert [room.task_of(card) for card in other.work("e")["queue"]].count(task) == 0


def test_gold_that_was_answered_twice_is_judged_once(tmp_path: Path) -> None:
    study = make_study([{"leaf": "scene_motion", "must_watch": False}], subjects=1, golds=1, checks=CHECKS)
    gold = next(task.task_id for task in study.tasks if task.gold)
    rows = [{"rater": "a", "task_id": gold, "given": {"water": water, "other": "0"}, "seconds": 1} for water in ("25", "0")]
    with Journal(tmp_path / "journal.sqlite") as journal:
        desk = Desk(study, journal, clock=Clock())
        for number, row in enumerate(rows):
            path = tmp_path / f"{number}.jsonl"
            path.write_text(json.dumps({**row, "submission_id": f"s{number}"}) + "\n")
            import_judgements(path, study, journal, at=5.0)
        (told,) = desk.overview()["raters"]
    assert told["gold"] == {"right": 1, "asked": 1, "share": 1.0}
    assert told["consistency_window"] == told["consistency"] == {"right": 0, "asked": 1, "share": 0.0}
