"""Reading of saved masks: object numbers or grey levels to holes, with white or black as the hole."""

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
# Polarity by the look of masks.
Vote = Literal["white_is_hole", "black_is_hole", "unclear"]
VOTES: tuple[str, ...] = get_args(Vote)
# Advice in errors about an unclear polarity.
STATE_IT = "state `polarity` (white_is_hole or black_is_hole)"
# `uint8[T, H, W]`: object numbers, 0 = background, or grey levels.
Values = npt.NDArray[np.uint8]

# Largest value that counts as an object number rather than a grey level.
MOST_OBJECTS = 31
# Value of ignored pixels in some data sets of objects.
VOID = 255
# Values above it are white, where none is stated.
GREY_THRESHOLD = 127
# Share of the outermost pixels that must be of one colour for a guess that it is the known one.
CLEAR_BORDER_SHARE = 0.8
# Share of all pixels that must be of that colour, too.
CLEAR_AREA_SHARE = 0.6


@dataclass(frozen=True)
class Reading:
    """Hole of saved masks, with the interpretation of their values."""

    hole: Hole
    polarity: str
    """``white_is_hole`` or ``black_is_hole``."""
    guessed: bool
    objects: tuple[int, ...]
    """Object numbers in the hole's frames; empty for grey levels."""


def detect_polarity(white: Hole) -> Polarity:
    """Guess the polarity from the masks alone.

    Raises:
        Rejected: it is unclear.
    """
    vote = vote_of(white)
    if vote == "unclear":
        raise Rejected(f"cannot tell whether white or black is the hole ({look_of(white)}): {STATE_IT}")
    return vote


def read_hole_from(
    values: Values,
    *,
    polarity: Polarity = "detect",
    objects: Literal["all"] | int = "all",
    threshold: int | None = None,
    detect: Callable[[Hole], Polarity] = detect_polarity,
) -> Reading:
    """Convert one sequence of saved masks to a hole.

    Args:
        values: stacked results of ``video.read_index_image``.
        polarity: ``detect`` takes objects for the hole, and of grey levels the colour that the border is not.
        objects: number of one object, or all of them. A number makes ``values`` object numbers whatever they look like.
        threshold: values above it are white; by default 127, or 0 for object numbers. 0 for masks where any value above 0 is
            the hole (ProPainter).
        detect: guesses the polarity of grey levels from their white pixels.

    Raises:
        Rejected: no such object, or an unclear polarity.
    """
    present = np.flatnonzero(np.bincount(values.ravel(), minlength=256)).tolist()
    numbers = tuple(value for value in present if 0 < value <= MOST_OBJECTS)
    if objects != "all":
        return _one_object(values, objects, present, polarity)
    if threshold is None and are_objects(present):
        inside = (values > 0) & (values <= MOST_OBJECTS)
        return Reading(_oriented(inside, polarity), _named(polarity), False, numbers)
    white = values > (GREY_THRESHOLD if threshold is None else threshold)
    if polarity != "detect":
        return Reading(_oriented(white, polarity), polarity, False, ())
    guess = detect(white)
    return Reading(_oriented(white, guess), guess, True, ())


def are_objects(present: list[int]) -> bool:
    """True if values are object numbers: at least one of 1..31, and no other than 0 and 255 (void)."""
    return any(0 < value <= MOST_OBJECTS for value in present) and not any(MOST_OBJECTS < value < VOID for value in present)


def vote_of(white: Hole) -> Vote:
    """Polarity of masks by the position of their white pixels; see ``vote_by_shares``."""
    return vote_by_shares(*_shares(white))


def vote_by_shares(area: float, border: float) -> Vote:
    """Polarity of masks whose pixels are white by a share of ``area``, the outermost ones by a share of ``border``.

    Holes are mostly objects inside the picture, so the colour of at least 80 % of the outermost pixels and of at least 60 %
    of all pixels, over all frames, counts as known. Otherwise masks are ``unclear``: a rule that always decides would invert
    large free-form holes. Masks of one colour are ``unclear``, too.
    """
    if 0 < area <= 1 - CLEAR_AREA_SHARE and border <= 1 - CLEAR_BORDER_SHARE:
        return "white_is_hole"
    if 1 > area >= CLEAR_AREA_SHARE and border >= CLEAR_BORDER_SHARE:
        return "black_is_hole"
    return "unclear"


def look_of(white: Hole) -> str:
    """Description of masks, for errors."""
    area, border = _shares(white)
    if area in (0, 1):
        return f"all pixels are {'white' if area else 'black'}"
    return f"{area:.0%} of the pixels and {border:.0%} of the border are white"


def outermost(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Pixels at the four edges of ``[T, H, W]``, flattened."""
    edges = [values[:, 0], values[:, -1], values[:, 1:-1, 0], values[:, 1:-1, -1]]
    return np.concatenate([edge.ravel() for edge in edges])


def _shares(white: Hole) -> tuple[float, float]:
    return float(white.mean()), float(outermost(white).mean())


def _one_object(values: Values, number: int, present: list[int], polarity: Polarity) -> Reading:
    if number not in present:
        raise Rejected(f"no object {number} in the masks, they hold the values {', '.join(map(str, present[:12]))}")
    return Reading(_oriented(values == number, polarity), _named(polarity), False, (number,))


def _oriented(inside: Hole, polarity: Polarity) -> Hole:
    return ~inside if polarity == "black_is_hole" else inside


def _named(polarity: Polarity) -> str:
    return "white_is_hole" if polarity == "detect" else polarity
