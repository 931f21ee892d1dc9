"""A picture and a mask that can be written down, of which released code gave the numbers that tests hold."""

from __future__ import annotations

import numpy as np

HEIGHT, WIDTH = 240, 432


def image(t: int) -> np.ndarray:
    """Waves that move with ``t``, ``uint8[240, 432, 3]``."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    red = np.rint(127.5 + 100 * np.sin(2 * np.pi * (x + 3 * t) / 48))
    green = np.rint(127.5 + 100 * np.cos(2 * np.pi * (y - 2 * t) / 37))
    return np.stack([red, green, (x + y + 5 * t) % 256], axis=-1).astype(np.uint8)


def box(left: int, right: int, top: int, bottom: int) -> np.ndarray:
    """``bool[240, 432]``, both ends included."""
    mask = np.zeros((HEIGHT, WIDTH), np.bool_)
    mask[top : bottom + 1, left : right + 1] = True
    return mask


MASK = box(150, 269, 80, 159)
