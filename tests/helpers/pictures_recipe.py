"""A recipe as somebody else might add one: holes of strokes or boxes in bins of area, or saved ones, over pictures or films.

Tests of what holds for every recipe build with it: it is small, gives a clip several items, and can have second holes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, ConfigDict

from inpaintbench.benchmarks import BENCHMARKS, Benchmark, Paper
from inpaintbench.executors.base import Executor
from inpaintbench.export import slices
from inpaintbench.export.growing import appended
from inpaintbench.masks import render
from inpaintbench.recipes import RECIPES, saved_pairs, stages
from inpaintbench.recipes.options import TEST_ALONE
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.steps import KNOWN, MEASURED_MASKS
from inpaintbench.types import Clip, Corruption, Dataset, Item, content_id, hash_of
from inpaintbench.workspace import Workspace

ABOUT = Benchmark(
    use="Trying what holds for every recipe.",
    paper=Paper("pictures", "misc", "Pictures with holes", {"author": "Nobody", "year": "2024"}),
    generated={"embedded_photographs": "a few photographs"},
)


class PicturesRecipe(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: ClassVar[str] = "pictures"

    name: str = "Pictures with holes"
    seed: int = 0
    size: int = 64
    """Side of the square pictures in pixels."""
    pictures: int = 100
    """Most pictures in each bin."""
    area_edges: tuple[float, ...] = (0.0, 0.2, 0.4)
    """Of the hole's share of the picture; neighbours bound a bin."""
    preset: str = "medium-256"
    second_masks: int = 0
    """Holes of patches on top of each hole."""
    patch_pixels: int = 16
    clip_frames: int = 1
    """Above 1 the sources are videos."""
    saved_masks: Mapping[str, Any] | None = None
    """Constants of the generator ``saved_masks``, less the folder: the holes are then those."""
    masks_by_turn: bool = False
    splits: Mapping[str, float] = TEST_ALONE


def is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the program find the recipe by its name, as one of another package."""
    for catalogue, name in ((RECIPES, "PicturesRecipe"), (BENCHMARKS, "ABOUT")):
        monkeypatch.setattr(catalogue, "_addresses", catalogue.addresses() | {"pictures": f"{__name__}:{name}"})


def curate(recipe: PicturesRecipe, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace) -> None:
    windows = {"name": "windows", "length": recipe.clip_frames, "shortest": recipe.clip_frames}
    square = {"name": "cover", "width": recipe.size, "height": recipe.size}
    stages.curate(stages.Cutting(splitter=windows, normalizer=square), sources, executor, workspace)


def label(recipe: PicturesRecipe, executor: Executor, workspace: Workspace) -> None:
    """Nothing to measure."""


def corrupt(recipe: PicturesRecipe, executor: Executor, workspace: Workspace, *, masks: Path | None = None) -> None:
    clips = stages.by_name(workspace, workspace.table("clips", Clip))
    names = stages.clip_names(workspace, clips)
    # Masks of the name of a picture make an item that people gave.
    given = recipe.saved_masks is not None and not recipe.masks_by_turn
    chosen = _chosen(recipe, workspace, clips if given else stages.drawn_from(workspace, clips))
    if recipe.saved_masks is None:
        wanted = [
            render.MaskRequest(clip, "brush_box", {"preset": recipe.preset, "area": list(area)}, recipe.seed, draw=clip.clip_id)
            for clip in chosen
            for area in pairwise(recipe.area_edges)
        ]
    else:
        wanted = saved_pairs.requests(
            workspace, chosen, masks, recipe.saved_masks, in_turn=recipe.masks_by_turn, stills=recipe.clip_frames == 1,
            seed=recipe.seed,
        )  # fmt: skip
    first = render.render(executor, [replace(request, name=names[request.clip.clip_id]) for request in wanted])
    by_id = {clip.clip_id: clip for clip in chosen}
    patches = {"size": recipe.patch_pixels, "ratio": 0.4, "count": "bernoulli"}
    second = [
        render.MaskRequest(
            by_id[hole.clip_id], "patches", patches, recipe.seed, draw=content_id(hole.corruption_id, number),
            parent_id=hole.corruption_id, parent_hole=hole.hole, name=names[hole.clip_id],
        )
        for hole in first.records
        for number in range(recipe.second_masks)
    ]  # fmt: skip
    render.measure_all(executor, render.render(executor, second, name="render.second"), name="measure.second")
    render.measure_all(executor, first)
    _write_items(recipe, workspace, first.records)


def _chosen(recipe: PicturesRecipe, workspace: Workspace, clips: Sequence[Clip]) -> list[Clip]:
    """The first ``pictures`` in the order of a hash; in a benchmark that is added to, its pictures come first."""
    published = appended(workspace)
    there = set(published.clips) if published else set()
    order = sorted(clips, key=lambda clip: (clip.clip_id not in there, hash_of("pictures", recipe.seed, clip.clip_id)))
    elsewhere = len(there.difference(clip.clip_id for clip in clips))
    return order[: max(recipe.pictures - elsewhere, 0)]


def _write_items(recipe: PicturesRecipe, workspace: Workspace, holes: Sequence[Corruption]) -> None:
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
    kinds = {items[hole.corruption_id].item_id: (hole.facts.get("kind", "saved"),) for hole in holes}
    bins, no_bins = slices.by_bin(areas, "hole area", name="area", edges=recipe.area_edges, percent=True)
    wanted = ("brush", "box") if recipe.saved_masks is None else ("saved",)
    of_kinds, no_kinds = slices.by_value(kinds, "mask kind", name="kind", wanted=wanted)
    everything = [slices.everything(list(areas)), *bins, *of_kinds]
    stages.write_items(workspace, list(items.values()), everything, {**no_bins, **no_kinds}, empty="no hole")


def leaves_of(recipe: PicturesRecipe) -> dict[str, list[str]]:
    first = "brush_box" if recipe.saved_masks is None else "saved_masks"
    return {"splitter": ["windows"], "normalizer": ["cover"], "mask generator": [first, "patches"]}


def export(recipe: PicturesRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    publication = stages.Publication(
        recipe, attribute_steps=(KNOWN, MEASURED_MASKS, "measure.second"), leaves=leaves_of(recipe), about="Holes in pictures."
    )  # fmt: skip
    return stages.export(publication, workspace, target=target)
