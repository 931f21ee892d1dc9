"""PSNR weighted by how much the eye sees in each block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, Unpack, get_args

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, Metric, Where, check_next_frame, region_pixels
from inpaintbench.ranges import Amount
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

Begin = Literal["black", "next"]
Picture = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float64]

DEPTH = 8
_PEAK = 255.0
# Pixels of the picture that the constants are made for.
_UHD_PIXELS = 3840 * 2160
# Larger frames are filtered at half their size by the published program.
MOST_PIXELS = 2048 * 1152
# Frames of at most so many pixels have their weights limited by those of their neighbours.
_SMOOTHED_PIXELS = 640 * 480
# Frames a second from which the second difference in time counts in place of the first.
_FAST = 32
_LEAST_BLOCK_PIXELS = 4
_LEAST_ACTIVITY = 2.0 ** (DEPTH - 6)
# Of the high-pass filter: what is left of a pixel without its neighbours.
_HIGH_PASS = np.array([[-1, -2, -1], [-2, 12, -2], [-1, -2, -1]], np.float32)
_TEMPORAL = 2.0


class Xpsnr(Metric):
    """PSNR of luma in which each block weighs as much as errors are seen in it, in dB.

    Helmrich et al., "XPSNR: a low-complexity extension of the perceptually weighted peak signal-to-noise ratio", ICASSP 2020, as
    FFmpeg's filter ``xpsnr`` works it out. Blocks are 4 int(32 sqrt(r) + 0.5) wide, r = pixels / (3840 2160); one weighs the
    inverse of its activity in the truth: the mean size of a 3x3 high-pass plus twice that of the change in time (from 32 frames a
    second on, of the change of the change), at least 4 levels. A frame's error is the weighted sum of squares times
    sqrt(128 / sqrt(r)) over its pixels; of a clip the *roots* are averaged and then put in decibels. In a region, squares and
    pixels are those of the region, weights those of the frame. Higher is better. Luma is ITU-R 601, full range, in whole levels.

    Args:
        begin: what comes before the first frame. ``"black"``, as FFmpeg's program has it, which makes all of the first frame
            active and its value about 10 dB too high; ``"next"``: the first difference in time that there is counts.
        mean_of_small: put the mean of the frames' decibels in the place of the value when the mean root of their weighted sums is
            below 1, as the program does; one exact frame is then infinite, and so is the clip.
        ceiling_decibels: the largest value that is given; None = a perfect copy is infinite.
    """

    name = "xpsnr"
    version = "1"
    follows = "FFmpeg (LGPL-2.1+), by the authors' paper"
    unit = "dB"
    higher_is_better = True
    decimals = 2
    bounds = (0.0, math.inf)
    needs = ("truth", "composite", "hole")
    fewest_frames = 2
    deviations = (
        Deviation(
            "size of frames",
            "above 2048x1152 pixels the high-pass works on 2x2 means",
            "larger frames are not measured",
            "none: a size has a value by this definition or none",
        ),
    )

    def __init__(self, *, begin: Begin, mean_of_small: bool, ceiling_decibels: Amount | None, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        known_name("beginning", begin, get_args(Begin))
        self.begin: Begin = begin
        self.mean_of_small, self.ceiling_decibels = mean_of_small, ceiling_decibels
        self.fewest_frames = 2 if self.begin == "next" else 1

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in dB for each region; None where no frame has a pixel of it.

        Raises:
            NotMeasurable: the frames have more than ``MOST_PIXELS``, or there is one frame only and ``begin`` is ``"next"``.
        """
        if view.height * view.width > MOST_PIXELS:
            raise NotMeasurable(f"frames of {view.width}x{view.height} are larger than 2048x1152")
        if self.begin == "next":
            check_next_frame(view.frames)

        def of_truth() -> tuple[list[Picture], list[Numbers]]:
            lumas = [luma(frame) for frame in view.truth]
            return lumas, weights_of(lumas, frames_per_second=view.fps, begin=self.begin)

        true, weights = view.shared.once(("xpsnr", self.begin), of_truth)
        ours = [luma(frame) for frame in view.composite]
        found = {}
        for region in self.regions:
            masks = None if region == "frame" else region_pixels(view, region, band_radius_pixels=self.band_radius_pixels)
            errors: list[int] = []
            counts: list[int] = []
            for index, (one, other, weight) in enumerate(zip(true, ours, weights, strict=True)):
                pixels = one.size if masks is None else int(np.count_nonzero(masks[index]))
                if pixels:
                    squares = np.square(one.astype(np.int32) - other)
                    counted = squares if masks is None else np.where(masks[index], squares, 0)
                    errors.append(weighted_error(counted, weight))
                    counts.append(pixels)
            if not errors:
                found[region] = Measurement(None, f"no frame has a pixel of the region {region!r}")
                continue
            value = clip_decibels(errors, counts, mean_of_small=self.mean_of_small)
            value = value if self.ceiling_decibels is None else min(value, self.ceiling_decibels)
            found[region] = Measurement(value, details={"frames": len(errors)})
        return found


def luma(frame: npt.NDArray[np.uint8]) -> Picture:
    """ITU-R 601 luma of ``uint8[H, W, 3]`` in whole levels, full range."""
    return np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), np.uint8)


def frame_decibels(error: int, pixels: int) -> float:
    """Weighted sum of squared levels over so many pixels, in dB; infinite for 0."""
    return 10 * math.log10(pixels * _PEAK**2 / error) if error else math.inf


def clip_decibels(errors: Sequence[int], pixels: Sequence[int], *, mean_of_small: bool) -> float:
    """The weighted sums of squares of a clip's frames, each over so many ``pixels``, as one value in dB."""
    if mean_of_small and math.fsum(map(math.sqrt, errors)) < len(errors):
        return math.fsum(map(frame_decibels, errors, pixels)) / len(errors)
    root = math.fsum(math.sqrt(error / count) for error, count in zip(errors, pixels, strict=True)) / len(errors)
    return 20 * math.log10(_PEAK / root) if root else math.inf


def weighted_error(squares: npt.NDArray[np.int32], weights: Numbers) -> int:
    """Weighted sum of squared differences ``int32[H, W]`` by the weights of their blocks, scaled and rounded."""
    height, width = squares.shape
    return math.floor(_scale(height, width) * float((_block_sums(squares.astype(np.float64)) * weights).sum()) + 0.5)


def weights_of(frames: Sequence[Picture] | Frames, *, frames_per_second: float, begin: Begin) -> list[Numbers]:
    """Weight of every block of each frame ``uint8[H, W]``, ``float64[rows, columns]``."""
    found: list[Numbers] = []
    height, width = frames[0].shape
    if _block_pixels(height, width) < _LEAST_BLOCK_PIXELS:  # plain PSNR
        return [np.full((1, 1), 1 / _scale(height, width)) for _ in frames]
    order = 2 if int(frames_per_second) >= _FAST and (begin == "black" or len(frames) > 2) else 1
    for index, frame in enumerate(frames):
        spatial = np.abs(cv2.filter2D(frame.astype(np.float32), cv2.CV_32F, _HIGH_PASS))
        inner = np.zeros((height, width))
        inner[1:-1, 1:-1] = 1
        activity = _block_sums(spatial * inner) / np.maximum(_block_sums(inner), 1)
        # The difference in time of that order up to the frame.
        last = max(index, order) if begin == "next" else index
        before = [
            frames[at].astype(np.float64) if at >= 0 else np.zeros((height, width)) for at in range(last, last - order - 1, -1)
        ]
        change = before[0] - before[1] if order == 1 else before[0] - 2 * before[1] + before[2]
        activity += _TEMPORAL * _block_sums(np.abs(change)) / _block_sums(np.ones((height, width)))
        weights = 1 / np.maximum(activity, _LEAST_ACTIVITY)
        found.append(_limited(weights) if height * width <= _SMOOTHED_PIXELS else weights)
    return found


def _limited(weights: Numbers) -> Numbers:
    """Weights, each at most as large as the largest of its left, right and upper neighbours, in the order of the scan.

    The right neighbour is not limited yet, the others are; the last block of a row has no right one, the very last one is
    limited by its left and upper neighbours.
    """
    rows, columns = weights.shape
    limited = weights.copy()
    for row in range(rows):
        for column in range(columns):
            last = row == rows - 1 and column == columns - 1
            if last and (rows == 1 or columns == 1):
                continue
            near = [limited[row, column - 1]] if column else []
            near += [limited[row, column + 1]] if column + 1 < columns else []
            near += [limited[row - 1, column]] if row else []
            limited[row, column] = min(limited[row, column], max(near, default=limited[row, column]))
    return limited


def _block_pixels(height: int, width: int) -> int:
    return 4 * int(32 * math.sqrt(height * width / _UHD_PIXELS) + 0.5)


def _scale(height: int, width: int) -> float:
    share = max(1e-5, height * width / _UHD_PIXELS)
    return math.sqrt(16 * 2.0 ** (2 * DEPTH - 9) / math.sqrt(share))


def _block_sums(values: npt.NDArray[np.floating]) -> Numbers:
    """Sums over blocks, the last ones cut off by the frame's edge; one block where they would be too small."""
    height, width = values.shape
    side = _block_pixels(height, width)
    if side < _LEAST_BLOCK_PIXELS:
        return np.full((1, 1), values.sum(dtype=np.float64))
    rows = np.add.reduceat(values.astype(np.float64), np.arange(0, height, side), axis=0)
    return np.asarray(np.add.reduceat(rows, np.arange(0, width, side), axis=1))
