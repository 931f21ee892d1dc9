"""Methods that fill a hole well but for one usual mistake each, as `tests.eval.scoring.planted_mistakes:NAME`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.eval.adapters.checking import COLOUR, FLIP, IN_PLACE, KNOWN, POLARITY, RANGE, SECOND, SIZE, TIME, UNCHANGED
from inpaintbench.types import Frames, Hole

CALLS = {"noise": 0}


def good(frames: Frames, hole: Hole) -> Frames:
    """Smooth colours of what lies around."""
    done = frames.copy()
    for frame, missing in zip(done, hole, strict=True):
        frame[...] = cv2.inpaint(frame, missing.view(np.uint8), 3, cv2.INPAINT_TELEA)
    return done


def colour_order(frames: Frames, hole: Hole) -> Frames:
    return good(frames, hole)[..., ::-1]


def one_frame_late(frames: Frames, hole: Hole) -> Frames:
    done = good(frames, hole)
    return np.concatenate([done[:1], done[:-1]])


def one_frame_early(frames: Frames, hole: Hole) -> Frames:
    done = good(frames, hole)
    return np.concatenate([done[1:], done[-1:]])


def left_to_right(frames: Frames, hole: Hole) -> Frames:
    return good(frames, hole)[:, :, ::-1]


def top_to_bottom(frames: Frames, hole: Hole) -> Frames:
    return good(frames, hole)[:, ::-1]


def transposed(frames: Frames, hole: Hole) -> Frames:
    return good(frames, hole).transpose(0, 2, 1, 3)


def floats_to_one(frames: Frames, hole: Hole) -> npt.NDArray[np.float32]:
    return good(frames, hole).astype(np.float32) / 255


def floats_around_zero(frames: Frames, hole: Hole) -> npt.NDArray[np.float32]:
    return good(frames, hole).astype(np.float32) / 127.5 - 1


def padded(frames: Frames, hole: Hole) -> Frames:
    height, width = (-side % 32 for side in frames.shape[1:3])
    return np.pad(good(frames, hole), ((0, 0), (0, height), (0, width), (0, 0)), mode="reflect")


def unchanged(frames: Frames, hole: Hole) -> Frames:
    return frames


def reversed_hole(frames: Frames, hole: Hole) -> Frames:
    return good(frames, ~hole)


def in_place(frames: Frames, hole: Hole) -> Frames:
    frames[...] = good(frames, hole)
    return frames


def noise(frames: Frames, hole: Hole) -> Frames:
    CALLS["noise"] += 1  # another seed each time, as the clock's would be
    done = frames.copy()
    done[hole] = np.random.default_rng(CALLS["noise"]).integers(0, 256, done[hole].shape, np.uint8)
    return done


def repainted(frames: Frames, hole: Hole) -> Frames:
    """All of it through half its size, as a network works on."""
    small = [cv2.resize(frame, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) for frame in good(frames, hole)]
    size = frames.shape[2], frames.shape[1]
    return np.stack([np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_CUBIC), np.uint8) for frame in small])


# Mistake -> what a check has to call it.
PLANTED: Mapping[Any, tuple[str, str]] = {
    colour_order: (COLOUR, "red and blue exchanged"),
    one_frame_late: (TIME, "one frame late"),
    one_frame_early: (TIME, "one frame early"),
    left_to_right: (FLIP, "mirrored left to right"),
    top_to_bottom: (FLIP, "mirrored top to bottom"),
    transposed: (SIZE, "axes are exchanged"),
    floats_to_one: (RANGE, "value_range=0..1"),
    floats_around_zero: (RANGE, "value_range=-1..1"),
    padded: (SIZE, "padding was left in"),
    unchanged: (UNCHANGED, "nothing is filled"),
    reversed_hole: (POLARITY, "it is True where pixels are missing"),
    in_place: (IN_PLACE, "in place"),
    noise: (SECOND, "other pixels the second time"),
    repainted: (KNOWN, "repainted, or written with loss"),
}
