"""Raters and answers that are excluded, and included again: what counts, and who is asked then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rater_world import Clock, MemoryJournal, answer_to, given_to, make_study, pairwise, skip_of

from inpaintbench.annotate.desk.coverage import Coverage
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.desk.pairs import Finish
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.records import Event
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InputError


def world(*, raters_per_task: int = 1, **changes: object) -> tuple[Study, MemoryJournal, Desk]:
    study = make_study(
        [pairwise(raters_per_task=raters_per_task)], subjects=3, checks={"gold_share": 0, "repeat_share": 0}, **changes
    )
    journal = MemoryJournal()
    return study, journal, Desk(study, journal, clock=Clock())


def folded(study: Study, events: list[Event]) -> tuple[State, Coverage]:
    state = State(study)
    state.fold(events)
    return state, Coverage(state, now=1_000_000.0)


def counters(state: State, coverage: Coverage) -> object:
    """Everything that decides on votes and on who is asked."""
    loads = {task.task_id: coverage.load(task.task_id) for task in state.study.tasks}
    comparisons = {label: state.comparisons(label) for label in state.study.question_of}
    standing = {task_id: votes for task_id, votes in state.standing.items() if votes}
    return standing, comparisons, loads, coverage.filled, coverage.group_load


def test_what_an_excluded_rater_answered_is_asked_of_others() -> None:
    study, journal, desk = world()
    done = given_to(desk, "a", most=100)
    assert len(done) == len(study.tasks) == 18
    assert desk.work("b")["status"] == "done"
    assert desk.exclude("a", reason="chose left 18 times of 18", by="boss")
    assert (desk.work("a")["status"], desk.work("a")["queue"]) == ("done", [])
    assert desk.overview()["questions"][0]["votes"] == 0
    again = given_to(desk, "b", most=100)
    assert len(again) == 18
    assert len([event for event in journal.stored if event.kind == "answer"]) == 36
    assert [(one.rater_id, one.reason, one.rule, one.by) for one in desk.exclusions()] == [
        ("a", "chose left 18 times of 18", None, "boss")
    ]


def test_with_everybody_excluded_nothing_is_covered_and_tasks_open_in_the_first_order() -> None:
    _, _, desk = world()
    first = [card["media"]["url"] for card in given_to(desk, "new", most=100)]
    fresh_study, journal, desk = world()
    for rater in "abc":
        given_to(desk, rater, most=6)
    for rater in "abc":
        desk.exclude(rater, reason="never looked")
    state, coverage = folded(fresh_study, journal.stored)
    assert not state.votes()
    assert len(state.votes(excluded=True)) == sum(event.kind == "answer" for event in journal.stored) > 10
    assert not any(coverage.filled.values())
    assert [card["media"]["url"] for card in given_to(desk, "new", most=100)] == first


def test_a_single_answer_is_excluded_and_its_rater_goes_on() -> None:
    study, journal, desk = world()
    given_to(desk, "a", most=2)
    sent = [event.body["submission_id"] for event in journal.stored if event.kind == "answer"]
    assert desk.exclude("a", submission_id=sent[0], reason="fell asleep")
    state, coverage = folded(study, journal.stored)
    assert [vote.submission_id for vote in state.votes()] == sent[1:]
    assert coverage.load(state.submissions[sent[0]].task_id) == 0
    assert desk.work("a")["queue"]
    assert len(given_to(desk, "b", most=100)) == 15  # two of a's are out with leases or answered; the excluded one is back


@given(
    st.lists(
        st.tuples(st.sampled_from(["answer", "exclude", "include", "one", "back", "undo"]), st.integers(0, 1), st.integers(0, 9)),
        max_size=40,
    )
)
def test_counters_are_those_of_counting_again_after_any_decisions(acts: list[tuple[str, int, int]]) -> None:
    study, journal, desk = world(raters_per_task=2)
    for turn, (act, who, number) in enumerate(acts):
        rater, own = "ab"[who], []
        own = [event.body["submission_id"] for event in journal.stored if event.kind == "answer" and event.rater_id == rater]
        work = desk.work(rater)
        if act == "answer" and work["queue"]:
            desk.answer(rater, answer_to(work["queue"][0], f"s{turn}", option=number))
        elif act == "undo" and work["progress"]["undoable"]:
            desk.undo(rater, {"submission_id": f"u{turn}", "undoes": work["progress"]["undoable"]})
        elif act == "exclude":
            desk.exclude(rater, reason="r")
        elif act == "include":
            desk.include(rater, reason="r")
        elif act == "one" and own:
            desk.exclude(rater, submission_id=own[number % len(own)], reason="r")
        elif act == "back" and own:
            desk.include(rater, submission_id=own[number % len(own)], reason="r")
    state, coverage = folded(study, journal.stored)
    counted = [vote for vote in state.votes() if vote.purpose == "vote"]
    for task in study.tasks:
        assert state.standing.get(task.task_id, 0) == sum(vote.task_id == task.task_id for vote in counted)
    told = {vote.submission_id for vote in counted if vote.choice != "both_bad"}
    assert set(state.comparisons("pairwise")) == told
    assert sum(sum(of.values()) for of in state.pairs.get("pairwise", {}).values()) == len(told)
    # Coverage that followed event by event is that of one look at the end.
    live = desk._live
    assert counters(live.state, live.coverage) == counters(state, coverage)


def test_including_brings_everything_back() -> None:
    study, journal, desk = world()
    given_to(desk, "a", most=9)
    before = counters(*folded(study, journal.stored))
    assert desk.exclude("a", reason="hasty")
    assert not desk.exclude("a", reason="again")
    assert desk.include("a", reason="the clock was wrong")
    assert not desk.include("a", reason="again")
    assert counters(*folded(study, journal.stored)) == before
    assert desk.work("a")["queue"]
    assert not desk.exclude("a", reason="by a rule", rule="side_bias")  # a person included them: rules leave them alone
    assert desk.exclude("a", reason="by a person after all")


def test_what_an_excluded_rater_has_in_hand_is_taken_and_does_not_count() -> None:
    study, journal, desk = world()
    card = desk.work("a")["queue"][0]
    desk.exclude("a", reason="x")
    reply = desk.answer("a", answer_to(card, "s1"))
    assert (reply["stored"], reply["work"]["status"], reply["work"]["queue"]) == (True, "done", [])
    assert folded(study, journal.stored)[0].votes() == []
    desk.include("a", reason="y")
    assert [vote.submission_id for vote in folded(study, journal.stored)[0].votes()] == ["s1"]


def test_reports_of_excluded_raters_take_no_task_out() -> None:
    study, journal, desk = world(raters_per_task=5, methods=("alpha", "beta"))
    clip = desk.work("a")["queue"][0]["media"]["url"]
    for rater in "abc":
        for _ in range(3):
            queue = desk.work(rater)["queue"]
            if queue:
                reason = "broken" if queue[0]["media"]["url"] == clip else "unclear"
                desk.skip(rater, skip_of(queue[0], f"{rater}{queue[0]['lease_id']}", reason))
    assert len(desk.overview()["taken_out"]) == 1
    desk.exclude("b", reason="skips everything")
    assert not desk.overview()["taken_out"]
    _, coverage = folded(study, journal.stored)
    assert coverage.needed == {"pairwise": 15}


def test_a_settled_ranking_opens_when_its_votes_are_excluded() -> None:
    study = make_study([pairwise()], subjects=3, stop={"kind": "stable_ranking", "fewest_votes": 5})
    state, finish = State(study), Finish(study)
    finish.note("pairwise", stable=True)
    state.compared["pairwise"] = 1
    state.decisions += 1
    due = finish.due(state)
    assert list(due) == ["pairwise"]
    assert not finish.due(state)
    assert not finish.look(due["pairwise"])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"reason": "  "}, "say why"),
        ({"reason": "x" * 501}, "501 characters"),
        ({"reason": "r", "submission_id": "strange"}, "has no answer 'strange'"),
    ],
)
def test_a_decision_needs_a_reason_and_an_answer_of_the_rater(fields: dict[str, str], said: str) -> None:
    _, journal, desk = world()
    given_to(desk, "a", most=1)
    before = len(journal.stored)
    with pytest.raises(InputError, match=said):
        desk.exclude("a", **fields)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=said):
        desk.include("a", **fields)  # type: ignore[arg-type]
    sent = next(event.body["submission_id"] for event in journal.stored if event.kind == "answer")
    with pytest.raises(InputError, match="has no answer"):
        desk.exclude("b", submission_id=sent, reason="r")
    assert len(journal.stored) == before
