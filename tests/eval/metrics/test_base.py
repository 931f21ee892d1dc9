"""What all metrics share: the mean over the parts of a clip, what counts as the same measurement."""

from __future__ import annotations

import math

import numpy as np
import pytest

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.metrics.base import Features, Measurement, check_regions, mean_over_clip


def test_infinite_parts_are_left_out_of_the_mean_and_counted_or_make_all_infinite() -> None:
    values = [20.0, math.inf, 30.0, math.inf]
    counted = mean_over_clip(values, parts="frames", missing="none")
    assert (counted.value, counted.reason, counted.details) == (25.0, None, {"frames": 4, "infinite_frames": 2})
    kept = mean_over_clip(values, parts="frames", missing="none", infinite="keep")
    assert (kept.value, kept.details) == (math.inf, {"frames": 4, "infinite_frames": 2})
    everywhere = mean_over_clip([math.inf] * 3, parts="pairs", missing="none")
    assert (everywhere.value, everywhere.details) == (math.inf, {"pairs": 3, "infinite_pairs": 3})
    finite = mean_over_clip([1.0, 2.0], parts="pairs", missing="none")
    assert (finite.value, finite.details) == (1.5, {"pairs": 2})


def test_no_part_or_one_that_is_no_number_gives_a_reason() -> None:
    nothing = mean_over_clip([], parts="frames", missing="no frame has a hole")
    assert (nothing.value, nothing.reason) == (None, "no frame has a hole")
    spoilt = mean_over_clip([1.0, math.nan, math.nan], parts="frames", missing="none")
    assert (spoilt.value, spoilt.reason) == (None, "2 of 3 frames gave NaN")
    assert spoilt.details == {"frames": 3, "nan_frames": 2}


def test_features_are_no_part_of_what_makes_measurements_equal() -> None:
    """They are arrays, whose comparison is no yes or no."""
    some, others = (Features(np.full((2, 3), level), np.zeros((2, 3))) for level in (0.0, 1.0))
    assert Measurement(None, "compares sets", features=some) == Measurement(None, "compares sets", features=others)


def test_an_unknown_region_is_refused() -> None:
    assert check_regions(("hole", "band")) == ("hole", "band")
    with pytest.raises(UnknownNameError, match="unknown region 'bnd', did you mean 'band'"):
        check_regions(("hole", "bnd"))
