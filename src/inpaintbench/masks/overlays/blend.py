"""Alpha compositing of an overlay over frames, in exact integers."""

from __future__ import annotations

import numpy as np

from inpaintbench.errors import MaskShapeError
from inpaintbench.types import Alpha, Frames


def over(truth: Frames, alpha: Alpha, colour: Frames) -> Frames:
    """Composite ``round(((255 - alpha) * truth + alpha * colour) / 255)``, a new ``uint8[T, H, W, 3]``.

    ``alpha`` is ``uint8[T, H, W]``, ``colour`` ``uint8[T, H, W, 3]``, not premultiplied. In integers, so that over black (B) and
    white (W) ``alpha = 255 - (W - B)`` holds exactly, and pixels with ``alpha`` 0 are unchanged.

    Raises:
        MaskShapeError: the shapes do not fit each other.
    """
    if truth.shape != (*alpha.shape, 3) or colour.shape != truth.shape:
        raise MaskShapeError(f"alpha {alpha.shape} and colour {colour.shape} do not fit the frames {truth.shape}")
    painted = truth.copy()
    for frame, opacity, paint in zip(painted, alpha, colour, strict=True):
        rows, columns = np.flatnonzero(opacity.any(axis=1)), np.flatnonzero(opacity.any(axis=0))
        if len(rows):
            box = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
            frame[box] = _mixed(frame[box], opacity[box], paint[box])
    return painted


def _mixed(
    below: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
    opacity: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
    paint: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint16]]:
    weight = opacity[..., None].astype(np.uint16)
    total = below * (255 - weight)
    total += paint * weight
    # Division by 255 with rounding, exact for 0 ... 65025; 65025 + 128 + 254 still fits into 16 bits.
    total += 128
    total += total >> 8
    total >>= 8
    return total
