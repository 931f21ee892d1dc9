"""Perceptual hashes of a clip: so few bits that copies of it are found among a hundred thousand clips.

Six frames a second are reduced to 32x32 levels of luma and each to the signs of 64 low frequencies of its discrete cosine
transform, which survive another encoder, another size, a squeeze and a change of brightness. Black bars are cut off first, so a
letterboxed copy has the hashes of its picture. A flat frame has no hash: the signs of its frequencies are noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.lazily import lazily
from inpaintbench.ranges import Positive
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

cv2 = lazily("cv2")

Levels = npt.NDArray[np.float32]
# Stands in for the hash of a flat frame.
FLAT = "-"
# Largest side of the frames that bars are looked for in.
WORKING_SIDE = 128
SIDE = 32
FREQUENCIES = 8
# Standard deviation, in levels, of what the hashed frequencies alone show; below it a frame is flat.
LEAST_CONTRAST = 2.0
# Of coded luma, where black is 16 or 0.
BLACK_LEVEL = 40
# Step, in levels, from the last line of a bar to the picture; darkness that fades into the picture is no bar.
LEAST_EDGE = 8.0
# Of a side.
LARGEST_BAR = 0.3
# Of a side: how much wider one of two bars is than the other at most.
MOST_UNEVEN = 0.02


class PerceptualHash(AttributeLeaf):
    """64-bit hashes of the frames on screen at 0, 1/6, 2/6, ... seconds, for finding near-duplicates.

    The value is the rate and then a hash of 16 hexadecimal digits, or ``-`` for a flat frame, for each time, divided by blanks.
    ``hash_words`` reads it back. Clips are comparable when their rates are equal.
    """

    name = "perceptual_hash"
    version = "1"
    unit = "64-bit hashes of frames at a fixed rate"
    direction = "none: near-duplicates have hashes that differ in few bits"
    cost = 0.07
    needs = ("luma",)

    def __init__(self, *, hashes_per_second: Positive = 6.0) -> None:
        self.hashes_per_second = hashes_per_second

    def measure(self, view: ItemView) -> str:
        """The hashes in words; ``NotMeasurable`` when every frame looked at is flat."""
        indices = looked_at(view.frames, fps=view.fps, hashes_per_second=self.hashes_per_second)
        distinct, places = np.unique(indices, return_inverse=True)
        hashes = [frame_hash(frame) for frame in small_frames(view.luma, distinct)]
        if not any(hash_ is not None for hash_ in hashes):
            raise NotMeasurable(f"every one of the {len(distinct)} frames looked at is flat")
        words = [FLAT if hash_ is None else f"{hash_:016x}" for hash_ in hashes]
        return " ".join([f"{self.hashes_per_second:g}", *(words[place] for place in places)])


def looked_at(frames: int, *, fps: float, hashes_per_second: float) -> npt.NDArray[np.int64]:
    """Index of the frame on screen at each multiple of the interval within the clip; at least one."""
    count = max(1, int(np.ceil(frames / fps * hashes_per_second - 1e-6)))
    return np.array([min(int(place * fps / hashes_per_second + 1e-6), frames - 1) for place in range(count)], np.int64)


def frame_hash(levels: npt.NDArray[np.uint8]) -> int | None:
    """64 bits, one for each of the lowest frequencies but the mean: whether it is above their median; None for a flat frame.

    Args:
        levels: ``uint8[h, w]``, of any size.
    """
    square = cv2.resize(levels, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float32)
    # The mean tells brightness alone; the ninth frequency of the diagonal takes its place, so that there are 64.
    lowest = cv2.dct(square)[: FREQUENCIES + 1, : FREQUENCIES + 1]
    spectrum = np.append(lowest[:FREQUENCIES, :FREQUENCIES].ravel()[1:], lowest[FREQUENCIES, FREQUENCIES])
    if np.sqrt(np.square(spectrum).sum()) / SIDE < LEAST_CONTRAST:
        return None
    bits = spectrum > np.median(spectrum)
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def hash_words(value: str) -> tuple[float, list[int | None]]:
    """Rate and hashes that a value of ``PerceptualHash`` holds, None for flat frames.

    Raises:
        InputError: the text is no such value.
    """
    rate, *words = value.split(" ")
    try:
        return float(rate), [None if word == FLAT else int(word, 16) for word in words]
    except ValueError:
        raise InputError(f"{value[:60]!r} is no perceptual hash: measure the attribute perceptual_hash again") from None


def small_frames(luma: Luma, indices: Sequence[int] | npt.NDArray[np.int64]) -> Luma:
    """The frames ``indices`` of ``uint8[T, H, W]``, at most ``WORKING_SIDE`` wide and high, without black bars."""
    return _without_bars(shrunk(luma, indices))


def shrunk(luma: Luma, indices: Sequence[int] | npt.NDArray[np.int64]) -> Luma:
    """The frames ``indices`` of ``uint8[T, H, W]``, at most ``WORKING_SIDE`` wide and high."""
    height, width = luma.shape[1:]
    scale = min(1.0, WORKING_SIDE / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.stack([cv2.resize(luma[index], size, interpolation=cv2.INTER_AREA) for index in indices])


def _without_bars(small: Luma) -> Luma:
    top, bottom = _bars(small.max(axis=2).max(axis=0), small.mean(axis=(0, 2)))
    left, right = _bars(small.max(axis=1).max(axis=0), small.mean(axis=(0, 1)))
    return small[:, top : small.shape[1] - bottom, left : small.shape[2] - right]


def _bars(brightest: npt.NDArray[np.uint8], mean: npt.NDArray[np.float64]) -> tuple[int, int]:
    """Lines of black at the start and at the end, from the brightest and the mean level of every line."""
    start, end = _bar(brightest, mean), _bar(brightest[::-1], mean[::-1])
    # Darkness on one side is part of the picture more often than a bar, and comes and goes with the encoder.
    return (start, end) if start and end and abs(start - end) <= MOST_UNEVEN * len(mean) else (0, 0)


def _bar(brightest: npt.NDArray[np.uint8], mean: npt.NDArray[np.float64]) -> int:
    lines = int(np.argmax(np.append(brightest > BLACK_LEVEL, True)))
    if not 0 < lines <= LARGEST_BAR * len(mean):
        return 0
    # One line of the shrunken frame can be half bar, half picture.
    within = min(lines + 1, len(mean) - 1)
    return lines if mean[within] - mean[lines - 1] >= LEAST_EDGE else 0
