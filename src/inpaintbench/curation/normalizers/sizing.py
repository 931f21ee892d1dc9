"""The normalizers: what becomes of a frame that has another size than the benchmark's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import known_name
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.errors import InputError, Rejected
from inpaintbench.ranges import Enlargement, Side, WholeLevel

Frame = npt.NDArray[np.uint8]
# Pixels; nothing smaller is a clip.
LEAST_SIDE = 16
# By which frames are scaled: bicubic with anti-aliasing; the same and Lanczos' to the byte of Pillow; OpenCV's bilinear one,
# which has none; the nearest pixel, for masks.
FILTERS = ("bicubic", "pillow-bicubic", "pillow-lanczos", "opencv-linear", "nearest")
# Keeps exact multiples exact: 854.0000000001 must not become 855.
_SLACK = 1e-6


class AsIs(Normalizer):
    """Frames keep their size; only pixels that are not square are made so, by widening.

    For photographs, which the ChaLearn people track publishes at any size.
    """

    name = "as_is"
    version = "2"

    def __init__(self, *, shortest_side: Side = 16) -> None:
        self.shortest_side = shortest_side

    def apply(self, frame: Frame, *, pixel_aspect: float) -> Frame:
        """``uint8[h, w, 3]`` -> the same, or ``uint8[h, w * pixel_aspect, 3]``.

        Raises:
            Rejected: smaller than ``shortest_side``.
        """
        height, width = frame.shape[0], round(frame.shape[1] * pixel_aspect)
        if min(height, width) < self.shortest_side:
            raise Rejected(f"the picture is {width}x{height}, its shorter side should have at least {self.shortest_side} pixels")
        return resized(frame, width=width, height=height)

    def describe(self) -> str:
        """Description of the operation in a few words."""
        return f"size kept, square pixels, sides of {self.shortest_side} or more"


class ShortestSide(Normalizer):
    """The shorter side becomes ``pixels`` and the longer one the nearest even number, bicubic with anti-aliasing.

    Nothing is cut off and shapes stay, so clips of one benchmark differ in size.
    """

    name = "shortest_side"
    version = "2"

    def __init__(self, *, pixels: Side = 480, most_enlargement: Enlargement = 1.0) -> None:
        if pixels < LEAST_SIDE or pixels % 2:
            raise InputError(f"the shorter side should have {pixels} pixels; it must be an even number of {LEAST_SIDE} or more")
        _check_enlargement(most_enlargement)
        self.pixels, self.most_enlargement = pixels, most_enlargement

    def apply(self, frame: Frame, *, pixel_aspect: float) -> Frame:
        """``uint8[h, w, 3]`` -> ``uint8[H, W, 3]`` with ``min(H, W) == pixels``.

        Raises:
            Rejected: it would be enlarged more than ``most_enlargement`` times.
        """
        size = (frame.shape[1] * pixel_aspect, float(frame.shape[0]))
        ratio = self.pixels / min(size)
        _refuse_enlarging(size, ratio, most=self.most_enlargement, target=f"a shorter side of {self.pixels}")
        columns, rows = (_nearest_even(side * ratio) for side in size)
        return resized(frame, width=columns, height=rows)

    def describe(self) -> str:
        """Description of the operation in a few words."""
        return f"shorter side {self.pixels}, even sides, bicubic{_enlargement_words(self.most_enlargement)}"


class Crop(Normalizer):
    """The middle ``width`` x ``height`` pixels, offset rounded down; only pixels that are not square are scaled, in width."""

    name = "crop"
    version = "2"

    def __init__(self, *, width: Side = 832, height: Side = 480) -> None:
        _check_size(width, height)
        self.width, self.height = width, height

    def apply(self, frame: Frame, *, pixel_aspect: float) -> Frame:
        """``uint8[h, w, 3]`` -> ``uint8[height, width, 3]``.

        Raises:
            Rejected: the frame is smaller than that.
        """
        columns, rows = round(frame.shape[1] * pixel_aspect), frame.shape[0]
        if columns < self.width or rows < self.height:
            raise Rejected(f"the picture is {columns}x{rows}, smaller than the crop of {self.width}x{self.height}")
        return _centre(resized(frame, width=columns, height=rows), width=self.width, height=self.height)

    def describe(self) -> str:
        """Description of the operation in a few words."""
        return f"crop {self.width}x{self.height} from the centre, not scaled"


class _ToSize(Normalizer):
    """What the normalizers share that scale towards a width and a height."""

    def __init__(self, *, width: Side, height: Side, most_enlargement: Enlargement, resample: str) -> None:
        _check_size(width, height)
        _check_enlargement(most_enlargement)
        self.width, self.height, self.most_enlargement = width, height, most_enlargement
        self.resample = known_name("filter", resample, FILTERS)

    def _scale(self, frame: Frame, pixel_aspect: float, choose: Callable[[float, float], float]) -> tuple[float, float, float]:
        """Width and height in square pixels, of which the width may be a fraction, and the ratio of the sides, as chosen."""
        size = (frame.shape[1] * pixel_aspect, float(frame.shape[0]))
        ratio = choose(self.width / size[0], self.height / size[1])
        _refuse_enlarging(size, ratio, most=self.most_enlargement, target=f"{self.width}x{self.height}")
        return *size, ratio

    def describe(self) -> str:
        """Description of the operation in a few words."""
        return f"{self.name} {self.width}x{self.height}, {self.resample}{_enlargement_words(self.most_enlargement)}"


class Contain(_ToSize):
    """The whole frame at the largest size that fits, with square pixels: ratio = min(W / w, H / h), bicubic with anti-aliasing.

    Padded to the full size with ``colour`` (RGB, 0..255), the odd line at the bottom or right; ``pad=False`` adds nothing, so
    frames keep their aspect and the sides are the nearest even numbers that fit.
    """

    name = "contain"
    version = "2"

    def __init__(
        self, *, width: Side = 832, height: Side = 480, pad: bool = True, colour: Sequence[WholeLevel] = (0, 0, 0),
        most_enlargement: Enlargement = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(width=width, height=height, most_enlargement=most_enlargement, resample="bicubic")
        if len(colour) != 3 or not all(0 <= level <= 255 for level in colour):
            raise InputError(f"colour is {list(colour)}, it must be three levels 0..255 (red, green, blue)")
        self.pad, self.colour = pad, tuple(colour)

    def apply(self, frame: Frame, *, pixel_aspect: float) -> Frame:
        """``uint8[h, w, 3]`` -> ``uint8[height, width, 3]``, or smaller where nothing is padded.

        Raises:
            Rejected: it would be enlarged more than ``most_enlargement`` times, or a side would have fewer than 16 pixels.
        """
        wide, high, ratio = self._scale(frame, pixel_aspect, min)
        if self.pad:
            columns = max(1, min(math.floor(wide * ratio + 0.5), self.width))
            rows = max(1, min(math.floor(high * ratio + 0.5), self.height))
        else:
            columns = min(_nearest_even(wide * ratio), self.width - self.width % 2)
            rows = min(_nearest_even(high * ratio), self.height - self.height % 2)
        if min(columns, rows) < LEAST_SIDE:
            raise Rejected(
                f"the picture is {wide:.0f}x{high:.0f} and would be {columns}x{rows} inside {self.width}x{self.height}; "
                f"{LEAST_SIDE} pixels a side is the least"
            )
        scaled = resized(frame, width=columns, height=rows)
        if not self.pad:
            return scaled
        padded = np.empty((self.height, self.width, 3), np.uint8)
        padded[:] = self.colour
        top, left = (self.height - rows) // 2, (self.width - columns) // 2
        padded[top : top + rows, left : left + columns] = scaled
        return padded

    def describe(self) -> str:
        """Description of the operation in a few words."""
        padding = f"padded with RGB {'/'.join(map(str, self.colour))}" if self.pad else "not padded, even sides"
        return f"contain {self.width}x{self.height}, bicubic, {padding}{_enlargement_words(self.most_enlargement)}"


class Cover(_ToSize):
    """Cover resize and centre crop, with square pixels.

    As in DEVIL (CVPR 2022): ratio = max(W / w, H / h), each side rounded up, bicubic with anti-aliasing, and the crop's
    offset rounded down. 1920x1080 becomes 854x480, of which columns 11..842 stay. Changes of size inside a file are taken
    frame by frame. By default small frames are enlarged as much as it takes; ``most_enlargement`` refuses beyond a ratio.
    ``resample``: one of ``FILTERS``.
    """

    name = "cover"
    version = "2"

    def __init__(
        self, *, width: Side = 832, height: Side = 480, most_enlargement: Enlargement = math.inf, resample: str = "bicubic"
    ) -> None:
        super().__init__(width=width, height=height, most_enlargement=most_enlargement, resample=resample)

    def apply(self, frame: Frame, *, pixel_aspect: float) -> Frame:
        """``uint8[h, w, 3]`` -> ``uint8[height, width, 3]``.

        Raises:
            Rejected: it would be enlarged more than ``most_enlargement`` times.
        """
        wide, high, ratio = self._scale(frame, pixel_aspect, max)
        columns, rows = math.ceil(wide * ratio - _SLACK), math.ceil(high * ratio - _SLACK)
        scaled = resized(frame, width=columns, height=rows, resample=self.resample)
        return _centre(scaled, width=self.width, height=self.height)


class Stretch(_ToSize):
    """Both sides scaled to the target by themselves, bicubic with anti-aliasing; nothing is cut off and shapes change.

    ``most_enlargement`` limits the side that grows more, counted from the frame in square pixels. ``resample``: one of
    ``FILTERS``.
    """

    name = "stretch"
    version = "2"

    def __init__(
        self, *, width: Side = 832, height: Side = 480, most_enlargement: Enlargement = 1.0, resample: str = "bicubic"
    ) -> None:
        super().__init__(width=width, height=height, most_enlargement=most_enlargement, resample=resample)

    def apply(self, frame: Frame, *, pixel_aspect: float) -> Frame:
        """``uint8[h, w, 3]`` -> ``uint8[height, width, 3]``.

        Raises:
            Rejected: a side would be enlarged more than ``most_enlargement`` times.
        """
        self._scale(frame, pixel_aspect, max)
        return resized(frame, width=self.width, height=self.height, resample=self.resample)


def resized(frame: Frame, *, width: int, height: int, resample: str = "bicubic") -> Frame:
    """``uint8[h, w, 3]`` at ``width`` x ``height`` by one of ``FILTERS``; the same array where the size is right."""
    if frame.shape[:2] == (height, width):
        return frame
    if resample == "bicubic":
        return video.scaled(frame, width=width, height=height)
    scales: dict[str, Callable[..., Any]] = {
        "pillow-bicubic": video.bicubic, "pillow-lanczos": video.lanczos,
        "opencv-linear": video.linear, "nearest": video.nearest,
    }  # fmt: skip
    return np.asarray(scales[resample](frame[None], height=height, width=width)[0], np.uint8)


def _centre(frame: Frame, *, width: int, height: int) -> Frame:
    top, left = (frame.shape[0] - height) // 2, (frame.shape[1] - width) // 2
    return np.ascontiguousarray(frame[top : top + height, left : left + width])


def _nearest_even(length: float) -> int:
    """At least 2; an odd whole number becomes the even one above."""
    return max(2, 2 * math.floor(length / 2 + 0.5 + _SLACK))


def _check_size(width: int, height: int) -> None:
    if min(width, height) < LEAST_SIDE:
        raise InputError(f"a clip of {width}x{height} is too small; {LEAST_SIDE}x{LEAST_SIDE} is the least")


def _check_enlargement(most: float) -> None:
    if not most > 0:
        raise InputError(f"most_enlargement is {most:g}, it must be above 0 (1 never enlarges, inf always may)")


def _refuse_enlarging(size: tuple[float, float], ratio: float, *, most: float, target: str) -> None:
    if ratio > most + _SLACK:
        raise Rejected(
            f"the picture is {size[0]:.0f}x{size[1]:.0f} and would be enlarged {ratio:.2f} times for {target}, "
            f"at most {most:g} times is allowed"
        )


def _enlargement_words(most: float) -> str:
    """The limit as the last words of a description; nothing where there is none."""
    if math.isinf(most):
        return ""
    return ", never enlarged" if most == 1 else f", enlarged at most {most:g} times"
