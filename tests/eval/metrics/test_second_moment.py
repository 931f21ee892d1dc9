"""Second moments of windows: I3D's vectors of ``vfid_clips``, compared by the kernel of JEDi."""

from __future__ import annotations

import numpy as np
import pytest
from every_metric import built, constants_of

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.metrics.i3d import SecondMoment, VfidClips


def test_it_is_the_kernel_on_the_windows_of_vfid_clips() -> None:
    metric, other = built("second_moment"), built("vfid_clips")
    assert isinstance(metric, SecondMoment)
    assert metric.constants == other.constants
    assert metric.weights == VfidClips.weights
    rng = np.random.default_rng(0)
    one, truth = (rng.normal(size=(9, 6)).astype(np.float32) for _ in range(2))
    tables = [(a.astype(float) @ b.T.astype(float) / 6) ** 2 for a, b in ((one, one), (truth, truth), (one, truth))]
    inner = [table[~np.eye(9, dtype=bool)].mean() for table in tables[:2]]
    found = metric.compare([Features(one[:4], truth[:5]), Features(one[4:], truth[5:])], ["a", "b"])
    assert found.value == pytest.approx(100 * (sum(inner) - 2 * tables[2].mean()), rel=1e-10)
    assert metric.compare([], []).value is None


def test_an_unknown_estimate_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown estimate 'unbaised', did you mean 'unbiased'"):
        SecondMoment(**{**constants_of("second_moment"), "estimate": "unbaised"}, regions=("frame",), band_radius_pixels=4)
