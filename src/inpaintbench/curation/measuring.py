"""Measure attribute leaves over clips: one step a leaf, one row a clip, no thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from inpaintbench import video
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.errors import NotMeasurable
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.types import Attribute, Clip, Plain
from inpaintbench.view import ItemView
from inpaintbench.workspace import Blobs


def measure(executor: Executor, clips: Sequence[Clip], *, leaf: str, constants: Plain | None = None) -> Outcome:
    """Measure the attribute ``leaf`` of every clip into the table ``attributes``.

    Raises:
        UnknownNameError: no such attribute leaf.
    """
    found = ATTRIBUTES.get(leaf)
    step = Step(
        name=f"measure.{leaf}",
        version=found.version,
        table="attributes",
        record=Attribute,
        function="inpaintbench.curation.measuring:measure_one",
        parameters={"leaf": leaf, "constants": dict(constants or {})},
    )
    tasks = [Task(clip.clip_id, clip.yuv_sha256, {"clip": asdict(clip)}) for clip in clips]
    return executor.run(step, tasks)


def measure_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """One row; a leaf that has no value for the clip gives ``None`` with its reason."""
    leaf = ATTRIBUTES.get(parameters["leaf"])(**parameters["constants"])
    clip = Clip(**payload["clip"])
    view = clip_view(clip, blobs).declaring(leaf.name, leaf.needs)
    try:
        value, reason = leaf.measure(view), None
    except NotMeasurable as error:
        value, reason = None, str(error)
    return [Attribute(clip.clip_id, leaf.name, value, reason, leaf.name, leaf.version)]


def clip_view(clip: Clip, blobs: Blobs) -> ItemView:
    """The frames of a clip, decoded when asked for."""
    path = blobs.path(clip.blob)
    parts = {"truth": lambda: video.read_frames(path), "luma": lambda: video.read_luma(path)}
    return ItemView(item_id=clip.clip_id, frames=clip.frames, height=clip.height, width=clip.width, fps=clip.fps, parts=parts)
