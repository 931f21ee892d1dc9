"""Leases on a study whose questions are settled and whose clock is set by hand."""

from __future__ import annotations

from typing import Any

from rater_world import Clock, MemoryJournal, answer_to, make_study

from inpaintbench.annotate.desk.assign import Assignment, Leases
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.records import Lease
from inpaintbench.types import content_id


class Hands:
    """The leases of a desk, and what raters do with them."""

    def __init__(self, *, subjects: int = 6) -> None:
        question = {"leaf": "scene_motion", "must_watch": False, "raters_per_task": 1}
        checks = {"gold_share": 0.0, "repeat_share": 0.0}
        study = make_study([question], subjects=subjects, checks=checks, lease_minutes=10)
        self.clock, self.journal = Clock(), MemoryJournal()
        self.desk = Desk(study, self.journal, clock=self.clock)
        self.live = self.desk._live
        self.leases = Leases(self.live)

    def queue(self, rater: str = "a", **changes: Any) -> list[Lease]:
        return self.live.write(lambda append: self.leases.queue(append, rater, **changes))

    def answer(self, number: int, rater: str = "a") -> None:
        self.desk.answer(rater, answer_to(self.desk.work(rater)["queue"][0], f"{rater}{number}"))

    def kinds(self) -> list[str]:
        return [event.kind for event in self.journal.stored]


def test_a_task_that_was_taken_back_is_still_asked_when_its_question_is_settled() -> None:
    here = Hands()
    here.answer(1)
    [question] = here.live.coverage.groups
    here.desk.undo("a", {"submission_id": "u", "undoes": "a1"})
    assert len(here.queue()) == 3
    here.live.finish.note(question, stable=True)
    [again] = here.queue()
    assert again.previous is not None
    here.live.finish.note(question, stable=False)
    assert len(here.queue()) == 3


def test_a_lease_lasts_for_the_minutes_of_the_study_and_is_renewed_once_half_are_over() -> None:
    here = Hands()
    [first, _] = here.queue()
    assert first.expires_at == here.clock.now + 600
    here.clock.now += 300
    assert here.queue()[0].expires_at == here.clock.now + 300
    here.clock.now += 1
    assert [lease.expires_at for lease in here.queue()] == [here.clock.now + 600] * 2
    assert here.kinds().count("renew") == 2


def test_only_as_many_expired_leases_come_back_as_a_rater_is_given_at_once() -> None:
    here = Hands()
    four = here.queue(ahead=4)
    assert len(four) == 4
    here.clock.now += 601
    for _ in range(2):
        assert [lease.lease_id for lease in here.queue()] == [lease.lease_id for lease in four[:2]]
    assert [lease.lease_id for lease in here.queue(ahead=3)] == [lease.lease_id for lease in four[:3]]
    # A rater who is given one task at a time still gets back what they had in hand.
    here.clock.now += 601
    assert len(here.queue(ahead=1)) == 2


def test_nothing_is_chosen_beyond_what_is_asked_for_and_nothing_where_nothing_is_left() -> None:
    here = Hands()
    offered: list[Assignment | None] = []

    def choose() -> Assignment | None:
        offered.append(here.leases.next_task("a") if len(offered) < 2 else None)
        return offered[-1]

    assert len(here.queue(choose=choose, ahead=5)) == 2
    assert len(offered) == 3
    assert len(here.queue(choose=choose, ahead=2)) == 2
    assert len(offered) == 3


def test_the_ids_of_leases_are_those_of_study_rater_and_number() -> None:
    here = Hands()
    ids = [lease.lease_id for lease in here.queue()]
    assert list(here.leases.given("a")) == ids
    assert ids == [content_id("lease", here.live.study.study_id, "a", number) for number in (0, 1)]
    assert list(here.leases.given("b")) == []
    assert len({*ids, *(lease.lease_id for lease in here.queue("b"))}) == 4
    again = Hands()
    assert [lease.lease_id for lease in again.queue()] == ids


def test_a_task_that_was_answered_meanwhile_is_no_longer_offered_but_its_repeat_is() -> None:
    here = Hands(subjects=3)
    first, second = here.queue()
    body = {"lease_id": "r", "task_id": first.task_id, "shown": [], "purpose": "repeat", "expires_at": here.clock.now + 600}
    here.live.write(lambda append: append("lease", "a", body))
    here.answer(1)
    assert [lease.lease_id for lease in here.queue()][:2] == [second.lease_id, "r"]
