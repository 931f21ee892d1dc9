"""Films with masks that need no download: photographs under a virtual camera, and silhouettes that stand or move over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import video
from inpaintbench.curation.sources.base import PARTS, Footage, SourceLeaf
from inpaintbench.curation.sources.embedded import FRAMES_PER_SECOND
from inpaintbench.curation.sources.photographs import PHOTOGRAPHS
from inpaintbench.curation.sources.rendered_removal import Scene, check_films, render, scenes
from inpaintbench.ranges import AtLeastOne, Seed, Side
from inpaintbench.types import content_id


class EmbeddedBenchmark(SourceLeaf):
    """Films of photographs; the mask of every second one stands still, that of the others moves as an object does.

    Args (all constants):
        clips: how many.
        width: of the frames, in pixels.
        height: of the frames.
        frames: of each film.
        seed: of the scenes, the camera and the noise.

    Raises:
        InputError: a number that cannot be used.
    """

    name = "embedded_benchmark"
    version = "1"

    def __init__(
        self, *, clips: AtLeastOne = 8, width: Side = 432, height: Side = 240, frames: AtLeastOne = 24, seed: Seed = 0
    ) -> None:
        check_films("clip", clips, frames=frames, width=width, height=height)
        self.clips, self.width, self.height, self.frames, self.seed = clips, width, height, frames, seed

    def footage(self) -> Iterator[Footage]:
        """The films, in order."""
        for place, scene in enumerate(scenes(self.clips, frames=self.frames, seed=self.seed)):
            payload = {
                "scene": {**asdict(scene), "effects": list(scene.effects)}, "width": self.width, "height": self.height,
                "stands": place % 2 == 0,
            }  # fmt: skip
            photograph = PHOTOGRAPHS[scene.photograph]
            yield Footage(
                name=scene.name,
                uri=f"embedded_benchmark:{scene.name}",
                origin=self.name,
                content=content_id(self.version, photograph.sha256, payload),
                payload=payload,
                **photograph.credits(),
            )

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """Film the scene of ``payload`` into the folder ``scratch``; the path of the film."""
        given = {field.name: payload["scene"][field.name] for field in fields(Scene)}
        scene = Scene(**{**given, "effects": tuple(given["effects"])})
        made = render(scene, width=payload["width"], height=payload["height"], levels=())
        mask = made.thing
        if payload["stands"]:
            mask = np.repeat(mask[[int(mask.sum(axis=(1, 2)).argmax())]], len(mask), axis=0)
        (Path(scratch) / PARTS).mkdir()
        video.write_hole(Path(scratch) / PARTS / "object_mask.mp4", mask, fps=FRAMES_PER_SECOND)
        path = Path(scratch) / "film.mp4"
        video.write_lossless(path, made.truth, fps=FRAMES_PER_SECOND)
        return str(path)
