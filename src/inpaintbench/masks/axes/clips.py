"""Axes that change the clip: how its camera moves, how fast all moves, and its resolution."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.base import LEAST_SIDE, Axis
from inpaintbench.types import Frames, Hole

# Side of the window, as a share of the clip's: it holds 9/16 of the frame, and can pan by a third of its width.
WINDOW = 0.75
# Frames in which the window crosses its margin once; None = never. 36 is the reach that `camera_motion_per_frame` is measured
# over: a window that is faster comes back within it, and would be measured as slower. A sixth of that speed still leaves .0015
# of the view behind in a frame, more than the .001 from which on a camera moves.
CROSSING: Mapping[str, int | None] = {"still": None, "slow": 216, "fast": 36}
# Least width to spare, pixels: below it the slow window hardly moves.
LEAST_MARGIN = 16


class CameraPath(Axis):
    """A window of three quarters of each side pans to and fro by whole pixels: not at all, .15 % and .93 % of its width a frame.

    All three begin in the middle of the clip, so their first frames and their holes are equal. It is for clips of fixed cameras.
    """

    name = "camera_path"
    version = "1"
    levels = ("still", "slow", "fast")
    changes = "clip"
    property = "motion of the camera"
    truth = "the window"
    needs_still_camera = True

    def clip(self, level: str, frames: Frames, fps: float) -> tuple[Frames, float]:
        """The frames through the window.

        Raises:
            Rejected: the clip is too narrow.
        """
        count, height, width = frames.shape[:3]
        rows, left, size = _window(height, width, level, count)
        return np.stack([frame[rows, start : start + size] for frame, start in zip(frames, left, strict=True)]), fps

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:  # noqa: ARG002 - leaf signature
        """The middle of the hole, wherever the window is: methods are shown the same hole."""
        rows, left, size = _window(hole.shape[1], hole.shape[2], "still", 1)
        inside: Hole = np.ascontiguousarray(hole[:, rows, left[0] : left[0] + size])
        if not inside.any():
            raise Rejected("the hole is outside the middle of the clip")
        return inside

    def facts(self, level: str, *, frames: int, height: int, width: int) -> Mapping[str, float]:
        """Mean motion of the window, pixels a frame and shares of its width a frame."""
        _, left, size = _window(height, width, level, frames)
        pixels = float(np.abs(np.diff(left)).mean()) if frames > 1 else 0.0
        return {"camera_pixels_per_frame": pixels, "camera_widths_per_frame": pixels / size}


def _window(height: int, width: int, level: str, frames: int) -> tuple[slice, npt.NDArray[np.int64], int]:
    """Rows of the window, its first column in each frame, ``int64[frames]``, and its width; sides are even."""
    tall, wide = (2 * int(WINDOW * side / 2) for side in (height, width))
    top, margin = (height - tall) // 2, width - wide
    if margin < LEAST_MARGIN or tall < 2:
        raise Rejected(f"a clip {width} pixels wide leaves {margin} to pan over, a camera path takes {LEAST_MARGIN}")
    # In whole parts of a pixel, so that no machine rounds otherwise.
    parts = CROSSING[level] or 1
    way = margin // 2 * parts + np.arange(frames) * (margin if CROSSING[level] else 0)
    back = way % (2 * margin * parts)
    nearest = (2 * np.minimum(back, 2 * margin * parts - back) + parts) // (2 * parts)
    return slice(top, top + tall), nearest, wide


SPEEDS: Mapping[str, int] = {"every_frame": 1, "every_second": 2, "every_fourth": 4}
# Fewest frames of a version: camera motion is measured by ten, and 12 are what DEVIL's shortest clips, of 45 frames, leave.
LEAST_SPED_FRAMES = 12


class Speed(Axis):
    """Every frame, every second or every fourth frame of the clip at 1/2 or 1/4 of its rate: all moves 2 or 4 times as far."""

    name = "speed"
    version = "1"
    levels = tuple(SPEEDS)
    base_level = "every_frame"
    changes = "clip"
    property = "motion from frame to frame"
    truth = "the frames that are kept"

    def clip(self, level: str, frames: Frames, fps: float) -> tuple[Frames, float]:
        """The frames that are kept.

        Raises:
            Rejected: every fourth of them are too few.
        """
        left = -(-len(frames) // max(SPEEDS.values()))
        if left < LEAST_SPED_FRAMES:
            raise Rejected(f"every fourth of {len(frames)} frames are {left}, fewer than {LEAST_SPED_FRAMES}")
        return frames[:: SPEEDS[level]], fps / SPEEDS[level]

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:  # noqa: ARG002 - leaf signature
        """The hole of the same frames."""
        return np.ascontiguousarray(hole[:: SPEEDS[level]])

    def facts(self, level: str, *, frames: int, height: int, width: int) -> Mapping[str, float]:  # noqa: ARG002 - leaf signature
        """Distance of neighbouring frames in the clip."""
        return {"frame_step": SPEEDS[level]}


SCALES: Mapping[str, float] = {"quarter": 1 / 4, "half": 1 / 2, "full": 1.0}


class Resolution(Axis):
    """The clip at a quarter, a half or all of its size; what is at least half hidden of a new pixel's area is hole."""

    name = "resolution"
    version = "1"
    levels = tuple(SCALES)
    base_level = "full"
    changes = "clip"
    property = "resolution"
    truth = "the clip, resampled"

    @staticmethod
    def check_size(*, width: int, height: int) -> None:
        """Raise ``Rejected`` where a quarter of a clip of this size is too small."""
        if min(least := _size(height, width, min(SCALES, key=SCALES.__getitem__))) < LEAST_SIDE:
            raise Rejected(f"a quarter of {width}x{height} is {least[0]}x{least[1]}, and sides of {LEAST_SIDE} are asked for")

    def clip(self, level: str, frames: Frames, fps: float) -> tuple[Frames, float]:
        """The frames at another size, even on both sides.

        Raises:
            Rejected: a quarter of them is too small.
        """
        height, width = frames.shape[1:3]
        self.check_size(width=width, height=height)
        return _resampled(frames, _size(height, width, level)), fps

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:  # noqa: ARG002 - leaf signature
        """The hole at that size.

        Raises:
            Rejected: it is thinner than a pixel.
        """
        levels = np.ascontiguousarray(hole).view(np.uint8) * np.uint8(255)
        made = _resampled(levels, _size(hole.shape[1], hole.shape[2], level)) >= 128
        if not made.any():
            raise Rejected("the hole is too thin for so few pixels")
        return made


def _size(height: int, width: int, level: str) -> tuple[int, int]:
    """(width, height) in pixels."""
    return 2 * round(SCALES[level] * width / 2), 2 * round(SCALES[level] * height / 2)


def _resampled(frames: Frames, size: tuple[int, int]) -> Frames:
    return np.stack([cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in frames]).astype(np.uint8, copy=False)
