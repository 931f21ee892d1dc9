"""Objects to be removed from clips, with their shadow, their reflection, their light: what is behind them is known, or it is not.

Rendered items are exact: input and truth differ by the object and its side effects alone, whose strength is known. Pairs that
others filmed or rendered are read from folders; their side effects are derived where the two films are near enough. Clips and
masks without a truth are judged by metrics that need none, and by people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from inpaintbench.curation import fitting
from inpaintbench.curation.sources.removal_layouts import COMBINED, COMMON, KINDS, STRENGTHS
from inpaintbench.executors.base import Executor
from inpaintbench.export import slices
from inpaintbench.masks import removal, render
from inpaintbench.recipes import imperfect, levels, stages
from inpaintbench.recipes.imperfect import ImperfectMasks
from inpaintbench.recipes.options import CLIPS, TEST_ALONE, HeldOut, Option, Seed, read_size
from inpaintbench.recipes.stages import SourceSpec, require
from inpaintbench.steps import AXES_OF_ITEMS, KNOWN, MEASURED_MASKS, NAMES, OBJECT_MASKS, PAIRED_INPUTS
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Slice, content_id
from inpaintbench.workspace import Workspace

# Of a source: the mask of its object, the films with it, and what is known of them.
_MASK, _EFFECT, _INPUT = "object_mask", "effect_mask", "input_"
# Share of the frame that the object covers, and of its width that it moves by in a frame, on average.
_SIZE_EDGES = (0.0, 0.03, 0.08, 1.0)
# Of side effects whose strength nobody knows: levels that they change what they reach by, and their share of the frame.
_LEVEL_EDGES, _AREA_EDGES = (0.0, 4.0, 12.0, 255.0), (0.0, 0.01, 0.05, 1.0)
_STILL, _SLOW = 0.001, 0.008
# Of what the object hides, the share that other frames show.
_SEEN_LITTLE, _SEEN_MOST = 0.25, 0.75


class RemovalRecipe(BaseModel):
    """Every choice of the benchmark; the dataset carries it resolved."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", use_attribute_docstrings=True)
    kind: ClassVar[str] = "removal"

    name: str = "Object removal"
    seed: Seed = 0
    size: Annotated[tuple[int, int] | None, Option(CLIPS, metavar="WxH", read=read_size, write=str, shown="as they are")] = None
    """Of the frames, squeezed to it; of rendered clips 288x160."""
    frames: Annotated[int | None, Option(CLIPS, shown="all")] = Field(None, ge=2)
    """At most so many of a clip, the first; of rendered clips 40."""
    imperfect: ImperfectMasks = ()
    splits: HeldOut = TEST_ALONE

    @property
    def normalizer(self) -> dict[str, Any]:
        """Normalizer that brings clips, inputs and masks to their size."""
        if self.size is None:
            return {"name": "as_is"}
        return {"name": "stretch", "width": self.size[0], "height": self.size[1], "most_enlargement": 1e6}

    def rendered(self, items: int) -> SourceSpec:
        """The source of ``items`` rendered items."""
        width, height = self.size or (288, 160)
        made = {"items": items, "width": width, "height": height, "frames": self.frames or 40, "seed": self.seed}
        return SourceSpec("rendered_removal", made)


# The axis of a paired design: the same object with more and more of its side effect.
_WITHOUT = "none"
AXIS = levels.LevelsOf("effect_strength", (_WITHOUT, *STRENGTHS), "strength of the side effect", "the scene without the object")


def curate(recipe: RemovalRecipe, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace) -> None:
    """Clips without loss, else input and truth would differ everywhere."""
    cutting = stages.Cutting.without_loss(recipe.normalizer, frames=recipe.frames, shares=True)
    stages.curate(cutting, sources, executor, workspace)


def label(recipe: RemovalRecipe, executor: Executor, workspace: Workspace) -> None:
    """Object masks and inputs at the size and span of their clips."""
    clips = stages.first_clips(workspace)
    masks, inputs = [], []
    for one in stages.pieces_of(workspace, clips):
        for part, blob in one.parts.items():
            variant = f"{part}{one.end}"
            if part.startswith(_INPUT):
                inputs.append(fitting.Wanted(one.clip, blob, variant.removeprefix(_INPUT), one.name))
            elif part.startswith((_MASK, _EFFECT)):
                masks.append(fitting.Wanted(one.clip, blob, None if variant == _MASK else variant, one.name))
    fitting.fit_masks(executor, masks, normalizer=recipe.normalizer)
    fitting.fit_inputs(executor, inputs, normalizer=recipe.normalizer)


def corrupt(recipe: RemovalRecipe, executor: Executor, workspace: Workspace) -> None:
    """An item for every input, with its side effects; for every clip where nobody has the truth."""
    clips = stages.first_clips(workspace)
    require(clips, "clips", "build removal")
    pairs = [(removal.corruption_id(one), one) for one in _pairs(workspace, clips)]
    called = [(key, one.name) for key, one in pairs]
    made = removal.pair(executor, list(dict(pairs).values()))
    done, measured = made.records, render.measure_all(executor, made).records
    of_clips = {clip.clip_id: clip for clip in clips}
    stages.note_empty_frames(workspace, done, measured, names=dict(called))
    spoilt, facts = imperfect.spoilt(executor, workspace, done, of_clips, measured, kinds=recipe.imperfect, seed=recipe.seed)
    done, measured = done + spoilt, measured + facts
    stages.name_items(workspace, called, done)
    source_of = {clip.clip_id: clip.source_id for clip in clips}
    split_of = stages.split_of(recipe, workspace, {row.clip_id: source_of[row.clip_id] for row in done})
    items = [
        Item(content_id(row.clip_id, row.corruption_id), row.clip_id, row.corruption_id, split_of[row.clip_id]) for row in done
    ]
    found, left_out = _slices(workspace, items, done, measured, {clip.clip_id: clip for clip in clips})
    found += levels.write(workspace, AXIS, _by_strength(done), items)
    stages.write_items(
        workspace, items, found, left_out,
        empty="not one object can be removed; `inpaintbench curation rejected` says why",
    )  # fmt: skip


def _pairs(workspace: Workspace, clips: Sequence[Clip]) -> list[removal.Pair]:
    masks = {(row.subject_id, row.name): str(row.blob) for row in workspace.table("attributes", Attribute, step=OBJECT_MASKS)}
    inputs = {
        (row.subject_id, row.name): row for row in workspace.table("attributes", Attribute, step=PAIRED_INPUTS)
    }  # fmt: skip
    pairs: list[removal.Pair] = []

    def mask(one: stages.Piece, part: str, variant: str) -> str | None:
        """Blob of the part of a variant, or of that of all variants."""
        names = (f"{part}_{variant}{one.end}", f"{part}{one.end}")
        blobs = (masks.get((one.clip.clip_id, fitting.mask_name(None if name == _MASK else name))) for name in names)
        return next(filter(None, blobs), None)

    for one in stages.pieces_of(workspace, clips):
        clip, scene = one.clip, one.scene
        stated: dict[str, Any] = {"side_effect": scene["kind"]} if scene["kind"] else {}
        stated |= {"side_effects": scene["several"]} if scene.get("several") else {}
        stated |= {"strength": scene["strength"]} if scene.get("strength") else {}
        if scene["effects"] is None:
            if (thing := mask(one, _MASK, "")) is not None:
                effect = mask(one, _EFFECT, "")
                pairs.append(removal.Pair(clip, thing, None, clip.rgb_sha256, False, stated, name=one.name, effect_mask=effect))
            continue
        homographies = scene["homographies"]
        for variant, strengths in scene["effects"].items():
            row = inputs.get((clip.clip_id, fitting.input_name(f"{variant}{one.end}")))
            if row is None or (thing := mask(one, _MASK, variant)) is None:
                continue
            told = {"side_effect": COMMON} if variant == COMMON else dict(stated)
            told |= {"strength": variant, "strengths": strengths} if variant in STRENGTHS else {}
            pairs.append(
                removal.Pair(
                    clip,
                    thing,
                    str(row.blob),
                    str(row.value),
                    bool(scene.get("exact")),
                    told,
                    homographies=homographies and homographies[clip.start_frame : clip.end_frame],
                    name=" ".join(filter(None, (one.name, scene.get("names", {}).get(variant)))),
                    effect_mask=mask(one, _EFFECT, variant),
                )
            )
    return pairs


def _slices(
    workspace: Workspace,
    items: Sequence[Item],
    rows: Sequence[Corruption],
    measured: Sequence[Attribute],
    clips: Mapping[str, Clip],
) -> tuple[list[Slice], dict[str, str]]:
    known = stages.facts_of(workspace, [KNOWN])
    speed = {row.subject_id: row.value for row in measured if row.name == "hole.centroid_speed_pixels_per_frame"}
    share = {row.subject_id: row.value for row in measured if row.name == "hole.hole_fraction"}
    effects: dict[str, list[str]] = {}
    labels: dict[str, dict[str, str]] = {"camera": {}, "object_motion": {}, "seen_elsewhere": {}}
    sizes: dict[str, float] = {}
    moving = []
    # What slices of clips and effects say holds for exact masks: those of imperfect ones are slices of their own.
    exact = [(item, row) for item, row in zip(items, rows, strict=True) if "mask_kind" not in row.facts]
    for item, row in exact:
        clip, kind, level = clips[item.clip_id], row.parameters.get("side_effect"), row.parameters.get("strength")
        effects[item.item_id] = [f"{kind}{end}" for end in ("", *([f"-{level}"] if level else []))] if kind else []
        sizes[item.item_id] = float(share.get(row.corruption_id) or 0)
        if (camera := known.get((clip.source_id, "camera"))) is not None:
            labels["camera"][item.item_id] = str(camera.value)
        if (pixels := speed.get(row.corruption_id)) is not None:
            moved = float(pixels) / clip.width
            labels["object_motion"][item.item_id] = "still" if moved <= _STILL else "slow" if moved <= _SLOW else "fast"
        if (seen := row.facts.get("seen_elsewhere")) is not None and not _SEEN_LITTLE <= seen <= _SEEN_MOST:
            labels["seen_elsewhere"][item.item_id] = "low" if seen < _SEEN_LITTLE else "high"
        scene = known.get((clip.source_id, "bg_scene_motion_level"))
        moving += [item.item_id] if scene is not None and scene.value == "high" else []
    found: list[tuple[list[Slice], dict[str, str]]] = []
    if any(effects.values()):
        found.append(_by_effect(effects))
    for name, of_items in labels.items():
        if of_items:
            found.append(slices.by_value({item: [value] for item, value in of_items.items()}, name, name=name))
    found.append(slices.by_bin(sizes, "share of the frame", name="object", edges=_SIZE_EDGES, percent=True))
    found += _by_measured_effect({item.item_id: row.facts for item, row in exact})
    if len(exact) < len(items):
        found.append((imperfect.by_mask(items, rows), {}))
    if moving:
        found.append(([Slice("moving_background", "bg_scene_motion_level == 'high'", tuple(moving))], {}))
    made = [part for some, _ in found for part in some]
    return [slices.everything([item.item_id for item in items]), *made], {k: v for _, out in found for k, v in out.items()}


def _by_strength(rows: Sequence[Corruption]) -> dict[str, dict[str, Corruption]]:
    """Clip id -> level of ``AXIS`` -> its one input of that strength; clips without some level are left out.

    Inputs without a side effect are a level where each of these clips has one.
    """
    inputs: dict[str, dict[str, list[Corruption]]] = {}
    for row in rows:
        level = row.parameters.get("strength") or (_WITHOUT if row.parameters.get("side_effect") == COMMON else None)
        if level and "mask_kind" not in row.facts:
            inputs.setdefault(row.clip_id, {}).setdefault(str(level), []).append(row)
    one_each = {clip: {level: rows[0] for level, rows in of.items() if len(rows) == 1} for clip, of in inputs.items()}
    known = {clip: of for clip, of in one_each.items() if set(STRENGTHS) <= set(of)}
    shared = AXIS.levels if all(_WITHOUT in of for of in known.values()) else STRENGTHS
    return {clip: {level: of[level] for level in shared} for clip, of in known.items()}


def _by_measured_effect(facts: Mapping[str, Mapping[str, Any]]) -> list[tuple[list[Slice], dict[str, str]]]:
    """Slices by how strong and how large side effects are that were derived or given as masks; of rendered ones that is known."""
    known = {item: of for item, of in facts.items() if of.get("effect_known") in ("derived", "given")}
    found = []
    for name, fact, words, edges in (
        ("effect_levels", "effect_levels", "mean levels of the effect", _LEVEL_EDGES),
        ("effect_area", "effect_fraction", "effect's share of the frame", _AREA_EDGES),
    ):
        numbers = {item: float(of[fact]) for item, of in known.items() if of.get(fact) is not None}
        if numbers:
            found.append(slices.by_bin(numbers, words, name=name, edges=edges, percent=edges[-1] == 1))
    return found


def _by_effect(effects: Mapping[str, Sequence[str]]) -> tuple[list[Slice], dict[str, str]]:
    """A slice for each kind of side effect, for each of its strengths where these are known, for none and for several."""
    kinds = {item: [name for name in names if not name.startswith((COMMON, COMBINED))] for item, names in effects.items()}
    present = {name for names in kinds.values() for name in names}
    strengths = [f"{kind}-{level}" for kind in KINDS for level in STRENGTHS]
    wanted = [name for kind in KINDS for name in (kind, *(one for one in strengths if one in present and one.startswith(kind)))]
    found, left_out = slices.by_value(kinds, "side effect", name="effect", wanted=wanted)
    for name in (COMMON, COMBINED, *(f"{COMBINED}-{level}" for level in STRENGTHS)):
        members = tuple(item for item, names in effects.items() if name in names)
        found += [Slice(name, f"side effect == '{name}'", members)] if members else []
    return found, left_out


def leaves_of(recipe: RemovalRecipe) -> dict[str, list[str]]:
    """Kind of leaf -> names of those that the recipe uses."""
    masks = {"mask generator": ["imperfect_mask"]} if recipe.imperfect else {}
    return {"splitter": ["windows"], "normalizer": [recipe.normalizer["name"]], **masks}


def export(recipe: RemovalRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices to a frozen dataset folder, by default ``WORKSPACE/exports/removal``."""
    steps = (KNOWN, OBJECT_MASKS, MEASURED_MASKS, NAMES, imperfect.STEP, AXES_OF_ITEMS)
    publication = stages.Publication(
        recipe, attribute_steps=steps, leaves=leaves_of(recipe), about=_ABOUT, facts=levels.facts(workspace, AXIS)
    )
    return stages.export(publication, workspace, target=target)


_ABOUT = (
    "`input` shows an object and what it does to its surroundings; `truth` is the scene without it, where anybody knows that."
    " `hole` is the mask that methods get; `object_mask` is exact and stays with the scoring. `effect_mask` is what the object"
    " changes outside itself: its shadow, its reflection, its light. In `attributes`, `mask.effect_levels` says by how many"
    " levels on average, and `mask.seen_elsewhere` how much of what the object hides another frame shows. Whole frames are"
    " judged."
)
