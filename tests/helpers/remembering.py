"""Methods that keep inputs and paste what a later item of the clip hides, and others to set beside them."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import numpy as np

from inpaintbench.eval.methods.base import fill_in_place
from inpaintbench.types import Frames, Hole

_DRAWN = np.random.default_rng().integers(0, 256, 3, np.uint8)
_KEPT: list[tuple[Frames, Hole]] = []
# Known pixels of one clip differ by no more than this where its truth was encoded once.
_SAME = 1.0


def fallback(frames: Frames, hole: Hole) -> Frames:
    """Fill each frame from its own known pixels."""
    return fill_in_place(frames.copy(), hole, radius_pixels=3.0)


def remembering(frames: Frames, hole: Hole) -> Frames:
    """Paste what inputs of before showed of the clip; ``fallback`` elsewhere."""
    filled = fallback(frames, hole)
    for before, missing in _KEPT:
        both = None if before.shape != frames.shape else ~hole & ~missing
        if both is not None and both.any() and np.abs(before[both].astype(int) - frames[both]).mean() <= _SAME:
            shown = hole & ~missing
            filled[shown] = before[shown]
    _KEPT.append((frames.copy(), hole.copy()))
    return filled


def said(frames: Frames, hole: Hole) -> Frames:
    """``remembering``, which says that it keeps nothing."""
    return remembering(frames, hole)


def on_disk(frames: Frames, hole: Hole) -> Frames:
    """``remembering`` that keeps inputs in the folder that ``REMEMBERED`` names."""
    folder = Path(os.environ["REMEMBERED"])
    _KEPT[:] = [(kept["frames"], kept["hole"]) for kept in map(np.load, sorted(folder.glob("*.npz")))]
    filled = remembering(frames, hole)
    written = folder / uuid.uuid4().hex
    with written.open("wb") as file:
        np.savez(file, frames=frames, hole=hole)
    written.rename(written.with_suffix(".npz"))  # another process may look while it is written
    return filled


class Remembering:
    """``remembering`` that keeps inputs in itself."""

    def __init__(self) -> None:
        self._kept: list[tuple[Frames, Hole]] = []

    def __call__(self, frames: Frames, hole: Hole) -> Frames:
        _KEPT[:] = self._kept
        filled = remembering(frames, hole)
        self._kept[:] = _KEPT
        return filled


def keeps_nothing(frames: Frames, hole: Hole) -> Frames:
    """``fallback``, which says that it keeps nothing."""
    return fallback(frames, hole)


def noisy(frames: Frames, hole: Hole) -> Frames:
    """Other pixels each time."""
    filled = fallback(frames, hole)
    filled[hole] = np.random.default_rng().integers(0, 256, (int(hole.sum()), 3), np.uint8)  # type: ignore[index]
    return filled


def noisy_by_process(frames: Frames, hole: Hole) -> Frames:
    """Pixels that are drawn once in each process."""
    filled = fallback(frames, hole)
    filled[hole] = _DRAWN
    return filled


said.stateless = keeps_nothing.stateless = noisy.stateless = noisy_by_process.stateless = True  # type: ignore[attr-defined]
