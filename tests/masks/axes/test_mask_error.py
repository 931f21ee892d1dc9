"""Masks that are too small or too large: nothing of what is missing shows, and what is given is what an imperfect mask is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from axes_made import world

from inpaintbench.masks.axes.spoiling import IOU
from inpaintbench.masks.mask_errors import agreement


def test_levels_are_nested_and_the_missing_rim_is_shown_in_the_fill_value(tmp_path: Path) -> None:
    made = world(tmp_path)
    truth, exact = made.frames(made.clip.blob), made.hole(made.base.hole)
    eroded, dilated = made.vary("mask_error").corruptions
    small, large = made.hole(eroded.hole), made.hole(dilated.hole)
    assert (small <= exact).all()
    assert (exact <= large).all()
    for row, hole in ((eroded, small), (dilated, large)):
        assert IOU[0] <= agreement(hole, exact)["mask_iou"] < IOU[1]
        assert row.facts["axis_mask_iou"] == pytest.approx(agreement(hole, exact)["mask_iou"])
        assert (row.object_mask, row.object_mask_sha256) == (made.base.hole, made.base.hole_sha256)
    assert dilated.input is None
    shown = made.frames(eroded.input)
    assert not shown[exact].any()
    np.testing.assert_array_equal(shown[~exact], truth[~exact])
