from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from planted_studies import Planted, drawn

from inpaintbench.annotate.statistics.planning import (
    Tried,
    World,
    _setting,
    _standard_errors_apart,
    _too_few,
    difference_of,
    plan,
    plan_labels,
    plan_selection,
    power_of,
)
from inpaintbench.annotate.statistics.ranking import rank
from inpaintbench.errors import InputError


def test_the_planned_votes_are_enough_in_other_studies() -> None:
    planned = plan(methods=3, ties=0.2, raters=30, sources=20, smallest_difference=0.9, seed=3)
    planted = Planted((0.9, 0.0, -0.9), 0.2, 20, votes=planned.votes, bias=0.0)
    studies = [rank(drawn(planted, seed), seed=seed, replicates=10) for seed in range(60)]
    enough = sum(found.stable and [one.name for one in found.methods] == planted.names for found in studies)
    # With 90 % exactly, fewer than 48 of 60 would come up in 1 % of test runs.
    assert enough >= 48
    assert planned.power >= 0.9
    assert planned.per_pair == -(-planned.votes // 3)
    assert planned.raters_per_task == -(-planned.votes // 60)
    assert planned.hours == pytest.approx(planned.votes * 8 / 3600)


@pytest.mark.long
def test_each_of_five_methods_gets_its_rank_by_the_planned_votes() -> None:
    """By votes after which neighbours differ it did in three studies of four: a rank is judged against all others at once."""
    planned = plan(methods=5, ties=0.1, raters=30, sources=20, smallest_difference=0.7, seed=0)
    planted = Planted((1.4, 0.7, 0.0, -0.7, -1.4), 0.1, 20, votes=planned.votes)
    studies = [rank(drawn(planted, seed), seed=seed) for seed in range(120)]
    # With 90 % exactly, fewer than 99 of 120 would come up in 1 % of test runs.
    assert sum(found.stable and [one.name for one in found.methods] == planted.names for found in studies) >= 99


@pytest.mark.parametrize(("others", "degrees", "published"), [(1, 19, 2.093), (2, 20, 2.38), (4, 20, 2.65), (4, 60, 2.51)])
def test_a_rank_among_several_needs_the_distance_of_dunnetts_table(others: int, degrees: int, published: float) -> None:
    assert _standard_errors_apart(0.95, degrees, others=others) == pytest.approx(published, abs=0.015)


@pytest.mark.parametrize(("methods", "published"), [(2, 2.571), (5, 3.48)])
def test_a_study_of_six_sources_needs_the_distance_of_five_degrees(methods: int, published: float) -> None:
    setting = _setting(methods, 0.1, 30, 6, 0.5, level=0.95, seed=0, world=World())
    assert setting.standard_errors_apart == pytest.approx(published, abs=0.04)


def test_the_sources_that_are_named_are_enough_for_ranks_among_all_methods() -> None:
    setting = _setting(5, 0.1, 30, 6, 0.2, level=0.95, seed=0, world=World(source_spread=0.5))
    sentence = _too_few(setting, 0.4, smallest_difference=0.2, level=0.95, power=0.9)
    [sources] = re.findall(r"about (\d+) sources", sentence)
    # Twice the variance of one source over the squared difference, times Dunnett's 2.51 and the 1.65 of a power of 95 %.
    assert int(sources) == pytest.approx(2 * (0.5 / 0.2) ** 2 * (2.51 + 1.65) ** 2, rel=0.015)


def test_half_the_planned_votes_are_not_enough() -> None:
    planned = plan(methods=3, ties=0.2, raters=30, sources=20, smallest_difference=0.9, seed=3)
    planted = Planted((0.9, 0.0, -0.9), 0.2, 20, votes=planned.votes // 2, bias=0.0)
    stable = sum(rank(drawn(planted, seed), seed=seed, replicates=10).stable for seed in range(40))
    assert stable <= 33


def test_smaller_differences_need_more_votes() -> None:
    votes = [plan(methods=2, ties=0.1, raters=20, sources=30, smallest_difference=d, seed=0).votes for d in (1.2, 0.8, 0.5)]
    assert votes[0] < votes[1] < votes[2]


def test_too_few_sources_are_told_instead_of_a_number() -> None:
    planned = plan(methods=2, ties=0.1, raters=20, sources=6, smallest_difference=0.2, seed=0, world=World(source_spread=0.5))
    assert planned.votes is None
    assert "6 sources are too few" in planned.reason


def test_no_votes_are_promised_to_rank_methods_below_six_sources() -> None:
    planned = plan(methods=2, ties=0.1, raters=20, sources=5, smallest_difference=2.0, seed=0)
    assert (planned.votes, planned.reason) == (None, "5 sources: an interval, rank or lead needs at least 6")


@pytest.mark.parametrize(("share", "ties"), [(0.55, 0.0), (0.55, 0.3), (0.8, 0.1)])
def test_a_win_share_is_that_of_the_paper(share: float, ties: float) -> None:
    difference = difference_of(share, ties=ties)
    nu = 2 * ties / (1 - ties)
    p = np.exp(difference)
    whole = p + 1 + nu * np.sqrt(p)
    assert (p + nu * np.sqrt(p) / 2) / whole == pytest.approx(share, abs=1e-6)


def test_strange_plans_are_refused() -> None:
    good = {"methods": 3, "ties": 0.1, "raters": 10, "sources": 10, "smallest_difference": 0.5, "seed": 0}
    for change, words in (
        ({"methods": 1}, "1 methods are too few"),
        ({"sources": 1}, "1 sources are too few"),
        ({"ties": 0.95}, r"ties 0\.95"),
        ({"power": 1.0}, r"power is 1\.0"),
        ({"methods": [0.0, 0.1]}, "plan for a smaller difference"),
    ):
        with pytest.raises(InputError, match=words):
            plan(**{**good, **change})
    with pytest.raises(InputError, match=r"win share of 0\.4"):
        difference_of(0.4)


def test_labels_of_clear_items_need_few_raters_and_of_vague_ones_more() -> None:
    clear = plan_labels(items=200, options=7, spread=0.3, within=1, seed=0)
    vague = plan_labels(items=200, options=7, spread=1.5, within=1, seed=0)
    assert clear.raters_per_item <= 3 < vague.raters_per_item
    assert clear.votes == 200 * clear.raters_per_item


def test_the_planned_medians_are_right_in_other_items() -> None:
    planned = plan_labels(items=200, options=7, spread=1.2, within=1, right=0.9, seed=0)
    rng = np.random.default_rng(99)
    places = rng.uniform(-0.5, 6.5, 3000)
    answers = np.clip(np.rint(places[:, None] + rng.normal(0, 1.2, (3000, planned.raters_per_item))), 0, 6)
    middle = np.sort(answers, axis=1)[:, (planned.raters_per_item - 1) // 2]
    hit = np.abs(middle - np.clip(np.rint(places), 0, 6)) <= 1
    assert hit.mean() >= 0.88
    halves = 1.96 * _agreement(answers).std() / np.sqrt(200)
    assert halves <= 0.055


def test_a_share_of_right_medians_that_is_just_reached_is_enough() -> None:
    planned = plan_labels(items=200, options=7, spread=1.2, within=1, right=0.9, seed=0)
    assert plan_labels(items=200, options=7, spread=1.2, within=1, right=planned.right, seed=0) == planned


def _agreement(answers: np.ndarray) -> np.ndarray:
    raters = answers.shape[1]
    same = sum((answers[:, a] == answers[:, b]).astype(float) for a in range(raters) for b in range(a + 1, raters))
    return same / (raters * (raters - 1) / 2)


def test_labels_that_stay_unsure_give_a_reason() -> None:
    planned = plan_labels(items=5, options=3, spread=1.0, half_width=0.001, seed=0)
    assert planned.raters_per_item is None
    assert "even with 60 raters" in planned.reason


def test_selection_needs_the_tasks_of_a_share() -> None:
    assert plan_selection(half_width=0.1).tasks == 97
    planned = plan_selection(half_width=0.1, raters_per_task=3, tasks_per_source=2, correlation=0.5)
    assert planned.tasks == 145
    assert planned.votes == 435
    with pytest.raises(InputError, match="half width 0"):
        plan_selection(half_width=0)


@pytest.mark.long
def test_more_votes_of_a_simulated_study_are_its_first_ones_and_more() -> None:
    setting = _setting(4, 0.15, 30, 20, 0.8, level=0.95, seed=0, world=World())
    shares = [power_of(setting, round(340 * 1.05**step), studies=200) for step in range(18)]
    assert shares[0] < 0.5 < 0.85 < shares[-1]
    # Single studies fall back by chance; with votes drawn anew for each number 0.085 did in all.
    assert sum(max(0, before - after) for before, after in pairwise(shares)) <= 0.05


def test_what_was_tried_closes_in_on_the_plan() -> None:
    heard: list[Tried] = []
    setting = {"methods": 2, "ties": 0.1, "raters": 10, "sources": 6, "smallest_difference": 1.2, "seed": 1}
    planned = plan(**setting, tell=heard.append)
    assert heard[-1].at_most == planned.votes
    for before, after in pairwise(heard):
        assert before.above <= after.above
        assert before.at_most is None or (after.at_most is not None and after.at_most <= before.at_most)
    assert all(of.above < of.votes or of.enough < 0.9 or of.votes == of.above for of in heard)
    assert plan(**setting, power=0.7).votes < planned.votes
