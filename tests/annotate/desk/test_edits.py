"""Changes of a study while it runs, as the desk, its state and its snapshots know them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rater_world import Clock, MemoryJournal, answer_to, make_study

from inpaintbench.annotate.desk.current_state import packed, unpacked
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.records import first_votes
from inpaintbench.annotate.screening.base import Panel
from inpaintbench.annotate.screening.own_answers import FailedGold
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InputError

GOLD_ALONE = {"gold_share": 0.5, "repeat_share": 0.0}
MOTION = {"leaf": "scene_motion", "must_watch": False, "raters_per_task": 2}


def clips(*, golds: int = 2) -> Study:
    return make_study([MOTION], subjects=8, golds=golds, checks=GOLD_ALONE)


def hand_in(desk: Desk, rater: str, times: int, *, first: int = 0) -> list[str]:
    """Submission ids of answers to what comes."""
    sent = [f"{rater}-{first + number}" for number in range(times)]
    for submission_id in sent:
        desk.answer(rater, answer_to(desk.work(rater)["queue"][0], submission_id))
    return sent


def graded(desk: Desk, rater: str) -> list[bool]:
    return list(desk.state().rater(rater).gold)


def test_what_is_withdrawn_is_an_ordinary_item_from_then_on() -> None:
    study = clips()
    desk = Desk(study, MemoryJournal(), clock=Clock())  # type: ignore[arg-type]
    hand_in(desk, "a", 8)
    before = graded(desk, "a")
    assert len(before) == 2
    for task in study.tasks:
        if task.gold:
            assert desk.edit("gold", task.task_id, "", by="boss", seen=0)
    assert graded(desk, "a") == before
    assert desk.overview()["questions"][0]["tasks"] == 10
    sent = hand_in(desk, "b", 10)
    state = desk.state()
    assert {state.submissions[one].purpose for one in sent} == {"vote"}
    assert graded(desk, "b") == []
    votes = first_votes(desk.study, state.votes(), gold=False)
    assert [len(votes[task.task_id]) for task in study.tasks if task.gold] == [1, 1]


def test_what_somebody_holds_as_a_check_when_it_is_withdrawn_is_a_vote_and_can_be_taken_back() -> None:
    study = clips()
    desk = Desk(study, MemoryJournal(), clock=Clock())  # type: ignore[arg-type]
    count = 0
    while not any(lease.purpose == "gold" for lease in desk.state().leases.values()):
        hand_in(desk, "a", 1, first=count)
        count += 1
    held = next(lease for lease in desk.state().leases.values() if lease.purpose == "gold")
    before = graded(desk, "a")
    desk.edit("gold", held.task_id, "", by="boss", seen=0)
    sent = ""
    while held.task_id not in desk.state().rater("a").first:
        (sent,) = hand_in(desk, "a", 1, first=count)
        count += 1
    assert (desk.state().submissions[sent].purpose, graded(desk, "a")) == ("vote", before)
    standing = desk.state().standing[held.task_id]
    desk.undo("a", {"submission_id": "undone", "undoes": sent})
    assert desk.state().standing[held.task_id] == standing - 1
    assert (graded(desk, "a"), desk.state().rater("a").reopened) == (before, [])


def test_a_check_that_was_taken_back_before_it_was_withdrawn_comes_once() -> None:
    study = clips()
    desk = Desk(study, MemoryJournal(), clock=Clock())  # type: ignore[arg-type]
    count = 0
    while not graded(desk, "a"):
        (sent,) = hand_in(desk, "a", 1, first=count)
        count += 1
    task_id = desk.state().submissions[sent].task_id
    desk.undo("a", {"submission_id": "undone", "undoes": sent})
    desk.edit("gold", task_id, "", by="boss", seen=0)
    for _ in range(3):
        queue = desk.work("a")["queue"]
        assert len(queue) <= 3
    assert desk.state().rater("a").reopened == []
    hand_in(desk, "a", 1, first=count)
    assert graded(desk, "a") == []


def test_screening_holds_answers_against_what_was_known_when_they_came() -> None:
    study = clips(golds=4)
    desk = Desk(study, MemoryJournal(), clock=Clock())  # type: ignore[arg-type]
    hand_in(desk, "a", 12)
    was = graded(desk, "a")
    for task in study.tasks:
        if task.gold:
            desk.edit("gold", task.task_id, "50" if was[0] else "0", by="boss", seen=0)
    votes = desk.state().votes()
    assert [vote.right for vote in votes if vote.purpose == "gold"] == was
    rule = FailedGold(accuracy=1.0, least=1)
    found = [rule.findings(Panel(of, votes)) for of in (study, desk.study)]
    assert found[0] == found[1]


def test_a_snapshot_knows_the_changes(tmp_path: Path) -> None:
    study = clips()
    with Journal(tmp_path / "journal.sqlite") as journal:
        desk = Desk(study, journal, clock=Clock())
        hand_in(desk, "a", 4)
        desk.edit("instruction", "scene_motion", "Look well.", by="boss", seen=0)
        gold = next(task for task in study.tasks if task.gold)
        desk.edit("gold", gold.task_id, "", by="boss", seen=0)
        desk.edit("paused", "", "yes", by="boss", seen=0)
        events = journal.events(study.study_id)
        restored = unpacked(study, packed(desk.state()), said={})
        assert restored == desk.state()
        assert restored.study == desk.study
        assert (restored.paused, restored.study.task_of[gold.task_id].gold) == (True, ())
        again = State(study)
        again.fold(events)
        assert again == restored
        assert again.prepared is study


def test_an_item_with_a_decoy_stays_where_its_answer_is_known() -> None:
    study = make_study([{"leaf": "pairwise", "must_watch": False}], golds=1, checks=GOLD_ALONE)
    subjects = study.file.subjects.model_copy(update={"decoys": ("alpha",)})
    study = replace(study, file=study.file.model_copy(update={"subjects": subjects}))
    desk = Desk(study, MemoryJournal(), clock=Clock())  # type: ignore[arg-type]
    gold = next(task for task in study.tasks if task.gold and "alpha" in task.candidates)
    with pytest.raises(InputError, match="shows a decoy"):
        desk.edit("gold", gold.task_id, "", by="boss", seen=0)
    assert desk.edit("gold", gold.task_id, "tie", by="boss", seen=0)
