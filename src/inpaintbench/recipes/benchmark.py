"""Classic video inpainting: clips with masks of their own, at the size and by the rules of the evaluations that papers print.

The truth is the clip at its published size, so that methods see what they are scored on; the hole is its mask, scaled to the
nearest pixel and grown as the released codes grow it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inpaintbench.curation import fitting, measuring
from inpaintbench.executors.base import Executor
from inpaintbench.export import slices
from inpaintbench.masks import render
from inpaintbench.recipes import stages
from inpaintbench.recipes.options import CLIPS, MASKS, TEST_ALONE, HeldOut, Option, Seed, read_size
from inpaintbench.recipes.stages import SourceSpec, require
from inpaintbench.steps import KNOWN, MEASURED_MASKS, NAMES, OBJECT_MASKS
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Slice, content_id
from inpaintbench.workspace import Workspace

_GENERATOR, _MOTION, _MASK = "own_mask", "camera_motion_per_frame", "object_mask"
# Shares of the frame that the hole covers, and frames of a clip, both ends included; more than the last is `more`.
AREA_EDGES = (0.0, 0.05, 0.1, 0.2, 0.4, 1.0)
LENGTHS = ((1, 50), (51, 100))
# Mean IoU of the holes of neighbouring frames from which on a mask stands still.
STATIONARY = 0.99
# Share of the view that the camera leaves behind a frame, from which on it moves.
MOVING = 0.001


class BenchmarkRecipe(BaseModel):
    """Every choice of the benchmark; the dataset carries it resolved."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", use_attribute_docstrings=True)
    kind: ClassVar[str] = "benchmark"

    name: str = "Video inpainting benchmark"
    seed: Seed = 0
    size: Annotated[tuple[int, int], Option(CLIPS, metavar="WxH", read=read_size, write="{0[0]}x{0[1]}".format)] = (432, 240)
    """Of the frames; with --fit none they keep theirs."""
    fit: Annotated[Literal["stretch", "cover", "none"], Option(CLIPS)] = "stretch"
    """How they get it: stretch, as papers do, cover (crops), or none."""
    resample: Annotated[Literal["pillow-bicubic", "opencv-linear", "pillow-lanczos"], Option(CLIPS)] = "pillow-bicubic"
    """Filter of frames: pillow-bicubic (E2FGVI), opencv-linear (ProPainter), or pillow-lanczos (VideoPainter, of masks, too)."""
    frames: Annotated[int | None, Option(CLIPS, shown="all")] = Field(None, ge=1)
    """At most so many of a clip, the first."""
    dilations: Annotated[int, Option(MASKS)] = Field(4, ge=0, le=1000)
    """Times that masks grow by a 3x3 cross before they are the hole."""
    splits: HeldOut = TEST_ALONE

    @model_validator(mode="after")
    def _needs_a_filter(self) -> BenchmarkRecipe:
        if self.fit == "none" and {"size", "resample"} & self.model_fields_set:
            raise ValueError("size: frames keep theirs with --fit none; leave --size and --resample out")
        return self

    @property
    def normalizer(self) -> dict[str, Any]:
        """Normalizer that brings clips to their size."""
        if self.fit == "none":
            return {"name": "as_is"}
        made = {"name": self.fit, "width": self.size[0], "height": self.size[1], "resample": self.resample}
        return made | ({"most_enlargement": 1e6} if self.fit == "stretch" else {})

    def embedded(self, clips: int) -> SourceSpec:
        """The source of ``clips`` films that come with the program."""
        width, height = self.size
        made = {"clips": clips, "width": width, "height": height, "frames": self.frames or 24, "seed": self.seed}
        return SourceSpec("embedded_benchmark", made)


def curate(recipe: BenchmarkRecipe, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace) -> None:
    """Clips without loss: their pixels are those that the released codes measure on."""
    cutting = stages.Cutting.without_loss(recipe.normalizer, frames=recipe.frames, shares=True)
    stages.curate(cutting, sources, executor, workspace)


def label(recipe: BenchmarkRecipe, executor: Executor, workspace: Workspace) -> None:
    """Masks at the size and span of their clips, and how fast the camera is."""
    clips = stages.first_clips(workspace)
    wanted = [
        fitting.Wanted(one.clip, one.parts[_MASK], f"{_MASK}{one.end}" if one.end else None, one.name)
        for one in stages.pieces_of(workspace, clips)
    ]
    # VideoPainter's code brings masks to the size as it does frames, and takes what is at least half white.
    nearest = {} if recipe.fit == "none" or recipe.resample == "pillow-lanczos" else {"resample": "nearest"}
    fitting.fit_masks(executor, wanted, normalizer={**recipe.normalizer, **nearest})
    measuring.measure(executor, clips, leaf=_MOTION)


def corrupt(recipe: BenchmarkRecipe, executor: Executor, workspace: Workspace) -> None:
    """An item for every clip that has a mask."""
    clips = stages.first_clips(workspace)
    require(clips, "clips", "build benchmark")
    masks = {(row.subject_id, row.name): str(row.blob) for row in workspace.table("attributes", Attribute, step=OBJECT_MASKS)}
    constants = {"dilations": recipe.dilations}
    requests = []
    for one in stages.pieces_of(workspace, clips):
        mask = masks.get((one.clip.clip_id, fitting.mask_name(f"{_MASK}{one.end}" if one.end else None)))
        if mask:
            requests.append(
                render.MaskRequest(one.clip, _GENERATOR, constants, recipe.seed, data={_MASK: mask}, name=one.name)
            )  # fmt: skip
    done = render.render(executor, requests)
    measured = render.measure_all(executor, done).records
    called = [(request.corruption_id, request.name) for request in requests]
    stages.name_items(workspace, called, done.records)
    stages.note_empty_frames(workspace, done.records, measured, names=dict(called))
    source_of = {clip.clip_id: clip.source_id for clip in clips}
    split_of = stages.split_of(recipe, workspace, {row.clip_id: source_of[row.clip_id] for row in done.records})
    items = {
        row.corruption_id: Item(content_id(row.clip_id, row.corruption_id), row.clip_id, row.corruption_id, split_of[row.clip_id])
        for row in done.records
    }
    found, left_out = _slices(workspace, items, done.records, measured, {clip.clip_id: clip for clip in clips})
    stages.write_items(
        workspace, list(items.values()), found, left_out,
        empty="not one mask can be used; `inpaintbench curation rejected` says why",
    )  # fmt: skip


def _slices(
    workspace: Workspace,
    items: Mapping[str, Item],
    holes: Sequence[Corruption],
    measured: Sequence[Attribute],
    clips: Mapping[str, Clip],
) -> tuple[list[Slice], dict[str, str]]:
    camera = stages.facts_of(workspace, [measuring.step_of(_MOTION)])
    areas = {items[row.subject_id].item_id: float(row.value or 0) for row in measured if row.name == "hole.hole_fraction"}
    of_masks: dict[str, tuple[str, ...]] = {}
    of_cameras: dict[str, tuple[str, ...]] = {}
    of_lengths: dict[str, tuple[str, ...]] = {}
    for hole in holes:
        item = items[hole.corruption_id].item_id
        frames = clips[hole.clip_id].frames
        of_lengths[item] = (next((f"{low}-{high}" for low, high in LENGTHS if frames <= high), "more"),)
        iou, motion = hole.facts.get("neighbour_iou"), camera.get((hole.clip_id, _MOTION))
        of_masks[item] = () if iou is None else ("stationary" if iou >= STATIONARY else "moving",)
        known = None if motion is None or motion.value is None else float(motion.value)
        of_cameras[item] = () if known is None else ("high" if known >= MOVING else "low",)
    parts = [
        slices.by_bin(areas, "hole area", name="area", edges=AREA_EDGES, percent=True),
        slices.by_value(of_masks, "mask", name="mask", wanted=("stationary", "moving")),
        slices.by_value(of_cameras, "camera motion", name="camera_motion", wanted=("low", "high")),
        slices.by_value(of_lengths, "frames", name="frames", wanted=[*(f"{low}-{high}" for low, high in LENGTHS), "more"]),
    ]
    made = [part for some, _ in parts for part in some]
    return [slices.everything(list(areas)), *made], {name: why for _, out in parts for name, why in out.items()}


def leaves_of(recipe: BenchmarkRecipe) -> dict[str, list[str]]:
    """Kind of leaf -> names of those that the recipe uses."""
    normalizer = [str(recipe.normalizer["name"])]
    return {"splitter": ["windows"], "normalizer": normalizer, "attribute": [_MOTION], "mask generator": [_GENERATOR]}


def export(recipe: BenchmarkRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices to a frozen dataset folder, by default ``WORKSPACE/exports/benchmark``."""
    steps = (KNOWN, OBJECT_MASKS, MEASURED_MASKS, NAMES, measuring.step_of(_MOTION))
    mask = "by the same filter" if recipe.resample == "pillow-lanczos" else "at the nearest pixel"
    size = "" if recipe.fit == "none" else f" of {recipe.size[0]}x{recipe.size[1]} pixels ({recipe.fit}, {recipe.resample})"
    about = (
        f"`truth` is the clip{size}, without loss, and `hole` its mask, {mask} and grown {recipe.dilations} times"
        " by a 3x3 cross. Where a mask is of an object of the clip, the truth still shows the object."
    )
    publication = stages.Publication(recipe, attribute_steps=steps, leaves=leaves_of(recipe), about=about)
    return stages.export(publication, workspace, target=target)
