"""Hole tracks from masks of one frame: static, drifting, or tubes of independent masks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError
from inpaintbench.masks.generators.base import Drawn, whole

MotionKind = Literal["static", "drifting", "tube"]
# `bool[H, W]`, True = hole.
FrameHole = npt.NDArray[np.bool_]
# Draws an independent mask of one frame, with its facts.
DrawFrame = Callable[[], tuple[FrameHole, dict[str, Any]]]


@dataclass(frozen=True)
class Motion:
    """Motion of a mask after its first frame.

    ``static``: it stays. ``drifting``: it moves by ``speed_pixels_per_frame`` in one random direction, rounded to whole pixels;
    what leaves at one side comes back at the other, so each frame has the same number of hole pixels. ``tube``: an
    independent mask every ``tube_frames`` frames.

    Raises:
        InputError: a speed or length that cannot be.
    """

    kind: str = "static"
    speed_pixels_per_frame: float = 2.0
    tube_frames: int = 8

    def __post_init__(self) -> None:
        known_name("mask motion", self.kind, get_args(MotionKind))
        speed = self.speed_pixels_per_frame
        if not (math.isfinite(speed) and speed > 0):
            raise InputError(f"speed_pixels_per_frame is {speed}, give pixels above 0 (for a mask at rest: motion 'static')")
        whole("tube_frames", self.tube_frames, least=1)

    def track(self, draw: DrawFrame, *, frames: int, rng: np.random.Generator) -> Drawn:
        """Hole ``bool[frames, H, W]`` from masks of ``draw``; a clip of one frame is static.

        Facts of several tubes become one: whole numbers are summed, other numbers averaged over the frames, different texts
        joined by ``+``; ``tubes`` counts them. A drifting mask states its direction as ``drift_degrees`` (0 = to the right,
        90 = down).
        """
        if self.kind == "tube" and frames > 1:
            lengths = [min(self.tube_frames, frames - start) for start in range(0, frames, self.tube_frames)]
            drawn = [draw() for _ in lengths]
            hole = np.repeat(np.stack([hole for hole, _ in drawn]), lengths, axis=0)
            merged = {name: _merge([facts[name] for _, facts in drawn], lengths) for name in drawn[0][1]}
            return Drawn(hole, {**merged, "tubes": len(drawn)})
        hole, facts = draw()
        if self.kind == "drifting" and frames > 1:
            angle = float(rng.uniform(0.0, 2 * math.pi))
            facts["drift_degrees"] = math.degrees(angle)
            across, down = self.speed_pixels_per_frame * math.cos(angle), self.speed_pixels_per_frame * math.sin(angle)
            shifts = [(round(frame * down), round(frame * across)) for frame in range(frames)]
            return Drawn(np.stack([np.roll(hole, shift, axis=(0, 1)) for shift in shifts]), facts)
        return Drawn(hole[None] if frames == 1 else np.repeat(hole[None], frames, axis=0), facts)


def _merge(values: list[Any], lengths: list[int]) -> Any:
    if isinstance(values[0], str):
        return "+".join(sorted(set(values)))
    if isinstance(values[0], int):
        return sum(values)
    return math.fsum(value * length for value, length in zip(values, lengths, strict=True)) / sum(lengths)
