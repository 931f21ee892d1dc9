"""Skin distortion: a still centre, a border that is rotated and translated, and a smooth transition between them.

Source: Cappelli, Maio and Maltoni, "Modelling plastic distortion in fingerprint images", ICAPR 2001. Positions are mapped back
from the picture to the master, so that every pixel has a value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Finger, Impression
from inpaintbench.wings.chalearn.fingerprints.smooth import DoubleArray, FloatArray, grid_positions, interpolated

# Half axes (x, y) of the ellipse that does not move, pixels at 500 per inch.
STILL_HALF_AXES = (40.0, 33.0)
# Grid of the inverse mapping, pixels.
_STEP = 4
_MOST_ITERATIONS = 60
_TOLERANCE_PIXELS = 1e-3


@dataclass(frozen=True)
class Skin:
    """Movement of skin on a canvas of (width, height), pixels."""

    width: int
    height: int
    pixels_per_inch: float
    rotation_degrees: float
    """Counter-clockwise as seen."""
    translation: tuple[float, float]
    plasticity: float
    """Width of the transition in half axes of the still ellipse; 0 = rigid motion."""

    @classmethod
    def of(cls, finger: Finger, impression: Impression) -> Skin:
        """Build the movement of ``impression``."""
        return cls(
            finger.width,
            finger.height,
            finger.pixels_per_inch,
            impression.rotation_degrees,
            impression.translation,
            impression.skin_plasticity,
        )


def moved(skin: Skin, x: DoubleArray, y: DoubleArray) -> tuple[DoubleArray, DoubleArray]:
    """Map points (``x``, ``y``) of the master to their positions after the movement, pixels."""
    shift_x, shift_y = _shift(skin, x, y)
    return x + shift_x, y + shift_y


def origins(skin: Skin) -> tuple[FloatArray, FloatArray]:
    """Origin (x, y) in the master of each pixel, each ``float32[H, W]``, pixels.

    Solved by fixed-point iteration on a grid of 4 pixels, exact to 0.01 pixels after interpolation.

    Raises:
        InputError: the movement folds the skin, so that a pixel would have two origins.
    """
    target_x, target_y = np.meshgrid(grid_positions(skin.width, _STEP), grid_positions(skin.height, _STEP))
    back_x, back_y = np.zeros_like(target_x), np.zeros_like(target_y)
    for _ in range(_MOST_ITERATIONS):
        shift_x, shift_y = _shift(skin, target_x + back_x, target_y + back_y)
        error = max(np.abs(back_x + shift_x).max(), np.abs(back_y + shift_y).max())
        back_x, back_y = -shift_x, -shift_y
        if error < _TOLERANCE_PIXELS:
            break
    else:
        raise InputError(
            f"a rotation of {skin.rotation_degrees} degrees and a translation of {skin.translation} pixels fold the skin at "
            f"plasticity {skin.plasticity}: give a smaller movement, or a larger plasticity"
        )
    dx = interpolated(back_x, height=skin.height, width=skin.width, step=_STEP)
    dy = interpolated(back_y, height=skin.height, width=skin.width, step=_STEP)
    x, y = np.arange(skin.width, dtype=np.float32), np.arange(skin.height, dtype=np.float32)[:, None]
    return np.asarray(dx + x, np.float32), np.asarray(dy + y, np.float32)


def _shift(skin: Skin, x: DoubleArray, y: DoubleArray) -> tuple[DoubleArray, DoubleArray]:
    """Displacement of points, pixels: rigid motion about the centre, attenuated towards it."""
    angle = math.radians(skin.rotation_degrees)
    across, down = x - (skin.width - 1) / 2, y - (skin.height - 1) / 2
    # y points down: counter-clockwise as seen turns +x towards -y.
    rigid_x = (math.cos(angle) - 1) * across + math.sin(angle) * down + skin.translation[0]
    rigid_y = (math.cos(angle) - 1) * down - math.sin(angle) * across + skin.translation[1]
    if skin.plasticity == 0:
        return rigid_x, rigid_y
    scale = skin.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    distance = np.hypot(across / (scale * STILL_HALF_AXES[0]), down / (scale * STILL_HALF_AXES[1])) - 1
    brake = 0.5 - 0.5 * np.cos(np.pi * np.clip(distance / skin.plasticity, 0, 1))
    return rigid_x * brake, rigid_y * brake
