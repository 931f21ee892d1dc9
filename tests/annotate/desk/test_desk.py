from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rater_world import Clock, MemoryJournal, MemoryWriter, answer_to, given_to, make_study, pairwise, skip_of

from inpaintbench.annotate.desk.current_state import Append, Live
from inpaintbench.annotate.desk.desk import Desk, Refused
from inpaintbench.annotate.desk.state import State, votes
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.study import Study

NO_CHECKS = {"gold_share": 0.0, "repeat_share": 0.0}
LABELLING = {"leaf": "scene_motion", "must_watch": False}


class Room:
    """A desk with its journal and clock."""

    def __init__(self, study: Study) -> None:
        self.study, self.journal, self.clock = study, MemoryJournal(), Clock()
        self.desk = Desk(study, self.journal, clock=self.clock)
        self.sent = 0

    def first(self, rater: str = "a") -> dict[str, Any]:
        card: dict[str, Any] = self.desk.work(rater)["queue"][0]
        return card

    def ids(self, rater: str = "a") -> list[str]:
        return [card["lease_id"] for card in self.desk.work(rater)["queue"]]

    def answer(self, rater: str = "a", *, option: int = 0, **changes: Any) -> dict[str, Any]:
        self.sent += 1
        return self.desk.answer(rater, answer_to(self.first(rater), f"{rater}{self.sent}", option=option, **changes))

    def undo(self, rater: str = "a") -> dict[str, Any]:
        self.sent += 1
        undoable = self.desk.work(rater)["progress"]["undoable"]
        return self.desk.undo(rater, {"submission_id": f"u{self.sent}", "undoes": undoable})

    def task_of(self, card: dict[str, Any]) -> str:
        found: str = next(one.body["task_id"] for one in self.journal.stored if one.body.get("lease_id") == card["lease_id"])
        return found

    def voted(self) -> list[str]:
        return [vote.submission_id for vote in votes(self.study, self.journal.stored)]


def room(*, raters: int = 1, subjects: int = 6, **changes: Any) -> Room:
    return Room(make_study([{**LABELLING, "raters_per_task": raters}], subjects=subjects, **{"checks": NO_CHECKS, **changes}))


def status(call: Any, *arguments: Any) -> int:
    with pytest.raises(Refused) as refused:
        call(*arguments)
    return refused.value.status


# Leases


def test_a_reload_and_a_second_tab_get_the_same_two_tasks_in_the_same_order() -> None:
    here = room()
    assert len(here.ids()) == 2
    assert here.desk.work("a") == here.desk.work("a")
    assert Desk(here.study, here.journal, clock=here.clock).work("a") == here.desk.work("a")
    first, second = here.ids()
    here.answer()
    assert here.ids()[0] == second
    assert first not in here.ids()
    assert sum(event.kind == "lease" for event in here.journal.stored) == 3


def test_a_browser_with_room_gets_more_tasks_but_not_more_than_a_quarter_of_what_is_left() -> None:
    made = room(subjects=24)
    assert len(made.desk.work("a")["queue"]) == 2
    ahead = [card["lease_id"] for card in made.desk.work("a", {"ahead": 10})["queue"]]
    assert len(ahead) == 5
    assert made.ids() == ahead  # remembered until the browser says something else
    reply = made.answer()
    assert [card["lease_id"] for card in reply["work"]["queue"]][:4] == ahead[1:]
    assert len(made.desk.work("b")["queue"]) == 2
    # Towards the end nobody holds back what others could do.
    for _ in range(14):
        made.answer()
    assert len(made.ids()) == 2
    for wrong in ({"ahead": 11}, {"ahead": -1}, {"ahead": "3"}, {"more": 1}):
        with pytest.raises(Refused) as refused:
            made.desk.work("a", wrong)
        assert refused.value.status == 400


def test_two_raters_never_hold_the_same_last_place_of_a_task() -> None:
    here = room(subjects=3)
    held = [here.task_of(card) for rater in "abc" for card in here.desk.work(rater)["queue"]]
    assert sorted(held) == sorted(here.study.task_of)
    assert here.desk.work("c")["status"] == "waiting"
    assert here.desk.work("c")["message"]


def test_tasks_of_a_rater_who_went_away_go_to_others_and_late_answers_are_taken() -> None:
    here = room(subjects=2)
    late = here.first("a")
    assert here.desk.work("b")["status"] == "waiting"
    here.clock.now += 20 * 60
    assert len(here.ids("b")) == 2
    here.answer("b"), here.answer("b")
    assert here.desk.work("b")["status"] == "done"
    reply = here.desk.answer("a", answer_to(late, "late"))
    assert (reply["stored"], reply["work"]["status"]) == (True, "done")
    assert len(here.voted()) == 3


def test_asking_for_work_keeps_leases_alive() -> None:
    here = room(subjects=2)
    ids = here.ids("a")
    for _ in range(5):
        here.clock.now += 15 * 60
        assert here.ids("a") == ids
        assert here.desk.work("b")["status"] == "waiting"
    assert sum(event.kind == "renew" for event in here.journal.stored) == 10
    here.desk.work("a")
    assert sum(event.kind == "renew" for event in here.journal.stored) == 10  # nothing is due yet


def test_a_rater_who_comes_back_goes_on_with_the_same_tasks_when_nobody_took_them() -> None:
    here = room(subjects=3)
    ids = here.ids("a")
    here.clock.now += 3600
    assert here.ids("a") == ids
    here.clock.now += 3600
    taken = [here.task_of(card) for card in here.desk.work("b")["queue"]]
    back = [here.task_of(card) for card in here.desk.work("a")["queue"]]
    assert sorted(taken + back) == sorted(here.study.task_of)


def test_a_clock_that_steps_back_gives_no_place_away_twice() -> None:
    here = room(subjects=2)
    here.ids("a")
    here.clock.now += 3600
    assert len(here.ids("b")) == 2
    here.clock.now -= 3600
    assert here.ids("a") == []


def test_neither_a_new_start_nor_another_server_brings_back_what_had_expired_for_an_event() -> None:
    here = room(subjects=2)
    elsewhere = Desk(here.study, here.journal, clock=Clock())
    here.ids("a")
    elsewhere.work("a")
    here.clock.now += 3600
    taken = here.ids("b")
    # The clock of the other server is an hour behind; then so is this one's.
    assert elsewhere.work("a")["queue"] == []
    here.clock.now -= 3600
    here.desk = Desk(here.study, here.journal, clock=here.clock)
    assert here.ids("a") == []
    assert here.ids("b") == taken
    assert all(here.desk._live.coverage.load(task.task_id) == 1 for task in here.study.tasks)


def test_what_expired_for_nobody_is_live_again_when_the_clock_is_put_back() -> None:
    here = room(subjects=2)
    here.ids("a")
    here.clock.now += 3600
    here.desk.overview()
    here.clock.now -= 3600
    assert here.desk.work("b")["status"] == "waiting"


# Answers


def test_an_answer_sent_again_changes_nothing_and_says_so() -> None:
    here = room()
    sent = answer_to(here.first(), "s")
    first, stored = here.desk.answer("a", sent), list(here.journal.stored)
    again = here.desk.answer("a", {**sent, "given": {"water": "100", "other": "0"}})
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert {**again, "duplicate": False} == first
    assert here.journal.stored == stored


def test_who_may_answer_what() -> None:
    here = room()
    card = here.first("a")
    assert status(here.desk.answer, "b", answer_to(card, "s")) == 403
    assert status(here.desk.answer, "a", {**answer_to(card, "s"), "lease_id": "none"}) == 404
    here.desk.answer("a", answer_to(card, "s"))
    assert status(here.desk.answer, "a", answer_to(card, "other")) == 409


@pytest.mark.parametrize("must_watch", [True, False])
def test_a_clip_is_watched_whole_where_that_is_asked(must_watch: bool) -> None:
    here = Room(make_study([{**LABELLING, "must_watch": must_watch, "raters_per_task": 1}], subjects=2, checks=NO_CHECKS))
    frames = next(iter(here.study.proxies.values())).frames
    early = answer_to(here.first(), "early", watched_frames=frames - 1)
    if must_watch:
        assert status(here.desk.answer, "a", early) == 400
    else:
        here.desk.answer("a", early)
    here.answer(watched_frames=frames)
    assert here.voted() == ([] if must_watch else ["early"]) + ["a1"]


def test_a_submission_of_another_rater_tells_nothing() -> None:
    here = room()
    here.desk.answer("a", answer_to(here.first("a"), "s"))
    said = []
    for submission in ("s", "s"):
        with pytest.raises(Refused) as refused:
            here.desk.answer("b", answer_to(here.first("b"), submission))
        said.append((refused.value.status, str(refused.value)))
    with pytest.raises(Refused) as refused:
        here.desk.undo("b", {"submission_id": "u", "undoes": "s"})
    assert {*said, (refused.value.status, str(refused.value))} == {(403, "This is not yours.")}


def test_one_submission_is_not_an_answer_and_a_skip() -> None:
    here = room()
    here.desk.answer("a", answer_to(here.first(), "s"))
    assert status(here.desk.skip, "a", skip_of(here.first(), "s")) == 409
    assert status(here.desk.undo, "a", {"submission_id": "s", "undoes": "s"}) == 409


# Skips


def test_a_skipped_task_does_not_come_back_to_the_rater_but_goes_to_others() -> None:
    here = room(subjects=2)
    skipped = here.first("a")
    reply = here.desk.skip("a", skip_of(skipped, "s", "other", " too dark "))
    assert (reply["stored"], reply["duplicate"]) == (True, False)
    assert here.desk.skip("a", skip_of(skipped, "s", "other", " too dark "))["duplicate"]
    assert next(event for event in here.journal.stored if event.kind == "skip").body["text"] == "too dark"
    here.answer("a")
    assert here.desk.work("a")["status"] == "done"
    assert [here.task_of(card) for card in here.desk.work("b")["queue"]] == [here.task_of(skipped)]
    assert here.desk.overview()["skips"] == {"broken": 0, "other": 1}
    assert here.desk.overview()["remarks"] == [{"rater_id": "a", "task_id": here.task_of(skipped), "text": "too dark"}]


def test_three_raters_who_cannot_play_a_task_take_it_out_for_all() -> None:
    here = room(raters=5, subjects=1)
    task = here.study.tasks[0].task_id
    for rater in "xyz":
        here.first(rater)
    for number, rater in enumerate("abc"):
        assert here.desk.overview()["taken_out"] == []
        here.desk.skip(rater, skip_of(here.first(rater), f"s{number}", "broken"))
    assert [one["task_id"] for one in here.desk.overview()["taken_out"]] == [task]
    assert here.desk.overview()["taken_out"][0]["raters"] == ["a", "b", "c"]
    assert here.desk.work("z")["status"] == "done"  # it was in their hands
    assert here.desk.work("d")["status"] == "done"
    here.desk.undo("b", {"submission_id": "u", "undoes": "s1"})
    assert here.desk.overview()["taken_out"] == []
    assert here.desk.work("d")["status"] == "working"


# Undo


def test_undo_goes_backwards_and_brings_tasks_back_as_they_were_shown() -> None:
    here = Room(make_study([pairwise()], checks=NO_CHECKS))
    cards = given_to(here.desk, "a", most=4)
    assert len(here.voted()) == 4
    waiting = here.ids()
    for back in (3, 2, 1):
        queue = here.undo()["work"]["queue"]
        assert [(card["players"], card["media"]) for card in queue[:1]] == [(cards[back]["players"], cards[back]["media"])]
        assert queue[0]["previous"] == {"better": "place-0"}
        assert queue[0]["lease_id"] != cards[back]["lease_id"]
        assert len(here.voted()) == back
    for forth in (1, 2, 3):
        card = here.first()
        assert card["media"] == cards[forth]["media"]
        reply = here.answer(option=2)
    assert here.ids() == waiting
    assert reply["work"]["queue"][0]["previous"] is None
    choices = {vote.task_id: vote.choice for vote in votes(here.study, here.journal.stored)}
    assert len(choices) == 4


def test_undo_is_idempotent_and_refuses_what_is_not_the_last() -> None:
    here = room()
    here.answer(), here.answer()
    assert status(here.desk.undo, "a", {"submission_id": "u", "undoes": "a1"}) == 409
    assert status(here.desk.undo, "a", {"submission_id": "u", "undoes": "none"}) == 404
    sent = {"submission_id": "u", "undoes": "a2"}
    first, stored = here.desk.undo("a", sent), list(here.journal.stored)
    again = here.desk.undo("a", sent)
    assert (first["duplicate"], again["duplicate"], again["work"]) == (False, True, first["work"])
    assert here.journal.stored == stored
    assert status(here.desk.undo, "a", {"submission_id": "v", "undoes": "a2"}) == 409
    assert status(here.desk.answer, "a", answer_to({**here.first(), "lease_id": "none"}, "x")) == 404


def test_the_old_lease_of_a_reopened_task_is_no_way_round_it() -> None:
    here = room()
    card = here.first()
    here.answer()
    here.undo()
    assert status(here.desk.answer, "a", answer_to(card, "x")) == 409


def test_a_skip_can_be_undone_and_shows_no_previous_answer() -> None:
    here = room(subjects=2)
    card = here.first()
    here.desk.skip("a", skip_of(card, "s"))
    again = here.undo()["work"]["queue"][0]
    assert (again["previous"], here.task_of(again)) == (None, here.task_of(card))
    assert here.answer()["work"]["progress"]["answered"] == 1


def test_a_reopened_task_stays_first_after_a_reload_and_gives_its_place_to_nobody() -> None:
    here = room(subjects=3)
    here.answer()
    queue = here.undo()["work"]["queue"]
    fresh = Desk(here.study, here.journal, clock=here.clock)
    assert fresh.work("a")["queue"] == queue
    assert queue[0]["previous"] == {"water": "0", "other": "0"}
    assert fresh.work("b")["status"] == "waiting"


# Gold, pauses, progress, the end


def gold_room(**checks: Any) -> Room:
    checks = {"gold_share": 0.5, "repeat_share": 0.0, "window": 4, "least_accuracy": 0.5, **checks}
    return Room(make_study([LABELLING], subjects=40, golds=20, checks=checks))


def test_a_rater_who_fails_gold_is_paused_until_an_admin_lets_them_go_on() -> None:
    here = gold_room()
    while here.desk.work("a")["status"] == "working":
        card = here.first()
        reply = here.answer(option=0)  # gold wants 25 %, option 3
    golds = [vote for vote in votes(here.study, here.journal.stored) if vote.purpose == "gold"]
    assert len(golds) == 4
    work = reply["work"]
    assert (work["status"], work["queue"], work["progress"]["undoable"]) == ("paused", [], None)
    assert "person who runs the study" in work["message"]
    assert status(here.desk.answer, "a", answer_to(card, "x")) == 423
    assert status(here.desk.skip, "a", skip_of(card, "x")) == 423
    assert status(here.desk.undo, "a", {"submission_id": "x", "undoes": f"a{here.sent}"}) == 423
    assert here.desk.answer("a", answer_to(card, f"a{here.sent}"))["duplicate"]
    told = here.desk.overview()["raters"][0]
    assert (told["paused"], told["gold"]) == (True, {"right": 0, "asked": 4, "share": 0.0})
    here.desk.resume("a")
    assert here.desk.work("a")["status"] == "working"
    assert here.desk.overview()["raters"][0]["gold_window"]["asked"] == 0
    before = len(here.journal.stored)
    here.desk.resume("a")
    assert len(here.journal.stored) == before


def test_what_is_undone_after_a_pause_counts_anew() -> None:
    here = gold_room()
    while here.answer(option=0)["work"]["status"] == "working":
        pass
    here.desk.resume("a")
    here.undo()  # the gold task that led to the pause
    assert here.desk.overview()["raters"][0]["gold"]["asked"] == 3
    here.answer(option=3)
    assert here.desk.overview()["raters"][0]["gold_window"] == {"right": 1, "asked": 1, "share": 1.0}


def test_a_rater_who_knows_the_answers_is_never_paused() -> None:
    here = gold_room()
    cards = given_to(here.desk, "a", most=100, option=3)
    assert len(cards) == 60
    assert here.desk.overview()["raters"][0]["gold"] == {"right": 20, "asked": 20, "share": 1.0}


def test_progress_is_the_median_of_the_last_twenty() -> None:
    here = room(subjects=30)
    progress = here.desk.work("a")["progress"]
    assert progress == {"answered": 0, "total": 30, "pace": "", "undoable": None}
    for seconds in [100.0] * 5 + [float(number) for number in range(1, 21)]:
        work = here.answer(seconds=seconds)["work"]
    said = "10 s each, about 50 s left"
    assert work["progress"] == {"answered": 25, "total": 30, "pace": said, "undoable": "a25"}


def test_the_overview_counts() -> None:
    here = room(raters=2, subjects=3)
    here.answer("a", seconds=2.0), here.answer("a", seconds=4.0, stuttered=True), here.answer("b")
    here.clock.now += 1800
    here.answer("b")
    seen = here.clock.now
    assert [rater["at_work"] for rater in here.desk.overview()["raters"]] == [False, True]
    here.clock.now += 1801
    told = here.desk.overview()
    assert (told["votes_last_hour"], told["done"]) == (1, False)
    assert told["why"] == "Votes are still missing for scene_motion."
    question = told["questions"][0]
    assert (question["tasks"], question["votes"], question["needed"], question["done"]) == (3, 4, 6, False)
    by_task = Counter(vote.task_id for vote in votes(here.study, here.journal.stored))
    assert question["covered"] == sum(count == 2 for count in by_task.values())
    first, second = told["raters"]
    assert (first["rater_id"], first["answered"], first["median_seconds"], first["stuttered_fraction"]) == ("a", 2, 3.0, 0.5)
    assert (second["last_seen"], second["answered_last_hour"], second["at_work"]) == (seen, 1, False)
    assert first["consistency_window"] == first["consistency"] == {"right": 0, "asked": 0, "share": None}
    for rater in "abab":
        if here.desk.work(rater)["queue"]:
            here.answer(rater)
    assert here.desk.overview()["done"]
    assert here.desk.work("c")["message"] == (
        "Thank you, the study is complete. Every task has the answers that the study asked for."
    )


def test_a_study_ends_when_its_ranking_is_settled_and_late_answers_still_count() -> None:
    stop = {"kind": "stable_ranking", "fewest_votes": 50}
    here = Room(make_study([pairwise()], subjects=200, methods=("x", "y"), checks=NO_CHECKS, stop=stop))
    leases: dict[str, Any] = {}
    other = here.first("b")
    work = here.desk.work("a")
    for turn in range(199):
        leases |= {one.body["lease_id"]: one.body["shown"] for one in here.journal.stored[-4:] if one.kind == "lease"}
        if not work["queue"]:
            break
        better = leases[work["queue"][0]["lease_id"]].index("x")
        work = here.desk.answer("a", answer_to(work["queue"][0], f"a{turn}", option=2 * better))["work"]
    assert work["status"] == here.desk.work("a")["status"] == "done"
    assert work["message"] == "Thank you, the study is complete. The order of the candidates is settled at 95%."
    assert len(here.voted()) in range(50, 199)
    assert here.desk.overview()["questions"][0]["settled"]
    assert here.desk.work("b")["status"] == "done"
    assert here.desk.answer("b", answer_to(other, "late"))["stored"]


def test_a_rater_sees_the_proxies_of_their_last_tasks_alone() -> None:
    here = room(subjects=60)
    other = Desk(here.study, here.journal, clock=here.clock)
    mine = here.first("a")["media"]["url"].removeprefix("/media/")
    assert here.desk.may_see("a", mine)
    assert other.may_see("a", mine)  # another server process
    assert not here.desk.may_see("b", mine)
    assert not here.desk.may_see("nobody", mine)
    assert not here.desk.may_see("a", "../study.json")
    given_to(here.desk, "a", most=30)
    assert not here.desk.may_see("a", mine)


# Failures, threads, processes


class FailingJournal(MemoryJournal):
    """Fails to commit when told to."""

    failing = False

    @contextmanager
    def writing(self, study_id: str) -> Iterator[MemoryWriter]:
        with self._lock:
            writer = MemoryWriter(self.stored)
            yield writer
            if self.failing:
                raise OSError("disk full")
            self.stored = [*self.stored, *writer.added]


def test_what_was_not_stored_never_happened() -> None:
    study, journal, clock = room().study, FailingJournal(), Clock()
    desk = Desk(study, journal, clock=clock)
    work = desk.work("a")
    sent = answer_to(work["queue"][0], "s")
    journal.failing = True
    for _ in range(2):
        with pytest.raises(OSError, match="disk full"):
            desk.answer("a", sent)
    journal.failing = False
    assert desk.work("a") == work
    reply = desk.answer("a", sent)
    assert not reply["duplicate"]
    assert [vote.submission_id for vote in votes(study, journal.stored)] == ["s"]


def test_a_refusal_costs_no_new_state() -> None:
    here = room()
    here.first()
    state = here.desk._live.state
    assert status(here.desk.answer, "a", answer_to({"lease_id": "x", "question": {"form": {"parts": []}}}, "s")) == 404
    assert here.desk._live.state is state


class SlowJournal(MemoryJournal):
    """Counts its transactions; the first one lasts until others wait."""

    def __init__(self, desk_calls: Callable[[], int], others: int) -> None:
        super().__init__()
        self.transactions, self.failing = 0, False
        self._waiting, self._others = desk_calls, others

    @contextmanager
    def writing(self, study_id: str) -> Iterator[MemoryWriter]:
        with self._lock:
            self.transactions += 1
            writer = MemoryWriter(self.stored)
            yield writer
            for _ in range(2000 if self.transactions == 1 else 0):
                if self._waiting() == self._others:
                    break
                time.sleep(0.005)
            if self.failing and self.transactions == 2:
                raise OSError("disk full")
            self.stored = [*self.stored, *writer.added]


def together(others: list[Callable[[Append], Any]], *, failing: bool = False) -> tuple[list[Any], SlowJournal, Live]:
    """What calls give or raise that all came while the first one was being stored."""
    journal = SlowJournal(lambda: len(live._calls), len(others))
    live = Live(make_study([LABELLING], subjects=4), journal, clock=Clock())
    journal.failing = failing
    outcomes: list[Any] = [None] * len(others)

    def call(number: int) -> None:
        try:
            outcomes[number] = live.write(others[number])
        except Exception as error:
            outcomes[number] = error

    threads = [threading.Thread(target=live.write, args=(appending("first"),))]
    threads[0].start()
    while not journal.transactions:
        time.sleep(0.001)
    threads += [threading.Thread(target=call, args=(number,)) for number in range(len(others))]
    for one in threads[1:]:
        one.start()
    for one in threads:
        one.join()
    return outcomes, journal, live


def appending(name: str, *, error: Exception | None = None) -> Callable[[Append], str]:
    def work(append: Append) -> str:
        append("resume", name, {})
        if error is not None:
            raise error
        return name

    return work


def refusing(append: Append) -> None:
    raise Refused(404, "no")


def test_calls_that_wait_for_each_other_share_a_transaction() -> None:
    outcomes, journal, live = together([appending("a"), appending("b"), refusing, appending("c")])
    assert [str(one) for one in outcomes] == ["a", "b", "no", "c"]
    assert journal.transactions == 2
    assert {event.rater_id for event in journal.stored} == {"first", "a", "b", "c"}
    assert live.state.last_seq == 4


def test_who_fails_after_appending_fails_alone() -> None:
    outcomes, journal, live = together([appending("a"), appending("b", error=ValueError("broken")), appending("c")])
    assert [str(one) for one in outcomes] == ["a", "broken", "c"]
    assert {event.rater_id for event in journal.stored} == {"first", "a", "c"}
    assert live.state.last_seq == 3


def test_when_the_disk_fails_all_that_shared_the_transaction_are_told() -> None:
    outcomes, journal, live = together([appending("a"), refusing, appending("b")], failing=True)
    assert [str(one) for one in outcomes] == ["disk full"] * 3
    assert {event.rater_id for event in journal.stored} == {"first"}
    live.write(appending("again"))
    assert [event.rater_id for event in journal.stored] == ["first", "again"]


def at_once(study: Study, desks: list[Desk]) -> None:
    """Six raters answer in threads of their own, then whoever had nothing to do while others worked."""
    failures: list[BaseException] = []

    def rate(number: int) -> None:
        try:
            given_to(desks[number % len(desks)], f"r{number}", most=100, option=number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=rate, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for number in range(6):
        given_to(desks[0], f"r{number}", most=100)


@pytest.mark.parametrize("desks", [1, 2])
def test_raters_at_once_get_every_task_as_often_as_it_needs(desks: int) -> None:
    here = Room(make_study([pairwise(raters_per_task=2)], subjects=5, checks=NO_CHECKS))
    at_once(here.study, [here.desk, Desk(here.study, here.journal, clock=here.clock)][:desks])
    assert Counter(vote.task_id for vote in votes(here.study, here.journal.stored)) == dict.fromkeys(here.study.task_of, 2)


def test_two_servers_share_a_real_journal(tmp_path: Path) -> None:
    study, path = make_study([pairwise(raters_per_task=2)], subjects=3, checks=NO_CHECKS), tmp_path / "journal.sqlite"
    with Journal(path) as first, Journal(path) as second:
        at_once(study, [Desk(study, first), Desk(study, second)])
        assert Counter(vote.task_id for vote in votes(study, first.events(study.study_id))) == dict.fromkeys(study.task_of, 2)


def test_the_same_over_a_real_journal(tmp_path: Path) -> None:
    study = make_study([pairwise(raters_per_task=2)], subjects=3, golds=1, checks={"gold_share": 0.2, "least_accuracy": 0})
    memory, clock = MemoryJournal(), Clock()
    with Journal(tmp_path / "journal.sqlite") as journal:
        for stored in (memory, journal):
            desk = Desk(study, stored, clock=clock)
            given_to(desk, "a", most=5)
            desk.skip("a", skip_of(desk.work("a")["queue"][0], "s", "broken"))
            desk.undo("a", {"submission_id": "u", "undoes": "s"})
            given_to(desk, "a", most=3)
            desk.undo("a", {"submission_id": "v", "undoes": desk.work("a")["progress"]["undoable"]})
            given_to(desk, "a", most=100)
            given_to(desk, "b", most=100)
            assert desk.overview()["questions"][0]["votes"] == 36
        assert journal.events(study.study_id) == memory.stored
        assert Desk(study, journal, clock=clock)._live.state == desk._live.state


# Any number of raters doing anything


OPERATIONS = [
    "work",
    "answer",
    "answer",
    "answer",
    "late",
    "skip",
    "broken",
    "undo",
    "again",
    "wait",
    "back",
    "restart",
    "resume",
]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(OPERATIONS), st.integers(0, 7)), max_size=90),
    st.sampled_from(["labels", "pairs"]),
    st.integers(1, 3),
)
@example(
    [("a", "skip", 7), ("a", "wait", 4), ("b", "answer", 6), ("b", "late", 2), ("b", "back", 4), ("a", "answer", 2),
     ("b", "restart", 3)], "pairs", 1
)  # fmt: skip
@example(
    [("b", "answer", 7), ("b", "answer", 3), ("b", "undo", 6), ("b", "skip", 2), ("a", "late", 6), ("b", "undo", 3),
     ("a", "undo", 3), ("a", "answer", 3), ("a", "skip", 3), ("a", "answer", 6), ("b", "answer", 3)], "pairs", 1
)  # fmt: skip
def test_whatever_raters_do_nothing_is_lost_and_nobody_gets_a_task_twice(
    steps: list[tuple[str, str, int]], kind: str, raters: int
) -> None:
    questions = [{**(LABELLING if kind == "labels" else pairwise()), "raters_per_task": raters}]
    subjects, checks = (8, 2) if kind == "labels" else (2, 1), {"gold_share": 0.2, "repeat_share": 0.2, "repeat_gap": 2}
    study = make_study(questions, subjects=subjects[0], golds=subjects[1], checks={**checks, "window": 3}, lease_minutes=10)
    world = Simulation(study)
    for turn, (rater, operation, number) in enumerate(steps):
        world.step(rater, operation, number, turn)
        world.check(raters)


class Simulation(Room):
    """Does what raters do, and remembers what was acknowledged."""

    def __init__(self, study: Study) -> None:
        super().__init__(study)
        self.cards: dict[str, list[dict[str, Any]]] = {}
        self.acknowledged: dict[str, list[str]] = {}
        self.answers: list[tuple[str, dict[str, Any]]] = []
        self.beyond = False
        """Whether a task may have more answers than it needs: some came late, or to a task that others took meanwhile."""

    def step(self, rater: str, operation: str, number: int, turn: int) -> None:
        if operation in ("wait", "back"):
            self.clock.now += 180 * number * (1 if operation == "wait" else -1)
        elif operation == "restart":
            self.desk = Desk(self.study, self.journal, clock=self.clock)
        elif operation == "resume":
            self.desk.resume(rater)
        elif operation == "again" and self.answers:
            who, sent = self.answers[number % len(self.answers)]
            assert self.desk.answer(who, sent)["duplicate"]
        else:
            self.rate(rater, operation, number, turn)

    def rate(self, rater: str, operation: str, number: int, turn: int) -> None:
        work = self.desk.work(rater)
        self.cards.setdefault(rater, []).extend(card for card in work["queue"] if card not in self.cards.get(rater, []))
        stand = self.acknowledged.setdefault(rater, [])
        assert work["progress"]["undoable"] in (stand[-1] if stand else None, None)
        known, name = self.cards[rater], f"{rater}{turn}"
        try:
            if operation == "answer" and work["queue"]:
                self.send(rater, answer_to(work["queue"][0], name, option=number))
            elif operation == "late" and known:
                self.send(rater, answer_to(known[number % len(known)], name, option=number))
            elif operation in ("skip", "broken") and work["queue"]:
                self.desk.skip(rater, skip_of(work["queue"][0], name, "broken" if operation == "broken" else "unclear"))
                stand.append(name)
            elif operation == "undo" and stand:
                skipped = self.desk._live.state.submissions[stand[-1]]
                if skipped.vote is None and skipped.purpose == "vote":
                    self.beyond = self.beyond or not self.desk._live.coverage.room(skipped.task_id)
                reply = self.desk.undo(rater, {"submission_id": name, "undoes": stand[-1]})
                stand.pop()
                assert reply["work"]["queue"] or reply["work"]["status"] == "done"
        except Refused as refused:
            if refused.status not in ({409, 423} if operation == "late" else {423}):
                raise

    def send(self, rater: str, sent: dict[str, Any]) -> None:
        late = not self.desk._live.coverage.live(sent["lease_id"])
        assert self.desk.answer(rater, sent)["stored"]
        self.beyond = self.beyond or late
        self.answers.append((rater, sent))
        self.acknowledged[rater].append(sent["submission_id"])

    def check(self, raters: int) -> None:
        live, events = self.desk._live, self.journal.stored
        again = State(self.study)
        again.fold(events)
        assert again == live.state
        standing = votes(self.study, events)
        skips = {event.body["submission_id"] for event in events if event.kind == "skip"}
        expected = {name for names in self.acknowledged.values() for name in names} - skips
        assert sorted(vote.submission_id for vote in standing) == sorted(expected)
        counts = Counter((vote.rater_id, vote.task_id, vote.purpose == "repeat") for vote in standing)
        assert all(count == 1 for count in counts.values())
        ordinary = Counter(vote.task_id for vote in standing if vote.purpose == "vote")
        if not self.beyond:
            assert all(count <= raters for count in ordinary.values())
        for rater, record in live.state.raters.items():
            held = [lease for lease in record.queue if live.coverage.live(lease)]
            reopened = [lease for lease in held if reopened_by_undo(events, lease)]
            assert len(held) - len(reopened) <= 2, rater


def reopened_by_undo(events: list[Any], lease_id: str) -> bool:
    place = next(number for number, event in enumerate(events) if event.kind == "lease" and event.body["lease_id"] == lease_id)
    return place > 0 and events[place - 1].kind == "undo"
