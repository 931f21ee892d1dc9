"""DEVIL (CVPR 2022): landscape clips x blob masks, ten slices of one fixed content attribute each.

Three stages, each reading the tables of the one before: ``curate`` (sources -> clips -> labels), ``corrupt`` (pairs -> holes ->
items and slices), ``export`` (a frozen dataset). Two behaviours: ``as-published`` repeats the released code's choices, defects
included; ``corrected`` draws every slice independently and normalises camera motion by time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, overload

import numpy as np
import pyarrow as pa
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
from inpaintbench.lazily import lazily
from inpaintbench.masks import render
from inpaintbench.masks.generators.blob_motion import PRESETS
from inpaintbench.masks.measure import labels_of
from inpaintbench.recipes import own_masks, saved_pairs, stages
from inpaintbench.recipes.options import BY_TURN, CLIPS, SELECTION, SIZE, TEST_ALONE, Behaviour, HeldOut, Option, Seed
from inpaintbench.recipes.stages import SourceSpec, require
from inpaintbench.steps import KNOWN, LABELS, LEVELS, MASK_LEVELS, MEASURED_MASKS, PAIR
from inpaintbench.tables import flat, last_places, schema_of
from inpaintbench.types import Attribute, Clip, Dataset, Item, Selection, Slice, Source, content_id
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")

# Leaf that draws the holes.
_GENERATOR = "devil_blobs"
# Producer of attributes that raters' answers were resolved into.
ANNOTATED = "annotate"
# Share of the view that large running bodies of water fill, 0..1, as people answered.
SCENE_MOTION = "bg_scene_motion"
# Clip attributes that have slices -> the label that decides membership.
SLICE_LEVELS = {"camera_motion": "camera_motion_level", SCENE_MOTION: "bg_scene_motion_level"}
# Of boxes of a detector; the published benchmark states no number for its masks.
FOREGROUND_LIMIT = 0.1
# As the published benchmark filters; its third rule, 1920x1080, is the default of `--least`.
FLICKR_RULES = (
    Rule(attribute="probe.orientation", equals="landscape", name="landscape"),
    Rule(attribute="probe.bits_per_second", above=1_000_000, name="bit rate"),
)


def _is_none(value: object) -> bool:
    return value is None


def _is_false(value: object) -> bool:
    return value is False


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
        select.SHARE, gt=0, le=0.5, description="Share of the clips labelled low, and high."
    )
    level_limit: Annotated[int, Option(SELECTION)] = Field(select.AT_MOST, ge=1, description="Most clips labelled low, and high.")
    per_slice: Annotated[int, Option(SELECTION)] = Field(150, ge=1, description="Pairs of clip and mask wanted in each slice.")
    masks_per_preset: int = Field(1000, ge=1)
    rules: tuple[Rule, ...] = ()
    """Rules that clips must fulfil besides."""
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
    saved_masks: Mapping[str, Any] | None = Field(None, exclude_if=_is_none)
    """Constants of the generator ``saved_masks``, less the folder: the holes are then those."""
    masks_by_turn: Annotated[bool, BY_TURN] = Field(
        False, exclude_if=_is_false, description="Take saved masks in turn, whatever they are called, and squash them to fit."
    )
    splits: HeldOut = TEST_ALONE

    @model_validator(mode="after")
    def _reader_has_something_to_read(self) -> DevilRecipe:
        if self.reader != "pyav" and not self.cut_bars:
            raise ValueError("reader: bars are what it looks for, so it needs --cut-bars")
        return self

    @model_validator(mode="after")
    def _masks_fit_the_clips(self) -> DevilRecipe:
        if self.saved_masks is None or self.masks_by_turn:
            return self
        if self.cut_bars:
            raise ValueError("cut_bars: saved masks are of whole frames, and bars would be cut off the films alone")
        if self.fps is not None:
            raise ValueError("fps: saved masks are one a frame of their film, and at another rate they would be of other moments")
        name = (self.normalizer or {}).get("name", "cover")
        if {"cover": "cover", "stretch": True}.get(name) != self.saved_masks.get("resize") and name != "as_is":
            raise ValueError(f"normalizer: saved masks are brought to the size of the clips by cover or stretch, not by {name}")
        return self

    @property
    def cutting(self) -> stages.Cutting:
        """Return how sources become clips."""
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


def check(recipe: DevilRecipe, *, masks: Path | None = None) -> None:
    """Raise ``InputError`` when something that the rules ask for cannot be measured here, or saved masks cannot be read."""
    measuring.check_weights(measured_by(recipe))
    if recipe.saved_masks is not None:
        saved_pairs.check(masks, recipe.saved_masks, stills=recipe.clip_frames == 1)


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


def rules_of_footage(
    rules: Sequence[Rule], *, foreground_limit: float | None = None, flickr_least: tuple[int, int] | None = None
) -> tuple[Rule, ...]:
    """The rules of a user, those of the published benchmark for footage from Flickr, and the one on foreground objects.

    Args:
        rules: the user's own.
        foreground_limit: largest share of a frame that boxes of objects may cover; 1 = no such rule, None = the usual one for
            footage from Flickr, no rule for other.
        flickr_least: width and height that footage from Flickr has at least; None = it is no such footage.
    """
    published: tuple[Rule, ...] = ()
    if flickr_least is not None:
        foreground_limit = FOREGROUND_LIMIT if foreground_limit is None else foreground_limit
        sides = zip(("probe.width", "probe.height"), flickr_least, strict=True)
        published = (*FLICKR_RULES, *(Rule(attribute=side, at_least=pixels) for side, pixels in sides))
    if foreground_limit is None or foreground_limit >= 1:
        return (*published, *rules)
    return (*published, *rules, Rule(attribute="foreground_fraction", at_most=foreground_limit, name="no foreground objects"))


def asks_for_duplicates(recipe: DevilRecipe) -> bool:
    """Return whether a rule is about near-duplicates."""
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
        by_rule = sorted((count for count in judged.counts() if count.dropped), key=lambda count: -count.dropped)
        reasons = "; ".join(f"{count.dropped} by {count.label}" + _without(count.missing) for count in by_rule)
        raise RunError(f"all {len(clips)} clips were dropped: {reasons}")
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


def corrupt(recipe: DevilRecipe, executor: Executor, workspace: Workspace, *, masks: Path | None = None) -> None:
    """Labels to items: pair clips with masks, render the masks that are used, measure them.

    ``masks`` is the folder of the saved masks of a recipe that uses those.
    """
    dropped = workspace.columns("selection", Selection, columns=["clip_id", "keep"])
    require(workspace.columns("attributes", Attribute, step=LEVELS, columns=["name"]), LABELS, "curation select")
    clips = workspace.columns("clips", Clip)
    outside = flat(dropped.filter(pc.invert(dropped["keep"]))["clip_id"])
    clips = clips.filter(pc.invert(pc.is_in(clips["clip_id"], value_set=outside))).combine_chunks()
    if recipe.saved_masks is not None:
        names, of_clips = _clips_by_level(workspace, clips)
        chosen = {clip.clip_id: clip for clip in workspace.table("clips", Clip)}
        own_masks.corrupt(recipe, executor, workspace, [chosen[name] for name in names], masks, of_clips)
        return
    plan = _plan(recipe, workspace, clips)
    requests = _Requests(recipe, plan.pairs, clips)
    ids = requests.corruption_ids()
    corruptions = render.render(executor, requests, ids=ids).rows
    _write_items(recipe, workspace, plan, ids, rendered=flat(corruptions["corruption_id"]))
    corruptions = corruptions.select(["corruption_id", "hole", "hole_sha256", "generator", "parameters", "facts"])
    del requests, ids, clips
    measured = render.measure_all(executor, corruptions).rows
    workspace.write_columns("attributes", MASK_LEVELS, _promised_levels(corruptions, measured))


class _Requests(Sequence[render.MaskRequest]):
    """Masks asked for by pairs of ``clips``, made when it is asked for."""

    def __init__(self, recipe: DevilRecipe, pairs: Sequence[slices.Pair], clips: pa.Table) -> None:
        self._recipe, self._pairs, self._clips = recipe, pairs, clips

    def corruption_ids(self) -> list[str]:
        """Return what each is, in order."""
        seed = self._recipe.seed
        return [render.corruption_id(pair.clip_id, _GENERATOR, self._parameters(pair), seed) for pair in self._pairs]

    def _parameters(self, pair: slices.Pair) -> dict[str, Any]:
        return {"preset": pair.preset, "behaviour": self._recipe.behaviour, "index": pair.index, "reverse": pair.reverse}

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {clip_id: place for place, clip_id in enumerate(self._clips["clip_id"].to_pylist())}

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, place: int) -> render.MaskRequest: ...
    @overload
    def __getitem__(self, place: slice) -> list[render.MaskRequest]: ...
    def __getitem__(self, place: int | slice) -> render.MaskRequest | list[render.MaskRequest]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        pair = self._pairs[place]
        (clip,) = self._clips.slice(self._place_of[pair.clip_id], 1).to_pylist()
        return render.MaskRequest(Clip(**clip), _GENERATOR, self._parameters(pair), self._recipe.seed)


def _write_items(
    recipe: DevilRecipe, workspace: Workspace, plan: slices.Plan, corruption_ids: Sequence[str], *, rendered: pa.Array
) -> None:
    there = set(rendered.to_pylist())
    items: dict[str, tuple[str, str]] = {}
    members: dict[str, dict[str, None]] = {name: {} for name in plan.rules}
    for pair, corruption_id in zip(plan.pairs, corruption_ids, strict=True):
        if corruption_id in there:
            item_id = content_id(pair.clip_id, corruption_id)
            items[item_id] = pair.clip_id, corruption_id
            members[pair.slice][item_id] = None
    order = sorted(items)
    clips = workspace.columns("clips", Clip, columns=["clip_id", "source_id"])
    clips = clips.filter(pc.is_in(clips["clip_id"], value_set=pa.array({clip_id for clip_id, _ in items.values()}, pa.string())))
    groups = dict(zip(clips["clip_id"].to_pylist(), clips["source_id"].to_pylist(), strict=True))
    split_of = stages.split_of(recipe, workspace, groups)
    of_clips, corruptions = (pa.array((items[item_id][place] for item_id in order), pa.string()) for place in (0, 1))
    splits = pa.array((split_of[items[item_id][0]] for item_id in order), pa.string())
    columns = [pa.array(order, pa.string()), of_clips, corruptions, splits]
    workspace.write_columns("items", PAIR, pa.Table.from_arrays(columns, schema=schema_of(Item)))
    filled = [Slice(name, plan.rules[name], tuple(ids)) for name, ids in members.items() if ids]
    workspace.write_table("slices", PAIR, filled, Slice)
    empty = {name: plan.left_out.get(name, "no mask could be rendered") for name, ids in members.items() if not ids}
    workspace.write_table("rejected", PAIR, [Rejection(name, PAIR, name, why) for name, why in empty.items()], Rejection)


def leaves_of(recipe: DevilRecipe) -> dict[str, list[str]]:
    """Kind of leaf -> names of those that the recipe uses."""
    return {
        "splitter": [recipe.cutting.splitter["name"]],
        "normalizer": [recipe.cutting.normalizer["name"]],
        "attribute": measured_by(recipe),
        "mask generator": [_GENERATOR if recipe.saved_masks is None else "saved_masks"],
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


def _clips_by_level(workspace: Workspace, clips: pa.Table) -> tuple[list[str], dict[str, dict[str, list[str]]]]:
    """Ids of ``clips`` in the order of their names, and clip attribute -> level -> those that are labelled so."""
    sources = workspace.columns("sources", Source, columns=["source_id", "uri"])
    uris = flat(sources["uri"]).take(pa.array(last_places(flat(sources["source_id"]), flat(clips["source_id"]))))
    order = pc.sort_indices(
        pa.table({"uri": uris, "start": clips["start_frame"]}), [("uri", "ascending"), ("start", "ascending")]
    )
    ids = flat(clips["clip_id"]).take(order)
    by_name: list[str] = ids.to_pylist()
    levels = workspace.columns("attributes", Attribute, step=LEVELS)
    of_clips = {}
    for attribute, column in SLICE_LEVELS.items():
        rows = levels.filter(pc.equal(levels["name"], column))
        places = last_places(flat(rows["subject_id"]), ids)
        values = flat(rows["value_text"]).take(pa.array(places, mask=places < 0))
        of_clips[attribute] = {
            level: [by_name[place] for place in np.flatnonzero(pc.fill_null(pc.equal(values, level), False)).tolist()]
            for level in slices.LEVELS
        }
    return by_name, of_clips


def _plan(recipe: DevilRecipe, workspace: Workspace, clips: pa.Table) -> slices.Plan:
    by_name, of_clips = _clips_by_level(workspace, clips)
    return slices.plan(
        of_clips,
        all_clips=by_name,
        presets={preset: labels_of(preset) for preset in PRESETS},
        per_slice=recipe.per_slice,
        behaviour=recipe.behaviour,
        seed=recipe.seed,
        masks_per_preset=recipe.masks_per_preset,
    )


def _promised_levels(corruptions: pa.Table, measured: pa.Table) -> pa.Table:
    """The labels that each mask's preset promises, and which of them its measurements do not confirm: rows of ``Attribute``."""
    ids = flat(corruptions["corruption_id"])
    presets = pc.struct_field(pc.extract_regex(flat(corruptions["parameters"]), r'"preset":"(?P<preset>[^"]*)"'), "preset")
    encoded = presets.dictionary_encode()
    labels = [labels_of(preset) for preset in encoded.dictionary.to_pylist()]
    names = list(labels[0]) if labels else []
    columns, doubts = {"preset": presets}, np.zeros(len(ids), np.int64)
    for bit, name in enumerate(names):
        promised = pa.array([own[name] for own in labels]).take(encoded.indices)
        rows = measured.filter(pc.equal(measured["name"], f"{name}_level_measured"))
        places = last_places(flat(rows["subject_id"]), ids)
        values = flat(rows["value_text"]).take(pa.array(places, mask=places < 0))
        agrees = pc.fill_null(pc.equal(values, promised), False).to_numpy(zero_copy_only=False)
        doubts |= (~agrees).astype(np.int64) << bit
        columns[f"{name}_level"] = promised
    chosen = ([f"{name}_level" for bit, name in enumerate(names) if code >> bit & 1] for code in range(1 << len(names)))
    columns["label_doubts"] = pa.array([", ".join(some) or "none" for some in chosen]).take(pa.array(doubts))
    # From one fact after the other to one corruption after the other.
    count, turns = len(ids), np.arange(len(ids) * len(columns)).reshape(len(columns), -1).T.ravel()
    nothing, text = pa.nulls(len(turns)), pa.string()
    facts = pa.array(list(columns)).take(pa.array(np.tile(np.arange(len(columns)), count)))
    values = pa.chunked_array(list(columns.values()), text).combine_chunks().take(pa.array(turns))
    subjects = ids.take(pa.array(np.repeat(np.arange(count), len(columns))))
    version = pa.repeat(render.VERSION, len(turns))
    cells = [subjects, facts, nothing.cast(pa.float64()), values, nothing.cast(text), pa.repeat("preset", len(turns)), version,
             nothing.cast(text)]  # fmt: skip
    return pa.Table.from_arrays(cells, schema=schema_of(Attribute))
