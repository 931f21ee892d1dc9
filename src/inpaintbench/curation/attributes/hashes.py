"""Perceptual hashes of a clip: so few bits that copies of it are found among a hundred thousand clips.

Six frames a second are reduced to 32x32 levels of luma and each to the signs of 64 low frequencies of its discrete cosine
transform, which survive another encoder, another size, a squeeze and a change of brightness. Black bars are cut off first, so a
letterboxed copy has the hashes of its picture. A flat frame has no hash: the signs of its frequencies are noise.

A mirror image and a crop have other hashes, since a crop moves every frequency of a picture. The hash of a picture that keeps
nine tenths of both sides differs from that of the nearest of nine such parts in 8 of 64 bits at most in nine of ten pictures of
the test assets, wherever it was cut (`perceptual_hash` alone: in 18).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.lazily import lazily
from inpaintbench.ranges import Positive
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

cv2 = lazily("cv2")

Indices = npt.NDArray[np.int64]
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
        distinct, places = _distinct(view, self.hashes_per_second)
        shown = [[frame_hash(frame)] for frame in small_frames(view.luma, distinct)]
        return _words(shown, places, self.hashes_per_second)


def _distinct(view: ItemView, hashes_per_second: float) -> tuple[Indices, Indices]:
    """Frames that are looked at, each once, and the place among them of what is on screen at each time."""
    indices = looked_at(view.frames, fps=view.fps, hashes_per_second=hashes_per_second)
    distinct, places = np.unique(indices, return_inverse=True)
    return distinct, places


def _words(shown: Sequence[Sequence[int | None]], places: Indices, hashes_per_second: float) -> str:
    """Rate, then the hashes of all times of the first view, of the second ...; ``shown`` holds those of each distinct frame."""
    words = [[FLAT if hash_ is None else f"{hash_:016x}" for hash_ in hashes] for hashes in shown]
    if all(word == FLAT for views in words for word in views):
        raise NotMeasurable(f"every one of the {len(shown)} frames looked at is flat")
    in_order = (words[place][view] for view in range(len(words[0])) for place in places)
    return " ".join([f"{hashes_per_second:g}", *in_order])


def looked_at(frames: int, *, fps: float, hashes_per_second: float) -> Indices:
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


def small_frames(luma: Luma, indices: Sequence[int] | Indices) -> Luma:
    """The frames ``indices`` of ``uint8[T, H, W]``, at most ``WORKING_SIDE`` wide and high, without black bars."""
    small = shrunk(luma, indices)
    kept: list[slice] = []
    for axis in (2, 1):  # rows, then columns: the brightest and the mean level of each
        brightest, mean = small.max(axis=axis).max(axis=0), small.mean(axis=(0, axis))
        start, end = _bar(brightest, mean), _bar(brightest[::-1], mean[::-1])
        # Darkness on one side is part of the picture more often than a bar, and comes and goes with the encoder.
        even = start and end and abs(start - end) <= MOST_UNEVEN * len(mean)
        kept.append(slice(start, len(mean) - end) if even else slice(None))
    return small[:, kept[0], kept[1]]


def _bar(brightest: npt.NDArray[np.uint8], mean: npt.NDArray[np.float64]) -> int:
    """Lines of black at the start."""
    lines = int(np.argmax(np.append(brightest > BLACK_LEVEL, True)))
    if not 0 < lines <= LARGEST_BAR * len(mean):
        return 0
    # One line of the shrunken frame can be half bar, half picture.
    within = min(lines + 1, len(mean) - 1)
    return lines if mean[within] - mean[lines - 1] >= LEAST_EDGE else 0


def shrunk(luma: Luma, indices: Sequence[int] | Indices) -> Luma:
    """The frames ``indices`` of ``uint8[T, H, W]``, at most ``WORKING_SIDE`` wide and high."""
    height, width = luma.shape[1:]
    scale = min(1.0, WORKING_SIDE / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.stack([cv2.resize(luma[index], size, interpolation=cv2.INTER_AREA) for index in indices])


# Of both sides of a view, and where a part lies: 0 at the left or top, 1 at the right or bottom.
PART = 0.9
PLACES = (0.0, 0.5, 1.0)
VIEWS = 1 + len(PLACES) ** 2


class CopyHashes(AttributeLeaf):
    """64-bit hashes of the mirror image and of nine parts, at 0, 1/2, 1, ... seconds, for finding copies.

    The value is the rate and then the hashes of all times, as ``perceptual_hash`` writes them, of the mirror image, then of each
    part, from the top left row by row.
    """

    name = "copy_hashes"
    version = "1"
    unit = "64-bit hashes of frames at a fixed rate"
    direction = "none: copies have hashes that differ in few bits"
    cost = 0.05
    needs = ("luma",)

    def __init__(self, *, hashes_per_second: Positive = 2.0) -> None:
        self.hashes_per_second = hashes_per_second

    def measure(self, view: ItemView) -> str:
        """The hashes in words; ``NotMeasurable`` when every frame looked at is flat."""
        distinct, places = _distinct(view, self.hashes_per_second)
        whole, barred = small_frames(view.luma, distinct), shrunk(view.luma, distinct)
        # A crop leaves of black bars what it leaves, and uneven ones are no bars.
        shown = [
            [frame_hash(frame[:, ::-1]), *(frame_hash(part) for part in parts(other))]
            for frame, other in zip(whole, barred, strict=True)
        ]
        return _words(shown, places, self.hashes_per_second)


def parts(frame: Luma) -> list[Luma]:
    """The nine parts of ``uint8[h, w]``, views of it."""
    height, width = frame.shape
    down, across = max(1, round(PART * height)), max(1, round(PART * width))
    corners = [(round(top * (height - down)), round(left * (width - across))) for top, left in product(PLACES, PLACES)]
    return [frame[top : top + down, left : left + across] for top, left in corners]
