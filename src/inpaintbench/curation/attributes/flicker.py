"""Tremble in the brightness of the whole view: mains light against the shutter, old film, auto exposure that hunts."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
from scipy.signal import savgol_coeffs, savgol_filter

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

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
        return deviation_from_trend(brightness(view.luma), fps=view.fps)


def brightness(luma: Luma) -> npt.NDArray[np.float64]:
    """Level of the view over time without what moves through it, ``float64[T]``, beginning at 0."""
    rows, columns = (min(most, side) for most, side in zip(CELLS, luma.shape[1:], strict=True))
    changes = np.sort(np.diff([_means(plane, rows, columns) for plane in luma], axis=0), axis=1)
    left_out = int(TRIMMED * changes.shape[1])
    return np.concatenate([[0.0], changes[:, left_out : changes.shape[1] - left_out].mean(axis=1).cumsum()])


def _means(plane: npt.NDArray[np.uint8], rows: int, columns: int) -> npt.NDArray[np.float64]:
    """Mean level of each cell, ``float64[rows * columns]``."""
    parts = min(PARTS, plane.shape[0] // rows, plane.shape[1] // columns)
    small = cv2.resize(plane, (columns * parts, rows * parts), interpolation=cv2.INTER_AREA)
    means: npt.NDArray[np.float64] = small.reshape(rows, parts, columns, parts).mean(axis=(1, 3), dtype=np.float64).ravel()
    return means


def deviation_from_trend(levels: npt.NDArray[np.float64], *, fps: float) -> float:
    """Root mean square of ``levels`` about a parabola through 0.75 seconds; not lowered by the parabola's own freedom."""
    longest = len(levels) - 1 + len(levels) % 2
    window = min(max(FEWEST_FRAMES, 2 * round(PERIOD_SECONDS * fps / 2) + 1), longest)
    rest = levels - savgol_filter(levels, window, 2)
    kept = 1 - savgol_coeffs(window, 2)[window // 2]
    inner = rest[window // 2 : len(rest) - window // 2]
    return float(np.sqrt(np.mean(inner**2) / kept))
