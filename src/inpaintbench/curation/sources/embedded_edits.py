"""Short clips of things in photographs of the scikit-image wheel, with exact object masks and prompts; needs no download."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.curation.editing.embedded_scenes import MOTIONS, SCENES, Scene, object_of
from inpaintbench.curation.sources.base import Footage, SourceLeaf
from inpaintbench.curation.sources.edit_clips import EDITS, write_masks
from inpaintbench.curation.sources.embedded import FRAMES_PER_SECOND, Shot, film
from inpaintbench.curation.sources.photographs import PHOTOGRAPHS
from inpaintbench.errors import InputError
from inpaintbench.types import Frames, content_id

MOST = len(SCENES) * len(MOTIONS)


class EmbeddedEdits(SourceLeaf):
    """Four things under three motions of a virtual camera; each clip asks for two edits in every task.

    Args (all constants):
        count: how many clips, at most 12.
        side: of the square frames.
        frames: of each clip.
        seed: of camera and sensor noise.

    Raises:
        InputError: a number that cannot be used.
    """

    name = "embedded_edits"
    version = "1"

    def __init__(self, *, count: int = MOST, side: int = 192, frames: int = 12, seed: int = 0) -> None:
        if not 1 <= count <= MOST:
            raise InputError(f"count is {count}, there are 1 to {MOST} clips")
        if not 2 <= frames <= 90 or not 128 <= side <= 256:  # in a smaller view one thing would fill it
            raise InputError(f"{frames} frames of {side}x{side} are not 2 to 90 frames with sides of 128 to 256")
        self.count, self.side, self.frames, self.seed = count, side, frames, seed

    def footage(self) -> Iterator[Footage]:
        """The clips: every thing once, then again under the next motion."""
        pairs = [(scene, place) for place in range(len(MOTIONS)) for scene in range(len(SCENES))]
        for scene, motion in pairs[: self.count]:
            yield self._footage(SCENES[scene], scene, motion)

    def _footage(self, scene: Scene, place: int, motion: int) -> Footage:
        photograph = PHOTOGRAPHS[scene.photograph]
        name = f"{scene.photograph}_{MOTIONS[motion][0]}"
        payload = {"scene": place, "motion": motion, "side": self.side, "frames": self.frames, "seed": self.seed}
        asked = {"source_prompt": scene.shows, "object": None}
        return Footage(
            name=name,
            uri=f"embedded_edits:{name}",
            origin=self.name,
            content=content_id(self.version, _sha256(photograph.path()), payload, scene.ellipses, scene.outline),
            payload=payload,
            licence=photograph.licence,
            author=photograph.author,
            page_url=photograph.page_url,
            data={EDITS: [{"task": task, "target_prompt": prompt, **asked} for task, prompt in scene.edits()]},
        )

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """Film the clip of ``payload`` and its object into the folder ``scratch``; the path of the film."""
        frames, mask = filmed(payload)
        write_masks(Path(scratch), mask, fps=FRAMES_PER_SECOND)
        path = Path(scratch) / "clip.mp4"
        video.write_lossless(path, frames, fps=FRAMES_PER_SECOND)
        return str(path)


def filmed(payload: Mapping[str, Any]) -> tuple[Frames, Any]:
    """The frames of a clip, ``uint8[T, side, side, 3]``, and its object, ``uint8[T, side, side]``, 0 or 255."""
    scene, (motion, speed), side = SCENES[payload["scene"]], MOTIONS[payload["motion"]], payload["side"]
    shot = Shot(f"edits {scene.photograph} {motion}", scene.photograph, motion, speed, payload["frames"], seed=payload["seed"])
    made, thing = film(shot, width=side, height=side), object_of(scene) * 255
    flags = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
    mask = np.stack([cv2.warpAffine(thing, one[:2], (side, side), flags=flags) for one in made.homographies])
    return made.frames, mask


@lru_cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
