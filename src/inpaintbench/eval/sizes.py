"""Predictions at the size of their items, and sizes in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import MediaError
from inpaintbench.types import Frames, Plain


def fitted(frames: Frames, row: Plain, *, resize: str) -> Frames:
    """A prediction at the size of its item, ``uint8[T, H, W, 3]``; ``resize`` is that of the protocol.

    Raises:
        MediaError: another size that the protocol does not change, or another number of frames.
    """
    if resize == "nearest":
        frames = nearest(frames, height=row["height"], width=row["width"])
    wanted = (row["frames"], row["height"], row["width"], 3)
    if frames.shape != wanted:
        found, asked = sizes_in_words(frames.shape, wanted)
        raise MediaError(f"the prediction of item {row['item_id']!r} is {found}, the item is {asked}")
    return frames


def nearest(frames: Frames, *, height: int, width: int) -> Frames:
    """``uint8[T, H, W, 3]`` brought to a size by the pixel whose area holds the centre of each new one, as Pillow does."""
    rows, columns = _nearest(frames.shape[1], height), _nearest(frames.shape[2], width)
    return frames if frames.shape[1:3] == (height, width) else frames[:, rows[:, None], columns]


def _nearest(given: int, wanted: int) -> npt.NDArray[np.intp]:
    # Added up step by step as Pillow does: where a centre falls between two pixels, rounding decides.
    steps = np.full(wanted, given / wanted)
    steps[0] /= 2
    return np.minimum(np.cumsum(steps).astype(np.intp), given - 1)


def sizes_in_words(one: Sequence[int], other: Sequence[int]) -> tuple[str, str]:
    """Two shapes ``(T, H, W, ...)`` told by what differs: ``275x200`` and ``275x400``, ``5 frames of ...``, or ``5 frames``."""
    frames_differ, pictures_differ = one[0] != other[0], tuple(one[1:3]) != tuple(other[1:3])
    first, second = (_words(shape, frames=frames_differ, picture=pictures_differ or not frames_differ) for shape in (one, other))
    return first, second


def _words(shape: Sequence[int], *, frames: bool, picture: bool) -> str:
    count = f"{shape[0]} {'frame' if shape[0] == 1 else 'frames'}" if frames else ""
    return " of ".join(filter(None, (count, f"{shape[2]}x{shape[1]}" if picture else "")))
