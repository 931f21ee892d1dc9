"""The class of a finger from its picture alone, to check drawn prints by: singular points by the Poincaré index (Kawagoe and
Tojo, 1984), and the class that experts assign to them. Lengths hold at 500 pixels per inch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.wings.chalearn.fingerprints.estimation import (
    RIM_PIXELS,
    Field,
    Map,
    Mask,
    Picture,
    estimate_field,
    line_difference,
    print_area,
    shrunk,
)
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH

# A core and a delta nearer to each other than this are an artefact of the estimate.
_TWINS_PIXELS = 14.0
# Largest horizontal distance of the delta of a tented arch from its core: pixels, or a share of their vertical distance.
_UPRIGHT_PIXELS, _UPRIGHT_SLOPE = 10.0, 0.14


class SingularPoint(NamedTuple):
    """Core or delta at (x, y), pixels."""

    x: float
    y: float
    half_turns: int
    """Half turns of the ridges around it: 1 = core, -1 = delta."""


def poincare_index(theta: Map) -> npt.NDArray[np.int8]:
    """Poincaré index of every cell of 2x2 pixels: half turns of the ridge angle around it, counter-clockwise as seen.

    Args:
        theta: radians, counter-clockwise as seen, ``float[H, W]``.

    Returns:
        ``int8[H - 1, W - 1]``: 1 in the cell of a core, -1 in that of a delta, 0 elsewhere.
    """
    corners = (theta[:-1, :-1], theta[1:, :-1], theta[1:, 1:], theta[:-1, 1:])
    turns = sum(line_difference(after, before) for before, after in zip(corners, (*corners[1:], corners[0]), strict=True))
    return np.rint(turns / math.pi).astype(np.int8)


def singular_points(theta: Map, *, mask: Mask | None = None) -> tuple[SingularPoint, ...]:
    """Centres of all cells with an index other than 0, row by row; with a mask ``bool[H, W]``, of cells entirely within it."""
    index = poincare_index(theta)
    if mask is not None:
        index = np.where(mask[:-1, :-1] & mask[1:, :-1] & mask[:-1, 1:] & mask[1:, 1:], index, np.int8(0))
    return tuple(SingularPoint(x + 0.5, y + 0.5, int(index[y, x])) for y, x in np.argwhere(index).tolist())


def recovered_class(picture: Picture, mask: Mask | None = None, *, pixels_per_inch: float = REFERENCE_PIXELS_PER_INCH) -> str:
    """Classify a print from its picture alone, as one of ``records.CLASSES``.

    Args:
        picture: ``uint8[H, W]``, ridges dark.
        mask: area of the print, ``bool[H, W]``; by default ``print_area``.
        pixels_per_inch: of the picture.
    """
    scale = pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    area = print_area(picture, pixels_per_inch=pixels_per_inch) if mask is None else mask
    field = estimate_field(picture, pixels_per_inch=pixels_per_inch)
    points = reliable_points(field, shrunk(area, RIM_PIXELS * scale), scale=scale)
    return class_of(points, field.theta, scale=scale)


def reliable_points(field: Field, mask: Mask, *, scale: float = 1.0) -> tuple[SingularPoint, ...]:
    """Singular points of an estimated field within ``mask``, except close pairs of a core and a delta, which are artefacts.

    ``scale`` is the picture's resolution in 500 pixels per inch.
    """
    points = list(singular_points(field.theta, mask=mask))
    while True:
        cores, deltas = ([point for point in points if point.half_turns * sign > 0] for sign in (1, -1))
        pairs = [(math.dist(core[:2], delta[:2]), core, delta) for core in cores for delta in deltas]
        if not pairs or min(pairs)[0] >= _TWINS_PIXELS * scale:
            return tuple(points)
        closest = min(pairs)[1:]
        points = [point for point in points if point not in closest]


def class_of(points: Sequence[SingularPoint], theta: Map, *, scale: float = 1.0) -> str:
    """Class by singular points, as experts assign it: two cores are a whorl or, if askew, a double loop; one core is a loop
    opening away from its delta, or a tented arch above it; none is an arch.

    Args:
        points: of one print; a delta may be missing where the print ends before it.
        theta: ridge angle, radians, ``float[H, W]``; decides the side of a loop whose delta is missing.
        scale: the picture's resolution in 500 pixels per inch.
    """
    cores, deltas = ([point for point in points if point.half_turns * sign > 0] for sign in (1, -1))
    if not cores:
        return "arch"
    if len(cores) > 1:
        top, bottom = min(cores, key=lambda core: core.y), max(cores, key=lambda core: core.y)
        return "whorl" if _upright(bottom.x - top.x, bottom.y - top.y, scale=scale) else "double_loop"
    core = cores[0]
    below = [delta for delta in deltas if delta.y > core.y]
    if below:
        nearest = min(below, key=lambda delta: math.dist(delta[:2], core[:2]))
        right, down = nearest.x - core.x, nearest.y - core.y
    else:
        right, down = (-step for step in opening(core, theta, radius_pixels=16 * scale))
        down = abs(down)
    if _upright(right, down, scale=scale if below else 0):
        return "tented_arch"
    return "left_loop" if right > 0 else "right_loop"


def opening(core: SingularPoint, theta: Map, *, radius_pixels: float) -> tuple[float, float]:
    """Unit vector (x, y) of the direction in which a loop opens: there the ridges run away from its core."""
    around = np.linspace(0, 2 * math.pi, 72, endpoint=False)
    right, down = np.cos(around), -np.sin(around)
    rows = np.clip(np.rint(core.y + radius_pixels * down).astype(int), 0, theta.shape[0] - 1)
    columns = np.clip(np.rint(core.x + radius_pixels * right).astype(int), 0, theta.shape[1] - 1)
    outwards = np.cos(2 * (theta[rows, columns] - around))
    best = int(np.argmax(outwards))
    return float(right[best]), float(down[best])


def _upright(right: float, down: float, *, scale: float) -> bool:
    return abs(right) < max(_UPRIGHT_PIXELS * scale, _UPRIGHT_SLOPE * abs(down))
