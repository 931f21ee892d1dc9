from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rater_world import METHODS, Clock, MemoryJournal, answer_to, given_to, make_study, pairwise, skip_of

from inpaintbench.annotate.desk import assign
from inpaintbench.annotate.desk.assign import BLOCK, _drawn_kinds, next_task, seats, still_to_come
from inpaintbench.annotate.desk.coverage import Coverage
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.records import Event, Purpose, RaterRecord
from inpaintbench.annotate.study import Study

NO_CHECKS = {"gold_share": 0.0, "repeat_share": 0.0}


def desk_of(study: Study) -> tuple[Desk, MemoryJournal, Clock]:
    journal, clock = MemoryJournal(), Clock()
    return Desk(study, journal, clock=clock), journal, clock


def leases(journal: MemoryJournal, rater: str | None = None) -> list[Event]:
    return [event for event in journal.stored if event.kind == "lease" and rater in (None, event.rater_id)]


# Places


def greedy_bound(candidates: int) -> int:
    """The largest difference of left and right that any sequence of pairs can bring about, by trying all of them."""
    begin = (0,) * candidates
    known, todo = {begin}, [begin]
    while todo:
        state = todo.pop()
        for one, other in combinations(range(candidates), 2):
            left, right = (other, one) if state[one] > state[other] else (one, other)
            after = list(state)
            after[left] += 1
            after[right] -= 1
            if (found := tuple(sorted(after))) not in known:
                known.add(found)
                todo.append(found)
    return max(max(map(abs, state)) for state in known)


def test_the_bound_that_is_stated_is_the_largest_difference_there_is() -> None:
    assert [greedy_bound(count) for count in range(2, 7)] == [count // 2 for count in range(2, 7)]


@settings(max_examples=60)
@given(st.integers(2, 6), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=80), st.integers(0, 99))
def test_sides_of_pairs_are_balanced_over_any_prefix(count: int, pairs: list[tuple[int, int]], seed: int) -> None:
    record, rng = RaterRecord(), np.random.default_rng(seed)
    difference: Counter[int] = Counter()
    for one, other in pairs:
        pair = sorted({one % count, other % count})
        if len(pair) == 2:
            left, right = seats(record, "q", [str(number) for number in pair], rng=rng)
            record.show("q", (left, right), by=1)
            difference[int(left)] += 1
            difference[int(right)] -= 1
            assert max(map(abs, difference.values())) <= count // 2


def test_every_candidate_of_a_set_is_about_equally_often_at_each_place() -> None:
    record, rng = RaterRecord(), np.random.default_rng(4)
    names = [f"m{number}" for number in range(5)]
    for turn in range(1, 101):
        shown = seats(record, "q", names, rng=rng)
        assert sorted(shown) == names
        record.show("q", shown, by=1)
        counts = [record.places.get(("q", name, place), 0) for name in names for place in range(5)]
        assert max(counts) - min(counts) <= 2, turn
        if turn % 5 == 0:
            assert set(counts) == {turn // 5}


def test_questions_are_balanced_each_and_over_all_of_them() -> None:
    record, rng = RaterRecord(), np.random.default_rng(0)
    for turn in range(40):
        question = f"q{turn % 4}"
        record.show(question, seats(record, question, ["x", "y"], rng=rng), by=1)
        assert all(
            abs(record.places.get((one, "x", 0), 0) - record.places.get((one, "x", 1), 0)) <= 1
            for one in ("q0", "q1", "q2", "q3")
        )
        assert abs(record.everywhere.get(("x", 0), 0) - record.everywhere.get(("x", 1), 0)) <= 2


def test_the_side_of_a_method_cannot_be_told_from_its_name() -> None:
    study = make_study([pairwise(raters_per_task=300)], subjects=2, methods=("x", "y"), checks=NO_CHECKS)
    desk, journal, _ = desk_of(study)
    for number in range(200):
        desk.work(f"r{number}")
    first = [next(event.body["shown"][0] for event in leases(journal, f"r{number}")) for number in range(200)]
    assert 70 <= first.count("x") <= 130  # 4.2 standard deviations of a fair coin


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 0.5))
def test_answers_of_a_rater_are_balanced_even_when_some_are_skipped(seed: int, skipped: float) -> None:
    study = make_study([pairwise()], subjects=8, checks=NO_CHECKS, seed=seed)
    desk, journal, _ = desk_of(study)
    rng, work = np.random.default_rng(seed), desk.work("a")
    difference: Counter[str] = Counter()
    shown = {}
    for turn in range(48):
        if not work["queue"]:
            break
        shown |= {event.body["lease_id"]: event.body["shown"] for event in leases(journal)}
        card = work["queue"][0]
        if rng.random() < skipped:
            work = desk.skip("a", skip_of(card, f"s{turn}"))["work"]
            continue
        left, right = shown[card["lease_id"]]
        difference.update({left: 1, right: -1})
        work = desk.answer("a", answer_to(card, f"s{turn}"))["work"]
        assert max(map(abs, difference.values())) <= len(METHODS) // 2 + 2  # two more are on their way, or were skipped


# Coverage


def reference_least(state: State, study: Study, rater: str, question: str, *, live: Sequence[str]) -> int | None:
    """The lowest load among the tasks a rater may have, by looking at all of them."""
    loads = []
    for task in study.tasks:
        holders = sum(state.leases[one].task_id == task.task_id and state.leases[one].purpose == "vote" for one in live)
        load = state.standing.get(task.task_id, 0) + holders
        free = load < study.spec_of[question].raters_per_task and not state.taken_out(task.task_id) and not task.gold
        if task.question == question and free and task.task_id not in state.rater(rater).had:
            loads.append(load)
    return min(loads, default=None)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["work", "answer", "skip", "undo", "wait"])), max_size=60))
def test_the_least_covered_task_is_found_without_looking_at_all(steps: list[tuple[str, str]]) -> None:
    questions = [{"leaf": "scene_motion", "raters_per_task": 3, "must_watch": False}]
    study = make_study(questions, subjects=5, golds=1, lease_minutes=1)
    journal, clock = MemoryJournal(), Clock()
    desk = Desk(study, journal, clock=clock)
    for turn, (rater, step) in enumerate(steps):
        act(desk, clock, rater, step, turn)
        state = State(study)
        state.fold(journal.stored)
        coverage = Coverage(state, now=clock.now)
        live = [one for one, lease in state.leases.items() if lease.expires_at > clock.now]
        for someone in "abcd":
            found = coverage.least(someone, ("scene_motion", ()))
            expected = reference_least(state, study, someone, "scene_motion", live=live)
            assert (None if found is None else coverage.load(found)) == expected
            kept = desk._live.coverage  # followed event by event
            kept.expire(clock.now)
            again = kept.least(someone, ("scene_motion", ()))
            assert (None if again is None else kept.load(again)) == expected
            assert kept.left(someone, settled=()) == coverage.left(someone, settled=())
        assert kept.group_load == coverage.group_load
        assert (kept.filled, kept.needed) == (coverage.filled, coverage.needed)


def act(desk: Desk, clock: Clock, rater: str, step: str, turn: int) -> None:
    if step == "wait":
        clock.now += 35
        return
    work = desk.work(rater)
    if step == "undo" and work["progress"]["undoable"]:
        desk.undo(rater, {"submission_id": f"u{turn}", "undoes": work["progress"]["undoable"]})
    elif step == "answer" and work["queue"]:
        desk.answer(rater, answer_to(work["queue"][0], f"a{turn}", option=turn))
    elif step == "skip" and work["queue"]:
        desk.skip(rater, skip_of(work["queue"][0], f"s{turn}", "broken"))


def test_raters_meet_the_tasks_in_an_order_of_their_own() -> None:
    study = make_study([{"leaf": "scene_motion", "raters_per_task": 9, "must_watch": False}], subjects=12, checks=NO_CHECKS)
    desk, journal, _ = desk_of(study)
    for rater in "abc":
        given_to(desk, rater, most=12)
    orders = {tuple(event.body["task_id"] for event in leases(journal, rater)) for rater in "abc"}
    assert len(orders) == 3
    assert {frozenset(order) for order in orders} == {frozenset(study.task_of)}


def test_a_rater_stays_with_a_question_for_a_block_and_all_questions_are_covered_alike() -> None:
    questions = [pairwise(name=name, raters_per_task=2) for name in ("one", "two", "three")]
    study = make_study(questions, subjects=10, checks=NO_CHECKS)
    desk, journal, _ = desk_of(study)
    given_to(desk, "a", most=90)
    asked = [study.task_of[event.body["task_id"]].question for event in leases(journal)]
    runs = [asked[begin : begin + BLOCK] for begin in range(0, 90, BLOCK)]
    assert all(len(set(run)) == 1 for run in runs)
    assert [len({run[0] for run in runs[begin : begin + 3]}) for begin in (0, 3, 6)] == [3, 3, 3]


# Pairs


def test_pairs_first_connect_then_reach_their_floor_then_go_where_the_order_is_open() -> None:
    methods = ("m1", "m2", "m3", "m4", "m5")
    study = make_study([pairwise(raters_per_task=1)], subjects=60, methods=methods, checks=NO_CHECKS)
    desk, journal, _ = desk_of(study)
    strength = {"m1": 0, "m2": 30, "m3": 30, "m4": 60, "m5": 90}  # m2 and m3 are equals, everything else is clear
    work, pairs = desk.work("a"), []
    for turn in range(150):
        shown = next(one.body["shown"] for one in leases(journal) if one.body["lease_id"] == work["queue"][0]["lease_id"])
        pairs.append(tuple(sorted(shown)))
        left, right = (strength[one] for one in shown)
        option = 0 if left > right else 2 if right > left else (turn % 2) * 2
        work = desk.answer("a", answer_to(work["queue"][0], f"a{turn}", option=option))["work"]
    assert len({name for pair in pairs[:4] for name in pair}) == 5  # four pairs join five methods
    assert set(Counter(pairs[:30]).values()) == {3}
    later = Counter(pairs[30:])
    assert later.most_common(1)[0][0] == ("m2", "m3")
    assert later["m2", "m3"] >= 30
    assert later["m1", "m5"] < later["m2", "m3"] / 3


def test_raters_at_work_at_once_do_not_all_get_the_pair_that_tells_most() -> None:
    study = make_study([pairwise(raters_per_task=1)], subjects=40, checks=NO_CHECKS)
    state = State(study)
    coverage, told = Coverage(state, now=0.0), dict.fromkeys(combinations(sorted(METHODS), 2), 1.0) | {("alpha", "beta"): 1.5}
    counts: Counter[tuple[str, ...]] = Counter()
    for number in range(60):
        rater = f"r{number}"
        found = next_task(state, coverage, rater, settled=frozenset(), information=lambda _question: told)
        assert found is not None
        counts[tuple(sorted(found.shown))] += 1
        event = lease_event(number + 1, rater, found.task_id, found.shown, "vote")
        state.fold([event])
        coverage.follow([event], now=0.0)
    assert counts.most_common(1)[0][0] == ("alpha", "beta")
    assert min(counts.values()) >= 5
    assert max(counts.values()) <= 20


def lease_event(seq: int, rater: str, task_id: str, shown: Sequence[str], purpose: Purpose) -> Event:
    body = {"lease_id": f"l{seq}", "task_id": task_id, "shown": list(shown), "purpose": purpose, "expires_at": 60.0}
    return Event(seq, 0.0, "lease", rater, body)


def test_questions_that_are_settled_are_not_asked() -> None:
    study = make_study([pairwise(name="one"), pairwise(name="two")], checks=NO_CHECKS)
    state = State(study)
    coverage = Coverage(state, now=0.0)
    for settled, expected in (({"one"}, "two"), ({"two"}, "one")):
        found = next_task(state, coverage, "a", settled=frozenset(settled), information=lambda _question: {})
        assert found is not None
        assert study.task_of[found.task_id].question == expected
    assert next_task(state, coverage, "a", settled=frozenset({"one", "two"}), information=lambda _question: {}) is None
    assert still_to_come(state, coverage, "a", settled=frozenset({"one"})) == 24


# Checks


@pytest.fixture(scope="module")
def long_work() -> tuple[Study, list[Event]]:
    checks = {"gold_share": 0.1, "repeat_share": 0.08, "repeat_gap": 15}
    questions = [{"leaf": "scene_motion", "raters_per_task": 4, "must_watch": False}]
    study = make_study(questions, subjects=300, golds=60, checks=checks)
    desk, journal, _ = desk_of(study)
    for rater in "abcd":
        given_to(desk, rater, most=1000, option=3)  # what the gold tasks want
    return study, journal.stored


def purposes(events: Sequence[Event], rater: str) -> list[str]:
    return [event.body["purpose"] for event in events if event.kind == "lease" and event.rater_id == rater]


def test_gold_and_repeats_come_at_their_shares_in_no_pattern(long_work: tuple[Study, list[Event]]) -> None:
    _, events = long_work
    for rater in "abcd":
        kinds = purposes(events, rater)
        assert kinds.count("vote") == 300
        assert 0.05 < kinds.count("gold") / len(kinds) < 0.16
        assert 0.04 < kinds.count("repeat") / len(kinds) < 0.13
        gaps = np.diff([place for place, kind in enumerate(kinds) if kind == "gold"])
        assert len(set(gaps.tolist())) >= 8
    assert len({tuple(purposes(events, rater)) for rater in "abcd"}) == 4


def test_no_task_comes_twice_but_repeats_which_keep_their_distance(long_work: tuple[Study, list[Event]]) -> None:
    study, events = long_work
    for rater in "abcd":
        handed = [event.body for event in events if event.kind == "lease" and event.rater_id == rater]
        assert len({one["task_id"] for one in handed if one["purpose"] != "repeat"}) == sum(
            one["purpose"] != "repeat" for one in handed
        )
        place = {one["task_id"]: number for number, one in enumerate(handed) if one["purpose"] == "vote"}
        for number, one in enumerate(handed):
            assert bool(study.task_of[one["task_id"]].gold) == (one["purpose"] == "gold")
            if one["purpose"] == "repeat":
                assert number - place[one["task_id"]] - 1 >= 15
        repeats = [one["task_id"] for one in handed if one["purpose"] == "repeat"]
        assert len(set(repeats)) == len(repeats)


@pytest.mark.parametrize("seed", range(8))
def test_the_total_does_not_betray_a_check(seed: int) -> None:
    checks = {"gold_share": 0.25, "repeat_share": 0.15, "repeat_gap": 3, "least_accuracy": 0}
    desk, journal, _ = desk_of(make_study([pairwise()], subjects=8, golds=2, checks=checks, seed=seed))
    work, totals = desk.work("a"), []
    while work["queue"]:
        totals.append(work["progress"]["total"])
        work = desk.answer("a", answer_to(work["queue"][0], f"a{len(totals)}"))["work"]
    assert set(totals) == {len(totals)}
    assert {"gold", "repeat"} < set(purposes(journal.stored, "a"))


def test_what_is_asked_again_is_what_one_method_wins_most_clearly() -> None:
    checks = {"gold_share": 0.0, "repeat_share": 0.3, "repeat_gap": 3}
    study = make_study([pairwise(raters_per_task=3)], subjects=20, checks=checks)
    desk, journal, _ = desk_of(study)
    best = min(name for task in study.tasks for name in task.candidates)
    for rater in "abc":  # whoever is the best wins; the others take turns
        work, turn = desk.work(rater), 0
        while work["queue"]:
            turn += 1
            shown = desk.state().leases[work["queue"][0]["lease_id"]].shown
            place = -shown.index(best) if best in shown else -(turn % 2)  # the tie stands between both
            work = desk.answer(rater, answer_to(work["queue"][0], f"{rater}{turn}", option=place))["work"]
    assert any(event.kind == "lease" and event.body["purpose"] == "repeat" for event in journal.stored)
    chosen = assign._telling(desk.state(), list(study.tasks))
    assert 0.4 * len(study.tasks) < len(chosen) < 0.7 * len(study.tasks)
    assert {best in task.candidates for task in chosen} == {True}


def test_checks_belong_to_the_question_that_the_rater_is_at() -> None:
    checks = {"gold_share": 0.3, "repeat_share": 0.3, "repeat_gap": 3, "least_accuracy": 0}
    study = make_study([pairwise(name=name) for name in ("one", "two")], subjects=8, golds=2, checks=checks)
    desk, journal, _ = desk_of(study)
    given_to(desk, "a", most=200)
    handed = [(study.task_of[event.body["task_id"]].question, event.body["purpose"]) for event in leases(journal)]
    places = [number for number, (_, purpose) in enumerate(handed) if purpose == "vote"]
    questions = [handed[number][0] for number in places]
    for number, (question, purpose) in enumerate(handed):
        if purpose != "vote":
            before = sum(place < number for place in places)
            assert question == questions[min(before, len(questions) - 1)]
    assert {purpose for _, purpose in handed} == {"vote", "gold", "repeat"}
    assert sum(one != other for one, other in itertools.pairwise(questions)) <= 10


def test_the_same_state_and_rater_give_the_same_task() -> None:
    study = make_study([pairwise(raters_per_task=2)], golds=1)
    first, second = desk_of(study), desk_of(study)
    for desk, _, _ in (first, second):
        given_to(desk, "a", most=10)
        given_to(desk, "b", most=5)
    assert first[1].stored == second[1].stored


@pytest.mark.parametrize("share", [0.05, 0.1, 0.15, 0.4, 0.5])
def test_everybody_gets_their_share_of_known_answers_at_places_of_their_own(share: float) -> None:
    kinds = np.array([_drawn_kinds(0, f"r{number}", 128, share, 0.0, 12) for number in range(200)]) == 1
    for tasks in (40, 80, 128):
        given = kinds[:, :tasks].sum(axis=1)
        assert given.min() >= int(share * tasks) - 1
        assert given.max() <= share * tasks + 1
    assert len({tuple(row) for row in kinds.tolist()}) > 100
    assert kinds[:, : int(1 / share)].any(axis=0).all()  # any place may hold one
    longer = _drawn_kinds(0, "r7", 512, share, 0.0, 12)[:128] == 1
    assert (kinds[7] == longer).all()
