"""Re-inpainting self-consistency (2024): pictures x brush or box holes in area bins, with patch masks for the second pass.

Every picture gets one hole in each area bin, each of other shapes or, paired, with more and more of the same. On top of each hole
lie ``second_masks`` patch masks that take only pixels which the first hole left known; a method's first result is inpainted again
under them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inpaintbench.catalogue import Deviation
from inpaintbench.errors import RunError
from inpaintbench.executors.base import Executor, Rejection
from inpaintbench.export import slices
from inpaintbench.export.growing import appended
from inpaintbench.masks import render
from inpaintbench.masks.generators.brush_box import PRESETS
from inpaintbench.recipes import levels, saved_pairs, stages
from inpaintbench.recipes.options import (
    BY_TURN,
    CLIPS,
    MASKS,
    SECOND_MASKS,
    TEST_ALONE,
    HeldOut,
    Option,
    Seed,
    read_edges,
    read_ratio,
    write_edges,
)
from inpaintbench.recipes.stages import SourceSpec, require
from inpaintbench.steps import AXES_OF_ITEMS, KNOWN, MEASURED_MASKS
from inpaintbench.types import Clip, Corruption, Dataset, Item, content_id, hash_of
from inpaintbench.workspace import Workspace

KINDS = ("brush", "box")
SAVED = "saved"


class ReinpaintRecipe(BaseModel):
    """Every choice of the benchmark; the dataset carries it resolved."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", use_attribute_docstrings=True)
    kind: ClassVar[str] = "reinpaint"
    kept_by_growth: ClassVar[tuple[str, ...]] = ("paired",)
    follows: ClassVar[str] = "the paper of re-inpainting self-consistency (2024); no code was published"
    deviations: ClassVar[tuple[Deviation, ...]] = (
        Deviation(
            "pictures",
            "100 of Places2",
            "the builder's, at most 100 in each bin of area",
            "numbers of other pictures compare with none that were printed",
        ),
        Deviation(
            "share P of the second holes",
            "uniform from 20 to 60 % by the text of Tables 4 and 5, whose numbers are those of 40 % in Table 2 to 0.0003",
            "40 %; `--ratio` of `eval run --for reinpainting` draws others",
            "none against those tables",
        ),
    )

    name: str = "Re-inpainting self-consistency"
    seed: Seed = 0
    size: Annotated[int, Option(CLIPS)] = Field(512, ge=16)
    """Side of the square pictures."""
    pictures: Annotated[int, Option(MASKS)] = Field(100, ge=1)
    """Most pictures in each area bin."""
    area_edges: Annotated[tuple[float, ...], Option(MASKS, "--bins", read=read_edges, write=write_edges)] = Field(
        (0.0, 0.2, 0.4, 0.6), description="Edges of the area bins, in per cent."
    )
    """Edges of the first hole's share of the picture; neighbours bound a bin."""
    preset: Annotated[str, Option(MASKS, names=PRESETS)] = "medium-512"
    """Strokes and boxes."""
    reach: Annotated[Literal["grow", "rejection"], Option(MASKS)] = "grow"
    """How a bin is hit: grow, or rejection."""
    saved_masks: Mapping[str, Any] | None = None
    """Constants of the generator ``saved_masks``, less the folder: the first holes are then those, whatever their area."""
    masks_by_turn: Annotated[bool, BY_TURN] = False
    """Share saved masks out by a hash of each clip, whatever they are called, and squash them to fit."""
    second_masks: Annotated[int, Option(SECOND_MASKS)] = Field(10, ge=0)
    """Patch masks on top of each hole (K)."""
    patch_pixels: Annotated[int, Option(SECOND_MASKS, "--patch")] = Field(32, ge=1)
    """Side of a patch in pixels (S)."""
    second_ratio: Annotated[float | tuple[float, float], Option(SECOND_MASKS, "--ratio", read=read_ratio)] = 0.4
    """Share of patches (P): 0.4, or 0.2-0.6 for uniform between."""
    second_count: Literal["bernoulli", "exact"] = "bernoulli"
    clip_frames: Annotated[int, Option(CLIPS, "--frames")] = Field(1, ge=1)
    """Frames of a clip; above 1 the sources are videos."""
    motion: Annotated[Literal["static", "drifting", "tube"], Option(MASKS)] = "static"
    """Of both masks in videos: static, drifting or tube."""
    paired: Annotated[bool, Option(MASKS, "--paired/--no-paired")] = Field(False, exclude_if=lambda paired: not paired)
    """Fill the bins of a picture with more and more of the same strokes or boxes, under the same patches."""
    splits: HeldOut = TEST_ALONE

    @model_validator(mode="after")
    def _holes_are_grown(self) -> ReinpaintRecipe:
        if self.paired and self.saved_masks is not None:
            raise ValueError("paired: saved masks are taken as they are; give one of the two")
        if self.paired and self.reach == "rejection":
            raise ValueError("paired: rejection draws other shapes for each bin; give --reach grow")
        return self

    @model_validator(mode="after")
    def _ascending_edges(self) -> ReinpaintRecipe:
        edges = self.area_edges
        if len(edges) < 2 or any(low >= high for low, high in pairwise(edges)) or edges[0] < 0 or edges[-1] > 1:
            raise ValueError(f"area edges {list(edges)} are not two or more ascending numbers in 0..1")
        return self

    @model_validator(mode="after")
    def _drawable(self) -> ReinpaintRecipe:
        # What a generator refuses is told before any work.
        if self.patch_pixels > self.size:
            raise ValueError(f"patches of {self.patch_pixels} pixels are larger than pictures of {self.size}x{self.size}")
        for edges in pairwise(self.area_edges):
            render.build("brush_box", {**self.first_constants, "area": list(edges)})
        render.build("patches", self.second_constants)
        return self

    @property
    def first_constants(self) -> dict[str, Any]:
        """Constants of the first masks, less their bin."""
        shared = {"paired": True} if self.paired else {}
        return {"preset": self.preset, "reach": self.reach, "motion": self.motion, **shared}

    @property
    def levels(self) -> dict[tuple[float, float], str]:
        """Area bin -> its level on the axis of a paired design, such as ``up_to_20_percent``."""
        return {(low, high): f"up_to_{100 * high:g}_percent" for low, high in pairwise(self.area_edges)}

    @property
    def second_constants(self) -> dict[str, Any]:
        """Constants of the second masks."""
        ratio = list(self.second_ratio) if isinstance(self.second_ratio, tuple) else self.second_ratio
        return {"size": self.patch_pixels, "ratio": ratio, "count": self.second_count, "motion": self.motion}


def check(recipe: ReinpaintRecipe, *, masks: Path | None = None) -> None:
    """Raise ``InputError`` when saved masks are wanted and not there, or cannot be read with these constants."""
    if recipe.saved_masks is not None:
        saved_pairs.check(masks, recipe.saved_masks, stills=recipe.clip_frames == 1)


def curate(recipe: ReinpaintRecipe, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace) -> None:
    """Pictures of any size to squares."""
    cutting = stages.Cutting(
        splitter={"name": "windows", "length": recipe.clip_frames, "shortest": recipe.clip_frames},
        normalizer={"name": "cover", "width": recipe.size, "height": recipe.size},
    )
    stages.curate(cutting, sources, executor, workspace)


def label(recipe: ReinpaintRecipe, executor: Executor, workspace: Workspace) -> None:
    """Nothing to measure: every picture is used."""


def corrupt(recipe: ReinpaintRecipe, executor: Executor, workspace: Workspace, *, masks: Path | None = None) -> None:
    """One hole for each picture and bin, then the second masks on top of each.

    ``masks`` is the folder of the saved masks of a recipe that uses those: they go by the names of the sources, or by hashes.

    Raises:
        InputError: a source without saved masks of its name.
        RunError: not one hole or second mask.
    """
    clips = stages.by_name(workspace, workspace.table("clips", Clip))
    require(clips, "clips", "curation clips")
    # Masks of the name of a picture make an item that people gave.
    given = recipe.saved_masks is not None and not recipe.masks_by_turn
    chosen = _chosen(recipe, workspace, clips if given else stages.drawn_from(workspace, clips))
    if recipe.saved_masks is None:
        bins = [list(edges) for edges in pairwise(recipe.area_edges)]
        wanted = [
            render.MaskRequest(clip, "brush_box", {**recipe.first_constants, "area": area}, recipe.seed, draw=clip.clip_id)
            for clip in chosen
            for area in bins
        ]
    else:
        stills = recipe.clip_frames == 1
        wanted = saved_pairs.requests(
            workspace, chosen, masks, recipe.saved_masks, in_turn=recipe.masks_by_turn, stills=stills, seed=recipe.seed
        )
    names = stages.clip_names(workspace, clips)
    first = render.render(executor, [replace(request, name=names[request.clip.clip_id]) for request in wanted])
    if not first.records and first.rejected:
        raise RunError(f"not one hole could be made: {first.rejected[0].reason}")
    by_id = {clip.clip_id: clip for clip in chosen}
    second = []
    for hole in first.records:
        for number in range(recipe.second_masks):
            draw = content_id(hole.clip_id if recipe.paired else hole.corruption_id, number)
            request = render.MaskRequest(by_id[hole.clip_id], "patches", recipe.second_constants, recipe.seed, draw=draw)
            second.append(replace(request, parent_id=hole.corruption_id, parent_hole=hole.hole))
    made = render.render(executor, [replace(row, name=names[row.clip.clip_id]) for row in second], name="render.second")
    if second and not made.records:
        raise RunError("not one second mask could be made; `inpaintbench curation rejected` says why")
    render.measure_all(executor, made, name="measure.second")
    render.measure_all(executor, first)
    holes = _inpainted_again(workspace, first.records, made.records, names=names) if second else first.records
    _write_items(recipe, workspace, holes)


def _chosen(recipe: ReinpaintRecipe, workspace: Workspace, clips: Sequence[Clip]) -> list[Clip]:
    """The first ``pictures`` in the order of a hash; in a benchmark that is added to, its pictures come first."""
    published = appended(workspace)
    there = set(published.clips) if published else set()
    order = sorted(clips, key=lambda clip: (clip.clip_id not in there, hash_of("pictures", recipe.seed, clip.clip_id)))
    elsewhere = len(there.difference(clip.clip_id for clip in clips))
    return order[: max(recipe.pictures - elsewhere, 0)]


def _inpainted_again(
    workspace: Workspace, holes: Sequence[Corruption], second: Sequence[Corruption], *, names: Mapping[str, str]
) -> list[Corruption]:
    """The holes that have a second mask; without any a result cannot be inpainted again, nor the benchmark be scored."""
    again = {mask.parent_id for mask in second}
    bare = [hole for hole in holes if hole.corruption_id not in again]
    why = "not one second mask could be made: there is nothing to inpaint again"
    refused = [Rejection(hole.corruption_id, "second_masks", names[hole.clip_id], why) for hole in bare]
    workspace.write_table("rejected", "second_masks", refused, Rejection)
    return [hole for hole in holes if hole.corruption_id in again]


def _write_items(recipe: ReinpaintRecipe, workspace: Workspace, holes: Sequence[Corruption]) -> None:
    source_of = {clip.clip_id: clip.source_id for clip in workspace.table("clips", Clip)}
    split_of = stages.split_of(recipe, workspace, {hole.clip_id: source_of[hole.clip_id] for hole in holes})
    items = {
        hole.corruption_id: Item(
            content_id(hole.clip_id, hole.corruption_id), hole.clip_id, hole.corruption_id, split_of[hole.clip_id]
        )
        for hole in holes
    }
    facts = stages.facts_of(workspace, [MEASURED_MASKS])
    areas = {item.item_id: float(facts[hole, "hole.hole_fraction"].value or 0) for hole, item in items.items()}
    kinds = {items[hole.corruption_id].item_id: tuple(hole.facts.get("kind", SAVED).split("+")) for hole in holes}
    in_bins, no_bins = slices.by_bin(areas, "hole area", name="area", edges=recipe.area_edges, percent=True)
    of_kinds, no_kinds = slices.by_value(kinds, "mask kind", name="kind", wanted=KINDS if recipe.saved_masks is None else [SAVED])
    everything = slices.everything(list(areas))
    # Clip id -> level -> its hole, in a paired design; clips without a hole in some bin are left out.
    of: dict[str, dict[str, Corruption]] = {}
    for hole in holes if recipe.paired else ():
        low, high = hole.parameters["area"]
        of.setdefault(hole.clip_id, {})[recipe.levels[low, high]] = hole
    by_area = {
        clip: {level: own[level] for level in recipe.levels.values()}
        for clip, own in of.items()
        if len(own) == len(recipe.levels)
    }
    of_levels = levels.write(workspace, _axis(recipe), by_area, list(items.values()))
    stages.write_items(
        workspace, list(items.values()), [everything, *in_bins, *of_kinds, *of_levels], {**no_bins, **no_kinds},
        empty="not one hole could be made; `inpaintbench curation rejected` says why",
    )  # fmt: skip


def _axis(recipe: ReinpaintRecipe) -> levels.LevelsOf:
    return levels.LevelsOf("hole_area", tuple(recipe.levels.values()), "share of the picture that is missing", "the picture")


def leaves_of(recipe: ReinpaintRecipe) -> dict[str, list[str]]:
    """Kind of leaf -> names of those that the recipe uses."""
    first = "brush_box" if recipe.saved_masks is None else "saved_masks"
    return {"splitter": ["windows"], "normalizer": ["cover"], "mask generator": [first, "patches"]}


def export(recipe: ReinpaintRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices to a frozen dataset folder, by default ``WORKSPACE/exports/reinpaint``."""
    holes = "Holes of brush strokes or boxes in bins of area." if recipe.saved_masks is None else "Holes made elsewhere."
    publication = stages.Publication(
        recipe,
        attribute_steps=(KNOWN, MEASURED_MASKS, "measure.second", AXES_OF_ITEMS),
        leaves=leaves_of(recipe),
        about=f"{holes} `second_hole` lists the patch masks of the second pass: inpaint,"
        " then inpaint the result again under each of them, and compare.",
        facts=levels.facts(workspace, _axis(recipe)),
    )
    return stages.export(publication, workspace, target=target)


# The form that comes nearest to the publication; what that leaves open is stated as a deviation.
AS_PUBLISHED = ReinpaintRecipe()
