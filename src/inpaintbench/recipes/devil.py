"""DEVIL (CVPR 2022): landscape clips x blob masks, ten slices of one fixed content attribute each.

Three stages, each reading the tables of the one before: ``curate`` (sources -> clips -> labels), ``corrupt`` (pairs -> holes ->
items and slices), ``export`` (a frozen dataset). Two behaviours: ``as-published`` repeats the released code's choices, defects
included; ``corrected`` draws every slice independently and normalises camera motion by time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, model_validator

from inpaintbench.curation import duplicates, measuring, select
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.attributes.perceptual_hash import PerceptualHash
from inpaintbench.curation.judging import select_clips
from inpaintbench.curation.rules import Rule
from inpaintbench.curation.sheets import KEEP_REJECT
from inpaintbench.deviations import Deviation
from inpaintbench.errors import RunError, Waiting
from inpaintbench.executors.base import Executor, Rejection
from inpaintbench.export import slices
from inpaintbench.masks import render
from inpaintbench.masks.generators.blob_motion import PRESETS
from inpaintbench.masks.measure import labels_of
from inpaintbench.recipes import stages
from inpaintbench.recipes.options import CLIPS, SELECTION, SIZE, Behaviour, Option, Seed
from inpaintbench.recipes.stages import SourceSpec, require
from inpaintbench.steps import KNOWN, LABELS, LEVELS, MASK_LEVELS, MEASURED_MASKS, PAIR
from inpaintbench.tables import flat
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Selection, Slice, Source, content_id
from inpaintbench.workspace import Workspace

# Producer of attributes that raters' answers were resolved into.
ANNOTATED = "annotate"
# Share of the view that large running bodies of water fill, 0..1, as people answered.
SCENE_MOTION = "bg_scene_motion"
# Clip attributes that have slices -> the label that decides membership.
SLICE_LEVELS = {"camera_motion": "camera_motion_level", SCENE_MOTION: "bg_scene_motion_level"}


class DevilRecipe(BaseModel):
    """Every choice of the benchmark; the dataset carries it resolved."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str] = "devil"
    follows: ClassVar[str] = "the released code of DEVIL, CVPR 2022"
    deviations: ClassVar[tuple[Deviation, ...]] = (
        Deviation(
            "candidates for a label of camera motion",
            "16 % of all clips; those without a score count as the highest",
            "16 % of the clips that have a score; the others get no label",
            "fewer candidates, and no clip is called high because nothing could be aligned",
        ),
        Deviation(
            "background scene motion",
            "labels by hand after the paper; by RAFT's flow in the code, of which clips without a value count as the highest",
            "people's answers, ranked by the same rule",
            "labels differ; which of both made the published slices is not known",
        ),
        Deviation(
            "frames of the truth",
            "JPEG of quality 95 at 1920x1080, made smaller, then PNG",
            "frames as decoded, made smaller, then H.264 of at least 45 dB against them, which is the truth",
            "no score is against pixels that the file does not hold; the truth has other noise",
        ),
        Deviation(
            "what a method sees under the hole",
            "the true pixels; methods have to blank them themselves",
            "a fill value",
            "none for methods that blank; others can no longer look",
        ),
        Deviation(
            "foreground objects, shot changes",
            "Mask R-CNN and FFmpeg's scene score without a threshold in the code, then by hand",
            "clips with a scene score above 0.3 are dropped; objects only where `--foreground-limit` or people say so",
            "other clips are kept",
        ),
        Deviation(
            "number of frames of a film",
            "what the container states",
            "frames that decode",
            "windows differ where a container is wrong",
        ),
    )

    name: str = "DEVIL-style diagnostic video inpainting"
    behaviour: Behaviour = "corrected"
    seed: Seed = 0
    width: Annotated[int, SIZE] = Field(832, ge=16, description="Size of the clips.")
    height: int = Field(480, ge=16)
    clip_frames: Annotated[int, Option(CLIPS, "--frames")] = Field(90, ge=1, description="Frames of a clip.")
    shortest_clip_frames: int = Field(45, ge=1)
    cut_score_limit: Annotated[float, Option(SELECTION)] = Field(
        0.3, ge=0, le=1, description="Clips with a higher cut score, which is FFmpeg's scene score, are dropped."
    )
    level_share: Annotated[float, Option(SELECTION)] = Field(
        0.16, gt=0, le=0.5, description="Share of the clips labelled low, and high."
    )
    level_limit: Annotated[int, Option(SELECTION)] = Field(150, ge=1, description="Most clips labelled low, and high.")
    per_slice: Annotated[int, Option(SELECTION)] = Field(150, ge=1, description="Pairs of clip and mask wanted in each slice.")
    masks_per_preset: int = Field(1000, ge=1)
    rules: tuple[Rule, ...] = ()
    """What clips must fulfil besides."""
    review: Annotated[bool, Option(SELECTION, "--review/--no-review", shown="of flickr alone")] = Field(
        False, description="Wait until people have answered keep for a clip."
    )
    hdr: Annotated[Literal["exclude", "tone_map"], Option(CLIPS)] = Field(
        "exclude", description="Films of high dynamic range: exclude, or tone_map (brings them to the standard range)."
    )
    cut_bars: Annotated[bool, Option(CLIPS, "--cut-bars/--no-cut-bars")] = Field(
        False, description="Cut letterbox and pillarbox bars off."
    )

    splitter: dict[str, Any] | None = None
    """Leaf with its constants; ``windows`` of ``clip_frames`` by default."""
    normalizer: dict[str, Any] | None = None
    """Leaf with its constants; ``cover`` to ``width`` x ``height`` by default."""
    reader: Annotated[Literal["pyav", "decord"], Option(CLIPS)] = Field("pyav", description="Who looks for bars: pyav, decord.")
    fps: float | None = Field(None, gt=0)
    """Bring films to this rate, by timestamps; by default they keep theirs."""

    @model_validator(mode="after")
    def _reader_has_something_to_read(self) -> DevilRecipe:
        if self.reader != "pyav" and not self.cut_bars:
            raise ValueError("reader: bars are what it looks for, so it needs --cut-bars")
        return self

    @property
    def cutting(self) -> stages.Cutting:
        """How sources become clips."""
        windows = {"name": "windows", "length": self.clip_frames, "shortest": self.shortest_clip_frames}
        cover = {"name": "cover", "width": self.width, "height": self.height}
        return stages.Cutting(
            splitter=self.splitter or windows, normalizer=self.normalizer or cover, fps=self.fps, cut_bars=self.cut_bars,
            hdr=self.hdr, reader=self.reader, rules=self.rules,
        )  # fmt: skip

    @property
    def motion_attribute(self) -> str:
        """The attribute that camera motion labels are ranked by."""
        return "camera_motion" if self.behaviour == "as-published" else "camera_motion_per_frame"


def check(recipe: DevilRecipe) -> None:
    """Raise ``InputError`` when something that the rules ask for cannot be measured here."""
    measuring.check_weights(measured_by(recipe))


def curate(recipe: DevilRecipe, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace) -> list[Clip]:
    """Sources to clips: find, probe, cut.

    Raises:
        RunError: not one clip; says why the sources gave none.
    """
    return stages.curate(recipe.cutting, sources, executor, workspace).clips


def rules_of(recipe: DevilRecipe) -> tuple[Rule, ...]:
    """Everything that a clip must fulfil."""
    asked = (Rule(answer=KEEP_REJECT, equals="keep", name="kept by people"),) if recipe.review else ()
    shots = Rule(attribute="cut_score", at_most=recipe.cut_score_limit, name="no shot changes")
    # A rule that is stated twice counts once.
    return tuple({rule.words: rule for rule in (shots, *recipe.rules, *asked)}.values())


def asks_for_duplicates(recipe: DevilRecipe) -> bool:
    """Whether a rule is about near-duplicates."""
    return any(rule.attribute in (duplicates.OF, duplicates.SHARE) for rule in recipe.rules)


def measured_by(recipe: DevilRecipe) -> list[str]:
    """The attribute leaves that the rules and labels need."""
    wanted = ["cut_score", recipe.motion_attribute, *(rule.attribute for rule in recipe.rules if rule.attribute)]
    if asks_for_duplicates(recipe):
        wanted.append(PerceptualHash.name)
    return [name for name in dict.fromkeys(wanted) if name in ATTRIBUTES]


def label(recipe: DevilRecipe, executor: Executor, workspace: Workspace) -> None:
    """Clips to labels: measure, drop clips that break a rule, rank camera motion.

    Raises:
        RunError: every clip is dropped.
        Waiting: people have not answered yet; says where the questions are.
    """
    from inpaintbench.curation.funnel.write import write_review

    clips = workspace.columns("clips", Clip)
    require(clips, "clips", "curation clips")
    motion = _measured(recipe, executor, clips)
    if asks_for_duplicates(recipe):
        stages.mark_duplicates(executor, workspace)
    judged = select_clips(workspace, rules_of(recipe))
    if waiting := int(judged.waiting.sum()):
        workspace.write_table("attributes", LEVELS, [], Attribute)
        page, table = write_review(workspace, judged)
        older = workspace.path / "exports" / recipe.kind
        still = f"; until then {older} is what an earlier run made" if older.exists() else ""
        raise Waiting(
            f"{waiting} clips wait for keep or reject: look at {page}, fill in a copy of {table}, bring it in with "
            f"`inpaintbench curation answers {workspace.path} FILE`, and run the same command again{still}"
        )
    kept = clips.select(["clip_id", "source_id"]).filter(pa.array(judged.kept))
    if not kept.num_rows:
        by_rule = sorted((count for count in judged.counts() if count.dropped), key=lambda one: -one.dropped)
        told = "; ".join(f"{one.dropped} by {one.label}" + _without(one.missing) for one in by_rule)
        raise RunError(f"all {len(clips)} clips were dropped: {told}")
    levels = select.rank_levels(
        kept, motion, level=SLICE_LEVELS["camera_motion"], share=recipe.level_share, at_most=recipe.level_limit
    )
    workspace.write_columns("attributes", LEVELS, pa.concat_tables([levels, *_scene_motion_levels(recipe, workspace, kept)]))


def _measured(recipe: DevilRecipe, executor: Executor, clips: pa.Table) -> pa.Table:
    """Measure what the rules and labels need; the rows of camera motion."""
    outcomes = measuring.measure_together(executor, clips, leaves={name: {} for name in measured_by(recipe)})
    return outcomes[recipe.motion_attribute].rows


def _scene_motion_levels(recipe: DevilRecipe, workspace: Workspace, kept: pa.Table) -> list[pa.Table]:
    """By rank among the clips that raters answered about; the others keep the labels of their footage or from a file."""
    rows = workspace.columns("attributes", Attribute, where=("name", [SCENE_MOTION]))
    answered = rows.filter(pc.equal(rows["producer"], ANNOTATED))
    asked = pc.is_in(kept["clip_id"], value_set=flat(answered["subject_id"]))
    level = SLICE_LEVELS[SCENE_MOTION]
    ranked = select.rank_levels(kept.filter(asked), answered, level=level, share=recipe.level_share, at_most=recipe.level_limit)
    labels = [workspace.columns("attributes", Attribute, step=step, where=("name", [level])) for step in (KNOWN, LABELS)]
    others = kept.filter(pc.invert(asked))
    return [ranked, select.inherited_levels(others, pa.concat_tables(labels), level=level)]


def _without(missing: int) -> str:
    return f" ({missing} of them have no value)" if missing else ""


def corrupt(recipe: DevilRecipe, executor: Executor, workspace: Workspace) -> slices.Plan:
    """Labels to items: pair clips with masks, render the masks that are used, measure them."""
    judged = workspace.table("selection", Selection)
    require(workspace.table("attributes", Attribute, step=LEVELS), LABELS, "curation select")
    clips = {clip.clip_id: clip for clip in select.kept(workspace.table("clips", Clip), judged)}
    plan = _plan(recipe, workspace, clips)
    requests = {pair: _request(recipe, pair, clips[pair.clip_id]) for pair in plan.pairs}
    corruptions = render.render(executor, list(requests.values())).records
    measured = render.measure_all(executor, corruptions).records
    workspace.write_table("attributes", MASK_LEVELS, _promised_levels(corruptions, measured), Attribute)
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
    workspace.write_table("items", PAIR, sorted(items.values(), key=lambda item: item.item_id), Item)
    filled = [Slice(name, plan.rules[name], tuple(dict.fromkeys(ids))) for name, ids in members.items() if ids]
    workspace.write_table("slices", PAIR, filled, Slice)
    empty = {name: plan.left_out.get(name, "no mask could be rendered") for name, ids in members.items() if not ids}
    workspace.write_table("rejected", PAIR, [Rejection(name, PAIR, name, why) for name, why in empty.items()], Rejection)


def leaves_of(recipe: DevilRecipe) -> dict[str, list[str]]:
    """Kind of leaf -> names of those that the recipe uses."""
    return {
        "splitter": [recipe.cutting.splitter["name"]],
        "normalizer": [recipe.cutting.normalizer["name"]],
        "attribute": measured_by(recipe),
        "mask generator": ["devil_blobs"],
    }


def export(recipe: DevilRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices to a frozen dataset folder, by default ``WORKSPACE/exports/devil``."""
    measured = [measuring.step_of(name) for name in measured_by(recipe)]
    people = [step for step in workspace.steps("attributes") if step.startswith(f"{ANNOTATED}.")]
    steps = (*measured, MEASURED_MASKS, KNOWN, LABELS, *people, LEVELS, MASK_LEVELS)
    return stages.export(stages.Publication(recipe, steps, leaves_of(recipe)), workspace, target=target)


def build(recipe: DevilRecipe, source: SourceSpec, executor: Executor, workspace: Workspace) -> tuple[Path, Dataset]:
    """All stages; does only what is missing."""
    curate(recipe, [source], executor, workspace)
    label(recipe, executor, workspace)
    corrupt(recipe, executor, workspace)
    return export(recipe, workspace)


def _plan(recipe: DevilRecipe, workspace: Workspace, clips: dict[str, Clip]) -> slices.Plan:
    levels = {(row.subject_id, row.name): row.value for row in workspace.table("attributes", Attribute, step=LEVELS)}
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
