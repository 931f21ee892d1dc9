"""What a picture of a print tells: its area, and the orientation and period of its ridges.

Orientation by the structure tensor (Kass and Witkin, 1987), period by the zero crossings of the grey level along the normal of
the ridges. Lengths hold at 500 pixels per inch.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.lazily import lazily
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH

cv2 = lazily("cv2")

Picture = npt.NDArray[np.uint8]
Map = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

# Smoothing before gradients.
DERIVATIVE_SIGMA_PIXELS = 1.25
# Smoothing of the products of gradients: about one ridge period.
TENSOR_SIGMA_PIXELS = 8.0
# Length of the profile along the normal, to both sides, that a period is measured on: nearly two ridges each way.
NORMAL_REACH_PIXELS = 16.0
# Smoothing before zero crossings: more would close narrow valleys and lengthen the period.
CROSSING_SIGMA_PIXELS = 0.6
_NORMAL_STEP_PIXELS = 0.5
# Profiles sampled per call; OpenCV maps at most 32,767 rows at once.
_LINES_AT_ONCE = 1 << 14
# Energy below which a gradient is rounding: a ripple of one grey level has a hundred times more.
_BLANK = 1e-2
# Range of grey levels below which a profile has no ridges.
_FLAT_LEVELS = 1.0
# Width of the rim of a print, pixels at 500 per inch, where an estimated field is unreliable.
RIM_PIXELS = 12.0


class Field(NamedTuple):
    """Orientation and coherence at every pixel, by the structure tensor."""

    theta: Map
    """Ridge angle, radians in [0, pi), counter-clockwise as seen, 0 = horizontal ridges; ``float32[H, W]``."""
    coherence: Map
    """0 = no direction, 1 = one direction alone; ``float32[H, W]``."""


def estimate_orientation(picture: Picture, *, pixels_per_inch: float = REFERENCE_PIXELS_PER_INCH) -> Map:
    """Estimate the ridge angle at every pixel of ``uint8[H, W]``: ``float32[H, W]``, radians in [0, pi), counter-clockwise.

    It is 0 where the picture has no direction.
    """
    return estimate_field(picture, pixels_per_inch=pixels_per_inch).theta


def estimate_field(picture: Picture, *, pixels_per_inch: float = REFERENCE_PIXELS_PER_INCH) -> Field:
    """Estimate ridge angle and coherence at every pixel of ``uint8[H, W]``."""
    scale = pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    smooth = blurred(picture.astype(np.float32), sigma=DERIVATIVE_SIGMA_PIXELS * scale)
    across = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, borderType=cv2.BORDER_REPLICATE)
    down = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, borderType=cv2.BORDER_REPLICATE)
    products = (across * across - down * down, 2 * across * down, across * across + down * down)
    difference, cross, energy = (blurred(product, sigma=TENSOR_SIGMA_PIXELS * scale) for product in products)
    # The gradient's double angle is atan2(cross, difference) with y down; y up negates it and the ridge is normal to it.
    theta = wrapped(0.5 * np.arctan2(-cross, difference) + math.pi / 2)
    strength = np.hypot(difference, cross)
    coherence = np.divide(strength, energy, out=np.zeros_like(strength), where=energy > _BLANK)
    return Field(np.where(strength > _BLANK, theta, np.float32(0)), np.clip(coherence, 0, 1))


def measure_periods(
    picture: Picture,
    theta: Map,
    *,
    points: npt.NDArray[np.floating],
    pixels_per_inch: float = REFERENCE_PIXELS_PER_INCH,
) -> Map:
    """Ridge period at ``points``, pixels: twice the mean distance between zero crossings along the ridge normal.

    Args:
        picture: ``uint8[H, W]``.
        theta: ridge angle, radians, ``float32[H, W]``.
        points: (x, y), pixels, ``[N, 2]``.
        pixels_per_inch: of the picture.

    Returns:
        ``float32[N]``; NaN where fewer than three crossings lie within reach of a point.
    """
    scale = pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    grey = blurred(picture.astype(np.float32), sigma=CROSSING_SIGMA_PIXELS * scale)
    grey -= blurred(grey, sigma=TENSOR_SIGMA_PIXELS * scale)
    places = np.asarray(points, np.float32).reshape(-1, 2)
    rows, columns = (np.clip(np.rint(places[:, axis]).astype(np.intp), 0, theta.shape[1 - axis] - 1) for axis in (1, 0))
    angle = theta[rows, columns][:, None]
    steps = np.arange(-NORMAL_REACH_PIXELS, NORMAL_REACH_PIXELS + 1e-6, _NORMAL_STEP_PIXELS, dtype=np.float32) * scale
    # The normal of a ridge at angle t, counter-clockwise with y up, is (-sin t, cos t): with y down (-sin t, -cos t).
    profiles = [
        cv2.remap(
            grey, places[chunk, :1] - np.sin(angle[chunk]) * steps, places[chunk, 1:] - np.cos(angle[chunk]) * steps,
            cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(math.nan,) * 4,
        )
        for chunk in (slice(first, first + _LINES_AT_ONCE) for first in range(0, len(places), _LINES_AT_ONCE))
    ]  # fmt: skip
    periods = []
    for profile in (line for lines in profiles for line in lines):
        before, after = profile[:-1], profile[1:]
        crossings = np.flatnonzero(((before < 0) != (after < 0)) & np.isfinite(before) & np.isfinite(after))
        if np.nanmax(profile, initial=-math.inf) - np.nanmin(profile, initial=math.inf) > _FLAT_LEVELS and len(crossings) > 2:
            exact = crossings + before[crossings] / (before[crossings] - after[crossings])  # linear interpolation
            periods.append(float(2 * (exact[-1] - exact[0]) / (len(exact) - 1)))
        else:
            periods.append(math.nan)
    return np.array(periods, np.float32) * np.float32(_NORMAL_STEP_PIXELS * scale)


def wrapped(theta: npt.NDArray[np.floating]) -> Map:
    """Wrap angles of lines into [0, pi), radians."""
    inside = np.mod(theta, math.pi).astype(np.float32)  # may round up to pi
    return np.where(inside >= np.float32(math.pi), np.float32(0), inside)


def blurred(values: Map, *, sigma: float) -> Map:
    """Blur ``float32[H, W]`` by a Gaussian of that standard deviation in pixels, the border replicated."""
    return np.asarray(cv2.GaussianBlur(values, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE), np.float32)


def orientation_rmsd(estimated: Map, true: Map, *, mask: Mask | None = None) -> float:
    """Root mean square difference in degrees, 0..90, of two fields of ridge angles (radians) over ``mask``; NaN over no pixel."""
    difference = line_difference(estimated, true)
    values = difference if mask is None else difference[mask]
    return math.degrees(math.sqrt(float(np.mean(np.square(values, dtype=np.float64))))) if values.size else math.nan


def line_difference(angle: npt.NDArray[np.floating], reference: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Difference ``angle - reference`` of angles of lines, wrapped into [-pi/2, pi/2), radians."""
    return np.asarray(np.mod(angle - reference + math.pi / 2, math.pi) - math.pi / 2)


def print_area(picture: Picture, *, pixels_per_inch: float = REFERENCE_PIXELS_PER_INCH) -> Mask:
    """Area of the ridges of ``uint8[H, W]``, ``bool[H, W]``: the largest component of its ink with valleys closed."""
    scale = pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    area = (picture < 128).astype(np.uint8)
    reach = max(1, round(10 * scale))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    inner = slice(2 * reach, -2 * reach)
    for operation in (cv2.MORPH_CLOSE, cv2.MORPH_OPEN):
        # Paper all around, or closing would take the frame's edge for ink.
        padded = cv2.copyMakeBorder(area, 2 * reach, 2 * reach, 2 * reach, 2 * reach, cv2.BORDER_CONSTANT, value=(0,))
        area = np.asarray(cv2.morphologyEx(padded, operation, disc)[inner, inner], np.uint8)
    count, pieces, facts, _ = cv2.connectedComponentsWithStats(area)
    if count < 2:
        return np.zeros(picture.shape, np.bool_)
    return np.asarray(pieces == 1 + int(np.argmax(facts[1:, cv2.CC_STAT_AREA])), np.bool_)


def shrunk(mask: Mask, pixels: float) -> Mask:
    """Erode ``mask`` by ``pixels`` from its edge and the picture's."""
    inside = cv2.copyMakeBorder(mask.view(np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=(0,))
    return np.asarray(cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1] > pixels, np.bool_)
