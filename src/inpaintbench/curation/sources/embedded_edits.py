"""Short clips of things in photographs of the scikit-image wheel, with exact object masks and prompts; needs no download."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

from inpaintbench import video
from inpaintbench.catalogue import tables_at
from inpaintbench.curation.sources.base import Footage, SourceLeaf
from inpaintbench.curation.sources.edit_folders import EDITS, write_masks
from inpaintbench.curation.sources.embedded import FRAMES_PER_SECOND, Shot, film
from inpaintbench.curation.sources.virtual_camera import PHOTOGRAPHS
from inpaintbench.errors import InputError
from inpaintbench.ranges import AtLeastOne, Seed, Side, Whole
from inpaintbench.types import EDIT_TASKS, Frames

# Centre (x, y) and half axes along x and y, in pixels of the photograph.
Ellipse = tuple[float, float, float, float]


@dataclass(frozen=True)
class Scene:
    """One photograph."""

    photograph: str
    shows: str
    """The source prompt."""
    ellipses: tuple[Ellipse, ...]
    outline: tuple[tuple[int, int], ...]
    """Corners (x, y) of a polygon; the object is all that lies in it or in one of the ellipses."""
    prompts: tuple[tuple[str, str], ...]
    """Two target prompts for each of ``EDIT_TASKS``, in that order."""

    def edits(self) -> list[tuple[str, str]]:
        """(task, target prompt)."""
        return [(task, prompt) for task, both in zip(EDIT_TASKS, self.prompts, strict=True) for prompt in both]


SCENES = TypeAdapter(tuple[Scene, ...]).validate_python(tables_at(f"{__package__}:embedded_edits.toml")["scenes"])
# Motions of the virtual camera with their speed: slow enough for flow to follow.
MOTIONS: tuple[tuple[str, float], ...] = (("tripod", 0.0), ("pan_right", 0.05), ("hand_shake", 0.02))


def object_of(scene: Scene) -> npt.NDArray[np.uint8]:
    """The object in its photograph, ``uint8[H, W]``, 0 or 1."""
    photograph = PHOTOGRAPHS[scene.photograph]
    mask = np.zeros((photograph.height, photograph.width), np.uint8)
    for x, y, across, down in scene.ellipses:
        cv2.ellipse(mask, (round(x), round(y)), (round(across), round(down)), 0, 0, 360, 1, -1)
    if scene.outline:
        cv2.fillPoly(mask, [np.array(scene.outline, np.int32)], 1)
    return mask


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

    def __init__(self, *, count: Whole = MOST, side: Side = 192, frames: AtLeastOne = 12, seed: Seed = 0) -> None:
        if not 1 <= count <= MOST:
            raise InputError(f"count is {count}, there are 1 to {MOST} clips")
        if not 2 <= frames <= 90 or not 128 <= side <= 256:  # in a smaller view one thing would fill it
            raise InputError(f"{frames} frames of {side}x{side} are not 2 to 90 frames with sides of 128 to 256")
        self.count, self.side, self.frames, self.seed = count, side, frames, seed

    def footage(self) -> Iterator[Footage]:
        """The clips: every thing once, then again under the next motion."""
        pairs = [(scene, place) for place in range(len(MOTIONS)) for scene in range(len(SCENES))]
        for place, motion in pairs[: self.count]:
            scene, photograph = SCENES[place], PHOTOGRAPHS[SCENES[place].photograph]
            name = f"{scene.photograph}_{MOTIONS[motion][0]}"
            payload = {"scene": place, "motion": motion, "side": self.side, "frames": self.frames, "seed": self.seed}
            asked = {"source_prompt": scene.shows, "object": None}
            edits = [{"task": task, "target_prompt": prompt, **asked} for task, prompt in scene.edits()]
            content = [payload, scene.ellipses, scene.outline]
            yield photograph.footage(self, name, payload, content=content, data={EDITS: edits})

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
    mask = np.stack([cv2.warpAffine(thing, homography[:2], (side, side), flags=flags) for homography in made.homographies])
    return made.frames, mask
