"""Scores of built-in methods on clips of real films: under all presets of blobs, and through windows that move over a clip.

What `bench/diagnosis.py --measure` makes its variances of. The films are those of the test assets that show one shot of at
least 90 frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.attributes.camera_motion import CameraMotion
from inpaintbench.curation.normalizers.sizing import Cover
from inpaintbench.errors import NotMeasurable
from inpaintbench.recipes.telling import METHODS_TRIED, PRESET_AXES, SIZE, blob, score
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

Array = npt.NDArray[np.float64]

FILMS = (
    "scenery/scenery-panda70m/1IK5fEEVQdY.102.mp4",
    "scenery/scenery-panda70m/4Q8lLQxWgmU.13.mp4",
    "scenery/scenery-panda70m/CgcadSRtAag.140.mp4",
    "scenery/scenery-panda70m/OjXeF568qUA.18.mp4",
    "scenery/scenery-cc0-mdn/flower.mp4",
    "scenery/scenery-cc0-mdn/friday.mp4",
    "scenery/scenery-cc0-mdn/stream-of-water.mp4",
    "scenery/scenery-dynamic-textures/trainingVideo/background_inpainting/data/boats/boats_input.mp4",
    "scenery/scenery-web/forest.mp4",
    "scenery/scenery-editly/lofoten.mp4",
    "scenery/scenery-editly/kohlipe1.mp4",
    "scenery/scenery-cc0-hhoppe/brink_loop_512.mp4",
    "scenery/scenery-cc0-hhoppe/palmtrees_loop_512.mp4",
    "scenery/scenery-pexels-videopainter/000000000855_854996_seg_696_890.mp4",
    "scenery/scenery-driving-carnd/solidWhiteRight.mp4",
    "general/general-torchcodec/dog_eating_854132.mp4",
    "general/general-flutter/bee.mp4",
    "general/general-flutter/butterfly.mp4",
)
FRAMES, CLIPS, DRAWS = 45, 2, 2
"""Of a clip, of a film, of each preset with a clip."""
NOISE = 10.0
"""Deviation of the noise on known pixels, grey levels."""
FILMED = (320, 182)
"""From which windows of ``SIZE`` are cut."""
STILL = 0.05
"""Camera motion, share of the view, up to which a clip stands still and can be filmed through windows."""
TRAVELS = {"still": 0.0, "slow": 0.25, "fast": 1.0}
"""Share of the spare pixels that a window crosses in a clip: 0, 0.5 and 2 pixels a frame."""


class Scores(NamedTuple):
    """PSNR in the hole, dB."""

    presets: Array
    """``float64[films, clips, draws, 2, 2, 2, methods]``: size, pose and displacement, low and high."""
    windows: Array
    """``float64[films, clips, draws, 3, methods]``: still, slow and fast."""
    kept: Array
    """``float64[films, clips, draws, 3, methods]``: one hole with its clip, then with noise on the known pixels, then closed for
    half of the time."""
    motion: Array
    """``float64[films, clips]``, NaN where it cannot be measured."""


def measured(folder: Path, *, films: Sequence[str] = FILMS, methods: Sequence[str] = METHODS_TRIED) -> Scores:
    """Score ``methods`` on clips of films below the folder of videos."""
    shape = (len(films), CLIPS, DRAWS)
    made = Scores(
        np.full((*shape, 2, 2, 2, len(methods)), np.nan), np.full((*shape, 3, len(methods)), np.nan),
        np.full((*shape, 3, len(methods)), np.nan), np.full(shape[:2], np.nan),
    )  # fmt: skip
    for film, name in enumerate(films):
        for clip, filmed in enumerate(_clips(folder / name)):
            whole = resized(filmed, SIZE)
            made.motion[film, clip] = _motion(filmed)
            for draw in range(DRAWS):
                for levels in product((0, 1), repeat=len(PRESET_AXES)):
                    hole = blob(levels, rng=np.random.default_rng([film, clip, draw]), frames=FRAMES)
                    made.presets[film, clip, draw][levels] = [score(method, whole, hole) for method in methods]
                rng = np.random.default_rng([film, clip, draw, 1])
                hole = blob(rng.integers(0, 2, 3).tolist(), rng=np.random.default_rng([film, clip, draw]), frames=FRAMES)
                for place, travel in enumerate(TRAVELS.values()):
                    truth = window(filmed, travel)
                    made.windows[film, clip, draw, place] = [score(method, truth, hole) for method in methods]
                noisy = np.clip(np.rint(whole + rng.normal(0, NOISE, whole.shape)), 0, 255).astype(np.uint8)
                closed = hole & (abs(np.arange(FRAMES) - FRAMES // 2) <= FRAMES // 4)[:, None, None]
                made.kept[film, clip, draw] = [
                    [score(method, whole, own, seen=seen) for method in methods]
                    for own, seen in ((hole, whole), (hole, noisy), (closed, whole))
                ]
            print(f"{name}, clip {clip}: motion {made.motion[film, clip]:.3f}", flush=True)
    return made


def _clips(path: Path) -> Iterator[Frames]:
    """The first and the last stretch of a film."""
    frames = video.read_frames(path)
    if len(frames) < CLIPS * FRAMES:
        raise SystemExit(f"{path.name} has {len(frames)} frames, two clips need {CLIPS * FRAMES}")
    for start in (0, len(frames) - FRAMES):
        yield resized(frames[start : start + FRAMES], FILMED)


def resized(frames: Frames, size: tuple[int, int]) -> Frames:
    """As the recipes make clips, ``uint8[T, height, width, 3]``."""
    cover = Cover(width=size[0], height=size[1])
    return np.stack([cover.apply(frame, pixel_aspect=1.0) for frame in frames])


def window(filmed: Frames, travel: float) -> Frames:
    """What a window of ``SIZE`` sees that crosses a share of the spare pixels, around the middle, by whole pixels."""
    spare = np.array(FILMED) - SIZE
    places = np.linspace(0.5 - travel / 2, 0.5 + travel / 2, len(filmed))[:, None] * spare
    return np.stack([frame[y : y + SIZE[1], x : x + SIZE[0]]
                     for frame, (x, y) in zip(filmed, np.rint(places).astype(int).tolist(), strict=True)])  # fmt: skip


def _motion(frames: Frames) -> float:
    luma = np.stack([cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in frames])
    try:
        return CameraMotion().measure(ItemView.of_arrays(luma=luma))
    except NotMeasurable:
        return float("nan")
