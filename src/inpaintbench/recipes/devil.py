"""DEVIL (CVPR 2022): landscape clips x blob masks, ten slices of one fixed content attribute each.

Three stages, each reading the tables of the one before: ``curate`` (sources -> clips -> labels), ``corrupt`` (pairs -> holes ->
items and slices), ``export`` (a frozen dataset). Two behaviours: ``as-published`` repeats the released code's choices, defects
included; ``corrected`` draws every slice independently and normalises camera motion by time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from inpaintbench.curation import measuring, select
from inpaintbench.errors import RunError
from inpaintbench.executors.base import Executor, Rejection
from inpaintbench.export import slices
from inpaintbench.masks import render
from inpaintbench.masks.generators.blob_presets import PRESETS
from inpaintbench.masks.measure import labels_of
from inpaintbench.recipes import stages
from inpaintbench.recipes.stages import SourceSpec, require
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Selection, Slice, Source, content_id
from inpaintbench.workspace import Workspace

SLICE_LEVELS = {"camera_motion": "camera_motion_level", "scene_motion": "scene_motion_level"}
"""Clip attributes that have slices -> the label that decides membership."""


class DevilRecipe(BaseModel):
    """Every choice of the benchmark; the dataset carries it resolved."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str] = "devil"

    name: str = "DEVIL-style diagnostic video inpainting"
    behaviour: Literal["as-published", "corrected"] = "corrected"
    seed: int = 0
    width: int = Field(832, ge=16)
    height: int = Field(480, ge=16)
    clip_frames: int = Field(90, ge=1)
    shortest_clip_frames: int = Field(45, ge=1)
    cut_score_limit: float = Field(0.3, ge=0, le=1)
    """Clips above it hold a shot change; FFmpeg's scene score, 0..1."""
    level_share: float = Field(0.16, gt=0, le=0.5)
    level_limit: int = Field(150, ge=1)
    per_slice: int = Field(150, ge=1)
    masks_per_preset: int = Field(1000, ge=1)

    @property
    def motion_attribute(self) -> str:
        """The attribute that camera motion labels are ranked by."""
        return "camera_motion" if self.behaviour == "as-published" else "camera_motion_per_frame"


def curate(recipe: DevilRecipe, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace) -> None:
    """Sources to clips: find, probe, cut.

    Raises:
        RunError: not one clip; says why the sources gave none.
    """
    cutting = stages.Cutting(
        splitter={"name": "windows", "length": recipe.clip_frames, "shortest": recipe.shortest_clip_frames},
        normalizer={"name": "cover", "width": recipe.width, "height": recipe.height},
    )
    stages.curate(cutting, sources, executor, workspace)


def label(recipe: DevilRecipe, executor: Executor, workspace: Workspace) -> None:
    """Clips to labels: measure, drop clips with cuts, rank camera motion.

    Raises:
        RunError: every clip is dropped.
    """
    clips = workspace.table("clips", Clip)
    require(clips, "clips", "curation clips")
    cuts = measuring.measure(executor, clips, leaf="cut_score").records
    judged = select.apply_rules(clips, cuts, [select.AtMost("cut_score", recipe.cut_score_limit)])
    workspace.write_table("selection", "select", judged, Selection)
    kept = select.kept(clips, judged)
    if not kept:
        reasons = "; ".join(sorted({row.reason for row in judged if row.reason})[:3])
        raise RunError(f"all {len(clips)} clips were dropped: {reasons}")
    motion = measuring.measure(executor, clips, leaf=recipe.motion_attribute).records
    levels = select.rank_levels(
        kept, motion, level=SLICE_LEVELS["camera_motion"], share=recipe.level_share, at_most=recipe.level_limit
    )
    labels = [row for step in ("known", "labels") for row in workspace.table("attributes", Attribute, step=step)]
    levels += select.inherited_levels(kept, labels, level=SLICE_LEVELS["scene_motion"])
    workspace.write_table("attributes", "levels", levels, Attribute)


def corrupt(recipe: DevilRecipe, executor: Executor, workspace: Workspace) -> slices.Plan:
    """Labels to items: pair clips with masks, render the masks that are used, measure them."""
    judged = workspace.table("selection", Selection)
    require(judged, "labels", "curation select")
    clips = {clip.clip_id: clip for clip in select.kept(workspace.table("clips", Clip), judged)}
    plan = _plan(recipe, workspace, clips)
    requests = {pair: _request(recipe, pair, clips[pair.clip_id]) for pair in plan.pairs}
    corruptions = render.render(executor, list(requests.values())).records
    measured = render.measure_all(executor, corruptions).records
    workspace.write_table("attributes", "mask_levels", _promised_levels(corruptions, measured), Attribute)
    _write_items(workspace, plan, requests, rendered={row.corruption_id for row in corruptions})
    return plan


def _write_items(
    workspace: Workspace, plan: slices.Plan, requests: dict[slices.Pair, render.MaskRequest], *, rendered: set[str]
) -> None:
    items: dict[str, Item] = {}
    members: dict[str, list[str]] = {name: [] for name in plan.rules}
    for pair, request in requests.items():
        if request.corruption_id in rendered:
            item_id = content_id(pair.clip_id, request.corruption_id)
            items[item_id] = Item(item_id, pair.clip_id, request.corruption_id)
            members[pair.slice].append(item_id)
    workspace.write_table("items", "pair", sorted(items.values(), key=lambda item: item.item_id), Item)
    filled = [Slice(name, plan.rules[name], tuple(dict.fromkeys(ids))) for name, ids in members.items() if ids]
    workspace.write_table("slices", "pair", filled, Slice)
    empty = {name: plan.left_out.get(name, "no mask could be rendered") for name, ids in members.items() if not ids}
    workspace.write_table("rejected", "pair", [Rejection(name, "pair", name, why) for name, why in empty.items()], Rejection)


def export(recipe: DevilRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices to a frozen dataset folder, by default ``WORKSPACE/exports/devil``."""
    measured = ("measure.cut_score", f"measure.{recipe.motion_attribute}", "measure.masks")
    leaves = {
        "splitter": ["windows"],
        "normalizer": ["cover"],
        "attribute": ["cut_score", recipe.motion_attribute],
        "mask generator": ["devil_blobs"],
    }
    steps = (*measured, "known", "labels", "levels", "mask_levels")
    return stages.export(stages.Publication(recipe, steps, leaves), workspace, target=target)


def build(recipe: DevilRecipe, source: SourceSpec, executor: Executor, workspace: Workspace) -> tuple[Path, Dataset]:
    """All stages; does only what is missing."""
    curate(recipe, [source], executor, workspace)
    label(recipe, executor, workspace)
    corrupt(recipe, executor, workspace)
    return export(recipe, workspace)


def _plan(recipe: DevilRecipe, workspace: Workspace, clips: dict[str, Clip]) -> slices.Plan:
    levels = {(row.subject_id, row.name): row.value for row in workspace.table("attributes", Attribute, step="levels")}
    uri = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    by_name = sorted(clips, key=lambda clip_id: (uri[clips[clip_id].source_id], clips[clip_id].start_frame))
    of_clips = {
        attribute: {level: [name for name in by_name if levels.get((name, column)) == level] for level in slices.LEVELS}
        for attribute, column in SLICE_LEVELS.items()
    }
    return slices.plan(
        of_clips,
        all_clips=by_name,
        presets={preset: labels_of(preset) for preset in PRESETS},
        per_slice=recipe.per_slice,
        behaviour=recipe.behaviour,
        seed=recipe.seed,
        masks_per_preset=recipe.masks_per_preset,
    )


def _request(recipe: DevilRecipe, pair: slices.Pair, clip: Clip) -> render.MaskRequest:
    parameters = {"preset": pair.preset, "behaviour": recipe.behaviour, "index": pair.index, "reverse": pair.reverse}
    return render.MaskRequest(clip, "devil_blobs", parameters, recipe.seed)


def _promised_levels(corruptions: Sequence[Corruption], measured: Sequence[Attribute]) -> list[Attribute]:
    """The labels that each mask's preset promises, and which of them its measurements do not confirm."""
    found = {(row.subject_id, row.name): row.value for row in measured}
    rows = []
    for corruption in corruptions:
        subject, preset = corruption.corruption_id, corruption.parameters["preset"]
        promised = {f"{name}_level": level for name, level in labels_of(preset).items()}
        doubts = [name for name, level in promised.items() if found.get((subject, f"{name}_measured")) != level]
        facts = {"preset": preset, **promised, "label_doubts": ", ".join(doubts) or "none"}
        rows += [Attribute(subject, name, fact, None, "preset", render.VERSION) for name, fact in facts.items()]
    return rows
