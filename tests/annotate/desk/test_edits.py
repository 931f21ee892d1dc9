"""Changes of a study while it runs, as the desk, its state and its snapshots know them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rater_world import Clock, MemoryJournal, answer_to, make_study

from inpaintbench.annotate.desk import edits
from inpaintbench.annotate.desk.current_state import packed, unpacked
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.records import first_votes
from inpaintbench.annotate.screening.base import Panel
from inpaintbench.annotate.screening.own_answers import FailedGold
from inpaintbench.annotate.study import Spoken, Study
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


def test_the_repeat_of_what_was_a_check_is_no_vote_either() -> None:
    checks = {"gold_share": 0.2, "repeat_share": 0.4, "repeat_gap": 1}
    study = make_study([MOTION], subjects=40, golds=2, checks=checks)
    desk = Desk(study, MemoryJournal(), clock=Clock())  # type: ignore[arg-type]
    golds = {task.task_id for task in study.tasks if task.gold}
    while len(graded(desk, "a")) < 2:
        hand_in(desk, "a", 1, first=len(desk.state().submissions))
    for task_id in golds:
        desk.edit("gold", task_id, "", by="boss", seen=0)
    hand_in(desk, "a", 40, first=1000)
    state = desk.state()
    assert golds <= {vote.task_id for vote in state.votes() if vote.purpose == "repeat"}
    counted = first_votes(desk.study, state.votes(), gold=False)
    assert {task_id: len(votes) for task_id, votes in counted.items()} == {of: n for of, n in state.standing.items() if n}
    assert not golds & counted.keys()


def test_saving_what_stands_there_changes_nothing() -> None:
    study = clips()
    gold = next(task for task in study.tasks if task.gold)
    tasks = tuple(replace(task, gold=("50", "0")) if task is gold else task for task in study.tasks)
    study = replace(study, tasks=tasks, file=study.file.model_copy(update={"welcome": "Look\r\nwell.\n"}))
    desk = Desk(study, MemoryJournal(), clock=Clock())  # type: ignore[arg-type]
    assert not desk.edit("welcome", "", "Look\nwell.", by="boss", seen=0)
    assert not desk.edit("gold", gold.task_id, "0|50", by="boss", seen=0)
    assert desk.state().edits == []
    assert desk.edit("gold", gold.task_id, "50|75", by="boss", seen=0)
    assert desk.study.task_of[gold.task_id].gold == ("50", "75")


def test_a_known_answer_can_be_put_back_until_somebody_was_asked_without_it() -> None:
    study = clips()
    desk = Desk(study, MemoryJournal(), clock=Clock())  # type: ignore[arg-type]
    hand_in(desk, "a", 8)
    golds = [task for task in study.tasks if task.gold]
    before = graded(desk, "a")
    for value in ("", "50"):
        for task in golds:
            assert not desk.editable().asked & {task.task_id}
            assert desk.edit("gold", task.task_id, value, by="boss", seen=9)
    hand_in(desk, "b", 8)
    assert (graded(desk, "a"), len(graded(desk, "b"))) == (before, 2)
    for task in golds:
        desk.edit("gold", task.task_id, "", by="boss", seen=9)
    while not {task.task_id for task in golds} & {lease.task_id for lease in desk.state().leases.values()}:
        hand_in(desk, "c", 1, first=len(desk.state().submissions))
    held = [task for task in golds if task.task_id in desk.editable().asked]
    assert held
    for task in held:
        with pytest.raises(InputError, match="take their vote away"):
            desk.edit("gold", task.task_id, "50", by="boss", seen=9)


def test_in_a_pause_what_somebody_holds_stays_theirs_and_nothing_new_comes() -> None:
    clock = Clock()
    study = clips()
    desk = Desk(study, MemoryJournal(), clock=clock)  # type: ignore[arg-type]
    held = [card["lease_id"] for card in desk.work("a")["queue"]]
    desk.edit("paused", "", "yes", by="boss", seen=0)
    clock.now += study.file.lease_minutes * 60 + 1
    work = desk.work("a")
    assert [card["lease_id"] for card in work["queue"]] == held
    for card in work["queue"]:
        work = desk.answer("a", answer_to(card, card["lease_id"]))["work"]
    assert (work["status"], work["queue"]) == ("paused", [])


def test_a_text_is_said_in_another_language_while_there_is_a_translation_of_it() -> None:
    study = clips()
    told = {"title": "Eine Studie", "welcome": "Willkommen", "questions": {MOTION["leaf"]: {"instruction": "Schauen Sie."}}}
    specs = tuple(spec.model_copy(update={"instruction": "Look."}) for spec in study.file.questions)
    words = {f"Prompt {number}": f"Nummer {number}" for number in range(10)}
    spoken = {"de": Spoken.model_validate({**told, "words": words})}
    named = {"title": "A study", "welcome": "Welcome", "questions": specs, "languages": spoken}
    desk = Desk(replace(study, file=study.file.model_copy(update=named)), MemoryJournal(), clock=Clock())  # type: ignore[arg-type]
    assert set(desk.study.spoken) == {"en", "de"}
    for what, of, other in (("welcome", "", "Hello"), ("instruction", "scene_motion", "Look well.")):
        before = edits.current(desk.study, what, of)  # type: ignore[arg-type]
        desk.edit(what, of, other, by="boss", seen=9)  # type: ignore[arg-type]
        assert set(desk.study.spoken) == {"en"}
        desk.edit(what, of, before, by="boss", seen=9)  # type: ignore[arg-type]
        assert set(desk.study.spoken) == {"en", "de"}
    assert [desk.study.spoken["de"](text) for text in ("Welcome", "Look.")] == ["Willkommen", "Schauen Sie."]
