"""The edge of a hole as lines, to be laid over any player."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.preparing.tiles import Picture


def outline(hole: npt.NDArray[np.bool_], *, size: tuple[int, int]) -> Picture:
    """White lines on black along the edge of ``hole`` (``bool[H, W]``), one pixel on either side of it.

    Args:
        hole: of one frame, True = hole.
        size: width and height of the picture, at most those of the hole; a pixel that covers any of the hole counts as hole.
    """
    levels = hole.astype(np.uint8) * 255
    if hole.shape != size[::-1]:
        levels = np.where(cv2.resize(levels, size, interpolation=cv2.INTER_AREA) > 0, 255, 0).astype(np.uint8)
    edge = cv2.morphologyEx(levels, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    return np.repeat(edge[:, :, None], 3, axis=2)
