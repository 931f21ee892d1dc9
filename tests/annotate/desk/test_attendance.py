"""A stranger's way: consent, practice, test, work with breaks, ends, places, and what they are owed."""

from __future__ import annotations

import csv
import hashlib
import threading
import time
from contextvars import copy_context
from dataclasses import replace
from typing import Any

import pytest
from rater_world import Clock, MemoryJournal, answer_to, make_study

from inpaintbench.annotate.crowd import Crowd
from inpaintbench.annotate.desk.desk import Desk, Refused
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.journal.participants import Arrival, Participant
from inpaintbench.annotate.languages import SPEECH, Speech
from inpaintbench.annotate.outcomes.payments import Payment, as_csv, payments
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InputError

MINUTE = 60.0
CODES = {"completed": "DONE", "failed_checks": "FAILED", "screened_out": "OUT", "no_more_tasks": "NONE"}


def crowd_study(*, training: int = 1, test: int = 2, gold: int = 0, subjects: int = 12, **crowd: Any) -> Study:
    """Clips of which the first are practice, then a test, then gold; ``keep`` is always right."""
    settings = {"platform": "link", "consent_text": "We store your answers.", "tasks_per_person": 4, "codes": CODES, **crowd}
    checks = {"gold_share": 0.5 if gold else 0, "repeat_share": 0, "window": 2, "least_accuracy": 1.0}
    spec = {"leaf": "keep_reject", "must_watch": False, "raters_per_task": 3}
    made = make_study([spec], subjects=subjects, crowd=settings, checks=checks)
    uses = ["training"] * training + ["test"] * test + [""] * gold
    known = [replace(task, use=use, gold=("keep",), why="It plays.") for task, use in zip(made.tasks, uses, strict=False)]
    return replace(made, tasks=(*known, *made.tasks[len(known) :]))


class World:
    def __init__(self, **settings: Any) -> None:
        self.study, self.journal, self.clock = crowd_study(**settings), MemoryJournal(), Clock()
        codes = self.study.file.crowd
        assert codes is not None
        self.crowd: Crowd = codes
        self.desk = Desk(
            self.study, self.journal, clock=self.clock, way_back=lambda who, outcome: {"code": codes.code(outcome), "who": who}
        )

    def come(self, who: str, *, agree: bool = True) -> dict[str, Any]:
        self.desk.arrive(who)
        assert self.desk.work(who)["status"] == "consent"
        return self.desk.step(who, {"step": "consent", "answer": agree})

    def answer(self, who: str, verdict: str = "keep") -> dict[str, Any]:
        card = self.desk.work(who)["queue"][0]
        self.clock.now += 5
        return self.desk.answer(who, answer_to(card, card["lease_id"], option=["keep", "reject"].index(verdict)))

    def go_through(self, who: str, *, most: int = 50) -> dict[str, Any]:
        work = self.desk.work(who)
        for _ in range(most):
            if work["status"] == "resting":
                self.clock.now += work["crowd"]["seconds"] + 1
            elif work["status"] != "working":
                break
            else:
                self.answer(who)
            work = self.desk.work(who)
        return work

    def payment(self, who: str) -> Payment:
        state = State(self.study)
        state.fold(self.journal.stored)
        (row,) = payments(state, self.crowd, {who: Participant(who, who, Arrival("link", "p", "s"), 0)}, now=self.clock.now)
        return row

    def owed(self) -> dict[str, tuple[str, str]]:
        state = State(self.study)
        state.fold(self.journal.stored)
        people = {
            who: Participant(who, who, Arrival("link", f"pid-{who}", session=f"s-{who}"), 0.0)
            for who, record in state.raters.items()
            if record.visit
        }
        return {row.person: (row.state, row.decision) for row in payments(state, self.crowd, people, now=self.clock.now)}


def test_somebody_comes_agrees_practises_passes_and_gets_the_code() -> None:
    world = World()
    world.desk.arrive("a")
    before = world.desk.work("a")
    assert (before["status"], before["queue"], before["crowd"]["text"]) == ("consent", [], "We store your answers.")
    assert "code" not in str(before)
    work = world.come("a")
    assert (work["status"], work["crowd"], len(work["queue"])) == ("working", {"stage": "training", "before": 0}, 1)
    told = world.answer("a")
    assert told["feedback"] == {"right": True, "answers": ["Keep"], "why": "It plays."}
    assert told["work"]["crowd"] == {"stage": "testing", "before": 1}
    assert world.answer("a")["feedback"] is None
    assert world.answer("a")["work"]["crowd"] == {"stage": "working", "before": 3}
    end = world.go_through("a")
    assert end["status"] == "ended"
    assert (end["crowd"]["outcome"], end["crowd"]["code"]) == ("completed", "DONE")
    # Quota: practice and test are no votes.
    assert world.desk.overview()["questions"][0]["votes"] == 4
    assert world.desk.work("a")["crowd"] == end["crowd"]
    assert world.owed() == {"a": ("completed", "pay")}
    with pytest.raises(Refused) as refused:
        world.desk.undo("a", {"submission_id": "u", "undoes": "anything"})
    assert refused.value.status == 409


def test_consent_is_to_what_each_of_many_at_once_has_read() -> None:
    texts = {"en": "We store your answers.", "de": "Wir speichern Ihre Antworten.", "zh": "\u6211\u4eec"}
    world = World()
    threads = []
    for language, text in texts.items():
        world.desk.arrive(language)
        context = copy_context()
        context.run(SPEECH.set, Speech(language, {texts["en"]: text}))
        agreeing = (world.desk.step, language, {"step": "consent"})
        threads.append(threading.Thread(target=context.run, args=agreeing))
    with world.desk._live.reading():  # nobody writes, so that all wait for each other and one thread writes for all
        for thread in threads:
            thread.start()
        while len(world.desk._live._calls) < len(texts) and any(thread.is_alive() for thread in threads):
            time.sleep(0.001)
    for thread in threads:
        thread.join()
    bodies = {event.rater_id: event.body for event in world.journal.stored if event.kind == "consent"}
    assert {who: (body["language"], body["text_sha256"]) for who, body in bodies.items()} == {
        language: (language, hashlib.sha256(text.encode()).hexdigest()) for language, text in texts.items()
    }


def test_what_was_wrong_in_practice_is_explained() -> None:
    world = World()
    world.come("a")
    assert world.answer("a", "reject")["feedback"] == {"right": False, "answers": ["Keep"], "why": "It plays."}


def test_who_does_not_agree_gives_the_place_back() -> None:
    world = World(places=1)
    end = world.come("a", agree=False)
    assert (end["status"], end["crowd"]["outcome"], end["crowd"]["code"]) == ("ended", "declined", "")
    assert world.come("b")["status"] == world.come("c")["status"] == "working"
    # Who has not passed the test may have been invented, and holds nobody up.
    for _ in range(3):
        assert world.answer("b")["work"]["status"] == "working"
    assert world.desk.work("b")["status"] == "working"
    for _ in range(2):
        assert world.answer("c")["work"]["status"] == "working"
    end = world.answer("c")["work"]
    late = world.come("d")
    assert (end["crowd"]["outcome"], late["crowd"]["outcome"], late["crowd"]["code"]) == (*["no_more_tasks"] * 2, "NONE")
    assert world.go_through("b")["crowd"]["outcome"] == "completed"
    owed = {"a": ("declined", "none"), "b": ("completed", "pay"), **dict.fromkeys("cd", ("no more tasks", "pay"))}
    assert world.owed() == owed


def test_whoever_agrees_has_a_place_where_links_are_signed() -> None:
    world = World(places=1, platform="prolific", signed=True, study_id="6" * 24)
    assert world.come("a")["status"] == "working"
    assert world.come("b")["crowd"]["outcome"] == "no_more_tasks"


def test_who_cannot_pass_the_test_any_more_is_screened_out() -> None:
    world = World(qualify={"test": "test.csv", "right": 2})
    world.come("a")
    world.answer("a")
    end = world.answer("a", "reject")["work"]
    assert (end["status"], end["crowd"]["outcome"], end["crowd"]["code"]) == ("ended", "screened_out", "OUT")
    assert world.owed() == {"a": ("screened out", "pay screening")}


def test_too_many_known_answers_missed_ends_it_after_the_instructions_were_read_again() -> None:
    world = World(training=0, test=0, gold=6, tasks_per_person=50, subjects=40)
    work = world.come("a")
    while work["status"] == "working":
        work = world.answer("a", "reject")["work"]
    assert work["status"] == "rereading"
    work = world.desk.step("a", {"step": "reread"})
    assert work["status"] == "working"
    while work["status"] == "working":
        work = world.answer("a", "reject")["work"]
    assert (work["crowd"]["outcome"], work["crowd"]["code"]) == ("failed_checks", "FAILED")
    assert world.owed() == {"a": ("failed checks", "refuse")}
    state = State(world.study)
    state.fold(world.journal.stored)
    (row,) = payments(
        state, world.crowd, {"a": Participant("a", "=P1", Arrival("link", "p", "s"), 0)}, now=world.clock.now
    )  # fmt: skip
    assert len(row.message) >= 100  # as platforms ask for
    assert "0 of 4" in row.message
    assert "\n'=P1,s,p,failed checks,refuse,FAILED," in as_csv([row], "link")


def test_a_break_begins_when_it_is_due_and_ends_by_the_clock() -> None:
    world = World(training=0, test=0, tasks_per_person=4, break_every_minutes=10, break_seconds=30)
    world.come("a")
    world.clock.now += 11 * MINUTE
    work = world.desk.work("a")
    assert (work["status"], work["queue"], work["crowd"]["seconds"]) == ("resting", [], 30)
    world.clock.now += 31
    assert world.desk.work("a")["status"] == "working"
    assert world.go_through("a")["crowd"]["outcome"] == "completed"


def test_who_leaves_half_way_loses_the_place_and_may_still_finish() -> None:
    world = World(places=1, most_minutes=60, break_every_minutes=1000)
    world.come("a")
    world.answer("a")
    world.clock.now += 61 * MINUTE
    assert world.owed() == {"a": ("timed out", "none")}
    assert world.come("b")["status"] == "working"
    assert world.go_through("a")["crowd"]["code"] == "DONE"
    assert world.owed()["a"] == ("completed", "pay")


def test_who_stops_gets_no_code_and_who_withdraws_does_not_count() -> None:
    world = World(training=0, test=0)
    world.come("a")
    world.answer("a")
    end = world.desk.step("a", {"step": "leave"})
    assert (end["crowd"]["outcome"], end["crowd"]["code"]) == ("returned", "")
    world.come("b")
    world.go_through("b")
    assert world.desk.overview()["questions"][0]["votes"] == 5
    end = world.desk.step("b", {"step": "withdraw", "sure": True})
    assert (end["crowd"]["outcome"], end["crowd"]["code"]) == ("completed", "DONE")
    assert end["crowd"]["text"].endswith("You have withdrawn: your answers are not used.")
    assert world.desk.overview()["questions"][0]["votes"] == 1
    world.come("c")
    world.answer("c")
    with pytest.raises(Refused, match="once more"):
        world.desk.step("c", {"step": "withdraw"})
    assert world.desk.step("c", {"step": "withdraw", "sure": True})["crowd"]["outcome"] == "withdrawn"
    assert world.owed() == {"a": ("returned", "none"), "b": ("completed", "pay"), "c": ("withdrawn", "none")}
    assert "Withdrew afterwards" in world.payment("b").message


def test_who_is_excluded_is_handed_nothing_more_and_comes_to_the_end() -> None:
    world = World(training=0, test=0)
    world.come("a")
    world.answer("a")
    world.desk.exclude("a", reason="never looked")
    end = world.desk.work("a")
    assert (end["crowd"]["outcome"], end["queue"]) == ("failed_checks", [])
    assert world.desk.overview()["questions"][0]["votes"] == 0
    row = world.payment("a")
    assert (row.decision, row.message[-13:]) == ("refuse", " never looked")
    assert "instructions" not in row.message  # which nobody showed a second time
    assert len(row.message) >= 100
    world.desk.include("a", reason="looked all the time")
    row = world.payment("a")
    assert (row.state, row.decision) == ("failed checks", "pay")


def test_who_is_excluded_after_the_end_is_paid() -> None:
    world = World(training=0, test=0)
    world.come("a")
    world.go_through("a")
    world.desk.exclude("a", reason="never looked")
    assert world.owed() == {"a": ("completed", "pay")}


def test_who_withdraws_stays_out_whatever_was_decided_of_them_before_or_is_after() -> None:
    world = World(training=0, test=0)
    for name in "ab":
        world.come(name)
        world.answer(name)
        world.desk.exclude(name, reason="never looked")
        world.desk.work(name)
    world.desk.include("b", reason="looked all the time")
    for name in "ab":
        before = world.payment(name).decision
        world.desk.step(name, {"step": "withdraw", "sure": True})
        assert world.payment(name).decision == before
        with pytest.raises(InputError, match="withdrew"):
            world.desk.include(name, reason="once more")
    assert world.desk.overview()["questions"][0]["votes"] == 0
    assert world.owed() == {"a": ("failed checks", "refuse"), "b": ("failed checks", "pay")}


def test_answers_of_those_who_withdraw_count_where_the_consent_says_so() -> None:
    world = World(training=0, test=0, keep_votes=True)
    world.come("a")
    world.go_through("a")
    world.desk.step("a", {"step": "withdraw", "sure": True})
    assert world.desk.overview()["questions"][0]["votes"] == 4


def test_steps_are_for_strangers_and_change_nothing_when_they_come_again() -> None:
    world = World()
    with pytest.raises(Refused):
        world.desk.step("invited", {"step": "consent"})
    assert world.desk.work("invited")["status"] == "working"
    world.come("a")
    many = len(world.journal.stored)
    for step in ("consent", "reread"):
        world.desk.step("a", {"step": step})
    world.desk.arrive("a")
    assert len(world.journal.stored) == many


def test_states_folded_anew_stand_where_they_stood() -> None:
    world = World()
    world.come("a")
    for _ in range(3):
        world.answer("a")
    again = Desk(world.study, world.journal, clock=world.clock)
    assert again.work("a") == world.desk.work("a")


def test_first_tasks_to_settle_in_come_on_top_of_the_quota() -> None:
    world = World(training=0, test=0)
    study = world.study
    checks = study.file.checks.model_copy(update={"warmup": 2})
    world.study = replace(study, file=study.file.model_copy(update={"checks": checks}))
    world.desk = Desk(world.study, world.journal, clock=world.clock)
    totals = {world.come("a")["progress"]["total"]}
    while (work := world.answer("a")["work"])["status"] == "working":
        totals.add(work["progress"]["total"])
    assert totals == {4 + 2}
    assert world.go_through("a")["crowd"]["outcome"] == "completed"
    state = State(world.study)
    state.fold(world.journal.stored)
    assert (len(state.submissions), len(state.votes())) == (6, 4)


def test_what_is_to_come_holds_the_known_answers_from_the_beginning() -> None:
    world = World(training=0, test=0, gold=9, subjects=30, tasks_per_person=6)
    totals = {world.come("a")["progress"]["total"]}
    while (work := world.answer("a")["work"])["status"] == "working":
        totals.add(work["progress"]["total"])
    assert len(totals) == 1
    assert totals.pop() in (11, 12, 13)  # half of the tasks, to the last ordinary one


def owing(decision: str, **fields: Any) -> Payment:
    message = f"Of {decision}; " + "x" * 1100
    row = Payment("P1", "s1", "p1", "state", decision, "CODE", 3.0, 4, 1, 2, message, study_id="h1")  # type: ignore[arg-type]
    return replace(row, **fields)


@pytest.mark.parametrize(
    ("platform", "head", "paid", "refused"),
    [
        (
            "prolific", "submission_id,participant_id,decision,code,category,message",
            "s1,p1,approve,CODE,,Of pay;", "s1,p1,reject,CODE,FAILED_CHECK,Of refuse;",
        ),
        ("connect", "assignmentId,participantId,decision,reason", "s1,p1,approve,Of pay;", "s1,p1,reject,Of refuse;"),
        (
            "mturk", "HITId,AssignmentId,WorkerId,Approve,Reject,RequesterFeedback",
            "h1,s1,p1,X,,Of pay;", "h1,s1,p1,,Of refuse;",
        ),
    ],
)  # fmt: skip
def test_payments_have_the_form_of_their_platform(platform: Any, head: str, paid: str, refused: str) -> None:
    decisions = ("pay", "refuse", "pay screening", "none", "wait")
    text = as_csv([owing(decision) for decision in decisions], platform)
    first, *lines = text.splitlines()
    assert first == head
    assert len(lines) == 3  # nothing is to be decided of who returned or is at work
    assert lines[0].startswith(paid)
    assert lines[1].startswith(refused)
    assert ",screen out," in lines[2] or platform == "mturk"
    if platform == "mturk":
        assert lines[2].startswith("h1,s1,p1,X,,")
        assert all(
            len(row[column]) <= 1024 for row in csv.DictReader(text.splitlines()) for column in ("Reject", "RequesterFeedback")
        )
    assert "'=cmd" in as_csv([owing("pay", participant_id="=cmd")], platform)


def test_a_pause_takes_neither_a_place_nor_time_of_work() -> None:
    world = World(places=1, training=0, test=0, platform="prolific", signed=True, study_id="6" * 24)
    world.come("a")
    for value in ("yes", "no", "yes", "no"):
        world.desk.edit("paused", "", value, by="boss", seen=9)
        world.clock.now += 45 * MINUTE if value == "yes" else 4 * MINUTE
        assert world.payment("a").state == "working"
    assert world.come("b")["crowd"]["outcome"] == "no_more_tasks"
    assert world.desk.work("a")["status"] == "working"
    world.clock.now += 3 * MINUTE
    assert world.desk.work("a")["status"] == "resting"
    world.clock.now += 50 * MINUTE
    assert world.payment("a").state == "timed out"
    assert world.come("c")["status"] == "working"


def test_a_break_goes_on_in_a_pause() -> None:
    world = World(training=0, test=0)
    world.come("a")
    held = [card["lease_id"] for card in world.desk.work("a")["queue"]]
    world.clock.now += 11 * MINUTE
    assert world.desk.work("a")["status"] == "resting"
    world.desk.edit("paused", "", "yes", by="boss", seen=0)
    resting = world.desk.work("a")
    assert (resting["status"], resting["queue"]) == ("resting", [])
    world.clock.now += resting["crowd"]["seconds"] + 1
    after = world.desk.work("a")
    assert (after["status"], [card["lease_id"] for card in after["queue"]]) == ("working", held)
