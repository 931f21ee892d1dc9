"""Render holes for clips and measure what came out. The functions here run in worker processes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from inpaintbench import regions, video
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.masks.generators import GENERATORS
from inpaintbench.masks.measure import REFERENCE_FRAMES, REFERENCE_SIZE, measure, measured_labels, within_intervals
from inpaintbench.types import Attribute, Clip, Corruption, Hole, Plain, content_id, item_rng
from inpaintbench.view import ItemView
from inpaintbench.workspace import Blobs

VERSION = "1"
PUBLISHED_SHAPE = (REFERENCE_FRAMES, REFERENCE_SIZE[1], REFERENCE_SIZE[0])
"""Shape of the holes for which intervals were published."""


@dataclass(frozen=True)
class MaskRequest:
    """One hole track to render: which generator, with which constants, for which clip."""

    clip: Clip
    generator: str
    parameters: Plain
    seed: int

    @property
    def corruption_id(self) -> str:
        """Derived from everything that determines the hole."""
        version = GENERATORS.get(self.generator).version
        return content_id(self.clip.clip_id, self.generator, version, dict(self.parameters), self.seed, VERSION)


def render(executor: Executor, requests: Sequence[MaskRequest]) -> Outcome:
    """Render every distinct request into the table ``corruptions``, in order of id.

    Raises:
        UnknownNameError: no such generator.
    """
    distinct = {request.corruption_id: request for request in requests}
    step = Step(
        name="render",
        version=VERSION,
        table="corruptions",
        record=Corruption,
        function="inpaintbench.masks.render:render_one",
    )
    tasks = [Task(name, name, {"request": asdict(distinct[name])}) for name in sorted(distinct)]
    return executor.run(step, tasks)


def render_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Corruption]:  # noqa: ARG001 - step signature
    """Generate, check, encode without loss."""
    fields = payload["request"]
    request = MaskRequest(Clip(**fields["clip"]), fields["generator"], fields["parameters"], fields["seed"])
    clip = request.clip
    hole = generate(
        request.generator, request.parameters, seed=request.seed, frames=clip.frames, height=clip.height, width=clip.width
    )
    regions.check_shape(hole, frames=clip.frames, height=clip.height, width=clip.width, subject=clip.clip_id)
    blob, _ = blobs.put(".mp4", partial(video.write_hole, hole=hole, fps=clip.fps))
    return [
        Corruption(
            corruption_id=request.corruption_id,
            clip_id=clip.clip_id,
            generator=request.generator,
            parameters=dict(request.parameters),
            seed=request.seed,
            parent_id=None,
            hole=blob,
            hole_sha256=hole_sha256(hole),
        )
    ]


def generate(generator: str, parameters: Plain, *, seed: int, frames: int, height: int, width: int) -> Hole:
    """The hole that ``generator`` makes with these constants, ``bool[frames, height, width]``.

    The random stream is keyed by seed, generator and constants, so equal constants give equal holes whatever the clip, and a
    mask in reverse is the same mask played backwards.
    """
    leaf: Any = GENERATORS.get(generator)(**parameters)
    drawn = {name: value for name, value in parameters.items() if name != "reverse"}
    rng = item_rng(seed, f"masks.{generator}", content_id(drawn))
    view = ItemView(item_id="", frames=frames, height=height, width=width, fps=30.0, parts={})
    hole: Hole = leaf.generate(view, rng).hole
    return hole


def hole_sha256(hole: Hole) -> str:
    """SHA-256 of the hole's ``bool[T, H, W]`` bytes."""
    return hashlib.sha256(hole.tobytes()).hexdigest()


def measure_all(executor: Executor, corruptions: Sequence[Corruption]) -> Outcome:
    """Measure every rendered hole into the table ``attributes``, subject = corruption id."""
    step = Step(
        name="measure.masks",
        version=VERSION,
        table="attributes",
        record=Attribute,
        function="inpaintbench.masks.render:measure_one",
    )
    tasks = [
        Task(
            row.corruption_id,
            row.hole_sha256 or "",
            {"corruption_id": row.corruption_id, "hole": row.hole, "preset": row.parameters.get("preset")},
        )
        for row in corruptions
        if row.hole
    ]
    return executor.run(step, tasks)


def measure_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:  # noqa: ARG001 - step signature
    """One row for each measurement, ``hole.<measurement>``, and for each label it amounts to, ``<label>_level_measured``."""
    hole = video.read_hole(blobs.path(payload["hole"]))
    found = measure(hole)
    facts = {name: value for name, value in asdict(found).items() if name not in ("frames", "reasons")}
    labels = measured_labels(found, width=hole.shape[2], height=hole.shape[1])
    rows: list[tuple[str, float | str | None, str | None]]
    rows = [(f"hole.{name}", None if value is None else float(value), found.reasons.get(name)) for name, value in facts.items()]
    rows += [(f"{name}_level_measured", level, None if level else "not measurable") for name, level in labels.items()]
    if payload["preset"] and hole.shape == PUBLISHED_SHAPE:
        rows.append(("within_published_intervals", "yes" if within_intervals(found, payload["preset"]) else "no", None))
    return [Attribute(payload["corruption_id"], name, value, reason, "masks.measure", VERSION) for name, value, reason in rows]
