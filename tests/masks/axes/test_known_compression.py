"""What the video writer makes of the clip, in the clip's own size."""

from __future__ import annotations

import numpy as np
from axes_made import film

from inpaintbench.masks.axes.spoiling import KnownCompression
from inpaintbench.masks.axis_versions import known_psnr


def test_odd_sides_stay_and_errors_are_those_of_a_codec() -> None:
    truth = np.ascontiguousarray(film()[:6, :131, :97])
    nothing = np.zeros(truth.shape[:3], np.bool_)
    made = {
        level: KnownCompression().input(level, truth, nothing, 24.0, np.random.default_rng(0))
        for level in KnownCompression.levels
    }
    assert {one.shape for one in made.values()} == {truth.shape}
    np.testing.assert_array_equal(made["none"], truth)
    weak, strong = (known_psnr(made[level], truth, nothing) for level in ("weak", "strong"))
    assert weak is not None
    assert strong is not None
    assert 28 < weak < 40
    assert weak - 3 > strong > 20
