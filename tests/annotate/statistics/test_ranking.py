from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from planted_studies import Planted, drawn, true_strengths

from inpaintbench.annotate.statistics.ranking import (
    Comparison,
    Estimate,
    _draws,
    _rank_limits,
    estimate,
    numbered_votes,
    plain,
    rank,
    tally,
)
from inpaintbench.errors import InputError

FIVE = Planted((0.9, 0.4, 0.1, -0.4, -1.0), 0.2, 20, votes=600)


@pytest.mark.parametrize(
    ("ties", "sources"),
    [
        pytest.param(0.03, 20, marks=pytest.mark.long),
        pytest.param(0.4, 20, marks=pytest.mark.long),
        pytest.param(0.2, 50, marks=pytest.mark.long),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(ties: float, sources: int) -> None:
    planted = replace(FIVE, ties=ties, sources=sources)
    truth = dict(zip(planted.names, true_strengths(planted), strict=True))
    held = []
    for seed in range(60):
        found = rank(drawn(planted, seed), seed=seed, replicates=10)
        held += [one.low <= truth[one.name] <= one.high for one in found.methods]
    # 300 intervals of 60 studies, which hang together a little: three standard errors of 250 independent ones at 95 %.
    assert np.mean(held) == pytest.approx(0.95, abs=0.042)


def test_the_planted_order_is_found_with_votes_enough() -> None:
    planted = replace(FIVE, strengths=(1.4, 0.7, 0.0, -0.7, -1.4), votes=2000)
    found = rank(drawn(planted, 1), seed=0)
    assert [one.name for one in found.methods] == planted.names
    assert found.stable
    assert [(one.rank, one.rank_low, one.rank_high) for one in found.methods] == [(n, n, n) for n in range(1, 6)]
    assert found.methods[0].best > 0.99
    assert found.ties == pytest.approx(0.2, abs=0.06)
    assert sum(one.strength for one in found.methods) == pytest.approx(0, abs=1e-9)


def test_equal_methods_share_their_ranks() -> None:
    # The chance that a rank interval misses is 5 % for each of 3 x 40: 14 misses would be 3.3 standard errors too many.
    planted = Planted((0.0, 0.0, 0.0), 0.2, 20, votes=300)
    studies = [rank(drawn(planted, seed), seed=seed, replicates=200) for seed in range(40)]
    split = sum((one.rank_low, one.rank_high) != (1, 3) for found in studies for one in found.methods)
    assert split <= 14
    best = np.array([[one.best for one in sorted(found.methods, key=lambda one: one.name)] for found in studies])
    assert best.mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.17)


def test_an_order_is_settled_only_where_every_method_has_one_rank() -> None:
    planted = replace(FIVE, strengths=(1.2, 0.6, 0.0, -0.6, -1.2), votes=900)
    studies = [rank(drawn(planted, seed), seed=seed, replicates=200) for seed in range(12)]
    assert any(found.stable for found in studies)
    for found in studies:
        assert not found.stable or all(one.rank_low == one.rank_high for one in found.methods)


def test_order_of_the_votes_does_not_matter() -> None:
    votes = drawn(FIVE, 3)
    assert rank(votes, seed=1) == rank(votes[::-1], seed=1)


def test_a_wider_level_gives_wider_intervals() -> None:
    votes = drawn(FIVE, 3)
    wide, narrow = rank(votes, seed=1, level=0.99), rank(votes, seed=1, level=0.8)
    assert all(a.low < b.low < b.strength < b.high < a.high for a, b in zip(wide.methods, narrow.methods, strict=True))


def test_being_shown_first_is_told_from_being_better() -> None:
    planted = Planted((0.0, 0.0), 0.1, 30, votes=1500, bias=1.0, bias_spread=0.2)
    found = rank(drawn(planted, 2), seed=0)
    low, high = found.position_bias[1:]
    assert low < 1.0 < high
    assert low > 0.5
    assert abs(found.methods[0].strength) < 0.2


def test_the_error_is_that_of_leaving_out_one_source() -> None:
    votes = sorted(drawn(replace(FIVE, sources=6, votes=240), 5))
    names = FIVE.names

    def strengths(some: list[Comparison]) -> np.ndarray:
        return estimate(tally(numbered_votes(some, names), methods=5, rater_effects=False)).strengths

    whole = strengths(votes)
    left = [strengths([one for one in votes if one.cluster != f"s{source}"]) for source in range(6)]
    expected = sum(np.outer(one - whole, one - whole) for one in left) * 5 / 6
    found = estimate(tally(numbered_votes(votes, names), methods=5, rater_effects=False))
    assert found.covariance[:5, :5] == pytest.approx(expected, abs=1e-7)
    assert found.degrees == 5


def estimated(*strengths: float, degrees: int) -> Estimate:
    """Every difference of strengths has a standard error of 1."""
    covariance = 0.5 * np.eye(len(strengths) + 1)
    return Estimate(np.array(strengths), covariance, 0.0, 0.0, None, degrees, False)


def test_strengths_of_a_draw_share_the_scale_of_students_t() -> None:
    given = estimated(0.5, 0.0, -0.5, degrees=6)
    drawn_off = _draws(given, given.covariance, replicates=100_000, seed=0) - given.strengths
    # Hotelling's T^2: the mean square of three coordinates follows F(3, 6).
    mean_square = (drawn_off**2 / 0.5).mean(axis=1)
    assert np.quantile(mean_square, 0.95) == pytest.approx(scipy.stats.f.ppf(0.95, 3, 6), rel=0.03)


def test_each_method_is_told_from_others_by_its_own_quantile() -> None:
    given = estimated(1.5, 0.0, 0.0, degrees=6)
    # In every draw the second is too good and the third too bad by 1: the first is off by 1 at most, those by 2.
    draws = np.tile(given.strengths + np.array([0.0, 1.0, -1.0]), (20, 1))
    lowest, highest = _rank_limits(given, given.covariance, draws, level=0.95)
    assert list(zip(lowest.tolist(), highest.tolist(), strict=True)) == [(1, 1), (1, 3), (1, 3)]


def comparison(first: str, second: str, outcome: str, *, rater: str = "r", cluster: str = "s") -> Comparison:
    return Comparison(first, second, outcome, rater, cluster)  # type: ignore[arg-type]


def test_shares_count_ties_half_and_both_bad_apart() -> None:
    votes = [
        comparison("a", "b", "first"),
        comparison("b", "a", "tie", cluster="t"),
        comparison("b", "a", "second"),
        comparison("a", "b", "second", cluster="t"),
        comparison("a", "b", "both_bad"),
    ]
    found = rank(votes, seed=0)
    shares = {one.name: (one.win_share, one.votes) for one in found.methods}
    assert shares == {"a": (2.5 / 4, 4), "b": (1.5 / 4, 4)}
    assert (found.ties, found.both_bad, found.votes, found.clusters) == (1 / 4, 1 / 5, 4, 2)


def test_disconnected_methods_are_not_ranked() -> None:
    votes = [comparison("a", "b", "first"), comparison("c", "d", "second"), comparison("b", "c", "both_bad")]
    found = rank(votes, seed=0)
    assert found.reason == "no comparison connects these groups of methods: a, b; c, d"
    assert [one.strength for one in found.methods] == [None] * 4
    assert not found.stable


@pytest.mark.parametrize("votes", [[], [comparison("a", "b", "both_bad")]])
def test_without_votes_there_is_a_reason(votes: list[Comparison]) -> None:
    assert rank(votes, seed=0).reason == "there are no votes"


@pytest.mark.parametrize("sources", [1, 2, 5, 6])
def test_below_six_sources_there_are_strengths_and_no_interval_rank_or_settled_order(sources: int) -> None:
    votes = [comparison("a", "b", "first", cluster=f"s{n % sources}") for n in range(54)]
    votes += [comparison("a", "b", "second", cluster=f"s{n}") for n in range(sources)]
    found = rank(votes, seed=0)
    better = found.methods[0]
    claims = (better.low, better.high, better.rank, better.rank_low, better.rank_high, better.best, found.position_bias)
    assert better.name == "a"
    assert better.strength > 0.5
    if sources < 6:
        assert claims == (None,) * 7
        assert not found.stable
        assert any(note.startswith("strengths alone, no ranks") for note in found.notes)
    else:
        assert None not in claims
        assert better.rank == 1


def test_who_won_everything_has_a_finite_strength_and_a_wide_interval() -> None:
    votes = [comparison("a", name, "first", cluster=f"s{n}") for n in range(20) for name in "bc"]
    votes += [comparison("b", "c", ("first", "second")[n % 2], cluster=f"s{n}") for n in range(20)]
    found = rank(votes, seed=0)
    best = found.methods[0]
    assert best.name == "a"
    assert np.isfinite(best.strength)
    assert best.high - best.low > 2
    assert any("won everything" in note for note in found.notes)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="outcome 'left'"):
        rank([comparison("a", "b", "left")], seed=0)
    with pytest.raises(InputError, match="'a' is compared with itself"):
        rank([comparison("a", "a", "tie")], seed=0)
    with pytest.raises(InputError, match="level of intervals is 95"):
        rank([comparison("a", "b", "tie")], seed=0, level=95)


def test_plain_data_is_json() -> None:
    found = plain({"realism": rank(drawn(FIVE, 0), seed=0), "nothing": rank([], seed=0)})
    assert json.loads(json.dumps(found, allow_nan=False))["nothing"]["notes"] == ["there are no votes"]
    assert {"name", "strength", "low", "high", "rank", "rank_low", "rank_high", "win_share", "votes"} <= set(
        found["realism"]["methods"][0]
    )


def test_a_tie_counts_half_to_both_and_a_win_to_one() -> None:
    votes = [*[comparison("a", "b", "first", cluster=f"s{n}") for n in range(3)], comparison("b", "a", "tie")]
    found = rank(votes, seed=0)
    assert {one.name: one.win_share for one in found.methods} == {"a": 3.5 / 4, "b": 0.5 / 4}


def test_plain_data_says_all_that_the_ranking_does() -> None:
    found = rank(drawn(replace(FIVE, votes=60, sources=4), 0), seed=0)
    (told,) = plain({"realism": found}).values()
    assert [one["name"] for one in told.pop("methods")] == [one.name for one in found.methods]
    assert told == {
        "ties": found.ties, "both_bad": found.both_bad, "position_bias": found.position_bias, "votes": 60, "sources": 4,
        "notes": list(found.notes), "stable": found.stable,
    }  # fmt: skip
    assert told["notes"]


def test_two_raters_are_taken_as_equal_and_three_are_told_apart() -> None:
    votes = drawn(replace(FIVE, votes=120), 4)
    two, three = ([one._replace(rater=f"r{n % count}") for n, one in enumerate(votes)] for count in (2, 3))
    found = rank(two, seed=0)
    assert found.spread is None
    assert "2 raters are too few to tell their differences apart, so they were taken as equal" in found.notes
    assert rank(three, seed=0).spread is not None
