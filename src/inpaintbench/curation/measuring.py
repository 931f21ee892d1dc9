"""Measure attribute leaves over clips: one step a leaf, one row a clip, one decode a clip for all leaves, no thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import pyarrow as pa

from inpaintbench import video
from inpaintbench.curation import footage
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.facts import Facts, require_measured
from inpaintbench.curation.rules import Rule
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.executors.base import Executor, Outcome, Step, Tasks
from inpaintbench.models import weights
from inpaintbench.tables import flat, texts, to_columns
from inpaintbench.types import Attribute, Clip, Plain, content_id
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


def measure_together(
    executor: Executor, clips: Sequence[Clip] | pa.Table | Workspace, *, leaves: Mapping[str, Plain]
) -> dict[str, Outcome]:
    """Measure several attribute leaves of every clip, each clip decoded once.

    Args:
        executor: who does the work.
        clips: what is measured, or a table of it, as a million records take a gigabyte; a workspace stands for all of its clips,
            which are then read where there is something to do.
        leaves: attribute leaf -> its constants. A leaf that a clip was measured with before is not done again.

    Returns:
        Leaf -> outcome.

    Raises:
        UnknownNameError: no such attribute leaf.
    """
    steps = {leaf: measuring_step(leaf, constants) for leaf, constants in leaves.items()}
    if isinstance(clips, Workspace):
        some = clips.columns("clips", Clip, columns=["clip_id", "yuv_sha256"])
        whole = lru_cache(maxsize=1)(partial(clips.columns, "clips", Clip))
    else:
        some = clips if isinstance(clips, pa.Table) else to_columns(clips, Clip)
        whole = lru_cache(maxsize=1)(some.combine_chunks)
    tasks = Tasks(flat(some["clip_id"]), flat(some["yuv_sha256"]), lambda place: {"clip": whole().slice(place, 1).to_pylist()[0]})
    # Source id -> blob with its transitions, of sources that were searched for them.
    known = ("name", [footage.TRANSITIONS])
    rows = executor.workspace.columns("attributes", Attribute, where=known, columns=["subject_id", "blob"])
    near = dict(zip(rows["subject_id"].to_pylist(), rows["blob"].to_pylist(), strict=True))
    reading = [leaf for leaf in leaves if near and "transitions" in ATTRIBUTES.get(leaf).needs]
    informed = _informed(whole(), near) if reading else tasks
    label = step_of(next(iter(leaves))) if len(steps) == 1 else f"measure {len(steps)} attributes"
    work = [(step, informed if leaf in reading else tasks) for leaf, step in steps.items()]
    outcomes = executor.run_together(work, label=label)
    return {leaf: outcomes[step_of(leaf)] for leaf in leaves}


def _informed(table: pa.Table, near: Mapping[str, str]) -> Tasks:
    """Tasks that know the transitions of their sources, and are done again where those are others."""
    ids, pixels, sources = (table[name].to_pylist() for name in ("clip_id", "yuv_sha256", "source_id"))
    contents = [content_id(one, near[source]) if source in near else one for one, source in zip(pixels, sources, strict=True)]

    def payload(place: int) -> Plain:
        known = {"transitions": near[sources[place]]} if sources[place] in near else {}
        return {"clip": table.slice(place, 1).to_pylist()[0], **known}

    return Tasks(texts(ids), texts(contents), payload)


def measuring_step(leaf: str, constants: Plain) -> Step:
    """The step that measures an attribute leaf with these constants."""
    attribute = ATTRIBUTES.get(leaf)
    return Step(
        name=step_of(leaf), version=attribute.version, table="attributes", record=Attribute,
        function="inpaintbench.curation.measuring:measure_one",
        parameters={"leaf": leaf, "constants": dict(constants), **weights.needed(attribute.weights)},
        time_limit_seconds=TIME_LIMIT_SECONDS, lacks=weights.lacks(attribute.weights),
    )  # fmt: skip


def check_weights(leaves: Iterable[str]) -> None:
    """Raise ``InputError`` when one of the attribute leaves has no weights to measure with; says how to get them."""
    for leaf in leaves:
        for name in ATTRIBUTES.get(leaf).weights:
            try:
                weights.path_of(name)
            except NotMeasurable as error:
                raise InputError(f"{leaf} cannot be measured: {error}") from error


def check_rules(workspace: Workspace, rules: Sequence[Rule]) -> None:
    """Refuse rules on what not every clip has and nothing can measure here, before any of them is applied.

    Raises:
        InputError: see ``check_weights`` and ``require_measured``.
    """
    facts = Facts.of_workspace(workspace, {rule.subject for rule in rules})
    check_weights(rule.subject for rule in rules if rule.subject in ATTRIBUTES and not facts.of(rule.subject).known.all())
    require_measured(facts, [rule for rule in rules if rule.subject not in ATTRIBUTES], workspace=workspace)


def step_of(leaf: str) -> str:
    """The step that measures an attribute leaf."""
    return f"measure.{leaf}"


def measure_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """One row; a leaf that has no value for the clip gives ``None`` with its reason."""
    leaf = ATTRIBUTES.get(parameters["leaf"])(**parameters["constants"])
    clip = Clip(**payload["clip"])
    view = clip_view(clip, blobs, transitions=payload.get("transitions")).declaring(leaf.name, leaf.needs)
    try:
        value, reason = leaf.measure(view), None
    except NotMeasurable as error:
        value, reason = None, str(error)
    return [Attribute(clip.clip_id, leaf.name, value, reason, leaf.name, leaf.version)]


def clip_view(clip: Clip, blobs: Blobs, *, transitions: str | None = None) -> ItemView:
    """The frames of a clip, decoded when asked for; the last clip of a process is remembered.

    ``transitions``: blob with those of its source, where they are known.
    """
    path = str(blobs.proved(clip.blob))
    small = clip.frames * clip.height * clip.width * _BYTES_A_PIXEL <= _HOLD_AT_MOST_BYTES
    decoded = _decoded(path) if small else video.DecodedClip(path)
    parts: dict[str, Any] = {"truth": lambda: decoded.frames, "luma": lambda: decoded.luma}
    if transitions is not None:
        parts["transitions"] = lambda: footage.transitions_of_clip(
            transitions, blobs, start_frame=clip.start_frame, end_frame=clip.end_frame, fps=clip.fps
        )
    return ItemView(
        item_id=clip.clip_id, frames=clip.frames, height=clip.height, width=clip.width, fps=clip.fps, parts=parts,
        truth_frame=decoded.frame,
    )  # fmt: skip


@lru_cache(maxsize=1)
def _decoded(path: str) -> video.DecodedClip:
    # Blobs are named by their content, so a path always means the same pixels.
    return video.DecodedClip(path)
