"""A folder of many small good videos and some that are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import hazards
import numpy as np
from skimage import data

from inpaintbench import video

POISON: tuple[Callable[[Path], None], ...] = (
    hazards.zero_bytes,
    hazards.text,
    hazards.truncated,
    hazards.audio_only,
    hazards.one_frame,
    lambda path: path.write_bytes(np.random.default_rng(0).integers(0, 256, 20_000, dtype=np.uint8).tobytes()) and None,
)
"""Makers of files that give no clip."""


def write_many(folder: Path, *, good: int, poisoned: int, width: int = 128, height: int = 80, frames: int = 50) -> Path:
    """``good`` different pans of photographs and ``poisoned`` files that give nothing, mixed in name order."""
    folder.mkdir(parents=True, exist_ok=True)
    photographs = (data.coffee(), data.chelsea(), data.astronaut(), data.rocket())
    spacing = (good + poisoned) / max(poisoned, 1)
    bad = {int(place * spacing) for place in range(poisoned)}
    for place in range(good + poisoned):
        path = folder / f"{place:03d}.mp4"
        if place in bad:
            POISON[place % len(POISON)](path)
            continue
        rng = np.random.default_rng(place)
        picture = photographs[place % len(photographs)]
        top, left = rng.integers(0, picture.shape[0] - height), rng.integers(0, picture.shape[1] - width - frames)
        pan = np.stack([picture[top : top + height, left + step : left + step + width] for step in range(frames)])
        video.write_lossless(path, pan, fps=25.0)
    return folder
