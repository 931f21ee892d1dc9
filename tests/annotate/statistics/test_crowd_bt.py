"""Crowd-BT against a closed-form study, and its gradient against differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import check_grad

from inpaintbench.annotate.screening.against_raters import Judged, _objective, crowd_bt


def judged() -> list[Judged]:
    """Six raters judge each of six pairs ten times: four alike, one reversed, one by lot."""
    rows = []
    for rater in range(6):
        for wins, (one, other) in zip((6, 8, 9, 6, 8, 6), combinations(range(4), 2), strict=True):
            of = {4: 10 - wins, 5: 5}.get(rater, wins)
            rows += [Judged(f"m{one}", f"m{other}", float(turn < of), f"r{rater}") for turn in range(10)]
    return rows


def test_a_reversed_and_a_random_rater_are_told_from_four_good_ones() -> None:
    model = crowd_bt(judged())
    assert list(model.strengths.values()) == pytest.approx([1.2219840, 0.4443449, -0.4443449, -1.2219840], abs=1e-6)
    assert list(model.reliability.values()) == pytest.approx([0.9136202] * 4 + [0.3576570, 0.6330694], abs=1e-6)
    assert model.objective == pytest.approx(243.1477505, abs=1e-6)


def test_ties_are_half_a_win_each_and_order_does_not_matter() -> None:
    rows = judged()
    swapped = [Judged(row.second, row.first, 1 - row.points, row.rater) for row in reversed(rows)]
    assert crowd_bt(swapped).objective == pytest.approx(crowd_bt(rows).objective, abs=1e-6)
    tied = crowd_bt([Judged("a", "b", 0.5, "r")] * 4)
    assert tied.strengths == pytest.approx({"a": 0, "b": 0}, abs=1e-6)


def test_the_gradient_is_that_of_the_objective() -> None:
    rng = np.random.default_rng(3)
    rows = np.stack([rng.integers(0, 2, 30), rng.integers(2, 4, 30), rng.integers(0, 5, 30)], axis=1)
    won, lost = rng.integers(0, 9, 30).astype(float), rng.integers(0, 9, 30).astype(float)
    for _ in range(5):
        point = rng.normal(size=9)
        wrong = check_grad(
            lambda at: _objective(at, rows, won, lost, 4)[0], lambda at: _objective(at, rows, won, lost, 4)[1], point
        )
        assert wrong < 1e-4
