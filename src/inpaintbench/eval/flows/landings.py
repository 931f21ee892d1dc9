"""Landing places of the pixels of a frame in the next one, and what is seen there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.intp]
# Of one frame, `[H, W, C]`.
Picture = npt.NDArray[Any]
# Of one frame, `bool[H, W]`.
Pixels = npt.NDArray[np.bool_]


class Landings(NamedTuple):
    """Landing places of pixels of one frame between four of the next. Arrays are ``[N]``, indices count in reading order."""

    pixels: Indices
    """Indices in the first frame."""
    corners: tuple[Indices, Indices, Indices, Indices]
    """Indices in the next frame: top left, top right, bottom left, bottom right; clamped to the frame."""
    right: npt.NDArray[np.float32]
    """Weight of the right corners, 0..1."""
    down: npt.NDArray[np.float32]
    """Weight of the bottom corners, 0..1."""
    inside: npt.NDArray[np.bool_]
    """True when they land in the frame."""

    def at(self, chosen: npt.NDArray[np.bool_]) -> Landings:
        """Landings of the pixels ``chosen``, ``bool[N]``."""
        top_left, top_right, bottom_left, bottom_right = (corner[chosen] for corner in self.corners)
        corners = (top_left, top_right, bottom_left, bottom_right)
        return Landings(self.pixels[chosen], corners, self.right[chosen], self.down[chosen], self.inside[chosen])

    def sample(self, picture: Picture) -> npt.NDArray[np.float32]:
        """``picture`` between the pixels, bilinear, ``float32[N, C]``."""
        top_left, top_right, bottom_left, bottom_right = (_taken(picture, corner) for corner in self.corners)
        # Written as steps from one corner: flat places stay exactly what they are.
        top = top_left + self.right[:, None] * (top_right - top_left)
        bottom = bottom_left + self.right[:, None] * (bottom_right - bottom_left)
        sampled: npt.NDArray[np.float32] = top + self.down[:, None] * (bottom - top)
        return sampled

    def touch(self, pixels: Pixels) -> npt.NDArray[np.bool_]:
        """Return whether one of ``pixels`` has a part in what is sampled, ``bool[N]``."""
        flat = pixels.ravel()
        top_left, top_right, bottom_left, bottom_right = (flat[corner] for corner in self.corners)
        right, down = self.right > 0, self.down > 0
        touched: npt.NDArray[np.bool_] = top_left | (top_right & right) | (down & (bottom_left | (bottom_right & right)))
        return touched

    def squared_error(self, frame: Picture, next_frame: Picture) -> float:
        """Sum over pixels and channels of squared differences in grey levels."""
        difference = self.sample(next_frame) - _taken(frame, self.pixels)
        return float(np.sum(np.square(difference), dtype=np.float64))


def landings(flow: npt.NDArray[np.float32]) -> Landings:
    """Landings of all pixels of a frame whose flow is ``float32[H, W, 2]``, in pixels: right and down.

    Where the flow leaves the frame the nearest pixel of the edge is taken: what clamped indices with unclamped weights give.
    """
    height, width = flow.shape[:2]
    columns = np.arange(width, dtype=np.float32) + flow[..., 0]
    rows = np.arange(height, dtype=np.float32)[:, None] + flow[..., 1]
    inside = (columns >= 0) & (columns <= width - 1) & (rows >= 0) & (rows <= height - 1)
    left, right = _between(columns, width)
    top, down = _between(rows, height)
    upper, lower = top * width, np.minimum(top + 1, height - 1) * width
    after = np.minimum(left + 1, width - 1)
    corners = (upper + left, upper + after, lower + left, lower + after)
    return Landings(np.arange(height * width), corners, right, down, inside.ravel())


def _taken(picture: Picture, pixels: Indices) -> npt.NDArray[np.float32]:
    # Four times faster than indexing; no index is ever clipped.
    values = picture.reshape(-1, picture.shape[-1]).take(pixels, axis=0, mode="clip")
    return values.astype(np.float32, copy=False)


def _between(places: npt.NDArray[np.float32], length: int) -> tuple[Indices, npt.NDArray[np.float32]]:
    """Index of the pixel before each place, and the weight of the one after it; both flat."""
    clamped = np.clip(places, 0, length - 1).ravel()
    before = np.floor(clamped)
    return before.astype(np.intp), clamped - before
