"""Noise of a clip, from single frames, after Immerkaer, "Fast noise variance estimation", CVIU 64 (2), 1996.

The published kernel is the difference of two Laplacians, which cancels flat and evenly sloping picture content; Gaussian noise of
deviation s comes out of it with deviation 6 s. Texture comes out as well, so here only the blocks with the weakest answer count.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.base import AttributeLeaf, evenly_spaced
from inpaintbench.curation.attributes.exposure import BLACK, WHITE
from inpaintbench.errors import NotMeasurable
from inpaintbench.ranges import AtLeastOne
from inpaintbench.view import ItemView

KERNEL = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32) / 6
# Pixels a side: large enough that the weakest tenth of equal blocks lies only 3 to 5 % below their mean.
BLOCK = 32
WEAKEST = 0.1
# Share of black and white pixels above which a block has lost its noise and does not count.
MOST_CLIPPED = 0.1
SMALLEST_SIDE = 16


class Noise(AttributeLeaf):
    """Standard deviation of the noise in coded luma, the median over a few frames.

    What counts is independent from pixel to pixel: noise that a codec or an enlargement has smoothed is measured too low, and a
    fine texture over the whole view too high.
    """

    name = "noise"
    version = "1"
    unit = "standard deviation in levels of coded luma"
    direction = "higher: noisier, or fine texture all over the view"
    needs = ("luma",)
    cost = 0.05

    def __init__(self, *, sampled_frames: AtLeastOne = 5) -> None:
        self.sampled_frames = sampled_frames

    def measure(self, view: ItemView) -> float:
        """The deviation, 0 and more; ``NotMeasurable`` where black or white is everywhere, or a side is below 16 pixels."""
        if min(view.height, view.width) < SMALLEST_SIDE:
            raise NotMeasurable(f"the view is {view.width}x{view.height}, noise needs {SMALLEST_SIDE} pixels a side")
        chosen = evenly_spaced(view.frames, count=self.sampled_frames)
        estimates = [_of_frame(view.luma[index]) for index in chosen]
        known = [value for value in estimates if value is not None]
        if not known:
            raise NotMeasurable("no block of the view is free of black and white, where noise is cut off")
        return float(np.median(known))


def _of_frame(plane: npt.NDArray[np.uint8]) -> float | None:
    """The estimate of one frame; None where every block is clipped."""
    side = min(BLOCK, min(plane.shape) - 2)
    answer = np.abs(cv2.filter2D(plane, cv2.CV_32F, KERNEL)[1:-1, 1:-1])
    clipped = ((plane <= BLACK) | (plane >= WHITE))[1:-1, 1:-1]
    usable = _block_means(clipped.astype(np.float32), side) <= MOST_CLIPPED
    if not usable.any():
        return None
    # The mean size of Gaussian values is sqrt(2 / pi) of their deviation.
    return float(np.sqrt(np.pi / 2) * np.quantile(_block_means(answer, side)[usable], WEAKEST))


def _block_means(values: npt.NDArray[np.float32], side: int) -> npt.NDArray[np.float64]:
    """Means of the whole blocks, ``float64[n]``."""
    rows, columns = values.shape[0] // side, values.shape[1] // side
    blocks = values[: rows * side, : columns * side].reshape(rows, side, columns, side)
    means: npt.NDArray[np.float64] = blocks.mean(axis=(1, 3), dtype=np.float64).ravel()
    return means
