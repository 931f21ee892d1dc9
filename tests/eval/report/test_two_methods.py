"""One row of two methods side by side, where values are infinite or there is nothing to compare."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from inpaintbench.eval.report import two_methods
from inpaintbench.eval.report.two_methods import Difference
from inpaintbench.eval.values.permutation import settled

ROW = Difference(
    "psnr", "hole", "all", 30.0, 29.0, 1.0, None, None, 0.01, 0.02, n=8, n_sources=8, wins=8, ties=0, losses=0, reason=None
)


def test_who_is_better_follows_the_metrics_direction_and_nobody_is_without_a_difference_or_sources() -> None:
    assert ROW.better == 1
    assert replace(ROW, difference=-1.0).better == -1
    assert replace(ROW, metric="lpips").better == -1
    assert replace(ROW, difference=None).better == 0
    assert replace(ROW, difference=0.0).better == 0
    assert [replace(ROW, p_corrected=p).better for p in (None, 0.05, 0.049)] == [0, 0, 1]
    assert replace(ROW, reference=True).better == replace(ROW, contradicted=True).better == 0


@pytest.mark.parametrize("pair", [(math.inf, 1.0), (1.0, math.inf), (None, 1.0), (1.0, None), (math.inf, math.inf)])
def test_a_pair_with_an_infinite_or_missing_value_has_no_difference(pair: tuple[float | None, float | None]) -> None:
    assert two_methods._finite(pair) is None
    assert two_methods._finite((1.0, 2.0)) == (1.0, 2.0)


def test_infinite_values_count_as_the_largest_finite_under_that_rule_alone() -> None:
    column = [1.0, None, math.inf, 3.0]
    assert settled(column, "largest_finite") == [1.0, None, 3.0, 3.0]
    assert settled(column, "count") == column
    assert settled([math.inf, None], "largest_finite") == [math.inf, None]


def test_a_note_of_several_rows_stands_below_once() -> None:
    rows = [replace(ROW, reason="too few"), ROW, replace(ROW, reason="its own"), replace(ROW, slice="low", reason="too few")]
    texts, notes = two_methods.text_rows(rows)
    assert [cells[-1] for cells in texts] == ["(1)", "", "its own", "(1)"]
    assert notes == ["(1) too few"]
