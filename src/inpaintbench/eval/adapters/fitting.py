"""Frames as methods and protocols want them: padded, at the size of an item or of a protocol, in grey levels; and what a file
format alone costs a clip."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from inpaintbench import regions, video
from inpaintbench.errors import InputError, MediaError
from inpaintbench.lazily import lazily
from inpaintbench.ranges import LARGEST_SIDE, Side
from inpaintbench.types import Frames, Hole, Plain
from inpaintbench.view import ItemView, composite_in_place

cv2 = lazily("cv2")

# Multiples that the sides of a frame must be: one number, or (width, height).
Divisor = Side | Sequence[Side]

# Parts of a view that are masks, besides the hole.
MASKS = ("object_mask", "effect_mask")
_Scalar = TypeVar("_Scalar", bound=np.generic)
# Ranges of floats that methods may give, and how far beyond them a network may shoot, as a share of the range.
VALUE_RANGES = {"0..1": (0.0, 1.0), "-1..1": (-1.0, 1.0), "0..255": (0.0, 255.0)}
_OVERSHOOT = 0.5
# Shares of red, green and blue in ITU-R 601 luma in 65,536ths, as Pillow has them.
_RED, _GREEN, _BLUE = 19595, 38470, 7471


class Padding(NamedTuple):
    """Pixels added on each side of a frame; mirrored with the edge pixel repeated, as DEVIL (CVPR 2022) pads."""

    top: int
    bottom: int
    left: int
    right: int

    @classmethod
    def of(cls, height: int, width: int, divisor: Divisor, *, least: Divisor = 1) -> Padding:
        """The least padding that makes both sides multiples of ``divisor`` from ``least`` up, one number or (width, height);
        an odd pixel goes to the bottom or the right.

        Raises:
            InputError: a divisor that is not one or two positive whole numbers.
        """
        (across, down), (wide, high) = _both(divisor), _both(least)
        rows = math.ceil(max(height, high) / down) * down - height
        columns = math.ceil(max(width, wide) / across) * across - width
        return cls(top=rows // 2, bottom=rows - rows // 2, left=columns // 2, right=columns - columns // 2)

    def pad(self, array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """``array[T, H, W]`` or ``array[T, H, W, 3]`` with mirrored borders; a border may be wider than the frame."""
        if not any(self):
            return array
        rest = [(0, 0)] * (array.ndim - 3)
        return np.pad(array, [(0, 0), (self.top, self.bottom), (self.left, self.right), *rest], mode="symmetric")

    def crop(self, array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """An array of the padded size without its borders: the inverse of ``pad``."""
        height, width = array.shape[1:3]
        return array[:, self.top : height - self.bottom, self.left : width - self.right]


def _both(divisor: Divisor) -> tuple[int, int]:
    sides = (divisor, divisor) if isinstance(divisor, int) else tuple(divisor)
    if len(sides) != 2 or not all(isinstance(side, int) and 1 <= side <= LARGEST_SIDE for side in sides):
        which = f"a whole number from 1 to {LARGEST_SIDE}"
        raise InputError(f"divisor {divisor!r} is neither {which} nor two of them (width, height)")
    return sides[0], sides[1]


def fitted(frames: Frames, row: Plain, *, resize: str) -> Frames:
    """A prediction at the size of its item, ``uint8[T, H, W, 3]``; ``resize`` is that of the protocol.

    Raises:
        MediaError: another size that the protocol does not change, or another number of frames.
    """
    if resize == "nearest":
        frames = video.nearest(frames, height=row["height"], width=row["width"])
    wanted = (row["frames"], row["height"], row["width"], 3)
    if frames.shape != wanted:
        shape, asked = sizes_in_words(frames.shape, wanted)
        raise MediaError(f"the prediction of item {row['item_id']!r} is {shape}, the item is {asked}")
    return frames


def resampled(frames: Frames, *, height: int, width: int, resample: str) -> Frames:
    """``uint8[T, H, W, 3]`` at a size by the filter ``resample`` of a protocol.

    Raises:
        MediaError: they have another size, and the filter is ``none``.
    """
    if resample == "none" and frames.shape[1:3] != (height, width):
        raise MediaError(f"frames of {frames.shape[2]}x{frames.shape[1]} are not {width}x{height}, which the protocol measures")
    return (video.linear if resample == "opencv-linear" else video.bicubic)(frames, height=height, width=width)


def measured_view(
    view: ItemView,
    *,
    size: tuple[int, int] | None,
    hole_dilations: int,
    full_frames: bool,
    known_from: str = "truth",
    resample: str = "pillow-bicubic",
) -> ItemView:
    """Truth, hole, composite, input and masks as a protocol with a size or a hole of its own measures them, made at once.

    What lies between the given hole and the grown one comes from the prediction where whole frames were kept, else from the
    truth: a method here fills the hole that it is given.

    Args:
        view: the item at its published size.
        size: width and height; None = those of the item.
        hole_dilations: how often the hole grows by a 3x3 cross.
        full_frames: the prediction has more than the pixels of the hole.
        known_from: part that lies around the hole, ``truth`` or ``input``.
        resample: filter that brings frames to the size.
    """
    width, height = size or (view.width, view.height)

    def sized(part: str) -> Frames:
        fit = partial(resampled, height=height, width=width, resample=resample)
        frames: Frames = view.shared.once((part, size, resample), lambda: fit(getattr(view, part)))
        return frames

    # The truth is laid around the fill before frames are resized: a fill on black would darken at its border.
    frames = resampled(view.prediction if full_frames else view.composite, height=height, width=width, resample=resample)
    hole: Hole = view.shared.once(
        ("hole", size, hole_dilations),
        lambda: regions.dilate_by_cross(video.nearest(view.hole, height=height, width=width), times=hole_dilations),
    )
    filled = composite_in_place(sized(known_from), hole, frames)
    masks = {mask: video.nearest(getattr(view, mask), height=height, width=width) for mask in MASKS if view.has(mask)}
    given = {part: sized(part) for part in {known_from, "truth"} if view.has(part)}
    return ItemView.of_arrays(
        item_id=view.item_id, fps=view.fps, shared=view.shared, hole=hole, composite=filled, **given, **masks
    )  # fmt: skip


def sizes_in_words(shape: Sequence[int], other: Sequence[int]) -> tuple[str, str]:
    """Two shapes ``(T, H, W, ...)`` told by what differs: ``275x200`` and ``275x400``, ``5 frames of ...``, or ``5 frames``."""
    frames_differ, pictures_differ = shape[0] != other[0], tuple(shape[1:3]) != tuple(other[1:3])
    words = []
    for size in (shape, other):
        count = f"{size[0]} {'frame' if size[0] == 1 else 'frames'}"
        picture = [f"{size[2]}x{size[1]}"] if pictures_differ or not frames_differ else []
        words.append(" of ".join([count] * frames_differ + picture))
    return words[0], words[1]


def grey(frames: Frames) -> Frames:
    """The ITU-R 601 luma of ``uint8[..., 3]`` in all three channels, rounded as Pillow's conversion to mode L rounds."""
    channels = frames.astype(np.uint32)
    levels = (_RED * channels[..., 0] + _GREEN * channels[..., 1] + _BLUE * channels[..., 2] + (1 << 15)) >> 16
    return np.repeat(levels.astype(np.uint8)[..., None], 3, axis=-1)


def grey_view(view: ItemView) -> ItemView:
    """The item as metrics see it when colours do not count: three equal channels weigh as one."""
    parts: dict[str, Callable[[], Any]] = {name: partial(getattr, view, name) for name in ("hole", *MASKS) if view.has(name)}
    for name in ("prediction", "composite"):
        parts[name] = partial(lambda part: grey(getattr(view, part)), name)
    for name in ("truth", "input"):
        if view.has(name):
            parts[name] = partial(lambda part: view.shared.once(f"grey {part}", lambda: grey(getattr(view, part))), name)
    return view.having(parts)


def value_range_of(given: Any) -> str:
    """The name in ``VALUE_RANGES`` of a range that is named, or a pair of numbers.

    Raises:
        InputError: it is none of them.
    """
    name = given if isinstance(given, str) else ""
    if isinstance(given, list | tuple) and all(isinstance(one, int | float) for one in given):
        name = "..".join(f"{one:g}" for one in given)
    if name not in VALUE_RANGES:
        raise InputError(f"value_range {given!r} is none of {', '.join(VALUE_RANGES)}")
    return name


def to_levels(frames: npt.NDArray[Any], value_range: str | None) -> Frames:
    """What a method gave, as ``uint8``: bytes as they are, floats of its ``value_range`` rounded to the nearest level.

    Raises:
        InputError: floats of a method that states no range, or another one; NaN; or other numbers.
    """
    if frames.dtype == np.uint8:
        return frames
    told = f"the method gave {frames.dtype}{frames.shape}"
    if not np.issubdtype(frames.dtype, np.floating) or not frames.size:
        raise InputError(f"{told}, wanted uint8{frames.shape}")
    wrong = ~np.isfinite(frames)
    if wrong.any():
        pixels = wrong.any(axis=-1) if frames.ndim == 4 else wrong
        what = "NaN" if np.isnan(frames[wrong]).all() else "NaN or infinite numbers"
        many = f"{np.count_nonzero(pixels):,} of {pixels.size:,} pixels"
        raise InputError(f"{told} with {what} in {many}, wanted uint8{frames.shape}")
    least, most = float(frames.min()), float(frames.max())
    if value_range is None or not _within(value_range, least, most):
        likely = next((name for name in VALUE_RANGES if _within(name, least, most)), None)
        way = "multiply them to 0..255" if likely is None else f"state value_range={likely} if that is their range"
        stated = "" if value_range is None else f" and states value_range={value_range}"
        raise InputError(f"{told} of {least:.3g} to {most:.3g}{stated}, wanted uint8{frames.shape}: {way}")
    low, high = VALUE_RANGES[value_range]
    levels = np.empty(frames.shape, np.uint8)
    for target, frame in zip(levels, frames, strict=True):  # one after the other spares a clip of floats
        target[...] = np.clip(np.rint((frame.astype(np.float32) - low) * (255 / (high - low))), 0, 255)
    return levels


def _within(value_range: str, least: float, most: float) -> bool:
    low, high = VALUE_RANGES[value_range]
    beyond = _OVERSHOOT * (high - low)
    return low - beyond <= least and most <= high + beyond


_H264 = re.compile(r"h264-crf(\d+)")
# Qualities that OpenCV and Pillow, by which the released programs write, take by default or are given there.
_JPEG_QUALITY = 75


def ceiling_db(frames: Frames, how: str) -> float | None:
    """PSNR in dB over all samples of ``uint8[T, H, W, 3]`` after they were ``written`` and read again.

    No prediction of a program that writes so can be closer to a truth whose texture is like the clip's. None for H.264 where the
    encoder at hand writes none.

    Raises:
        InputError: an unknown form.
    """
    again = written(frames, how)
    if again is None:
        return None
    error = float(np.mean((frames[:, : again.shape[1], : again.shape[2]].astype(np.float32) - again) ** 2))
    return float("inf") if error == 0 else 10 * float(np.log10(255**2 / error))


def written(frames: Frames, how: str) -> Frames | None:
    """Frames after they were written as ``how`` says and read again; None where the encoder at hand writes no H.264.

    ``mp4v`` is OpenCV's MPEG-4 (which drops an odd row or column), ``jpeg`` of quality 75, ``h264-crfN`` is libx264 in 4:2:0.

    Raises:
        InputError: an unknown form.
    """
    even = frames[:, : frames.shape[1] // 2 * 2, : frames.shape[2] // 2 * 2]
    factor = _H264.fullmatch(how)
    if how == "jpeg":
        flags = [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY]
        pictures = [cv2.imencode(".jpg", np.ascontiguousarray(frame[..., ::-1]), flags)[1] for frame in frames]
        return np.stack([np.asarray(cv2.imdecode(picture, cv2.IMREAD_COLOR), np.uint8)[..., ::-1] for picture in pictures])
    if how != "mp4v" and factor is None:
        raise InputError(f"unknown form {how!r} of a written result; give mp4v, jpeg or h264-crfN")
    if factor is not None and not video.writes_h264():
        return None
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
        path = Path(folder, "clip.mp4")
        if factor is not None:
            video.write_browser(path, even, fps=24, crf=int(factor[1]))
        else:
            size = (even.shape[2], even.shape[1])
            writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), 24, size)
            for frame in even:
                writer.write(np.ascontiguousarray(frame[..., ::-1]))
            writer.release()
        return video.read_frames(path)
