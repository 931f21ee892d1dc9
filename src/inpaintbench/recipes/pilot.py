"""A pilot of a benchmark of blobs: how far differences between items of one clip scatter on a few of the user's own films.

Nothing is written: the first seconds of some films are decoded, made small, and inpainted by two methods that come with the
program. `bench/diagnosis.py` measures the same of the films that the defaults of `planning` rest on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.normalizers.sizing import Cover
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics.psnr import decibels, masked_errors
from inpaintbench.eval.protocols.variants import CEILING_DECIBELS
from inpaintbench.masks.axes.presets import paired_blob
from inpaintbench.masks.generators.devil_blobs import DevilBlobs
from inpaintbench.types import Frames, Hole, item_rng
from inpaintbench.view import ItemView, composite

# Attributes of a blob's preset, each an axis; their levels.
PRESET_AXES, LEVELS = ("size", "pose", "displacement"), ("low", "high")
# One that sees single frames, and one that sees time.
METHODS_TRIED = ("telea", "temporal_median")
MOST_FILMS, CLIPS_OF_FILM = 8, 2
# With fewer it would be of these films alone.
LEAST_FILMS = 3
# Longest clip, least one, and frames of a film beyond which nothing is decoded.
CLIP_FRAMES, LEAST_FRAMES, DECODED_FRAMES = 45, 16, 150
SIZE = (240, 136)
_STEP = "pilot"


class Pilot(NamedTuple):
    """What a pilot measured."""

    deviations: dict[str, float]
    """Axis of a preset -> standard deviation of the difference of one pair, PSNR in the hole, over both methods, dB."""
    films: int
    items: int


def pilot(films: Sequence[Path], *, seed: int) -> Pilot:
    """Of a few of these films, evenly spread over them.

    Raises:
        InputError: fewer than ``LEAST_FILMS`` can be read and have two clips.
    """
    chosen = (
        [films[place] for place in np.unique(np.linspace(0, len(films) - 1, MOST_FILMS).round().astype(int))] if films else []
    )
    changes = [found for path in chosen if (found := _of_film(path, seed=seed)) is not None]
    if len(changes) < LEAST_FILMS:
        raise InputError(
            f"a pilot needs {LEAST_FILMS} films of at least {CLIPS_OF_FILM * LEAST_FRAMES} frames that can be read, and of "
            f"{len(chosen)} tried {len(changes)} can; give --plan-deviation DB, by how much items of a clip differ"
        )
    values = np.array(changes)
    # Around the mean of each axis and method. How much of it is between films so few films cannot say.
    variances = values.reshape(-1, *values.shape[2:]).var(axis=0, ddof=1)
    deviations = dict(zip(PRESET_AXES, np.sqrt(variances.mean(axis=1)).tolist(), strict=True))
    return Pilot(deviations, len(values), values.shape[0] * values.shape[1] * (1 + len(PRESET_AXES)))


def _of_film(path: Path, *, seed: int) -> npt.NDArray[np.float64] | None:
    """``float64[clips, axes, methods]``: what flipping each axis of a preset does, low to high; None where it has no clips."""
    size = Cover(width=SIZE[0], height=SIZE[1])
    try:
        opened = islice(video.upright_frames(path), DECODED_FRAMES)
        frames = np.array([size.apply(frame, pixel_aspect=1.0) for frame, _ in opened], np.uint8)
    except (InpaintBenchError, OSError):
        return None  # the build will say why
    length = min(CLIP_FRAMES, len(frames) // CLIPS_OF_FILM)
    if length < LEAST_FRAMES:
        return None
    clips = (frames[:length], frames[-length:])
    return np.array([_of_clip(clip, f"{path.name} {place}", seed=seed) for place, clip in enumerate(clips)])


def _of_clip(clip: Frames, name: str, *, seed: int) -> npt.NDArray[np.float64]:
    base = item_rng(seed, _STEP, f"{name}, preset").integers(0, 2, len(PRESET_AXES)).tolist()

    def scores(levels: Sequence[int]) -> npt.NDArray[np.float64]:
        hole = blob(levels, rng=item_rng(seed, _STEP, name), frames=len(clip))
        return np.array([score(method, clip, hole) for method in METHODS_TRIED])

    unchanged = scores(base)
    flipped = [scores([level ^ (place == axis) for place, level in enumerate(base)]) for axis in range(len(PRESET_AXES))]
    return np.array([(own - unchanged) * (-1 if base[axis] else 1) for axis, own in enumerate(flipped)])


def blob(levels: Sequence[int], *, rng: np.random.Generator, frames: int) -> Hole:
    """A blob of the preset of these levels, 0 or 1; equal random numbers give blobs that differ in their presets alone."""
    preset = "_".join(f"{axis}-{LEVELS[level]}" for axis, level in zip(PRESET_AXES, levels, strict=True))
    view = ItemView(item_id=_STEP, frames=frames, height=SIZE[1], width=SIZE[0], fps=30.0, parts={})
    hole = DevilBlobs(**paired_blob(preset)).generate(view, rng).hole
    assert hole is not None
    return hole


def score(method: str, truth: Frames, hole: Hole, *, seen: Frames | None = None) -> float:
    """PSNR in the hole, dB, as the protocol `devil/corrected` has it; ``seen`` is what is known of ``truth``."""
    given = np.where(hole[..., None], np.uint8(127), truth if seen is None else seen)
    filled = METHODS.get(method)().inpaint(ItemView.of_arrays(input=given, hole=hole))
    error = float(np.mean(masked_errors(truth, composite(truth, hole, filled), hole)))
    return min(decibels(error, data_range=1.0), CEILING_DECIBELS)
