"""Each screening rule: whom it flags, with its numbers, and whom it leaves alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from voted_studies import OF_PREDICTIONS, Ballot, grades_with_two_strange_raters, study_of

from inpaintbench.annotate.records import Standing, Vote
from inpaintbench.annotate.report.material import material_of
from inpaintbench.annotate.report.page import left_out_parts
from inpaintbench.annotate.screening.against_raters import FarGrades, far_grades, rejected
from inpaintbench.annotate.screening.base import Panel, proposals, stated_rules
from inpaintbench.annotate.screening.own_answers import consistence, longest_run_below, triads_of
from inpaintbench.annotate.statistics.standings import results_of
from inpaintbench.annotate.study import RULES, RuleSpec, Study, StudyFile
from inpaintbench.errors import InputError

METHODS = ("deep", "flow", "patch", "vary")
ITEMS = tuple(f"item{number}" for number in range(20))


def pairs(*, gold: int = 0) -> Study:
    tasks = [("pairwise", item, pair) for item in ITEMS for pair in combinations(METHODS, 2)]
    right = {("pairwise", item): ("deep",) for item in ITEMS[:gold]}
    if gold:  # of gold items one pair each, with `deep` in it
        tasks = [("pairwise", item, ("deep", "vary")) for item in ITEMS[:gold]]
    return study_of([{"leaf": "pairwise"}], tasks, subjects=OF_PREDICTIONS, gold=right)


def grades() -> Study:
    tasks = [("mean_opinion", item, (name,)) for item in ITEMS for name in METHODS]
    return study_of([{"leaf": "mean_opinion"}], tasks, subjects=OF_PREDICTIONS)


def flagged(name: str, study: Study, votes: Sequence[Vote], **constants: Any) -> dict[str, str]:
    rule = RuleSpec(**constants).built(name)
    return {finding.rater_id: finding.reason for finding in rule.findings(Panel(study, votes))}


def chose(study: Study, rater: str, places: Mapping[int, int | str], *, purpose: str = "vote") -> list[Vote]:
    """Task number -> place that is chosen, or ``tie``; sides alternate."""
    ballot = Ballot(study)
    for turn, (number, place) in enumerate(places.items()):
        task = study.tasks[number]
        shown = task.candidates if turn % 2 else task.candidates[::-1]
        given = {"better": place if place == "tie" else f"place-{place}"}
        ballot.cast(rater, "pairwise", task.subject_id, given, shown=shown, purpose=purpose)
    return ballot.votes


@pytest.mark.parametrize(
    ("left", "of", "expected"),
    [
        (34, 50, None),
        (61, 90, None),
        (70, 90, "chose left 70 times of 90"),
        (65, 90, None),
        (11, 11, "11 times of 11"),
        (10, 10, None),
    ],
)
def test_side_bias_is_an_exact_test_with_a_lead(left: int, of: int, expected: str | None) -> None:
    study = pairs()
    said = flagged("side_bias", study, chose(study, "r", {turn: int(turn >= left) for turn in range(of)}))
    assert said == {} if expected is None else expected in said["r"]


def test_side_bias_says_its_p_and_counts_no_ties() -> None:
    study = pairs()
    votes = chose(study, "r", {**{turn: int(turn >= 61) for turn in range(90)}, **dict.fromkeys(range(90, 120), "tie")})
    assert flagged("side_bias", study, votes, lead=0.1)["r"] == "chose left 61 times of 90 (p = 0.00097)"


@pytest.mark.parametrize(("right", "fails"), [(6, True), (7, False), (10, False)])
def test_gold_passes_at_seven_of_ten(right: int, fails: bool) -> None:
    study = pairs(gold=10)
    # `deep` stands right at even turns.
    votes = chose(study, "r", {turn: (turn + 1 + (turn >= right)) % 2 for turn in range(10)}, purpose="gold")
    said = flagged("failed_gold", study, votes)
    assert said == ({"r": f"{right} of 10 known answers right, 70% must be"} if fails else {})
    assert flagged("failed_gold", study, votes[:9]) == {}


@pytest.mark.parametrize(("same", "of", "fails"), [(0, 2, False), (0, 4, True), (1, 6, True), (4, 14, True), (12, 14, False)])
def test_repeats_that_clearly_disagree(same: int, of: int, fails: bool) -> None:
    study = pairs()
    first = chose(study, "r", dict.fromkeys(range(of), "tie"))
    again = chose(study, "r", {turn: "tie" if turn < same else 0 for turn in range(of)}, purpose="repeat")
    assert flagged("unstable_repeats", study, [*first, *again]) == {}  # nobody to be compared with
    # Others answer 27 of 30 repeats alike; of hard tasks 15 of 30, and then one of six is no fault.
    for alike, expected in ((27, fails), (15, (same, of) == (0, 14))):
        ever = chose(study, "h", dict.fromkeys(range(30), "tie"))
        later = chose(study, "h", {turn: "tie" if turn < alike else 0 for turn in range(30)}, purpose="repeat")
        said = flagged("unstable_repeats", study, [*first, *again, *ever, *later])
        assert ("r" in said) == expected
        assert alike == 15 or "h" not in said


@pytest.mark.parametrize(
    ("wrong", "quartiles", "expected"),
    [
        ({}, 1.0, ""),
        ({"trapped": 1}, 1.0, "pressed what people cannot see with 12 of 12 answers"),
        ({"driven": True}, 1.0, "a program drove the browser with 12 of 12 answers"),
        ({"keys": 0, "scripted": 1}, 1.0, "12 of 12 answers have nothing but a script's events"),
        ({"keys": 0, "presses": 1, "moves": 1}, 1.0, "12 of 12 answers by mouse were jumped to"),
        ({"keys": 0, "presses": 1, "moves": 30}, 1.0, ""),
        ({"keys": 0, "touches": 3}, 1.0, ""),
        ({}, 0.01, "half of 12 answers took as long within 0.05 s"),
    ],
)
def test_signs_of_a_program_are_told_and_only_propose(wrong: Mapping[str, Any], quartiles: float, expected: str) -> None:
    study, told = pairs(), {"driven": False, "keys": 1, "browser": "Chrome 140", "moves": 4} | wrong
    votes = chose(study, "r", {turn: turn % 2 for turn in range(12)})
    votes = [replace(vote, seen=told, seconds=5 + turn * quartiles) for turn, vote in enumerate(votes)]
    assert flagged("signs_of_a_program", study, votes).get("r", "") == expected
    assert flagged("signs_of_a_program", study, [replace(vote, seen=None) for vote in votes[:9]]) == {}


def test_one_button_and_long_runs_are_straight_lines() -> None:
    study = pairs()
    rng = np.random.default_rng(1)
    assert flagged("straight_lining", study, chose(study, "r", dict.fromkeys(range(20), 0)))["r"].startswith("20 of 20 answers")
    honest = [
        flagged("straight_lining", study, chose(study, "r", dict(enumerate(rng.integers(0, 2, 60).tolist())))) for _ in range(40)
    ]
    assert sum(map(bool, honest)) <= 1
    runs = {turn: turn // 30 for turn in range(60)}
    assert "in a row, of 60 answers" in flagged("straight_lining", study, chose(study, "r", runs))["r"]


def test_the_chance_of_a_run_is_that_of_all_sequences() -> None:
    from itertools import groupby, product

    for length in (1, 2, 3, 4):
        below = sum(
            np.prod([0.7 if letter == "a" else 0.3 for letter in letters])
            for letters in product("ab", repeat=7)
            if max(len(list(same)) for _, same in groupby(letters)) < length
        )
        assert longest_run_below(length, {"a": 7, "b": 3}, draws=7) == pytest.approx(float(below), abs=1e-12)


def opinions(study: Study, *, honest: int, **others: Any) -> list[Vote]:
    """Grades of a planted quality by honest raters, and by others as they say (task number -> grade)."""
    rng, ballot = np.random.default_rng(2), Ballot(study)
    quality = rng.normal(3, 1, len(study.tasks))
    raters = {f"h{number}": lambda turn: quality[turn] + 0.7 * rng.normal() for number in range(honest)} | others
    for turn, task in enumerate(study.tasks):
        for rater, grade in raters.items():
            given = {"grade": str(int(np.clip(round(grade(turn)), 1, 5)))}
            ballot.cast(rater, "mean_opinion", task.subject_id, given, shown=task.candidates)
    return ballot.votes


def test_grades_that_follow_no_quality_are_erratic() -> None:
    study, rng = grades(), np.random.default_rng(8)
    votes = opinions(study, honest=12, lot=lambda _: rng.integers(1, 6), three=lambda _: 3, five=lambda turn: 4 + turn % 2)
    assert set(flagged("erratic_ratings", study, votes)) == {"lot", "three", "five"}
    assert flagged("erratic_ratings", study, votes)["three"] == "all 80 grades are 3"
    small = [vote for vote in votes if vote.rater_id in ("h0", "h1", "h2", "lot", "three")]
    assert flagged("erratic_ratings", study, small) == {}


def test_a_minority_that_grades_by_another_taste_is_not_erratic() -> None:
    """Of items as of methods, alone or as a group; who grades by lot beside them is."""
    study = grades()
    rng = np.random.default_rng(5)
    taste, order = rng.normal(3, 1, len(study.tasks)), {name: 1.5 + place for place, name in enumerate(METHODS)}
    others = {f"taste{number}": lambda turn: taste[turn] + 0.6 * rng.normal() for number in range(4)}
    others["alone"] = lambda turn: order[study.tasks[turn].candidates[0]] + 0.8 * rng.normal()
    votes = opinions(study, honest=12, **others, lot=lambda _: rng.integers(1, 6), lots=lambda _: rng.integers(1, 6))
    assert set(flagged("erratic_ratings", study, votes)) == {"lot", "lots"}


def compared(study: Study, raters: Mapping[str, float], *, seed: int = 4) -> list[Vote]:
    """Rater -> probability of choosing the method that is better by name; every rater sees every task."""
    rng, ballot = np.random.default_rng(seed), Ballot(study)
    for turn, task in enumerate(study.tasks):
        for number, (rater, right) in enumerate(raters.items()):
            shown = task.candidates if (turn + number) % 2 else task.candidates[::-1]
            better = shown.index(min(shown))
            ballot.cast(
                rater,
                "pairwise",
                task.subject_id,
                {"better": f"place-{better if rng.random() < right else 1 - better}"},
                shown=shown,
            )
    return ballot.votes


def test_coins_stand_out_of_comparisons_and_who_differs_does_not() -> None:
    study = pairs()
    votes = compared(study, {**{f"h{number}": 0.9 for number in range(6)}, "coin": 0.5, "foe": 0.1})
    said = flagged("annotator_model", study, votes)
    assert set(said) == {"coin"}
    words = r"120 choices and 0 repeats are \d+ times as likely of a coin as of an order; of people with one 0\.\d% come as near"
    assert re.fullmatch(words, said["coin"])
    assert flagged("annotator_model", study, votes, factor=10**40) == flagged("annotator_model", study, votes, least=121) == {}
    assert set(flagged("annotator_model", study, votes, reliability=0.5)) == {"coin"}  # of studies stated for the first version
    assert flagged("against_others", study, votes) == {}
    with pytest.raises(InputError, match="factor is 0, choose a number of 1 or more"):
        RuleSpec(factor=0).built("annotator_model")


def test_whose_labels_are_those_of_nobody_else_is_against_the_others() -> None:
    study, rng = grades(), np.random.default_rng(3)
    agreed = {f"h{number}": lambda turn: 2 + turn % 3 for number in range(6)}
    votes = opinions(study, honest=0, **agreed, lot=lambda _: rng.integers(1, 6), foe=lambda turn: 4 - turn % 3)
    assert set(flagged("against_others", study, votes)) == {"lot", "foe"}
    few = {task.task_id for task in study.tasks[:10]}
    assert flagged("against_others", study, [vote for vote in votes if vote.task_id in few]) == {}


def test_bt500_counts_and_rejects_as_the_recommendation() -> None:
    strange = far_grades(grades_with_two_strange_raters())
    assert (strange.above.tolist(), strange.below.tolist()) == ([0] * 11 + [2], [0] * 11 + [6])
    assert rejected(strange).tolist() == []  # neither the reversed scale nor the one grade
    clip, rater = np.arange(48)[:, None], np.arange(15)[None]
    seen = 3.07 + 1.5 * np.sin(0.9 * clip) + 0.5 * np.cos(1.3 * rater)
    noise = (0.35 + 0.08 * rater) * np.sin(2.1 * clip * rater + 1.7 * rater + 0.9 * clip)
    drawn = np.hstack([np.clip(np.floor(seen + noise + 0.5), 1, 5), np.where(clip % 2, 1.0, 5.0)])
    assert drawn.sum() == 2374
    counts = far_grades(drawn)
    assert (counts.above[15], counts.below[15], counts.graded[15]) == (7, 7, 48)
    assert rejected(counts).tolist() == [15]
    some = drawn.copy()
    some[::5, 3] = np.nan
    assert far_grades(some).graded[3] == 38
    assert rejected(far_grades(np.full((10, 4), 3.0))).tolist() == []


def test_bt500_at_its_limits() -> None:
    """As the recommendation has them: far *from* 2 standard deviations and a kurtosis of 4 on, more than 5 %, less than .3."""
    counts = far_grades(np.array([[1.0, 3, 3, 3, 3, 3, 3, 5]]))  # standard deviation 1, kurtosis 4
    assert (counts.above.tolist(), counts.below.tolist()) == ([0] * 7 + [1], [1] + [0] * 7)
    far = FarGrades(np.array([1, 1, 13, 14, 0]), np.array([0, 1, 7, 8, 0]), np.array([20, 40, 40, 40, 40]))
    assert rejected(far).tolist() == [3]  # one side alone; 2 of 40 are 5 %; 6 of 20 are .3; 6 of 22 are less
    assert rejected(far._replace(graded=np.array([20, 39, 40, 40, 40]))).tolist() == [1, 3]


def test_bt500_keeps_everybody_when_all_would_go() -> None:
    counts = FarGrades(np.array([3, 4]), np.array([3, 4]), np.array([20, 20]))
    assert rejected(counts).tolist() == []
    assert rejected(FarGrades(*(np.append(row, 0) for row in counts[:2]), np.array([20, 20, 20]))).tolist() == [0, 1]


def test_bt500_finds_the_erratic_and_not_the_constant() -> None:
    study = grades()
    votes = opinions(study, honest=15, ends=lambda turn: 1 + 4 * (turn % 2), three=lambda _: 3)
    assert flagged("bt500", study, votes)["ends"].startswith("of 80 grades ")
    assert "three" not in flagged("bt500", study, votes)
    assert flagged("bt500", study, [vote for vote in votes if vote.task_id in {task.task_id for task in study.tasks[:9]}]) == {}


@pytest.mark.parametrize(
    ("wins", "circles", "zeta"),
    [((2, 2, 1, 1), 2, 0.0), ((2, 2, 2, 2, 2), 5, 0.0), ((3, 2, 2, 2, 1), 4, 0.2), ((3, 2, 1, 0), 0, 1.0), ((1, 1, 1), 1, 0.0)],
)
def test_kendalls_coefficient_of_consistence(wins: Sequence[int], circles: int, zeta: float) -> None:
    won = {f"m{number}": of for number, of in enumerate(wins) if of}
    assert consistence(won, methods=len(wins)) == (circles, pytest.approx(zeta))


def test_triads_are_those_that_were_compared_whole() -> None:
    ring, line = [("a", "b"), ("b", "c"), ("c", "a")], [("a", "b"), ("b", "c"), ("a", "c")]
    assert triads_of([ring, line, ring[:2]]) == (1, 2, 0.5)
    assert triads_of([[*ring, ("a", "d")]]) == (1, 1, None)
    assert triads_of([]) == (0, 0, None)


def test_who_goes_round_in_circles_stands_out_and_is_only_proposed() -> None:
    study = pairs()
    votes = compared(study, {**{f"h{number}": 0.9 for number in range(6)}, "coin": 0.5}, seed=1)
    said = flagged("circular_triads", study, votes)
    assert set(said) == {"coin"}
    assert re.fullmatch(
        r"\d+ of 80 triads are circular, others \d+% of theirs \(a coin 25%\); mean consistence 0\.\d\d", said["coin"]
    )
    assert flagged("circular_triads", study, [vote for vote in votes if vote.rater_id == "coin"]) == {}
    even = compared(study, {f"h{number}": 0.5 for number in range(6)})
    assert flagged("circular_triads", study, even) == {}  # where methods are equal, everybody does


@pytest.mark.parametrize("rule", ["bt500", "circular_triads", "signs_of_a_program"])
def test_rules_that_are_no_reason_by_themselves_only_propose(rule: str) -> None:
    fields = {"title": "T", "subjects": OF_PREDICTIONS, "questions": [{"leaf": "pairwise"}]}
    assert StudyFile.model_validate({**fields, "screening": {rule: {}}}).screening
    with pytest.raises(ValueError, match=f"{rule} cannot act by itself, since .*; leave out auto"):
        StudyFile.model_validate({**fields, "screening": {rule: {"auto": True}}})
    study = pairs()
    ruled = Study(study.study_id, study.file.model_copy(update={"screening": {"circular_triads": RuleSpec()}}), study.tasks, {})
    votes = compared(study, {**{f"h{number}": 0.9 for number in range(6)}, "coin": 0.5}, seed=1)
    assert [(of.rater_id, of.alone) for of in proposals(ruled, votes)] == [("coin", False)]


def test_a_rule_takes_no_strange_constants() -> None:
    for name in RULES:
        with pytest.raises(InputError, match=f"screening rule '{name}' cannot be built"):
            RuleSpec(strange=1).built(name)
    for name, constants in {"side_bias": {"p": 2}, "failed_gold": {"least": 0}, "straight_lining": {"least": 1.5}}.items():
        with pytest.raises(InputError, match="choose a"):
            RuleSpec(**constants).built(name)


def test_a_study_states_its_rules_and_gets_proposals_in_their_order() -> None:
    study = pairs()
    spec = {"annotator_model": RuleSpec(auto=True), "side_bias": RuleSpec(p=0.01)}
    ruled = Study(study.study_id, study.file.model_copy(update={"screening": spec}), study.tasks, {})
    votes = [
        *compared(study, {**{f"h{number}": 0.9 for number in range(6)}, "coin": 0.5}),
        *chose(study, "left", dict.fromkeys(range(60), 0)),
    ]
    assert [(of.rater_id, of.rule, of.auto) for of in proposals(ruled, votes)] == [
        ("coin", "annotator_model", True), ("left", "annotator_model", True), ("left", "side_bias", False),
    ]  # fmt: skip
    assert {of.rule for of in proposals(ruled, votes, auto_only=True)} == {"annotator_model"}
    assert stated_rules(ruled) == {
        "annotator_model": {"auto": True, "version": "3"},
        "side_bias": {"p": 0.01, "auto": False, "version": "1"},
    }


def test_the_report_says_how_results_would_move_without_those_who_are_proposed() -> None:
    study = pairs()
    ruled = Study(study.study_id, study.file.model_copy(update={"screening": {"annotator_model": RuleSpec()}}), study.tasks, {})
    honest = compared(study, {f"h{number}": 0.9 for number in range(6)})
    votes = [*honest, *chose(study, "left", dict.fromkeys(range(60), 0))]
    material = material_of(ruled, Standing(votes, votes, [], [], []), [], overview={})
    assert [of.rater_id for of in material.waiting] == ["left"]
    assert material.without_proposed == results_of(ruled, honest)
    said = " ".join(map(str, left_out_parts(material)))
    assert "Without the rater whom rules propose every verdict on methods stays." in said
    calm = material_of(ruled, Standing(honest, honest, [], [], []), [], overview={})
    assert calm.without_proposed is None
