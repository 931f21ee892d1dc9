from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rater_world import Clock, MemoryJournal, answer_to, make_study, pairwise, skip_of

from inpaintbench.annotate.app.tables import judged
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.desk.state import State, votes
from inpaintbench.annotate.records import Event, Proportion, RaterRecord, Vote
from inpaintbench.annotate.study import Checks, Study, study_id
from inpaintbench.errors import InputError


def worked() -> tuple[Study, list[Event]]:
    """Two raters answer, skip and undo, with gold and repeats."""
    checks = {"gold_share": 0.2, "repeat_share": 0.2, "repeat_gap": 2}
    study = make_study([pairwise(raters_per_task=2, constants={"both_bad": True})], subjects=4, golds=1, checks=checks)
    journal, clock = MemoryJournal(), Clock()
    desk = Desk(study, journal, clock=clock)
    for turn in range(60):
        rater = "ab"[turn % 2]
        work, clock.now = desk.work(rater), clock.now + 400
        undoable = work["progress"]["undoable"]
        if turn % 7 == 6 and undoable:
            desk.undo(rater, {"submission_id": f"u{turn}", "undoes": undoable})
        elif work["queue"] and turn % 11 == 3:
            desk.skip(rater, skip_of(work["queue"][0], f"s{turn}", "broken"))
        elif work["queue"]:
            desk.answer(rater, answer_to(work["queue"][0], f"a{turn}", option=turn))
    return study, journal.stored


STUDY, EVENTS = worked()


def folded(*pieces: Sequence[Event]) -> State:
    state = State(STUDY)
    for piece in pieces:
        state.fold(piece)
    return state


@given(st.lists(st.integers(0, len(EVENTS)), max_size=6), st.randoms(use_true_random=False))
def test_pieces_of_any_size_in_any_order_within_give_the_same_state(cuts: list[int], random: object) -> None:
    places = [0, *sorted(cuts), len(EVENTS)]
    pieces = [EVENTS[begin:end] for begin, end in itertools.pairwise(places)]
    for piece in pieces:
        random.shuffle(piece)  # type: ignore[attr-defined]
    assert folded(*pieces) == folded(EVENTS)


def test_events_that_are_known_are_passed_over() -> None:
    assert folded(EVENTS[:40], EVENTS[20:60], EVENTS) == folded(EVENTS)
    assert folded(EVENTS) != folded(EVENTS[:-1])


def standing(events: Sequence[Event]) -> list[Event]:
    undone = {event.body["undoes"] for event in events if event.kind == "undo"}
    return [event for event in events if event.kind == "answer" and event.body["submission_id"] not in undone]


@given(st.integers(0, len(EVENTS)))
def test_votes_are_the_answers_that_nobody_took_back(end: int) -> None:
    events = EVENTS[:end]
    leases = {event.body["lease_id"]: event for event in events if event.kind == "lease"}
    assert [vote.submission_id for vote in votes(STUDY, events)] == [one.body["submission_id"] for one in standing(events)]
    for vote, event in zip(votes(STUDY, events), standing(events), strict=True):
        lease, task = leases[event.body["lease_id"]], STUDY.task_of[event.body["task_id"]]
        assert (vote.rater_id, vote.at, vote.given) == (event.rater_id, event.at, event.body["given"])
        assert (list(vote.shown), vote.purpose) == (lease.body["shown"], lease.body["purpose"])
        assert (vote.question, vote.subject_id, vote.cluster) == (task.question, task.subject_id, task.cluster)


@given(st.integers(0, len(EVENTS)))
def test_counters_are_what_counting_all_events_again_gives(end: int) -> None:
    state = folded(EVENTS[:end])
    ordinary = [vote for vote in state.votes() if vote.purpose == "vote"]
    for task in STUDY.tasks:
        assert state.standing.get(task.task_id, 0) == sum(vote.task_id == task.task_id for vote in ordinary)
    told = [vote for vote in ordinary if vote.choice != "both_bad"]
    pairs = state.pairs.get("pairwise", {})
    for a, b in {vote.candidates for vote in told}:
        choices = [vote.choice for vote in told if vote.candidates == (a, b)]
        assert pairs[a, b] == {"a": choices.count(a), "b": choices.count(b), "tie": choices.count("tie")}
    assert sum(sum(one.values()) for one in pairs.values()) == len(told)
    kept = state.comparisons("pairwise")
    assert list(kept) == [vote.submission_id for vote in told]
    for vote in told:
        left, right, outcome, cluster = kept[vote.submission_id]
        assert ((left, right), cluster) == (vote.shown, vote.cluster)
        assert {"first": left, "second": right, "tie": "tie"}[outcome] == vote.choice


@given(st.integers(0, len(EVENTS)), st.sampled_from("ab"))
def test_the_record_of_a_rater_is_what_their_answers_say(end: int, rater: str) -> None:
    state = folded(EVENTS[:end])
    mine, record = [vote for vote in state.votes() if vote.rater_id == rater], state.rater(rater)
    assert record.seconds == [vote.seconds for vote in mine]
    assert record.gold == [vote.choice in STUDY.task_of[vote.task_id].gold for vote in mine if vote.purpose == "gold"]
    first = {vote.task_id: vote.choice for vote in mine if vote.purpose == "vote"}
    repeats = [vote for vote in mine if vote.purpose == "repeat"]
    assert record.repeats == [first[one.task_id] == one.choice if one.task_id in first else None for one in repeats]
    open_leases = [state.leases[one] for one in record.queue]
    seen = [one.shown for one in open_leases] + [vote.shown for vote in mine]
    for place in (0, 1):
        for method in ("alpha", "beta", "gamma", "delta"):
            count = sum(shown[place] == method for shown in seen)
            assert record.places.get(("pairwise", method, place), 0) == count == record.everywhere.get((method, place), 0)


def test_all_kinds_of_events_were_among_those_tried() -> None:
    assert {event.kind for event in EVENTS} >= {"lease", "renew", "answer", "skip", "undo"}
    assert {vote.purpose for vote in votes(STUDY, EVENTS)} == {"vote", "gold", "repeat"}
    assert {vote.choice for vote in votes(STUDY, EVENTS)} >= {"tie", "both_bad"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task_id": "strange"}, "'strange'"),
        ({"lease_id": None}, "KeyError|None"),
    ],
)
def test_events_of_another_study_are_named(change: dict[str, object], said: str) -> None:
    kind = "lease" if "task_id" in change else "answer"
    event = next(event for event in EVENTS if event.kind == kind)
    strange = event._replace(body={**event.body, **change}, seq=1)
    with pytest.raises(InputError, match=rf"event 1 of the journal \({kind} of rater 'a'\) does not fit.*({said})"):
        folded([strange])


def with_gold(study: Study, gold: dict[str, tuple[str, ...]]) -> Study:
    """The same study after its gold was corrected: task id -> right choices."""
    corrected = tuple(replace(task, gold=gold.get(task.task_id, ())) for task in study.tasks)
    assert study_id(study.file, corrected) == study.study_id
    return replace(study, tasks=corrected)


def asked_for_gold(option: int = 0) -> tuple[Desk, MemoryJournal, Study, str]:
    """Rater ``a`` has answered the only gold task, among others."""
    checks = {"gold_share": 0.5, "repeat_share": 0.0, "window": 1, "least_accuracy": 1.0}
    study = make_study([{"leaf": "scene_motion", "must_watch": False}], subjects=9, golds=1, checks=checks)
    journal = MemoryJournal()
    desk = Desk(study, journal, clock=Clock())
    task = next(task.task_id for task in study.tasks if task.gold)
    for turn in range(9):
        desk.answer("a", answer_to(desk.work("a")["queue"][0], f"a{turn}", option=option))
        if any(event.body.get("task_id") == task for event in journal.stored if event.kind == "answer"):
            return desk, journal, study, task
    raise AssertionError("no gold was asked")


def test_gold_that_is_corrected_after_an_answer_is_what_the_answer_is_held_against() -> None:
    desk, journal, study, task = asked_for_gold()  # of water: 0 per cent, where 25 is right
    assert desk.work("a")["status"] == "paused"
    corrected = with_gold(study, {task: ("0", "5")})
    again = Desk(corrected, journal, clock=Clock())
    assert again.work("a")["status"] == "working"
    (told,) = again.overview()["raters"]
    assert told["gold"] == {"right": 1, "asked": 1, "share": 1.0}


def test_an_answer_to_what_is_no_gold_any_more_is_a_vote_and_can_be_taken_back() -> None:
    _, journal, study, task = asked_for_gold()
    corrected = with_gold(study, {})
    desk = Desk(corrected, journal, clock=Clock())
    work = desk.work("a")
    assert (work["status"], desk.overview()["raters"][0]["gold"]["asked"]) == ("working", 0)
    (vote,) = (vote for vote in votes(corrected, journal.stored) if vote.task_id == task)
    assert vote.purpose == "vote"
    assert sum(one["votes"] for one in desk.overview()["questions"]) == len(votes(corrected, journal.stored))
    desk.undo("a", {"submission_id": "u", "undoes": work["progress"]["undoable"]})
    assert task not in [vote.task_id for vote in votes(corrected, journal.stored)]
    desk.answer("a", answer_to(desk.work("a")["queue"][0], "again", option=1))
    assert [(vote.task_id, vote.purpose) for vote in votes(corrected, journal.stored)][-1] == (task, "vote")
    assert Desk(corrected, journal, clock=Clock()).work("a") == desk.work("a")


def test_a_vote_on_what_became_gold_is_held_against_it_and_counts_no_more() -> None:
    _, journal, study, _ = asked_for_gold()
    known = next(vote.task_id for vote in votes(study, journal.stored) if vote.purpose == "vote")
    for right, status in (("0", "working"), ("25", "paused")):
        corrected = with_gold(study, {known: (right,)})
        desk = Desk(corrected, journal, clock=Clock())
        assert desk.work("a")["status"] == status
        assert desk.overview()["raters"][0]["gold"]["asked"] == 1
        state = State(corrected)
        state.fold(journal.stored)
        assert known not in state.standing


def test_self_consistency_is_told_over_the_last_repeats_too() -> None:
    record = RaterRecord(repeats=[True, None, False, True, None, True])
    assert [record.consistency(Checks(window=window)) for window in (1, 3, 9)] == [
        Proportion(1, 1),
        Proportion(2, 3),
        Proportion(3, 4),
    ]
    assert record.consistency() == Proportion(3, 4)
    assert RaterRecord().consistency(Checks()) == Proportion(0, 0)


def test_only_the_last_submission_can_be_undone() -> None:
    answers = [event for event in EVENTS if event.kind == "answer" and event.rater_id == "a"]
    known = [event for event in EVENTS if event.seq <= answers[1].seq and event.kind != "undo"]
    undo = Event(known[-1].seq + 1, 0.0, "undo", "a", {"submission_id": "x", "undoes": answers[0].body["submission_id"]})
    with pytest.raises(InputError, match="is not the last submission"):
        folded(known, [undo])


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 12), st.integers(1, 5), st.sampled_from([0.0, 0.3, 0.6, 1.0]))
def test_a_rater_is_paused_over_a_full_window_alone(marks: list[bool], begin: int, window: int, least: float) -> None:
    record = RaterRecord(gold=marks, gold_from=min(begin, len(marks)))
    last = marks[record.gold_from :][-window:]
    expected = len(last) == window and sum(last) / window < least
    assert record.paused(Checks(window=window, least_accuracy=least)) == expected


def test_three_of_five_is_not_below_sixty_per_cent() -> None:
    assert not RaterRecord(gold=[True] * 3 + [False] * 2).paused(Checks(window=5, least_accuracy=0.6))
    assert RaterRecord(gold=[True] * 2 + [False] * 3).paused(Checks(window=5, least_accuracy=0.6))


def test_a_task_may_be_repeated_once_the_gap_lies_between() -> None:
    def repeatable(record: RaterRecord, *, gap: int) -> list[str]:
        study = make_study([pairwise()], subjects=1, checks={"repeat_gap": gap})
        state = State(study)
        for place in range(3):
            task_id = study.tasks[place].task_id
            state.submissions.add(
                f"s{place}", at=0, kind="undo", rater_id="a", task_id=task_id, shown=(), purpose="vote", place=place
            )
        return state.repeatable(record)

    record = RaterRecord(done=[0, 1, 2], first={"t0": 0, "t2": 2})
    assert repeatable(record, gap=2) == ["t0"]
    assert repeatable(record, gap=3) == []
    record.repeated.add("t0")
    assert repeatable(record, gap=1) == []
    assert repeatable(RaterRecord(done=[0, 1, 2, 3], first={"t0": 0, "t2": 2}, repeated={"t0"}), gap=1) == ["t2"]


def test_an_answer_within_the_tolerance_passes_as_a_check_and_the_label_stays() -> None:
    study = make_study([{"leaf": "scene_motion", "must_watch": False}], subjects=1, golds=1)  # gold is 25
    task = replace(next(task for task in study.tasks if task.gold), tolerance=1)
    assert [choice for choice in ("0", "5", "10", "25", "50", "75", "100", "unclear") if study.passes(task, choice)] == [
        "10",
        "25",
        "50",
    ]
    known = replace(study, tasks=tuple(task if of.task_id == task.task_id else of for of in study.tasks))
    for choice, words in (("25", "right"), ("50", "near enough as a check"), ("100", "not given")):
        of_task = ("s", "a", task.task_id, task.question, "x", "x", (), (), "gold")
        vote = Vote(*of_task, {"water": choice}, choice, 1.0, 0.0, False, "hidden")
        assert words in judged(known, vote, "Ada", None)
    strict = replace(task, tolerance=0)
    assert [choice for choice in ("10", "25", "50") if study.passes(strict, choice)] == ["25"]
    several = replace(task, gold=("0", "unclear"))
    assert [choice for choice in ("0", "5", "10", "unclear") if study.passes(several, choice)] == ["0", "5", "unclear"]
