"""Which pixels of saved masks are the hole: numbers of objects, grey levels, and white or black for missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import Rejected
from inpaintbench.types import Hole

Polarity = Literal["white_is_hole", "black_is_hole", "detect"]
POLARITIES: tuple[str, ...] = get_args(Polarity)
Values = npt.NDArray[np.uint8]
"""``uint8[T, H, W]``: numbers of objects, 0 = background, or grey levels."""

MOST_OBJECTS = 31
"""Greatest number of an object that is told from a grey level."""
VOID = 255
"""What some data sets of objects mark pixels with that count for nothing."""
GREY_THRESHOLD = 127
CLEAR_BORDER_SHARE = 0.8
"""Share of the outermost pixels that must be known for a guess."""
CLEAR_AREA_SHARE = 0.6
"""Share of all pixels that must be known for a guess."""


@dataclass(frozen=True)
class Reading:
    """The hole of saved masks, and how it was read."""

    hole: Hole
    polarity: str
    """``white_is_hole`` or ``black_is_hole``."""
    guessed: bool
    objects: tuple[int, ...]
    """Numbers of the objects in the hole's frames; empty for masks of grey levels."""


def read_hole_from(
    values: Values, *, polarity: Polarity = "detect", objects: Literal["all"] | int = "all", threshold: int | None = None
) -> Reading:
    """The hole of one sequence of saved masks.

    Args:
        values: as ``video.read_index_image`` gives them.
        polarity: what the hole is. ``detect`` takes objects for the hole, and of grey levels the one that the border is not.
        objects: the number of one object, or all of them. A number makes ``values`` numbers whatever they look like.
        threshold: values above it are white; by default 127, or 0 for numbers of objects. 0 for masks of which "any value
            above 0" counts (ProPainter).

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
    guess = detect_polarity(white)
    return Reading(_turned(white, guess), guess, True, ())


def are_objects(present: list[int]) -> bool:
    """Whether values are numbers of objects: some of 1..31, no other but 0 and perhaps 255 (void)."""
    return any(0 < value <= MOST_OBJECTS for value in present) and not any(MOST_OBJECTS < value < VOID for value in present)


def detect_polarity(white: Hole) -> Polarity:
    """``white_is_hole`` or ``black_is_hole``, from how masks lie in the picture.

    Holes are mostly objects inside the picture, so the colour of at least 80 % of the outermost pixels and of at least 60 %
    of all pixels, over all frames, is taken for known.

    Raises:
        Rejected: neither colour is; a rule that always answers would turn large free-form holes inside out.
    """
    frames = white.reshape(-1, *white.shape[1:])
    edges = [frames[:, 0], frames[:, -1], frames[:, 1:-1, 0], frames[:, 1:-1, -1]]
    border = float(np.concatenate([edge.ravel() for edge in edges]).mean())
    area = float(white.mean())
    if border <= 1 - CLEAR_BORDER_SHARE and area <= 1 - CLEAR_AREA_SHARE:
        return "white_is_hole"
    if border >= CLEAR_BORDER_SHARE and area >= CLEAR_AREA_SHARE:
        return "black_is_hole"
    raise Rejected(
        f"cannot tell whether white or black is the hole ({area:.0%} of the masks and {border:.0%} of their border are white): "
        "state polarity white_is_hole or black_is_hole"
    )


def _one_object(values: Values, number: int, present: list[int], polarity: Polarity) -> Reading:
    if number not in present:
        raise Rejected(f"no object {number} in the masks, they hold the values {', '.join(map(str, present[:12]))}")
    return Reading(_turned(values == number, polarity), _named(polarity), False, (number,))


def _turned(inside: Hole, polarity: Polarity) -> Hole:
    return ~inside if polarity == "black_is_hole" else inside


def _named(polarity: Polarity) -> str:
    return "white_is_hole" if polarity == "detect" else polarity
