"""Hole tracks from masks of one frame: static, drifting, or tubes of independent masks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.masks.generators.arguments import choice, whole
from inpaintbench.masks.generators.base import Drawn

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
        choice("mask motion", self.kind, get_args(MotionKind))
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
            return self._tubes(draw, frames)
        hole, facts = draw()
        if self.kind == "drifting" and frames > 1:
            angle = float(rng.uniform(0.0, 2 * math.pi))
            facts["drift_degrees"] = math.degrees(angle)
            return Drawn(_drift(hole, frames, angle, self.speed_pixels_per_frame), facts)
        return Drawn(hole[None] if frames == 1 else np.repeat(hole[None], frames, axis=0), facts)

    def _tubes(self, draw: DrawFrame, frames: int) -> Drawn:
        lengths = [min(self.tube_frames, frames - start) for start in range(0, frames, self.tube_frames)]
        drawn = [draw() for _ in lengths]
        hole = np.repeat(np.stack([hole for hole, _ in drawn]), lengths, axis=0)
        return Drawn(hole, _merged_facts([facts for _, facts in drawn], lengths))


def _drift(hole: FrameHole, frames: int, angle: float, speed: float) -> npt.NDArray[np.bool_]:
    step_x, step_y = speed * math.cos(angle), speed * math.sin(angle)
    return np.stack([np.roll(hole, (round(t * step_y), round(t * step_x)), axis=(0, 1)) for t in range(frames)])


def _merged_facts(facts: list[dict[str, Any]], lengths: list[int]) -> Mapping[str, Any]:
    """Facts of tubes of ``lengths`` frames, merged by name."""
    merged = {name: _merge([tube[name] for tube in facts], lengths) for name in facts[0]}
    return {**merged, "tubes": len(facts)}


def _merge(values: list[Any], lengths: list[int]) -> Any:
    if isinstance(values[0], str):
        return "+".join(sorted(set(values)))
    if isinstance(values[0], int):
        return sum(values)
    return math.fsum(value * length for value, length in zip(values, lengths, strict=True)) / sum(lengths)
