"""A small film of a fixed camera with a blob, and every version of it along an axis."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from skimage import data

from inpaintbench import video
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.masks import render
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.axes.presets import PresetAxis, paired_blob
from inpaintbench.masks.axis_versions import Varied, vary
from inpaintbench.types import Clip, Corruption, Frames, Hole
from inpaintbench.workspace import Workspace

FRAMES, HEIGHT, WIDTH, FPS = 48, 256, 272, 24.0
PRESET = "size-high_pose-low_displacement-low"
MADE = tuple(name for name in AXES if not issubclass(AXES.get(name), PresetAxis))
"""Axes that `vary` makes."""


@cache
def film(frames: int = FRAMES, height: int = HEIGHT, width: int = WIDTH) -> Frames:
    """A photograph through a camera that stands still, with the noise of one, and a bright patch that crosses it."""
    rng = np.random.default_rng(0)
    picture = np.asarray(data.astronaut()[40 : 40 + height, 20 : 20 + width], np.int16)
    made = np.clip(picture + rng.normal(0, 2, (frames, *picture.shape)), 0, 255).astype(np.uint8)
    for index, frame in enumerate(made):
        frame[height // 3 : height // 2, 4 * index : 4 * index + 30] = (240, 200, 40)
    made.flags.writeable = False
    return made


class World(NamedTuple):
    """A workspace with one clip and one item of it."""

    executor: LocalExecutor
    clip: Clip
    base: Corruption

    def vary(self, axis: str, *, seed: int = 0) -> Varied:
        """Every version along one axis."""
        return vary(self.executor, axis, [(self.clip, self.base)], seed=seed)

    def frames(self, blob: str | None) -> Frames:
        """Frames of a blob."""
        return video.read_frames(self.executor.workspace.blobs.path(str(blob)))

    def hole(self, blob: str | None) -> Hole:
        """Hole of a blob."""
        return video.read_hole(self.executor.workspace.blobs.path(str(blob)))


def world(folder: Path, truth: Frames | None = None, *, start: int = 96) -> World:
    """A clip from frame ``start`` of its source on, and a blob of ``PRESET``."""
    frames = film() if truth is None else truth
    executor = LocalExecutor(Workspace(folder), workers=0)
    blob, encoded = executor.workspace.blobs.put(".mp4", partial(video.write_clip, frames=frames, fps=FPS))
    clip = Clip(
        clip_id=f"clip-{start}", source_id="film", start_frame=start, end_frame=start + len(frames), fps=FPS, width=encoded.width,
        height=encoded.height, frames=len(frames), blob=blob, yuv_sha256=encoded.yuv_sha256, rgb_sha256=encoded.rgb_sha256,
        encode_crf=encoded.crf, encode_psnr_db=encoded.psnr_db,
    )  # fmt: skip
    request = render.MaskRequest(clip, "devil_blobs", paired_blob(PRESET), 0, draw=clip.clip_id)
    return World(executor, clip, render.render(executor, [request]).records[0])
