from __future__ import annotations

import numpy as np
import pytest
from planted_studies import Planted, drawn
from scipy.integrate import quad
from scipy.stats import norm

from inpaintbench.annotate.desk.pairs import is_stable, limit
from inpaintbench.annotate.statistics.ranking import Comparison, rank
from inpaintbench.errors import InputError


def votes_of(planted: Planted, seed: int) -> list[tuple[str, str, str, str]]:
    return [(one.first, one.second, one.outcome, one.cluster) for one in drawn(planted, seed)]


def first_stop(planted: Planted, seed: int, *, step: int) -> int | None:
    votes = votes_of(planted, seed)
    looks = range(50, len(votes) + 1, step)
    return next((count for count in looks if is_stable(votes[:count], level=0.95, fewest_votes=50)), None)


def test_clearly_different_methods_stop_the_study() -> None:
    planted = Planted((1.5, 0.0, -1.5), 0.2, 20, votes=1000, source_spread=0.2)
    stops = [first_stop(planted, seed, step=50) for seed in range(8)]
    assert None not in stops


@pytest.mark.long
def test_two_equal_methods_hardly_ever_stop_it() -> None:
    planted = Planted((0.0, 0.0), 0.2, 20, votes=1000, source_spread=0.2)
    stops = sum(first_stop(planted, seed, step=25) is not None for seed in range(30))
    # At most 5 % may: 6 or more of 30 would come up in less than 1 % of test runs.
    assert stops <= 5


def test_the_limit_holds_for_a_walk_that_is_looked_at_all_the_time() -> None:
    rng = np.random.default_rng(0)
    walks = rng.standard_normal((3000, 2000)).cumsum(axis=1)
    counts = np.arange(1, 2001)
    limits = np.array([limit(int(count), level=0.95, fewest_votes=50) for count in counts])
    crossed = (np.abs(walks) / np.sqrt(counts) > limits).any(axis=1).mean()
    assert crossed <= 0.05
    assert limits.min() > norm.ppf(0.975)
    # A limit for a single look would be crossed by most of them.
    assert (np.abs(walks) / np.sqrt(counts) > 1.96).any(axis=1).mean() > 0.4


def test_few_votes_or_one_source_or_unconnected_methods_are_never_stable() -> None:
    lost = np.random.default_rng(0).random(400) < 0.2
    clear = [(*("ab", "ba")[n // 20 % 2], ("first", "second")[(n // 20 + lost[n]) % 2], f"s{n % 20}") for n in range(400)]
    assert is_stable(clear, level=0.95, fewest_votes=50)
    assert not is_stable(clear, level=0.95, fewest_votes=1000)
    assert not is_stable([(a, b, o, "s") for a, b, o, _ in clear], level=0.95, fewest_votes=50)
    assert not is_stable([*clear, *[("c", "d", "first", f"s{n % 20}") for n in range(400)]], level=0.95, fewest_votes=50)
    assert not is_stable([], level=0.95, fewest_votes=1)


@pytest.mark.parametrize("sources", [2, 3, 5, 6])
def test_votes_on_fewer_than_six_sources_settle_nothing_as_they_give_no_ranks(sources: int) -> None:
    lost = np.random.default_rng(0).random(400) < 0.15
    votes = [
        (*("ab", "ba")[n // sources % 2], ("first", "second")[(n // sources + lost[n]) % 2], f"s{n % sources}")
        for n in range(400)
    ]
    ranking = rank([Comparison(*vote[:3], rater="r", cluster=vote[3]) for vote in votes], seed=0)
    settled = is_stable(votes, level=0.95, fewest_votes=50)
    assert settled == ranking.stable == (ranking.methods[0].rank is not None) == (sources >= 6)


def test_an_unknown_outcome_is_refused() -> None:
    with pytest.raises(InputError, match="'both_bad'"):
        is_stable([("a", "b", "both_bad", "s")], level=0.95, fewest_votes=1)


@pytest.mark.parametrize("votes", [1, 30, 200, 5000])
@pytest.mark.parametrize(("level", "fewest_votes"), [(0.95, 50), (0.99, 10)])
def test_the_limit_is_where_robbins_mixture_reaches_one_over_the_chance_of_a_miss(
    votes: int, level: float, fewest_votes: int
) -> None:
    """By numerical integration, not by the closed form: E exp(lambda S - lambda^2 t / 2) over normal lambda (Robbins 1970)."""
    miss = -2 * np.log(1 - level)
    rho = np.sqrt((miss + np.log(miss) + 1) / (4 * fewest_votes))
    reached = limit(votes, level=level, fewest_votes=fewest_votes) * np.sqrt(votes)
    peak = reached * rho**2 / (1 + votes * rho**2)
    width = rho / np.sqrt(1 + votes * rho**2)
    mixture, _ = quad(
        lambda rate: np.exp(rate * reached - rate**2 * votes / 2) * norm.pdf(rate, scale=rho),
        peak - 12 * width,
        peak + 12 * width,
    )
    assert mixture == pytest.approx(1 / (1 - level), rel=1e-6)


def test_the_limit_is_tightest_about_where_the_study_is_planned_to_end() -> None:
    counts = np.arange(1, 2001)
    limits = [limit(int(count), level=0.95, fewest_votes=50) for count in counts]
    assert 180 <= counts[int(np.argmin(limits))] <= 220
