"""The matching rate against counts made by hand and by a plain loop, and its symmetries."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wings.align.planted_answers import ballot, measured

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.wings.align.bootstrap import Bootstrap
from inpaintbench.wings.align.reading import TIE, Ballot
from inpaintbench.wings.align.win_ratios import matched, tie_threshold, votes_of

FEW = Bootstrap(replicates=50)
SCORES = {("x", "a"): 3.0, ("x", "b"): 1.0, ("y", "a"): 2.0, ("y", "b"): 2.0, ("z", "a"): 1.0, ("z", "b"): 1.4}


def test_counted_by_hand() -> None:
    told = [
        ballot("x", "a", "b", "a"),  # the winner: a match
        ballot("x", "b", "a", "b", rater="r2"),  # the loser
        ballot("x", "a", "b", TIE, rater="r3"),  # a tie, but 2.0 apart
        ballot("y", "a", "b", "a"),  # equal values have no winner
        ballot("y", "a", "b", TIE, rater="r2"),  # equal: a match
        ballot("z", "a", "b", TIE),  # 0.4 apart: a match below 0.5
        ballot("z", "a", "b", "b", rater="r2"),  # the winner, also within the threshold: a match
        ballot("w", "a", "b", "a"),  # no value
    ]
    found = matched(votes_of("quality", told), measured(SCORES), "m", tie_eps=0.5, bootstrap=FEW)
    assert (found.rate.value, found.rate.n, found.rate.n_sources, found.rate.n_raters) == (4 / 7, 7, 3, 3)
    assert (found.decided.value, found.decided.n) == (2 / 4, 4)
    assert found.not_compared == 1
    strict = matched(votes_of("quality", told), measured(SCORES), "m", tie_eps=0.39, bootstrap=FEW)
    assert strict.rate.value == 3 / 7  # the tie on z no longer matches
    none = matched(votes_of("quality", told), measured(SCORES), "m", tie_eps=0.0, bootstrap=FEW)
    assert none.rate.value == 2 / 7
    lower = matched(votes_of("quality", told), measured(SCORES, higher_is_better=False), "m", tie_eps=0.5, bootstrap=FEW)
    assert lower.decided.value == 1 / 4


def test_infinite_values_win_and_two_of_them_are_equal() -> None:
    values = {("x", "a"): math.inf, ("x", "b"): 40.0, ("y", "a"): math.inf, ("y", "b"): math.inf}
    told = [ballot("x", "a", "b", "a"), ballot("x", "a", "b", TIE, rater="r2"), ballot("y", "a", "b", TIE)]
    found = matched(votes_of("quality", told), measured(values), "m", tie_eps=1.0, bootstrap=FEW)
    assert (found.rate.value, found.decided.value) == (2 / 3, 1.0)


def test_the_threshold_is_a_quantile_of_the_pairs_asked() -> None:
    told = [ballot(item, "a", "b", "a", rater=f"r{n}") for item in "xyz" for n in range(3)]
    votes = votes_of("quality", told)
    values = {**SCORES, ("unasked", "a"): 0.0, ("unasked", "b"): 99.0}
    for share in (0.0, 0.25, 0.5, 1.0):
        assert tie_threshold(votes, values, quantile=share) == pytest.approx(np.quantile([2.0, 0.0, 0.4], share))
    with pytest.raises(InputError, match=r"quantile of a tie threshold is 1\.5"):
        tie_threshold(votes, values, quantile=1.5)
    with pytest.raises(NotMeasurable, match="no pair that was compared"):
        tie_threshold(votes, {("x", "a"): 1.0}, quantile=0.5)
    for eps in (-1.0, math.nan):
        with pytest.raises(InputError, match="it must be 0 or more"):
            matched(votes, measured(SCORES), "m", tie_eps=eps, bootstrap=FEW)


def test_counts_stand_for_as_many_answers() -> None:
    many = [ballot("x", "a", "b", "a", rater=None, count=7), ballot("y", "a", "b", "b", rater=None, count=3)]
    found = matched(votes_of("quality", many), measured(SCORES), "m", tie_eps=0.1, bootstrap=FEW)
    assert (found.rate.value, found.rate.n, found.rate.n_raters) == (0.7, 10, None)


ANSWERS = st.lists(
    st.tuples(st.sampled_from("uvwxyz"), st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 3)),
    min_size=1,
    max_size=30,
)
VALUES = st.dictionaries(st.tuples(st.sampled_from("uvwxyz"), st.sampled_from("abc")), st.integers(0, 4).map(float))


@settings(max_examples=60, deadline=None)
@given(ANSWERS, VALUES, st.sampled_from((0.0, 1.0, 1.5)), st.booleans())
def test_properties(
    told: list[tuple[str, str, str, int, int]], values: dict[tuple[str, str], float], eps: float, higher: bool
) -> None:
    ballots = [
        ballot(item, one, other, (one, other, TIE)[said], rater=f"r{rater}")
        for item, one, other, said, rater in told
        if one != other
    ]
    if not ballots:
        return
    own = measured(values, higher_is_better=higher)
    found = matched(votes_of("quality", ballots), own, "m", tie_eps=eps, bootstrap=FEW)
    hits = [hit for one in ballots if (hit := plain(one, values, eps, higher)) is not None]
    assert found.rate.value == (pytest.approx(sum(hits) / len(hits)) if hits else None)
    assert found.not_compared == len(ballots) - len(hits)
    swapped = [replace(one, candidates=one.candidates[::-1]) for one in reversed(ballots)]
    assert matched(votes_of("quality", swapped), own, "m", tie_eps=eps, bootstrap=FEW) == found
    negated = measured({key: -value for key, value in values.items()}, higher_is_better=not higher)
    assert matched(votes_of("quality", ballots), negated, "m", tie_eps=eps, bootstrap=FEW) == found


def plain(one: Ballot, values: dict[tuple[str, str], float], eps: float, higher: bool) -> bool | None:
    """The rule as the paper words it."""
    left, right = (values.get((one.item, method)) for method in one.candidates)
    if left is None or right is None:
        return None
    if one.choice == TIE:
        return abs(left - right) < eps
    chosen, other = (left, right) if one.choice == one.candidates[0] else (right, left)
    return chosen > other if higher else chosen < other
