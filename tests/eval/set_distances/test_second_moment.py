"""The quadratic kernel's discrepancy by moments, against tables of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.set_distances.second_moment import SecondMoments, compare, distance


def vectors(count: int, a: float, b: float) -> np.ndarray:
    i, j = np.mgrid[:count, :8]
    return np.asarray(np.sin(0.01 * a * (i + 1) * (j + 1) + b) + 0.1 * np.cos(0.3 * i + 0.7 * j))


ONE, OTHER = vectors(12, 3, 0.2), vectors(9, 2, 0.9)


def moments(*parts: np.ndarray) -> SecondMoments:
    made = SecondMoments(8)
    for part in parts:
        made.add(part)
    return made


def by_pairs(x: np.ndarray, y: np.ndarray, *, own: bool) -> float:
    """The mean kernel of all pairs, with those of a vector with itself or without."""
    tables = [(one @ other.T / 8) ** 2 for one, other in ((x, x), (y, y), (x, y))]
    inner = [table.mean() if own else table[~np.eye(len(table), dtype=bool)].mean() for table in tables[:2]]
    return float(sum(inner) - 2 * tables[2].mean())


def test_known_values() -> None:
    one, other = moments(ONE), moments(OTHER)
    assert 100 * distance(one, other, estimate="biased") == pytest.approx(14.1936757, abs=5e-8)
    assert 100 * distance(one, other, estimate="unbiased") == pytest.approx(13.4530576, abs=5e-8)
    assert distance(one, other, estimate="biased") == pytest.approx(by_pairs(ONE, OTHER, own=True), rel=1e-13)
    assert distance(one, other, estimate="unbiased") == pytest.approx(by_pairs(ONE, OTHER, own=False), rel=1e-12)
    assert distance(one, moments(ONE), estimate="biased") == 0
    for estimate in ("biased", "unbiased"):
        assert distance(one, other, estimate=estimate) == pytest.approx(distance(other, one, estimate=estimate), rel=1e-14)


def test_parts_and_merged_sets_are_the_whole() -> None:
    merged = moments(ONE[:5])
    merged.merge(moments(ONE[5:7], ONE[7:]))
    for estimate in ("biased", "unbiased"):
        whole = distance(moments(ONE), moments(OTHER), estimate=estimate)
        assert distance(merged, moments(OTHER), estimate=estimate) == pytest.approx(whole, rel=1e-10)


def test_sets_come_item_by_item_and_too_few_have_a_reason() -> None:
    found = compare([Features(ONE[:7], OTHER[:2]), Features(ONE[7:], OTHER[2:])], ["a", "b"], estimate="biased")
    assert found.value == pytest.approx(0.141936757, abs=5e-10)
    assert found.details.pop("unbiased") == pytest.approx(0.134530576, abs=5e-10)
    assert found.details == {"n": 12, "d": 8, "paired": True, "n_truth": 9}
    assert compare([Features(ONE[:1], OTHER[:1])], ["a"], estimate="biased").value is not None
    alone = compare([Features(ONE[:1], OTHER[:1])], ["a"], estimate="unbiased")
    assert (alone.value, alone.reason) == (None, "needs at least 2 vectors in each set, and there are 1")
