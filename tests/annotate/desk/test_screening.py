"""Rules while raters are at work: what the server's clock refutes, rules that act by themselves, and when they were stated."""

from __future__ import annotations

from typing import Any

from rater_world import Clock, MemoryJournal, answer_to, given_to, make_study, pairwise

from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.study import Study

NONE = {"gold_share": 0, "repeat_share": 0}


def folded(study: Study, journal: MemoryJournal) -> State:
    state = State(study)
    state.fold(journal.stored)
    return state


def watched(study: Study, seconds: list[float]) -> tuple[State, Desk, Clock]:
    """A rater answers so many seconds after the last answer, and says that all frames were shown in no time."""
    journal, clock = MemoryJournal(), Clock()
    desk = Desk(study, journal, clock=clock)
    for turn, wait in enumerate(seconds):
        card = desk.work("a")["queue"][0]
        clock.now += wait
        assert desk.answer("a", answer_to(card, f"s{turn}", seconds=0.0))["stored"]
    return folded(study, journal), desk, clock


def test_answers_faster_than_their_clip_are_stored_and_do_not_count() -> None:
    study = make_study([pairwise(must_watch=True)], subjects=4, frames=75, checks=NONE)  # 3 s
    state, desk, _ = watched(study, [4.0, 0.1, 2.6, 1.0])
    assert [sent.vote.too_soon for sent in state.submissions.values() if sent.vote] == [False, True, False, True]
    assert [vote.submission_id for vote in state.votes()] == ["s0", "s2"]
    (first, second) = desk.exclusions()
    assert (first.submission, first.rule, second.submission) == ("s1", "faster_than_clip", "s3")
    assert first.reason == "came 1.1 s after it could be seen first, and the clip lasts 3.0 s"
    assert state.excluded("a") is None
    # Whoever asks without the need to watch may be as quick as they like.
    free = make_study([pairwise()], subjects=4, frames=75, checks=NONE)
    assert not watched(free, [0.0, 0.0])[0].exclusions


def test_answers_that_waited_in_the_browser_count_when_there_was_time_for_all() -> None:
    study = make_study([pairwise(must_watch=True)], subjects=4, frames=75, checks=NONE)
    journal, clock = MemoryJournal(), Clock()
    desk = Desk(study, journal, clock=clock)
    first, second = desk.work("a")["queue"]
    clock.now += 7  # offline meanwhile; then both are sent at once
    desk.answer("a", answer_to(first, "s1"))
    third = desk.answer("a", answer_to(second, "s2"))["work"]["queue"][0]
    assert not desk.exclusions()
    desk.answer("a", answer_to(third, "s3"))  # handed out only now
    assert [one.submission for one in desk.exclusions()] == ["s3"]


def test_an_answer_taken_back_need_not_be_watched_again() -> None:
    study = make_study([pairwise(must_watch=True)], subjects=4, frames=75, checks=NONE)
    state, desk, _ = watched(study, [4.0])
    again = desk.undo("a", {"submission_id": "u", "undoes": "s0"})["work"]["queue"][0]
    desk.answer("a", answer_to(again, "s1", option=1))
    assert not desk.exclusions()
    assert state.exclusions == {}


def screened(**rules: Any) -> tuple[Study, MemoryJournal, Desk]:
    study = make_study([pairwise(raters_per_task=6)], subjects=10, checks=NONE, screening=rules)
    journal = MemoryJournal()
    return study, journal, Desk(study, journal, clock=Clock())


def test_a_rule_acts_by_itself_where_the_study_says_so() -> None:
    for auto in (True, False):
        study, journal, desk = screened(side_bias={"auto": auto})
        given_to(desk, "left", most=30)  # option 0 is the left one
        desk.work("left")
        state = folded(study, journal)
        assert (state.excluded("left") is not None) == auto
        if auto:
            assert desk.work("left")["queue"] == []
            assert [one.rule for one in desk.exclusions()] == ["side_bias"]
            assert len(state.submissions) == 26  # the look comes after 25; what was in hand is taken
            desk.include("left", reason="a mirrored screen")
            given_to(desk, "left", most=30)
            assert desk.exclusions() == []


def test_the_journal_says_when_rules_were_stated_and_changed() -> None:
    study, journal, desk = screened(side_bias={"p": 0.001})
    given_to(desk, "a", most=2)
    given_to(Desk(study, journal, clock=Clock()), "a", most=1)
    (stated,) = folded(study, journal).stated
    assert (stated.rules, stated.answers) == ({"side_bias": {"p": 0.001, "auto": False, "version": "1"}}, 0)
    other = Study(study.study_id, study.file.model_copy(update={"screening": {}}), study.tasks, study.proxies)
    Desk(other, journal, clock=Clock()).work("a")
    assert [(dict(one.rules), one.answers) for one in folded(study, journal).stated[1:]] == [({}, 3)]
    assert "-" not in folded(study, journal).raters
