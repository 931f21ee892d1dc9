"""Slices of the benchmark DEVIL over masks of the builder's own: what blobs promise by their preset is measured on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from inpaintbench.errors import RunError
from inpaintbench.executors.base import Executor
from inpaintbench.export.growing import appended
from inpaintbench.export.slices import LEVELS
from inpaintbench.masks import render
from inpaintbench.masks.measure import level_limits
from inpaintbench.recipes import saved_pairs, stages
from inpaintbench.steps import MASK_LEVELS, MEASURED_MASKS
from inpaintbench.types import Attribute, Clip, Corruption, Item, Slice, content_id
from inpaintbench.workspace import Workspace

# Producer of the labels that were measured.
MEASURED = "measured"


def corrupt(
    recipe: Any, executor: Executor, workspace: Workspace, clips: Sequence[Clip], folder: Path | None,
    of_clips: Mapping[str, Mapping[str, Sequence[str]]],
) -> None:  # fmt: skip
    """An item for every clip and each of its masks, in the slices of the clip's labels and of the mask's measured ones.

    Of more than ``per_slice`` items of a slice those are taken whose ids, hashed with slice and seed, come first, an order that
    no other item changes. Items that are in no slice are left out.

    Args:
        recipe: of DEVIL, with ``saved_masks``.
        executor: who renders and measures.
        workspace: with sources and clips.
        clips: those that are kept, in an order that no content decides.
        folder: of the masks.
        of_clips: clip attribute -> level -> clips that are labelled so.

    Raises:
        InputError: masks that cannot be read, or a source without any.
        RunError: not one mask could be used.
    """
    names = stages.clip_names(workspace, workspace.table("clips", Clip))
    requests = saved_pairs.requests(
        workspace,
        clips,
        folder,
        recipe.saved_masks,
        in_turn=recipe.masks_by_turn,
        stills=recipe.clip_frames == 1,
        seed=recipe.seed,
    )
    done = render.render(executor, [replace(request, name=names[request.clip.clip_id]) for request in requests])
    holes = done.records
    if not holes:
        raise RunError(f"not one of the masks could be used: {done.rejected[0].reason}")
    called = {hole.corruption_id: names[hole.clip_id] for hole in holes}
    stages.note_empty_frames(workspace, holes, render.measure_all(executor, done).records, names=called)
    clip_of = {clip.clip_id: clip for clip in clips}
    levels = _levels(workspace, holes, clip_of)
    workspace.write_table("attributes", MASK_LEVELS, levels, Attribute)
    split_of = stages.split_of(recipe, workspace, {hole.clip_id: clip_of[hole.clip_id].source_id for hole in holes})
    items = {
        hole.corruption_id: Item(
            content_id(hole.clip_id, hole.corruption_id), hole.clip_id, hole.corruption_id, split_of[hole.clip_id]
        )
        for hole in holes
    }
    published = appended(workspace)
    there = {part.name: part.item_ids for part in published.dataset.slices} if published else {}
    slices, left_out = _slices(recipe, items, of_clips, levels, there=there)
    used = {item_id for part in slices for item_id in part.item_ids}
    stages.write_items(
        workspace, [item for item in items.values() if item.item_id in used], slices, left_out,
        empty="not one item is in a slice: no clip has a label, and no mask could be measured",
    )  # fmt: skip


def _levels(workspace: Workspace, holes: Sequence[Corruption], clip_of: Mapping[str, Clip]) -> list[Attribute]:
    facts = stages.facts_of(workspace, [MEASURED_MASKS])
    rows = []
    for hole in holes:
        clip = clip_of[hole.clip_id]
        for label, (name, limit) in level_limits(frames=clip.frames, width=clip.width, height=clip.height).items():
            fact = facts[hole.corruption_id, f"hole.{name}"]
            level = None if fact.value is None else "high" if float(fact.value) >= limit else "low"
            rows.append(Attribute(hole.corruption_id, f"{label}_level", level, fact.reason, MEASURED, render.VERSION))
    return rows


def _slices(
    recipe: Any,
    items: Mapping[str, Item],
    of_clips: Mapping[str, Mapping[str, Sequence[str]]],
    levels: Sequence[Attribute],
    *,
    there: Mapping[str, Sequence[str]],
) -> tuple[list[Slice], dict[str, str]]:
    """Slices of labels of clips, then of masks, and those without items with the reason.

    ``there``: slice -> published items in it, which it is filled up around.
    """
    members: dict[tuple[str, str], list[str]] = {}
    for attribute, labelled in of_clips.items():
        for level in LEVELS:
            chosen = set(labelled.get(level, ()))
            members[f"{attribute}_level", level] = [item.item_id for item in items.values() if item.clip_id in chosen]
    for row in levels:
        for level in LEVELS:
            members.setdefault((row.name, level), [])
        if row.value is not None:
            members[row.name, str(row.value)].append(items[row.subject_id].item_id)
    slices, left_out = [], {}
    for (label, level), ids in members.items():
        name = f"{label.removesuffix('_level')}-{level}"
        if ids:
            published = set(there.get(name, ()))
            order = sorted(set(ids) - published, key=lambda item_id: content_id("slice", recipe.seed, name, item_id))
            drawn = [item_id for item_id in ids if item_id in published] + order[: max(recipe.per_slice - len(published), 0)]
            slices.append(Slice(name, f"{label} == '{level}'", tuple(drawn)))
        else:
            left_out[name] = f"no item has {label} '{level}'"
    return slices, left_out
