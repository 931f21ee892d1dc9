"""Which pixels of saved masks are the hole: numbers of objects, grey levels, and white or black for missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import Rejected
from inpaintbench.types import Hole

Polarity = Literal["white_is_hole", "black_is_hole", "detect"]
POLARITIES: tuple[str, ...] = get_args(Polarity)
# What masks themselves say of their polarity.
Told = Literal["white_is_hole", "black_is_hole", "unclear"]
TOLD: tuple[str, ...] = get_args(Told)
# The way out of every doubt.
STATE_IT = "state `polarity` (white_is_hole or black_is_hole)"
# `uint8[T, H, W]`: numbers of objects, 0 = background, or grey levels.
Values = npt.NDArray[np.uint8]

# Greatest number of an object that is told from a grey level.
MOST_OBJECTS = 31
# What some data sets of objects mark pixels with that count for nothing.
VOID = 255
GREY_THRESHOLD = 127
# Share of the outermost pixels that must be known for a guess.
CLEAR_BORDER_SHARE = 0.8
# Share of all pixels that must be known for a guess.
CLEAR_AREA_SHARE = 0.6


@dataclass(frozen=True)
class Reading:
    """The hole of saved masks, and how it was read."""

    hole: Hole
    polarity: str
    """``white_is_hole`` or ``black_is_hole``."""
    guessed: bool
    objects: tuple[int, ...]
    """Numbers of the objects in the hole's frames; empty for masks of grey levels."""


def detect_polarity(white: Hole) -> Polarity:
    """``white_is_hole`` or ``black_is_hole``, from the masks alone.

    Raises:
        Rejected: they do not tell.
    """
    told = told_by(white)
    if told == "unclear":
        raise Rejected(f"cannot tell whether white or black is the hole ({look_of(white)}): {STATE_IT}")
    return told


def read_hole_from(
    values: Values,
    *,
    polarity: Polarity = "detect",
    objects: Literal["all"] | int = "all",
    threshold: int | None = None,
    detect: Callable[[Hole], Polarity] = detect_polarity,
) -> Reading:
    """The hole of one sequence of saved masks.

    Args:
        values: as ``video.read_index_image`` gives them.
        polarity: what the hole is. ``detect`` takes objects for the hole, and of grey levels the one that the border is not.
        objects: the number of one object, or all of them. A number makes ``values`` numbers whatever they look like.
        threshold: values above it are white; by default 127, or 0 for numbers of objects. 0 for masks of which "any value
            above 0" counts (ProPainter).
        detect: tells the polarity of grey levels from where they are white, when it is not stated.

    Raises:
        Rejected: no such object, or a polarity that cannot be told from the pixels.
    """
    present = np.flatnonzero(np.bincount(values.ravel(), minlength=256)).tolist()
    numbers = tuple(value for value in present if 0 < value <= MOST_OBJECTS)
    if objects != "all":
        return _one_object(values, objects, present, polarity)
    if threshold is None and are_objects(present):
        inside = (values > 0) & (values <= MOST_OBJECTS)
        return Reading(_turned(inside, polarity), _named(polarity), False, numbers)
    white = values > (GREY_THRESHOLD if threshold is None else threshold)
    if polarity != "detect":
        return Reading(_turned(white, polarity), polarity, False, ())
    guess = detect(white)
    return Reading(_turned(white, guess), guess, True, ())


def are_objects(present: list[int]) -> bool:
    """Whether values are numbers of objects: some of 1..31, no other but 0 and perhaps 255 (void)."""
    return any(0 < value <= MOST_OBJECTS for value in present) and not any(MOST_OBJECTS < value < VOID for value in present)


def told_by(white: Hole) -> Told:
    """The polarity that masks tell by how they lie in the picture; see ``told_by_shares``."""
    return told_by_shares(*_shares(white))


def told_by_shares(area: float, border: float) -> Told:
    """What masks tell of which the share ``area`` of all pixels and ``border`` of the outermost ones is white.

    Holes are mostly objects inside the picture, so the colour of at least 80 % of the outermost pixels and of at least 60 %
    of all pixels, over all frames, is taken for known. Where neither colour is they are ``unclear``, for a rule that always
    answers would turn large free-form holes inside out; so are masks of one colour, for which nothing speaks.
    """
    if 0 < area <= 1 - CLEAR_AREA_SHARE and border <= 1 - CLEAR_BORDER_SHARE:
        return "white_is_hole"
    if 1 > area >= CLEAR_AREA_SHARE and border >= CLEAR_BORDER_SHARE:
        return "black_is_hole"
    return "unclear"


def look_of(white: Hole) -> str:
    """What masks look like, in words."""
    area, border = _shares(white)
    if area in (0, 1):
        return f"all pixels are {'white' if area else 'black'}"
    return f"{area:.0%} of the pixels and {border:.0%} of the border are white"


def outermost(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The pixels at the four edges of ``[T, H, W]``, one after another."""
    edges = [values[:, 0], values[:, -1], values[:, 1:-1, 0], values[:, 1:-1, -1]]
    return np.concatenate([edge.ravel() for edge in edges])


def _shares(white: Hole) -> tuple[float, float]:
    return float(white.mean()), float(outermost(white).mean())


def _one_object(values: Values, number: int, present: list[int], polarity: Polarity) -> Reading:
    if number not in present:
        raise Rejected(f"no object {number} in the masks, they hold the values {', '.join(map(str, present[:12]))}")
    return Reading(_turned(values == number, polarity), _named(polarity), False, (number,))


def _turned(inside: Hole, polarity: Polarity) -> Hole:
    return ~inside if polarity == "black_is_hole" else inside


def _named(polarity: Polarity) -> str:
    return "white_is_hole" if polarity == "detect" else polarity
