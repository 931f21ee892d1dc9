"""Sharpness falls with every blur, whatever the picture shows."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
import pytest
from scipy.stats import spearmanr
from skimage.measure import blur_effect
from worlds import PHOTOGRAPHS, luma, photograph

from inpaintbench.curation.attributes.levels import Sharpness
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView


def sharpness(plane: Luma, **constants: int) -> float:
    return Sharpness(**constants).measure(ItemView.of_arrays(luma=plane if plane.ndim == 3 else plane[None]))


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_falls_with_every_blur(name: str) -> None:
    plane = luma(photograph(name, width=640, height=360)[None])[0]
    found = [sharpness(plane)] + [sharpness(cv2.GaussianBlur(plane, (0, 0), sigma)) for sigma in (0.7, 1, 1.5, 2, 3, 5)]
    assert all(later < earlier - 0.01 for earlier, later in pairwise(found)), found
    assert found[0] > 0.5 > 0.35 > found[-1]


def test_ranks_pictures_and_blurs_as_another_implementation_of_the_measure_does() -> None:
    pairs = []
    for name in PHOTOGRAPHS:
        plane = luma(photograph(name, width=320, height=200)[None])[0]
        for blurred in (plane, *(cv2.GaussianBlur(plane, (0, 0), sigma) for sigma in (0.8, 1.5, 3))):
            # It takes Sobel gradients where the paper takes differences of neighbours, so the numbers differ.
            pairs.append((sharpness(blurred), 1 - blur_effect(blurred, h_size=9, channel_axis=None)))
    assert spearmanr(pairs).statistic > 0.97


def test_against_the_formula_written_out() -> None:
    plane = np.random.default_rng(3).integers(0, 256, (24, 31)).astype(np.uint8)
    kept = []
    for turned in (plane.astype(np.float64), plane.T.astype(np.float64)):
        padded = np.pad(turned, ((4, 4), (0, 0)), mode="reflect")
        blurred = sum(padded[row : row + len(turned)] for row in range(9)) / 9
        before, after = np.abs(np.diff(turned, axis=0)), np.abs(np.diff(blurred, axis=0))
        kept.append(np.maximum(before - after, 0).sum() / before.sum())
    assert sharpness(plane) == pytest.approx(min(kept), abs=1e-5)


def test_smear_along_one_direction_counts() -> None:
    plane = luma(photograph("coffee", width=640, height=360)[None])[0]
    assert sharpness(cv2.blur(plane, (15, 1))) < 0.5 * sharpness(plane)


def test_one_smeared_frame_of_five_does_not_matter() -> None:
    plane = luma(photograph("coffee", width=320, height=180)[None])[0]
    clip = np.stack([plane] * 5)
    clip[2] = cv2.GaussianBlur(plane, (0, 0), 4)
    assert sharpness(clip) == sharpness(plane)


def test_a_plain_clip_has_a_reason() -> None:
    with pytest.raises(NotMeasurable, match="of one level each"):
        sharpness(np.full((3, 16, 16), 80, np.uint8))
