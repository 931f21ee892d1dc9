"""What single frames are like: how bright, how noisy, how sharp they are, and how much their brightness trembles.

Noise after Immerkaer, "Fast noise variance estimation", CVIU 64 (2), 1996: the published kernel is the difference of two
Laplacians, which cancels flat and evenly sloping picture content; Gaussian noise of deviation s comes out of it with deviation
6 s. Texture comes out as well, so here only the blocks with the weakest answer count.

Sharpness after Crete, Dolmiere, Ladret and Nicolas, "The blur effect", SPIE 6492, 2007: blurring a sharp picture takes away much
of the difference between neighbouring pixels, blurring a blurred one little. The part of these differences that a box of nine
pixels takes away is the sharpness: 1 less the published blur measure.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
from scipy.signal import savgol_coeffs, savgol_filter

from inpaintbench.curation.attributes.base import AttributeLeaf, evenly_spaced
from inpaintbench.errors import NotMeasurable
from inpaintbench.ranges import AtLeastOne, Level, Side
from inpaintbench.view import ItemView

Plane = npt.NDArray[np.uint8]

# Coded luma of black and white in limited range (ITU-R BT.601 and BT.709).
BLACK, WHITE = 16, 235


class Exposure(AttributeLeaf):
    """Mean coded luma of a few frames, between black (0) and white (1)."""

    name = "exposure"
    version = "1"
    unit = "0..1, mean luma between black and white"
    direction = "higher: brighter; 0.1 is night, 0.9 snow or fog"
    needs = ("luma",)
    cost = 0.01

    def __init__(self, *, sampled_frames: AtLeastOne = 10) -> None:
        self.sampled_frames = sampled_frames

    def measure(self, view: ItemView) -> float:
        """The mean in 0..1; footroom and headroom count as black and white."""
        level = np.mean([plane.mean() for plane in _sampled(view, self.sampled_frames)])
        return float(np.clip((level - BLACK) / (WHITE - BLACK), 0, 1))


class ClippedFraction(AttributeLeaf):
    """Mean share of a few frames whose coded luma is black or darker, or white or brighter. Black bars count."""

    name = "clipped_fraction"
    version = "1"
    unit = "fraction of the view"
    direction = "higher: more of the view is plain black or white"
    needs = ("luma",)
    cost = 0.01

    def __init__(self, *, sampled_frames: AtLeastOne = 10) -> None:
        self.sampled_frames = sampled_frames

    def measure(self, view: ItemView) -> float:
        """The share in 0..1."""
        return float(np.mean([np.mean(_clipped(plane)) for plane in _sampled(view, self.sampled_frames)]))


# Columns and rows at which a frame is looked at for whether it shows anything: so few that noise and grain are gone.
_SMALL = (64, 36)


class BlankFraction(AttributeLeaf):
    """Share of the frames that show nothing: black, white or one grey, up to ``most_levels`` of deviation."""

    name = "blank_fraction"
    version = "1"
    unit = "fraction of the frames"
    direction = "higher: more frames show nothing"
    cost = 0.1
    needs = ("luma",)

    def __init__(self, *, most_levels: Level = 2.0) -> None:
        self.most_levels = most_levels

    def measure(self, view: ItemView) -> float:
        """The share in 0..1."""
        small = (cv2.resize(luma, _SMALL, interpolation=cv2.INTER_AREA) for luma in view.luma)
        return float(np.mean([plane.std() <= self.most_levels for plane in small]))


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
        known = []
        for plane in _sampled(view, self.sampled_frames):
            side = min(BLOCK, min(plane.shape) - 2)
            answer = np.abs(cv2.filter2D(plane, cv2.CV_32F, KERNEL)[1:-1, 1:-1])
            usable = _block_means(_clipped(plane)[1:-1, 1:-1].astype(np.float32), side) <= MOST_CLIPPED
            if usable.any():
                known.append(np.quantile(_block_means(answer, side)[usable], WEAKEST))
        if not known:
            raise NotMeasurable("no block of the view is free of black and white, where noise is cut off")
        # The mean size of Gaussian values is sqrt(2 / pi) of their deviation.
        return float(np.median(np.sqrt(np.pi / 2) * np.array(known)))


class Sharpness(AttributeLeaf):
    """Median over a few frames of the part of neighbouring pixels' differences that a box of nine pixels takes away.

    The lesser of the two directions counts, as published, so a frame that motion has smeared along one of them is not sharp.
    Noise is sharp too, so look at ``noise`` beside it; a view enlarged from a smaller one is not.
    """

    name = "sharpness"
    version = "1"
    unit = "0..1, part of the differences between neighbours that a box blur takes away"
    direction = "higher: sharper, or noisier"
    needs = ("luma",)
    cost = 0.1

    def __init__(self, *, sampled_frames: AtLeastOne = 5, box: Side = 9) -> None:
        self.sampled_frames, self.box = sampled_frames, box

    def measure(self, view: ItemView) -> float:
        """The sharpness in 0..1; ``NotMeasurable`` for a clip without any differences."""
        known = []
        for frame in _sampled(view, self.sampled_frames):
            plane, lost = frame.astype(np.float32), []
            for turned in (plane, np.ascontiguousarray(plane.T)):
                blurred = cv2.blur(turned, (1, self.box), borderType=cv2.BORDER_REFLECT_101)
                before, after = (np.abs(np.diff(levels, axis=0)) for levels in (turned, blurred))
                if total := float(before.sum(dtype=np.float64)):
                    lost.append(float(np.maximum(before - after, 0).sum(dtype=np.float64)) / total)
            known += [min(lost)] if lost else []
        if not known:
            raise NotMeasurable("the frames are of one level each, so nothing in them could be sharp")
        return float(np.median(known))


# Rows and columns of cells whose mean levels are followed.
CELLS = (9, 16)
# A side of a cell is shrunk to so many whole levels before its mean is taken, which costs a fifth and rounds off 0.04 levels.
PARTS = 8
# Of the cells' changes from one frame to the next, left out at either end: things that move through a cell.
TRIMMED = 0.25
FEWEST_FRAMES = 5
PERIOD_SECONDS = 0.75


class Flicker(AttributeLeaf):
    """Root mean square of the view's brightness about its own trend, in levels.

    The brightness is the running sum of its change from frame to frame, and that the mean over cells of the view without the
    quarter that brightened and the quarter that darkened most. Its trend is a parabola through 0.75 seconds about each frame
    (Savitzky and Golay 1964), so that fades, pans and slow exposure hardly count: changes of one a second to a tenth, of three to
    1.3, of four and more within a tenth. A sinusoid of amplitude A gives A / sqrt(2), independent changes their standard
    deviation; clips shorter than the trend up to twice that. A cut or a flash counts too.
    """

    name = "flicker"
    version = "1"
    unit = "levels of coded luma, root mean square"
    direction = "higher: the brightness of the whole view trembles more"
    needs = ("luma",)
    cost = 0.3

    def measure(self, view: ItemView) -> float:
        """The deviation, 0 and more; ``NotMeasurable`` for fewer than five frames."""
        if view.frames < FEWEST_FRAMES:
            raise NotMeasurable(f"the clip has {view.frames} frames, flicker needs at least {FEWEST_FRAMES}")
        # Level of the view over time without what moves through it, `float64[T]`, beginning at 0.
        luma = view.luma
        rows, columns = (min(most, side) for most, side in zip(CELLS, luma.shape[1:], strict=True))
        parts = min(PARTS, luma.shape[1] // rows, luma.shape[2] // columns)
        means = []
        for plane in luma:
            small = cv2.resize(plane, (columns * parts, rows * parts), interpolation=cv2.INTER_AREA)
            means.append(small.reshape(rows, parts, columns, parts).mean(axis=(1, 3), dtype=np.float64).ravel())
        changes = np.sort(np.diff(means, axis=0), axis=1)
        left_out = int(TRIMMED * changes.shape[1])
        brightness = np.concatenate([[0.0], changes[:, left_out : changes.shape[1] - left_out].mean(axis=1).cumsum()])
        return deviation_from_trend(brightness, fps=view.fps)


def deviation_from_trend(levels: npt.NDArray[np.float64], *, fps: float) -> float:
    """Root mean square of ``levels`` about a parabola through 0.75 seconds; not lowered by the parabola's own freedom."""
    longest = len(levels) - 1 + len(levels) % 2
    window = min(max(FEWEST_FRAMES, 2 * round(PERIOD_SECONDS * fps / 2) + 1), longest)
    rest = levels - savgol_filter(levels, window, 2)
    kept = 1 - savgol_coeffs(window, 2)[window // 2]
    inner = rest[window // 2 : len(rest) - window // 2]
    return float(np.sqrt(np.mean(inner**2) / kept))


def _sampled(view: ItemView, count: int) -> list[Plane]:
    return [view.luma[index] for index in evenly_spaced(view.frames, count=count)]


def _clipped(plane: Plane) -> npt.NDArray[np.bool_]:
    return np.asarray((plane <= BLACK) | (plane >= WHITE))


def _block_means(values: npt.NDArray[np.float32], side: int) -> npt.NDArray[np.float64]:
    """Means of the whole blocks, ``float64[n]``."""
    rows, columns = values.shape[0] // side, values.shape[1] // side
    blocks = values[: rows * side, : columns * side].reshape(rows, side, columns, side)
    means: npt.NDArray[np.float64] = blocks.mean(axis=(1, 3), dtype=np.float64).ravel()
    return means
