"""Room on the screen: texts that together would hide too much of a frame give way to newer ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from inpaintbench.masks.overlays.layout import Placed
from inpaintbench.masks.overlays.raster import Picture, draw

# Of a frame; what the published clips reach.
MOST_OVERLAY_FRACTION = 0.5


def fits_half(picture: Picture) -> bool:
    """Whether a picture hides no more than half of the frame."""
    return float(np.mean(picture.alpha > 0)) <= MOST_OVERLAY_FRACTION


def thinned_out(
    place: Callable[[Mapping[int, int]], list[Placed]], *, frames: int, height: int, width: int
) -> tuple[list[Placed], int]:
    """What ``place`` gives when texts end wherever more than half of a frame would be hidden: the oldest one first.

    ``place`` takes the frames from which on texts are gone, as ``layout.place`` does. A text that hides more than half alone goes
    before others. Also the number of texts that end early or are missing.
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
        alone = [one for one in shown if len(shown) > 1 and not fits_half(draw([one], height=height, width=width))]
        ends[min(one.block.event for one in alone or shown)] = frame
        placed = place(ends)
        frame = 0  # pages that no longer come leave room to texts that were there before them
    return placed, len(ends)


def _shown(placed: Sequence[Placed], frame: int) -> tuple[Placed, ...]:
    return tuple(one for one in placed if one.block.first_frame <= frame < one.block.end_frame)


def _next_change(placed: Sequence[Placed], frame: int, frames: int) -> int:
    changes = {end for one in placed for end in (one.block.first_frame, one.block.end_frame)}
    return min((change for change in changes if change > frame), default=frames)
