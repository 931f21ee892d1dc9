from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from inpaintbench.errors import InputError
from inpaintbench.eval.comparing.ranking import Column, decimal, standings, standings_of_places

MSE, PSNR = Column("mse", higher_is_better=False), Column("psnr", higher_is_better=True)


def test_places_are_shared_and_the_next_is_skipped() -> None:
    found = standings([MSE, PSNR], {"a": (0.2, 20), "b": (0.1, 30), "c": (0.1, 20), "d": (0.3, 10)})
    assert [(one.method, one.places, one.mean, one.place) for one in found] == [
        ("b", (1, 1), Fraction(1), 1),
        ("c", (1, 2), Fraction(3, 2), 2),
        ("a", (3, 2), Fraction(5, 2), 3),
        ("d", (4, 4), Fraction(4), 4),
    ]


def test_equal_means_share_their_place_in_the_order_given() -> None:
    found = standings([MSE, PSNR], {"a": (1, 1), "b": (2, 2), "c": (3, 0)})
    assert [(one.method, one.place) for one in found] == [("a", 1), ("b", 1), ("c", 3)]


def test_who_lacks_a_value_has_no_mean_and_stands_last_with_the_reason() -> None:
    found = standings([MSE, PSNR], {"a": (None, 40.0), "b": (0.2, 30.0), "c": (0.1, None), "d": (None, None)})
    assert [one.method for one in found] == ["b", "a", "c", "d"]
    assert [one.reason for one in found] == [None, "no place by mse", "no place by psnr", "no place by mse, psnr"]
    assert [one.mean for one in found] == [Fraction(2), None, None, None]
    assert found[0].places == (2, 2)


def test_eight_thirds_truncated_and_rounded() -> None:
    assert [decimal(Fraction(8, 3), how="truncated"), decimal(Fraction(8, 3), how="rounded")] == ["2.6", "2.7"]
    assert [decimal(Fraction(9, 4), how="truncated"), decimal(Fraction(9, 4), how="rounded")] == ["2.2", "2.3"]
    assert decimal(Fraction(10), how="truncated") == decimal(Fraction(10), how="rounded") == "10.0"


def test_what_cannot_be_ranked_is_refused() -> None:
    with pytest.raises(InputError, match="'b' has 1 values for 2 metrics"):
        standings([MSE, PSNR], {"a": (1, 2), "b": (1,)})
    with pytest.raises(InputError, match="no metric to rank by"):
        standings_of_places([], {"a": ()})
    with pytest.raises(ValueError, match="NaN"):
        standings([MSE], {"a": (float("nan"),)})


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=7), st.tuples(*[st.booleans()] * 3))
def test_equals_scipy(rows: list[tuple[int, ...]], directions: tuple[bool, ...]) -> None:
    columns = [Column(str(index), up) for index, up in enumerate(directions)]
    found = {one.method: one for one in standings(columns, {str(index): row for index, row in enumerate(rows)})}
    expected = [
        rankdata([-row[index] if up else row[index] for row in rows], method="min") for index, up in enumerate(directions)
    ]
    for index in range(len(rows)):
        places = tuple(int(column[index]) for column in expected)
        assert found[str(index)].places == places
        assert found[str(index)].mean == Fraction(sum(places), 3)
