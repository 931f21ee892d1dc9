"""Axes hold what they are given, however close it lies together."""

from __future__ import annotations

import pytest

from inpaintbench.eval.analysis.chart import scale


@pytest.mark.parametrize("values", [[58.92, 58.919999999999995], [0.0, 0.0], [5.0], [-3.0, -3.0 - 1e-14], [1e-12, 2e-12]])
def test_values_that_differ_by_rounding_have_an_axis(values: list[float]) -> None:
    ticks = scale(values, from_zero=False)
    assert ticks[0] <= min(values)
    assert ticks[-1] >= max(values)
    assert len({f"{tick:.6g}" for tick in ticks}) == len(ticks) > 1
