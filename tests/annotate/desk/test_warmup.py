"""The first tasks of a rater settle them in: their answers are stored, count for nothing and cost the study nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from rater_world import Clock, MemoryJournal, answer_to, given_to, make_study, pairwise, skip_of

from inpaintbench.annotate.desk.coverage import Coverage
from inpaintbench.annotate.desk.current_state import packed, unpacked
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.report.material import material_of
from inpaintbench.annotate.report.page import left_out_parts
from inpaintbench.annotate.study import Study

CHECKS = {"gold_share": 0, "repeat_share": 0, "warmup": 3}


def world(*, raters: int = 1, subjects: int = 3, **changes: Any) -> tuple[Study, MemoryJournal, Desk]:
    question = pairwise(raters_per_task=raters)
    study, journal = make_study([question], subjects=subjects, **{"checks": CHECKS, **changes}), MemoryJournal()
    return study, journal, Desk(study, journal, clock=Clock())


def purposes(journal: MemoryJournal, rater: str) -> list[str]:
    return [event.body["purpose"] for event in journal.stored if (event.kind, event.rater_id) == ("lease", rater)]


def test_the_first_answers_count_for_nothing_and_every_task_still_gets_its_votes() -> None:
    study, journal, desk = world()
    progress = desk.work("a")["progress"]
    assert progress["total"] == 18 + 3
    assert len(given_to(desk, "a", most=100)) == 18 + 3
    assert Counter(purposes(journal, "a")) == {"warmup": 3, "vote": 18}
    assert purposes(journal, "a")[:3] == ["warmup"] * 3
    state = desk.state()
    assert len(state.submissions) == 21
    assert len(state.votes()) == len(state.votes(excluded=True)) == 18
    assert {vote.task_id for vote in state.votes()} == {task.task_id for task in study.tasks}
    assert sum(state.standing.values()) == 18
    standing = desk.all_answers()
    assert standing.warmups == 3
    said = left_out_parts(material_of(study, standing, [], overview={}))
    assert "The first 3 tasks of each rater, to settle in, are not counted: 3 answers." in str(said[0])
    assert desk.work("b")["status"] == "done"  # nobody settles in where nothing is to be done afterwards


def test_who_comes_later_settles_in_with_what_needs_no_vote() -> None:
    _, journal, desk = world(raters=1)
    given_to(desk, "a", most=3 + 9)
    covered = {vote.task_id for vote in desk.state().votes()}
    given_to(desk, "b", most=3)
    first = [event.body["task_id"] for event in journal.stored if (event.kind, event.rater_id) == ("lease", "b")][:3]
    assert set(first) <= covered
    assert len(set(first)) == 3
    assert len(desk.state().votes()) == 9


def test_what_somebody_settled_in_with_does_not_come_at_once_again() -> None:
    _, journal, desk = world(raters=2)
    for rater in ("a", "b"):
        given_to(desk, rater, most=8)
        leased = [event.body["task_id"] for event in journal.stored if (event.kind, event.rater_id) == ("lease", rater)]
        assert not set(leased[:3]) & set(leased[3:8])


def test_taking_back_skipping_and_a_new_start_keep_the_count() -> None:
    study, journal, desk = world()
    card = desk.work("a")["queue"][0]
    desk.answer("a", answer_to(card, "s1"))
    work = desk.undo("a", {"submission_id": "u1", "undoes": "s1"})["work"]
    assert work["queue"][0]["media"] == card["media"]
    desk.answer("a", answer_to(work["queue"][0], "s2"))
    desk.skip("a", skip_of(desk.work("a")["queue"][0], "k1"))
    given_to(desk, "a", most=100)
    state = desk.state()
    assert len(state.votes()) == 18
    assert state.raters["a"].first.keys() == {task.task_id for task in study.tasks}
    assert Counter(purposes(journal, "a")) == {"warmup": 4, "vote": 18}  # one of them was handed out anew
    folded = State(study)
    folded.fold(journal.stored)
    assert folded == state == unpacked(study, packed(state), said={})
    live, anew = Coverage(folded, now=2e6), Coverage(State(study), now=2e6)
    assert (live.filled, anew.filled) == ({"pairwise": 18}, {"pairwise": 0})


def test_an_excluded_rater_opens_no_warm_up() -> None:
    _, journal, desk = world()
    given_to(desk, "a", most=6)
    desk.exclude("a", reason="left")
    assert len(given_to(desk, "b", most=100)) == 18 + 3
    assert Counter(purposes(journal, "b")) == {"warmup": 3, "vote": 18}


@pytest.mark.parametrize("warmup", [-1, 101, 1.5])
def test_a_strange_number_is_refused(warmup: float) -> None:
    with pytest.raises(ValueError, match="warmup"):
        world(checks={"warmup": warmup})
