"""Symmetric padding around a method whose network wants sides that divide evenly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError

# What both sides of a frame must be multiples of: one number, or (width, height).
Divisor = int | Sequence[int]

_Scalar = TypeVar("_Scalar", bound=np.generic)


class Padding(NamedTuple):
    """Pixels added on each side of a frame; mirrored with the edge pixel repeated, as DEVIL (CVPR 2022) pads."""

    top: int
    bottom: int
    left: int
    right: int

    @classmethod
    def of(cls, height: int, width: int, divisor: Divisor) -> Padding:
        """The least padding that makes both sides multiples of ``divisor``; an odd pixel goes to the bottom or the right.

        Raises:
            InputError: a divisor that is not one or two positive whole numbers.
        """
        across, down = _both(divisor)
        rows = math.ceil(height / down) * down - height
        columns = math.ceil(width / across) * across - width
        return cls(top=rows // 2, bottom=rows - rows // 2, left=columns // 2, right=columns - columns // 2)

    def pad(self, array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """``array[T, H, W]`` or ``array[T, H, W, 3]`` with mirrored borders; a border may be wider than the frame."""
        if not any(self):
            return array
        rest = [(0, 0)] * (array.ndim - 3)
        return np.pad(array, [(0, 0), (self.top, self.bottom), (self.left, self.right), *rest], mode="symmetric")

    def crop(self, array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """What ``pad`` was given, out of an array of the padded size."""
        height, width = array.shape[1:3]
        return array[:, self.top : height - self.bottom, self.left : width - self.right]


def _both(divisor: Divisor) -> tuple[int, int]:
    sides = (divisor, divisor) if isinstance(divisor, int) else tuple(divisor)
    if len(sides) != 2 or not all(isinstance(side, int) and side >= 1 for side in sides):
        raise InputError(f"divisor {divisor!r} is neither a whole number from 1 up nor two of them (width, height)")
    return sides[0], sides[1]
