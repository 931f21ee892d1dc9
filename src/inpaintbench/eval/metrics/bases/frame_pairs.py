"""What metrics of consecutive frames have in common: the pixels that a region has in both, and a mean over items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Metric, region_pixels
from inpaintbench.view import ItemView

LEVELS = 255
Pixels = npt.NDArray[np.bool_]


class FramePairs(Metric):
    """Base of metrics that look at each frame and the next one, pixel by pixel."""

    unit = ""
    higher_is_better = False
    decimals = 5
    needs = ("truth", "composite", "hole")
    fewest_frames = 2


def mean_level(levels: npt.NDArray[Any], pixels: Pixels) -> float:
    """The mean of grey levels, ``[H, W, 3]``, over ``pixels``, ``bool[H, W]``, and channels, in intensities of 0..1."""
    channels = cv2.mean(levels, pixels.view(np.uint8))[:3]
    return sum(channels) / (3 * LEVELS)


def shared_pixels(view: ItemView, *, regions: tuple[str, ...], band_radius_pixels: int) -> Iterator[dict[str, Pixels]]:
    """For each pair of consecutive frames the pixels of each region in both, without the regions that have none.

    Raises:
        NotMeasurable: there is one frame only.
    """
    if view.frames < 2:
        raise NotMeasurable("one frame has no next frame")
    masks = {region: region_pixels(view, region, band_radius_pixels=band_radius_pixels) for region in regions}
    for index in range(view.frames - 1):
        both = {region: pixels[index] & pixels[index + 1] for region, pixels in masks.items()}
        yield {region: pixels for region, pixels in both.items() if pixels.any()}


def missing_pair(region: str) -> str:
    """Why there is no value when ``shared_pixels`` gave none."""
    return f"no two consecutive frames share a pixel of the region {region!r}"
