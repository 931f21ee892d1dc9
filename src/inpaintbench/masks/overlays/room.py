"""Limit on the hidden share of a frame: the oldest texts end where all together would hide too much."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from inpaintbench.masks.overlays.layout import Placed
from inpaintbench.masks.overlays.raster import Picture, draw

# Share of a frame; the largest of the published clips.
MOST_OVERLAY_FRACTION = 0.5


def fits_half(picture: Picture) -> bool:
    """True if a picture hides no more than half of the frame."""
    return float(np.mean(picture.alpha > 0)) <= MOST_OVERLAY_FRACTION


def thinned_out(
    place: Callable[[Mapping[int, int]], list[Placed]], *, frames: int, height: int, width: int
) -> tuple[list[Placed], int]:
    """Layout in which texts end wherever more than half of a frame would be hidden, the oldest first.

    ``place`` takes the frames from which on texts are hidden, as ``layout.place`` does. A text that by itself hides more than
    half ends before others. Also returns the number of texts that end early or are missing.
    """
    ends: dict[int, int] = {}
    fits: dict[tuple[Placed, ...], bool] = {}
    placed = place(ends)
    frame = 0
    while frame < frames:
        shown = _shown(placed, frame)
        if shown not in fits:
            fits[shown] = fits_half(draw(shown, height=height, width=width))
        if fits[shown]:
            frame = _next_change(placed, frame, frames)
            continue
        too_large = [text for text in shown if len(shown) > 1 and not fits_half(draw([text], height=height, width=width))]
        ends[min(text.block.event for text in too_large or shown)] = frame
        placed = place(ends)
        frame = 0  # hidden pages leave room for earlier texts, whose positions change
    return placed, len(ends)


def _shown(placed: Sequence[Placed], frame: int) -> tuple[Placed, ...]:
    return tuple(text for text in placed if text.block.first_frame <= frame < text.block.end_frame)


def _next_change(placed: Sequence[Placed], frame: int, frames: int) -> int:
    changes = {end for text in placed for end in (text.block.first_frame, text.block.end_frame)}
    return min((change for change in changes if change > frame), default=frames)
