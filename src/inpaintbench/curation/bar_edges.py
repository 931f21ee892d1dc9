"""How wide the bars of one frame can be, side by side, and how plainly they end.

The outermost two lines of a side tell what its bar would look like. Lines belong to it while nearly all their pixels look so;
the bar ends *plainly* where most pixels stop to look so within two lines, all along the side, which few dark skies and night
scenes do. Bright text inside a bar leaves most of its line dark and is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]

# Of a side; whatever is wider is a dark picture.
LARGEST_SHARE = 0.35
# Of luma, 0..255: brighter borders are coloured bars, which need more proof.
BLACK_LEVEL = 40
# What coding can change in a bar beside a bright picture.
TOLERANCE_LEVELS = 12
# Beside a dark picture: standard deviations of the outermost lines, and levels on top of them.
NOISE_FACTOR, LEAST_TOLERANCE_LEVELS = 3.0, 3.0
COLOURED_TOLERANCE_LEVELS = 6
# Of the side: coloured bars come in equal pairs that are at least so wide.
COLOURED_LEAST_SHARE = 0.02
# How far from the end of a bar coding reaches: one transform block.
RINGING_LINES = 8
# Of the pixels of a line of a bar.
DARK_SHARE = 0.9
# Of the pixels of a line of a bar that text runs through stay dark.
TEXT_SHARE = 0.5
# Share of the pixels along a side that stop being dark where the bar ends.
PLAIN_STEP = 0.5
_CENTRE = (0.36, 0.64)


@dataclass(frozen=True)
class Reading:
    """One side of one frame."""

    width: int
    """Lines; where the end is not plain, the widest that a bar can be."""
    plain: bool
    """Whether there is an end that looks like a bar's; a width of 0 is always plain."""


# Top, bottom, left, right.
Readings = tuple[Reading, Reading, Reading, Reading]


def read_edges(frame: Image) -> Readings | None:
    """The four sides of ``uint8[h, w, 3]`` RGB; None for a frame that says nothing, being dark all over."""
    luma = np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), np.uint8)
    if np.percentile(luma, 99) <= BLACK_LEVEL and np.ptp(np.percentile(luma, (1, 99))) <= TOLERANCE_LEVELS:
        return None
    height, width = luma.shape
    turned_frame, turned_luma = frame.swapaxes(0, 1), luma.T
    columns = slice(int(_CENTRE[0] * width), int(_CENTRE[1] * width) + 1)
    top, bottom = _both_ends(frame[:, columns], luma[:, columns])
    rows = _between(top, bottom, height)
    left, right = _both_ends(turned_frame[:, rows], turned_luma[:, rows])
    columns = _between(left, right, width)
    top, bottom = _both_ends(frame[:, columns], luma[:, columns])
    return top, bottom, left, right


def _between(first: Reading, last: Reading, side: int) -> slice:
    """The lines between two bars; where an end is not plain, all of them, which makes others harder to believe."""
    ends = [end.width if end.plain else 0 for end in (first, last)]
    return slice(ends[0], side - ends[1])


def _both_ends(frame: Image, luma: Image) -> tuple[Reading, Reading]:
    levels = [float(np.median(lines)) for lines in (luma[:2], luma[-2:])]
    first, last = (_end(lines, level) for lines, level in zip((luma, luma[::-1]), levels, strict=True))
    nothing = Reading(0, plain=True)
    if min(levels) > BLACK_LEVEL:
        return (first, last) if _one_colour(frame, first, last) else (nothing, nothing)
    return first if levels[0] <= BLACK_LEVEL else nothing, last if levels[1] <= BLACK_LEVEL else nothing


def _end(luma: Image, level: float) -> Reading:
    """The bar at the start of the first axis whose outermost lines have that level."""
    limit = min(len(luma) - 3, int(LARGEST_SHARE * len(luma)) + 3)
    distance = np.abs(luma[:limit] - np.float32(level))
    noise = NOISE_FACTOR * float(luma[:2].std()) + LEAST_TOLERANCE_LEVELS
    loose = _reading(np.mean(distance <= TOLERANCE_LEVELS, axis=1))
    close = _reading(np.mean(distance <= min(noise, TOLERANCE_LEVELS), axis=1))
    # Beside a bright picture coding changes the last lines of a bar; beside a dark one only the close look sees its end.
    nearby = loose.plain and loose.width <= close.width + RINGING_LINES
    return close if close.plain and close.width and not nearby else loose


def _one_colour(frame: Image, first: Reading, last: Reading) -> bool:
    """Whether two plain ends are as wide as each other and flat in one colour; chroma of the picture reaches three lines in."""
    flat = [frame[: max(1, first.width - 3)], frame[len(frame) - max(1, last.width - 3) :]]
    colours = [lines.reshape(-1, 3).mean(axis=0) for lines in flat]
    alike = float(np.abs(colours[0] - colours[1]).max()) <= COLOURED_TOLERANCE_LEVELS
    even = max(float(lines.reshape(-1, 3).std(axis=0).max()) for lines in flat) <= COLOURED_TOLERANCE_LEVELS / 2
    equal = abs(first.width - last.width) <= 2 and first.width >= COLOURED_LEAST_SHARE * len(frame)
    return first.plain and last.plain and equal and alike and even


def _reading(alike: npt.NDArray[np.float64]) -> Reading:
    """From the share of pixels in each line, from the border inwards, that look like the bar."""
    if alike[0] < DARK_SHARE:
        return Reading(0, plain=True)
    widest: int | None = None
    for line in range(1, len(alike) - 2):
        if alike[line] >= DARK_SHARE or alike[line - 1] < DARK_SHARE:
            continue
        width = line + int(alike[line] > 1 - PLAIN_STEP and alike[line] - alike[line + 1] > PLAIN_STEP / 2)
        if alike[line - 1] - alike[width : width + 2].mean() >= PLAIN_STEP:
            return Reading(width, plain=True)
        widest = line if widest is None else widest
        if alike[line : line + 3].min() < TEXT_SHARE:
            break
    return Reading(len(alike) if widest is None else widest, plain=False)
