"""Measure attribute leaves over clips: one step a leaf, one row a clip, one decode a clip for all leaves, no thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from inpaintbench import video
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.executors.base import Executor, Outcome, Step, Task, Tasks
from inpaintbench.models import weights
from inpaintbench.tables import flat
from inpaintbench.types import Attribute, Clip, Plain
from inpaintbench.view import ItemView
from inpaintbench.workspace import Blobs, Workspace

TIME_LIMIT_SECONDS = 300.0
# Of decoded pixels between two leaves: 90 frames of 1920x1080 are 467 MB. Longer clips are decoded by every leaf anew.
_HOLD_AT_MOST_BYTES = 700 << 20
# Coded 4:2:0 pictures, and their luma once more in one piece.
_BYTES_A_PIXEL = 2.5


def measure(executor: Executor, clips: Sequence[Clip] | Workspace, *, leaf: str, constants: Plain | None = None) -> Outcome:
    """Measure one attribute leaf of every clip into the table ``attributes``. Raises what ``measure_together`` raises."""
    return measure_together(executor, clips, leaves={leaf: constants or {}})[leaf]


def measure_together(executor: Executor, clips: Sequence[Clip] | Workspace, *, leaves: Mapping[str, Plain]) -> dict[str, Outcome]:
    """Measure several attribute leaves of every clip, each clip decoded once.

    Args:
        executor: who does the work.
        clips: what is measured; a workspace stands for all of its clips, which are then read where there is something to do.
        leaves: attribute leaf -> its constants. A leaf that a clip was measured with before is not done again.

    Returns:
        Leaf -> outcome.

    Raises:
        UnknownNameError: no such attribute leaf.
    """
    steps = [_step(leaf, constants) for leaf, constants in leaves.items()]
    tasks = _tasks(clips)
    label = steps[0].name if len(steps) == 1 else f"measure {len(steps)} attributes"
    outcomes = executor.run_together([(step, tasks) for step in steps], label=label)
    return {leaf: outcomes[step_of(leaf)] for leaf in leaves}


def _tasks(clips: Sequence[Clip] | Workspace) -> Sequence[Task]:
    if not isinstance(clips, Workspace):
        return [Task(clip.clip_id, clip.yuv_sha256, {"clip": asdict(clip)}) for clip in clips]
    some = clips.columns("clips", Clip, columns=["clip_id", "yuv_sha256"])
    rows = lru_cache(maxsize=1)(lambda: clips.columns("clips", Clip))
    return Tasks(flat(some["clip_id"]), flat(some["yuv_sha256"]), lambda place: {"clip": rows().slice(place, 1).to_pylist()[0]})


def _step(leaf: str, constants: Plain) -> Step:
    attribute = ATTRIBUTES.get(leaf)
    needed = attribute.weights
    return Step(
        name=step_of(leaf),
        version=attribute.version,
        table="attributes",
        record=Attribute,
        function="inpaintbench.curation.measuring:measure_one",
        parameters={"leaf": leaf, "constants": dict(constants), **weights.needed(needed)},
        time_limit_seconds=TIME_LIMIT_SECONDS,
        lacks=weights.lacks(needed),
    )


def check_weights(leaves: Iterable[str]) -> None:
    """Raise ``InputError`` when one of the attribute leaves has no weights to measure with; says how to get them."""
    for leaf in leaves:
        for name in ATTRIBUTES.get(leaf).weights:
            try:
                weights.path_of(name)
            except NotMeasurable as error:
                raise InputError(f"{leaf} cannot be measured: {error}") from error


def step_of(leaf: str) -> str:
    """The step that measures an attribute leaf."""
    return f"measure.{leaf}"


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
    """The frames of a clip, decoded when asked for; the last clip of a process is remembered."""
    path = str(blobs.path(clip.blob))
    small = clip.frames * clip.height * clip.width * _BYTES_A_PIXEL <= _HOLD_AT_MOST_BYTES
    decoded = _decoded(path) if small else video.DecodedClip(path)
    parts: dict[str, Any] = {"truth": lambda: decoded.frames, "luma": lambda: decoded.luma}
    return ItemView(
        item_id=clip.clip_id, frames=clip.frames, height=clip.height, width=clip.width, fps=clip.fps, parts=parts,
        truth_frame=decoded.frame,
    )  # fmt: skip


@lru_cache(maxsize=1)
def _decoded(path: str) -> video.DecodedClip:
    # Blobs are named by their content, so a path always means the same pixels.
    return video.DecodedClip(path)
