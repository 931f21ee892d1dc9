"""Arrays at any place in memory: what is measured of them must not depend on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

BYTES_APART = 64
"""Of a vector register, and of a line of the processor's cache."""
FEW_OFFSETS = (0, 1, 7, 16, 36, 63)


def laid_out(array: npt.NDArray[Any], *, offset: int, spread: bool) -> npt.NDArray[Any]:
    """A copy of ``[T, H, W, ...]`` that begins ``offset`` bytes behind a multiple of 64; ``spread``: with gaps in every row."""
    shape = (array.shape[0], array.shape[1] + 3, array.shape[2] + 5, *array.shape[3:]) if spread else array.shape
    nbytes = int(np.prod(shape)) * array.itemsize
    raw = np.zeros(nbytes + 2 * BYTES_APART, np.uint8)
    begin = -raw.ctypes.data % BYTES_APART + offset
    held = raw[begin : begin + nbytes].view(array.dtype).reshape(shape)[:, : array.shape[1], : array.shape[2]]
    held[...] = array
    assert held.ctypes.data % BYTES_APART == offset
    return held


def everywhere(arrays: Sequence[npt.NDArray[Any]], offsets: Sequence[int] = FEW_OFFSETS) -> Iterator[list[npt.NDArray[Any]]]:
    """The arrays at each offset, in one piece and with gaps, while more and more memory is taken between."""
    kept = []
    for offset in offsets:
        kept.append(np.empty(16 * (2 * offset + 1), np.uint8))  # so that what is allocated meanwhile begins elsewhere, too
        for spread in (False, True):
            yield [laid_out(array, offset=offset, spread=spread) for array in arrays]
