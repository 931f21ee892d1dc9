"""Random fingers: the class, positions of cores and deltas, and bends of ridges. Plain numbers, no pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.ranges import Amount
from inpaintbench.wings.chalearn.fingerprints.master import border_pixels, kernel_size
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Finger, Point

Range = tuple[float, float]
Law = Literal["natural", "uniform"] | Mapping[str, Amount]

# Frequency of each class among people's fingers, per mille.
NATURAL_LAW: Mapping[str, float] = {
    "arch": 37, "tented_arch": 29, "left_loop": 338, "right_loop": 317, "double_loop": 139, "whorl": 140,
}  # fmt: skip
_MIRRORED_CLASS = {"left_loop": "right_loop", "right_loop": "left_loop"}
# Least distance of the cores of a whorl, as a share of the height; nearer ones would merge to one singular point.
_LEAST_CORE_GAP = 0.025

# Fractional rows of upper core, lower core and deltas. Ridges turn fastest above an upper core and below a lower one; at these
# offsets the angles of neighbouring pixels differ by less than a quarter turn, so that the sampled field has its singular points
# in the right cells.
_CORES_BELOW, _DELTA_BELOW = (0.8, 0.2), 0.5
# Ranges of a class: cores and deltas (x, y) as shares of the canvas within its borders, and bends (u, v) of its cores in degrees.
_Pairs = tuple[tuple[Range, Range], ...]
_LOOP_CORE: _Pairs = (((0.40, 0.60), (0.35, 0.55)),)
_LEFT_DELTA = ((0.12, 0.325), (0.625, 0.815))
_RIGHT_DELTA = ((0.675, 0.88), (0.625, 0.815))
# Bends of the upper and the lower core. Anguli bends the lower one by (10..25, 30..45), which pinches its ridges to a point; half
# of the upper bend, mirrored, keeps them round.
_SPIRAL_BENDS: _Pairs = (((-60.0, -45.0), (40.0, 55.0)), ((15.0, 35.0), (-35.0, -15.0)))
_PLACES: Mapping[str, tuple[_Pairs, _Pairs, _Pairs]] = {
    "tented_arch": (_LOOP_CORE, (), (((-90.0, -45.0), (45.0, 90.0)),)),
    "right_loop": (_LOOP_CORE, (_LEFT_DELTA,), (((-90.0, -45.0), (60.0, 105.0)),)),
    "left_loop": (_LOOP_CORE, (_RIGHT_DELTA,), (((-120.0, -75.0), (50.0, 95.0)),)),
    "double_loop": (
        (((0.40, 0.50), (0.325, 0.45)), ((0.50, 0.60), (0.475, 0.60))),
        (((0.05, 0.25), (0.625, 0.875)), ((0.75, 0.95), (0.65, 0.85))),
        _SPIRAL_BENDS,
    ),
    "whorl": ((), (), _SPIRAL_BENDS),
}


def draw_finger(
    rng: np.random.Generator,
    *,
    finger_class: str | None = None,
    law: Law = "natural",
    width: int = 275,
    height: int = 400,
    pixels_per_inch: float = 500.0,
    seed: int,
) -> Finger:
    """Draw a finger of ``finger_class``, or of a class drawn by ``law``: ``natural``, ``uniform``, or a weight for each class.

    ``seed`` is stored for the ridges; everything else is drawn from ``rng``. Source of the ranges: the open generator Anguli.

    Raises:
        InputError: unknown class, invalid law, or a canvas too small for the ridge filter.
    """
    border, size = border_pixels(pixels_per_inch), kernel_size(pixels_per_inch)
    least = size + 2 * border
    if min(width, height) < least:
        raise InputError(
            f"a fingerprint of {width}x{height} pixels is too small for the ridge filter of {size}x{size} pixels at "
            f"{pixels_per_inch:g} pixels per inch: give at least {least}x{least}, or a lower resolution"
        )
    if finger_class is not None and finger_class not in CLASSES:
        raise InputError(f"there is no finger class {finger_class!r}: choose one of {', '.join(CLASSES)}")
    # Drawn even where the class is given, so that the following random numbers stay the same.
    drawn = CLASSES[int(rng.choice(len(CLASSES), p=list(class_law(law).values())))]
    selected = drawn if finger_class is None else finger_class
    cores, deltas, bends, arch = _points(selected, rng)

    def placed(points: list[Point], below: tuple[float, ...]) -> tuple[Point, ...]:
        within = ((x * (width - 2 * border), y * (height - 2 * border)) for x, y in points)
        cells = ((border + math.floor(x), border + math.floor(y)) for x, y in within)
        return tuple((x + 0.5, y + lower) for (x, y), lower in zip(cells, below, strict=False))

    places = placed(cores, _CORES_BELOW), placed(deltas, (_DELTA_BELOW, _DELTA_BELOW))
    return Finger(selected, width, height, float(pixels_per_inch), *places, bends, arch, int(seed))


def mirrored(finger: Finger) -> Finger:
    """Mirror a finger left to right; a mirrored right loop is a left loop.

    Its orientation field is mirrored; its ridges are grown anew. Deltas are reordered, so that the left one comes first.
    """
    right = finger.width - 1
    arch = None if finger.arch is None else (finger.arch[0], -finger.arch[1], finger.arch[2])
    return replace(
        finger,
        finger_class=_MIRRORED_CLASS.get(finger.finger_class, finger.finger_class),
        cores=tuple((right - x, y) for x, y in finger.cores),
        deltas=tuple((right - x, y) for x, y in reversed(finger.deltas)),
        bends_degrees=tuple((-v, -u) for u, v in finger.bends_degrees),
        arch=arch,
    )


def class_law(law: Law) -> dict[str, float]:
    """Probability of each of ``CLASSES``: ``natural``, ``uniform``, or in proportion to a weight for each class.

    Raises:
        InputError: an unknown name, or weights that are negative, not finite or all 0.
    """
    if isinstance(law, str):
        named: dict[str, Mapping[str, float]] = {"natural": NATURAL_LAW, "uniform": dict.fromkeys(CLASSES, 1.0)}
        if law not in named:
            raise InputError(f"there is no class law {law!r}: choose natural, uniform, or a weight for each class")
        law = named[law]
    for name, weight in law.items():
        if name not in CLASSES:
            raise InputError(f"the class law names {name!r}, which is no finger class: choose among {', '.join(CLASSES)}")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight) or weight < 0:
            raise InputError(f"the class law gives {name} the weight {weight!r}: give a number of 0 or more")
    total = math.fsum(law.values())
    if total <= 0:
        raise InputError("the class law gives no class a weight above 0: give at least one")
    return {name: law.get(name, 0.0) / total for name in CLASSES}


def _points(
    finger_class: str, rng: np.random.Generator
) -> tuple[list[Point], list[Point], tuple[tuple[float, float], ...], tuple[float, float, float] | None]:
    """Draw cores and deltas as shares of the canvas, bends, and the parameters of a plain arch."""

    def pair(ranges: tuple[Range, Range]) -> Point:
        return float(rng.uniform(*ranges[0])), float(rng.uniform(*ranges[1]))

    if finger_class == "arch":
        return [], [], (), (float(rng.uniform(1.2, 2.7)), *pair(((0.8, 1.2), (0.6, 1.4))))
    core_ranges, delta_ranges, bends = _PLACES[finger_class]
    cores, deltas = [pair(place) for place in core_ranges], [pair(place) for place in delta_ranges]
    if finger_class == "tented_arch":
        deltas = [(cores[0][0], float(rng.uniform(0.60, 0.70)))]
    if finger_class == "whorl":
        # Two cores, one above the other, and two deltas, of which the left one is higher.
        x = float(rng.uniform(0.40, 0.60))
        first, second = sorted(rng.uniform(0.40, 0.575 - _LEAST_CORE_GAP, 2).tolist())
        left, right = float(rng.uniform(*_LEFT_DELTA[0])), float(rng.uniform(*_RIGHT_DELTA[0]))
        upper, lower = sorted(rng.uniform(*_LEFT_DELTA[1], 2).tolist())
        cores, deltas = [(x, first), (x, second + _LEAST_CORE_GAP)], [(left, upper), (right, lower)]
    return cores, deltas, tuple(pair(bend) for bend in bends), None
