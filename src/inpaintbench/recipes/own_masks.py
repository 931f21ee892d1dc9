"""Slices of DEVIL's benchmark over masks of the builder's own, whose labels are measured; and labels that presets promise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from inpaintbench.errors import RunError
from inpaintbench.executors.base import Executor, Outcome
from inpaintbench.export.growing import appended
from inpaintbench.export.slices import LEVELS
from inpaintbench.lazily import lazily
from inpaintbench.masks import render
from inpaintbench.masks.blob_motion import PRESETS
from inpaintbench.masks.measure import labels_of, level_limits
from inpaintbench.recipes import saved_pairs, stages
from inpaintbench.steps import MASK_LEVELS, MEASURED_MASKS
from inpaintbench.tables import flat, last_places, schema_of
from inpaintbench.types import Attribute, Clip, Corruption, Item, Slice, content_id
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")


def promised_levels(corruptions: Outcome, measured: Outcome) -> Iterator[pa.Table]:
    """The labels that each mask's preset promises, and which of them its measurements do not confirm: rows of ``Attribute``."""
    yield schema_of(Attribute).empty_table()
    ids = flat(corruptions.columns("corruption_id")["corruption_id"])
    known = pa.array(sorted(PRESETS), pa.string())
    asked = (flat(rows["parameters"]) for rows in corruptions.batches("parameters"))
    named = (pc.struct_field(pc.extract_regex(given, r'"preset":"(?P<preset>[^"]*)"'), "preset") for given in asked)
    presets = pa.chunked_array([pc.index_in(some, value_set=known) for some in named], pa.int32()).combine_chunks()
    labels = [labels_of(preset) for preset in known.to_pylist()]
    names, doubts = list(labels[0]), np.zeros(len(ids), np.int8)
    promised = {name: pa.array([own[name] for own in labels]) for name in names}
    for bit, name in enumerate(names):
        rows = measured.columns("subject_id", "value_text", where=("name", [f"{name}_level_measured"]))
        places = last_places(flat(rows["subject_id"]), ids)
        values = flat(rows["value_text"]).take(pa.array(places, mask=places < 0))
        agrees = pc.fill_null(pc.equal(values, promised[name].take(presets)), False).to_numpy(zero_copy_only=False)
        doubts |= (~agrees).astype(np.int8) << bit
        del rows, places, values, agrees
    chosen = ([f"{name}_level" for bit, name in enumerate(names) if code >> bit & 1] for code in range(1 << len(names)))
    told = pa.array([", ".join(some) or "none" for some in chosen])
    for begin in range(0, len(ids), 1 << 16):
        own, own_presets = ids.slice(begin, 1 << 16), presets.slice(begin, 1 << 16)
        columns = {"preset": known.take(own_presets)}
        columns |= {f"{name}_level": values.take(own_presets) for name, values in promised.items()}
        columns["label_doubts"] = told.take(pa.array(doubts[begin : begin + len(own)]))
        yield _facts(own, columns)


def _facts(subjects: pa.Array, columns: Mapping[str, pa.Array]) -> pa.Table:
    """Rows of ``Attribute``: of one subject after the other all ``columns``, which are texts that presets promise."""
    count, turns = len(subjects), np.arange(len(subjects) * len(columns)).reshape(len(columns), -1).T.ravel()
    nothing, text = pa.nulls(len(turns)), pa.string()
    facts = pa.array(list(columns)).take(pa.array(np.tile(np.arange(len(columns)), count)))
    values = pa.chunked_array(list(columns.values()), text).combine_chunks().take(pa.array(turns))
    repeated = subjects.take(pa.array(np.repeat(np.arange(count), len(columns))))
    version = pa.repeat(render.VERSION, len(turns))
    cells = [repeated, facts, nothing.cast(pa.float64()), values, nothing.cast(text), pa.repeat("preset", len(turns)), version,
             nothing.cast(text)]  # fmt: skip
    return pa.Table.from_arrays(cells, schema=schema_of(Attribute))


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
