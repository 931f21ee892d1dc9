"""DEVIL (CVPR 2022): landscape clips x blob masks, ten slices of one fixed content attribute each.

Three stages, each reading the tables of the one before: ``curate`` (sources -> clips -> labels), ``corrupt`` (pairs -> holes ->
items and slices), ``export`` (a frozen dataset). Two behaviours: ``as-published`` repeats the released code's choices, defects
included; ``corrected`` draws every slice independently and by turns from all films, and normalises camera motion by time.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from inpaintbench.catalogue import Deviation, unknown_name
from inpaintbench.curation import duplicates, measuring, select
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.attributes.hashes import PerceptualHash
from inpaintbench.curation.judging import refuse_unasked, select_clips
from inpaintbench.curation.rules import Rule
from inpaintbench.curation.sheets import KEEP_REJECT
from inpaintbench.curation.splitters import SPLITTERS
from inpaintbench.errors import InputError, Rejected, RunError, UsageError, Waiting
from inpaintbench.executors.base import Executor, Rejection
from inpaintbench.export import slices
from inpaintbench.export.growing import appended
from inpaintbench.lazily import lazily
from inpaintbench.manifest import dataset_id
from inpaintbench.masks import removal, render
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.blob_motion import PRESETS
from inpaintbench.masks.measure import labels_of
from inpaintbench.recipes import imperfect, leakage, look_alikes, own_masks, paired, saved_pairs, sliced, stages
from inpaintbench.recipes.benchmark import MOVING
from inpaintbench.recipes.imperfect import ImperfectMasks
from inpaintbench.recipes.options import (
    BY_TURN,
    CLIPS,
    MASKS,
    SELECTION,
    SIZE,
    TEST_ALONE,
    Behaviour,
    HeldOut,
    Option,
    Seed,
    StrictRules,
)
from inpaintbench.recipes.own_masks import promised_levels
from inpaintbench.recipes.stages import SourceSpec, require
from inpaintbench.steps import AXES_OF_ITEMS, KNOWN, LABELS, LEVELS, MASK_LEVELS, MEASURED_MASKS, PAIR
from inpaintbench.tables import flat, last_places, to_columns, to_records
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Selection, Slice, Source, content_id
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")

# Producer of attributes that raters' answers were resolved into.
ANNOTATED = "annotate"
# Share of the view that large running bodies of water fill, 0..1, as people answered.
SCENE_MOTION = "bg_scene_motion"
# Clip attributes that have slices -> the label that decides membership.
SLICE_LEVELS = {"camera_motion": "camera_motion_level", SCENE_MOTION: "bg_scene_motion_level"}
# Attributes of clips and of masks that have slices, as DEVIL has them.
SLICED_BY = ("camera_motion", SCENE_MOTION, "size", "pose", "displacement")
# Of boxes of a detector; the published benchmark states no number for its masks. Between the scenery and the objects of clips
# that were marked by eye (`bench/marked_clips.py`): 0.03 and 0.08.
FOREGROUND_LIMIT = 0.05
# As the published benchmark filters; its third rule, 1920x1080, is the default of `--least`.
PUBLISHED_RULES = (
    Rule(attribute="probe.orientation", equals="landscape", name="landscape"),
    Rule(attribute="probe.bits_per_second", above=1_000_000, name="bit rate"),
)
# What footage of one's own is asked for, by the name that switches a rule off. Those that mark keep every clip.
OWN_FOOTAGE_RULES = {
    "transitions": Rule(attribute="transition_fraction", at_most=0, missing="keep", name="no cuts, fades or dissolves"),
    "still": Rule(attribute="still_fraction", at_most=0.5, missing="keep", name="no stills"),
    "blank": Rule(attribute="blank_fraction", at_most=0, missing="keep", name="no black or blank frames"),
    "text": Rule(attribute="text_overlay_fraction", at_most=0.01, flag=True, name="text"),
    "logo": Rule(attribute="static_overlay", at_most=0.001, flag=True, name="logo or frame"),
    "letterbox": Rule(attribute="letterbox", at_most=0.02, flag=True, name="bars"),
}
# Camera motion of less confidence may be that of water or leaves: such clips are called neither low nor high
# (`bench/camera_in_water.py`).
CONFIDENCE, LEAST_CONFIDENCE = "camera_motion_confidence", 0.5
# Share of the view that the camera leaves behind from which on it moves: no clip of less is called high, whatever its rank.
# `bench/fixed_cameras.py` has how much less fixed cameras score past which things drive.
LEAST_HIGH = {"camera_motion_per_frame": MOVING, "camera_motion_per_second": 25 * MOVING}
# Ratio of frame rates up to which motion a frame and a second rank alike: 29.97 and 30.
SAME_RATE = 1.05


def _sliced(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in SLICED_BY:
            raise ValueError(unknown_name("attribute with slices", name, list(SLICED_BY)))
    return tuple(dict.fromkeys(names))


def _on_axes(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        AXES.get(name)
    return tuple(dict.fromkeys(names))


def _is_empty(value: object) -> bool:
    return value == ()


class DevilRecipe(BaseModel):
    """Every choice of the benchmark; the dataset carries it resolved."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", use_attribute_docstrings=True)

    kind: ClassVar[str] = "devil"
    kept_by_growth: ClassVar[tuple[str, ...]] = ("design", "axes", "masks_per_clip", "sliced_by")
    """Fields that what adds to a published dataset takes from it, where they are not stated."""
    follows: ClassVar[str] = "the released code of DEVIL, CVPR 2022"
    deviations: ClassVar[tuple[Deviation, ...]] = (
        Deviation(
            "candidates for a label of camera motion",
            "16 % of all clips; those without a score count as the highest",
            "16 % of the clips that have a score of some confidence; the others get no label",
            "fewer candidates, and no clip is called high because nothing could be aligned, or because of its water",
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
            "clips with a scene score above 0.3 are dropped; objects only where `--foreground-limit` or people say so; of own "
            "footage also fades, dissolves, stills and black frames, unless as published",
            "other clips are kept",
        ),
        Deviation(
            "clips of a slice",
            "the first 150 of one shuffle, whatever film they are of",
            "by turns from all films: none has more than an even share and one more, and presets are there about equally often",
            "a mean is of all films rather than of the one with most clips; it compares with none that was printed",
            {"behaviour": "corrected"},
        ),
        Deviation(
            "items of a slice",
            "slices of clip attributes hold the clips of a label, the six of mask attributes the same 150 clips, each time with "
            "other random masks",
            "the same clips at every level of an axis, with one property of each changed, by turns from all films; slices of "
            "camera motion and of motion behind it hold each clip once, unchanged",
            "a difference between levels rests on the same clips: its interval is 42 to 48 % as wide as that of as many items in "
            "slices (`bench/diagnosis.py`); means of a slice compare with none that were printed",
            {"design": "paired"},
        ),
        Deviation(
            "further axes",
            "do not exist",
            "path of the camera over clips that stand still; `--axis` for others",
            "no published number has a counterpart",
            {"design": "paired"},
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
    width: Annotated[int, SIZE] = Field(832, ge=16)
    """Size of the clips."""
    height: int = Field(480, ge=16)
    clip_frames: Annotated[int, Option(CLIPS, "--frames")] = Field(90, ge=1)
    """Frames of a clip."""
    shortest_clip_frames: int = Field(45, ge=1)
    cut_score_limit: Annotated[float, Option(SELECTION)] = Field(0.3, ge=0, le=1)
    """Clips with a higher cut score, which is FFmpeg's scene score, are dropped."""
    level_share: Annotated[float, Option(SELECTION)] = Field(select.SHARE, gt=0, le=0.5)
    """Share of the clips labelled low, and high."""
    level_limit: Annotated[int, Option(SELECTION)] = Field(select.AT_MOST, ge=1)
    """Most clips labelled low, and high."""
    per_slice: Annotated[int, Option(SELECTION)] = Field(150, ge=1)
    """Pairs of clip and mask wanted in each slice."""
    masks_per_preset: int = Field(1000, ge=1)
    masks_per_clip: Annotated[int, Option(MASKS)] = Field(4, ge=1, le=8, exclude_if=(4).__eq__)
    """Most blobs of a clip, in paired designs: further ones where there are fewer clips than pairs wanted."""
    sliced_by: Annotated[
        tuple[str, ...], AfterValidator(_sliced), Option(SELECTION, shown="all five", repeatable=True, names=SLICED_BY)
    ] = Field((), exclude_if=_is_empty)
    """Attributes that get a low and a high slice. Repeatable."""
    design: Annotated[
        Literal["slices", "paired"], Option(SELECTION, shown="paired of corrected footage of one's own, else slices")
    ] = Field("slices", exclude_if="slices".__eq__)
    """paired (every level of an axis holds versions of the same clips), or slices (of other clips, as DEVIL)."""
    axes: Annotated[
        tuple[str, ...],
        AfterValidator(_on_axes),
        Option(MASKS, "--axis", shown=", ".join(paired.USUAL_AXES), repeatable=True, names=AXES),
    ] = Field((), exclude_if=_is_empty)
    """Property in which versions of a clip differ, of a paired design. Repeatable."""
    rules: tuple[Rule, ...] = ()
    """Rules that clips must fulfil besides."""
    strict_rules: StrictRules = False
    review: Annotated[bool, Option(SELECTION, "--review/--no-review", shown="of flickr alone")] = False
    """Wait until people have answered keep for a clip."""
    hdr: Annotated[Literal["exclude", "tone_map"], Option(CLIPS)] = "exclude"
    """Films of high dynamic range: exclude, or tone_map (brings them to the standard range)."""
    cut_bars: Annotated[bool, Option(CLIPS, "--cut-bars/--no-cut-bars")] = False
    """Cut letterbox and pillarbox bars off."""

    splitter: dict[str, Any] | None = None
    """Leaf with its constants; ``windows`` of ``clip_frames`` by default."""
    normalizer: dict[str, Any] | None = None
    """Leaf with its constants; ``cover`` to ``width`` x ``height`` by default."""
    reader: Annotated[Literal["pyav", "decord"], Option(CLIPS)] = "pyav"
    """Who looks for bars: pyav, decord."""
    fps: float | None = Field(None, gt=0)
    """Bring films to this rate, by timestamps; by default they keep theirs."""
    saved_masks: Mapping[str, Any] | None = Field(None, exclude_if=lambda value: value is None)
    """Constants of the generator ``saved_masks``, less the folder: the holes are then those."""
    masks_by_turn: Annotated[bool, BY_TURN] = Field(False, exclude_if=lambda value: value is False)
    """Share saved masks out by a hash of each clip, whatever they are called, and squash them to fit."""
    imperfect: ImperfectMasks = ()
    splits: HeldOut = TEST_ALONE

    @model_validator(mode="after")
    def _reader_has_something_to_read(self) -> DevilRecipe:
        if self.reader != "pyav" and not self.cut_bars:
            raise ValueError("reader: bars are what it looks for, so it needs --cut-bars")
        if self.cut_bars and self.splitter and SPLITTERS.get(self.splitter["name"]).by_index:
            raise ValueError(f"cut_bars: the splitter {self.splitter['name']!r} reads no film whole, as looking for bars does")
        return self

    @model_validator(mode="after")
    def _pairs_are_of_blobs(self) -> DevilRecipe:
        if self.design == "slices":
            if "masks_per_clip" in self.model_fields_set and self.masks_per_clip > 1:
                raise ValueError("masks_per_clip: a slice of other clips holds each under one mask; give --design paired")
            if self.axes:
                raise ValueError("axes: give --design paired, which makes versions of a clip; slices are of other clips")
            return self
        if self.behaviour != "corrected":
            raise ValueError("design: what was published has slices of other clips; a paired design is corrected")
        if self.saved_masks is not None:
            raise ValueError("design: pairs differ in the hole that is drawn, and saved masks are taken as they are")
        if self.imperfect:
            raise ValueError("imperfect: in a paired design imperfect masks are an axis, --axis mask_error")
        if "resolution" in self.axes and (self.normalizer or {}).get("name", "cover") in ("cover", "contain", "stretch"):
            try:
                from inpaintbench.masks.axes.clips import Resolution  # needs OpenCV, which help does without

                Resolution.check_size(width=self.width, height=self.height)
            except Rejected as error:
                raise ValueError(f"axes: resolution takes larger clips: {error}") from None
        return self

    @model_validator(mode="after")
    def _spoilt_masks_are_of_blobs(self) -> DevilRecipe:
        if self.imperfect and self.saved_masks is not None:
            raise ValueError("imperfect: saved masks are taken as they are; give one of the two")
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
    def axes_of_pairs(self) -> tuple[str, ...]:
        """Return the axes of a paired design: those asked for, else the usual ones among the attributes with slices."""
        if self.design == "slices":
            return ()
        if self.axes or not self.sliced_by:
            return self.axes or paired.USUAL_AXES
        return tuple(name for name in paired.USUAL_AXES if name in self.sliced_by)

    @property
    def spread_levels(self) -> bool:
        """Return whether labels by motion are spread over sources."""
        return self.behaviour != "as-published"

    def motion_attribute(self, rates: Iterable[float] = ()) -> str:
        """Return the attribute that camera motion labels are ranked by, of clips of these frame rates."""
        if self.behaviour == "as-published":
            return "camera_motion"
        known = list(rates)
        differ = bool(known) and max(known) > SAME_RATE * min(known)
        return "camera_motion_per_second" if differ else "camera_motion_per_frame"


def check(recipe: DevilRecipe, *, masks: Path | None = None) -> None:
    """Raise ``InputError`` when something that the rules ask for cannot be measured here, or saved masks cannot be read."""
    marking = {rule.attribute for rule in recipe.rules if rule.flag and not recipe.strict_rules}
    measuring.check_weights(name for name in measured_by(recipe) if name not in marking)
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
    rules: Sequence[Rule],
    *,
    foreground_limit: float | None = None,
    least: tuple[int, int] | None = None,
    without: Sequence[str] = (),
) -> tuple[Rule, ...]:
    """The rules of a user, those that footage of one's own or from Flickr has by default, and the one on foreground objects.

    Args:
        rules: the user's own; one on an attribute takes the place of the default one.
        without: names of default rules that are switched off, of ``OWN_FOOTAGE_RULES``.
        foreground_limit: largest share of a frame that boxes of objects may cover; 1 = no such rule, None = the usual one for
            footage from Flickr, no rule for other.
        least: width and height that footage from Flickr has at least; None = it is no such footage.
    """
    published: tuple[Rule, ...] = ()
    if least is not None:
        foreground_limit = FOREGROUND_LIMIT if foreground_limit is None else foreground_limit
        sides = zip(("probe.width", "probe.height"), least, strict=True)
        published = (*PUBLISHED_RULES, *(Rule(attribute=side, at_least=pixels) for side, pixels in sides))
    else:
        stated = {rule.attribute for rule in rules}
        published = tuple(
            rule for name, rule in OWN_FOOTAGE_RULES.items() if name not in without and rule.attribute not in stated
        )
    if foreground_limit is None or foreground_limit >= 1:
        return (*published, *rules)
    return (*published, *rules, Rule(attribute="foreground_fraction", at_most=foreground_limit, name="no foreground objects"))


def switched_off(names: Sequence[str]) -> list[str]:
    """Return the names of the default rules for footage of one's own that ``names`` means; ``all`` is every one.

    Raises:
        InputError: no such rule.
    """
    every = list(OWN_FOOTAGE_RULES)
    for name in names:
        if name not in (*every, "all"):
            raise InputError(unknown_name("rule", name, [*every, "all"]))
    return every if "all" in names else list(names)


def default_rules_off(recipe: DevilRecipe) -> list[str]:
    """Return the names of the default rules that a recipe goes without; a rule of the user on the same attribute counts."""
    stated = {rule.attribute for rule in recipe.rules}
    return [name for name, rule in OWN_FOOTAGE_RULES.items() if rule.attribute not in stated]


def in_place(
    recipe: DevilRecipe, rules: Sequence[Rule] | None = None, *, without: Sequence[str] | None = None
) -> tuple[Rule, ...]:
    """The rules of a recipe with others chosen.

    Args:
        recipe: that has rules.
        rules: in the place of the user's; None = they stay. Default rules stay, but for those on the same attributes.
        without: names of the default rules that are off; None = those that were.
    """
    if rules is None:
        rules = [rule for rule in recipe.rules if rule not in OWN_FOOTAGE_RULES.values()]
    return rules_of_footage(rules, without=default_rules_off(recipe) if without is None else without)


def change_rules(recipe: Any, changed: Mapping[str, Any], without: Sequence[str]) -> Any:
    """A recipe, of whatever kind, that clips are selected by with some options changed.

    Args:
        recipe: of a workspace.
        changed: fields of it; rules stand in the place of the user's alone.
        without: names of the default rules that are off, "all" or "none"; empty = those that were.

    Raises:
        UsageError: default rules are to be off where there are none.
        InputError: the recipe has no such field.
    """
    of_devil = isinstance(recipe, DevilRecipe)
    if without and (not of_devil or recipe.behaviour == "as-published" or set(PUBLISHED_RULES) <= set(recipe.rules)):
        raise UsageError("--without-rule is for footage of one's own that goes through default rules, and this does not")
    if foreign := [name for name in changed if name not in type(recipe).model_fields]:
        raise InputError(f"the recipe {recipe.kind!r} has no {foreign[0]} to change; `inpaintbench masks pair` applies its rules")
    if of_devil and (without or "rules" in changed):
        off = switched_off([name for name in without if name != "none"]) if without else None
        changed = {**changed, "rules": in_place(recipe, changed.get("rules"), without=off)}
    return recipe.model_copy(update=changed)


def asks_for_duplicates(recipe: DevilRecipe) -> bool:
    """Return whether a rule is about near-duplicates."""
    return any(rule.attribute in (duplicates.OF, duplicates.SHARE) for rule in recipe.rules)


def measured_by(recipe: DevilRecipe, rates: Iterable[float] = ()) -> list[str]:
    """The attribute leaves that the rules and labels need, of clips of these frame rates."""
    motion = [recipe.motion_attribute(rates)]
    if recipe.behaviour == "corrected":
        motion.append(CONFIDENCE)
    wanted = ["cut_score", *motion, *(rule.attribute for rule in recipe.rules if rule.attribute)]
    if asks_for_duplicates(recipe):
        wanted.append(PerceptualHash.name)
    return [name for name in dict.fromkeys(wanted) if name in ATTRIBUTES]


def label(recipe: DevilRecipe, executor: Executor, workspace: Workspace) -> None:
    """Clips to labels: measure, drop clips that break a rule, rank camera motion.

    Raises:
        RunError: every clip is dropped.
        Waiting: people have not answered yet; says where the questions are.
    """
    from inpaintbench.curation.funnel import write_review

    clips = workspace.columns("clips", Clip, columns=["clip_id", "source_id"])
    require(clips, "clips", "curation clips")
    motion = _measured(recipe, executor, workspace)
    leakage.group(workspace)
    if asks_for_duplicates(recipe):
        stages.mark_duplicates(executor, workspace)
    judged = select_clips(workspace, rules_of(recipe))
    # Labels of an earlier choice must not stay where this one is refused or waits.
    workspace.write_table("attributes", LEVELS, [], Attribute)
    if recipe.strict_rules:
        refuse_unasked(workspace)
    if waiting := int(judged.waiting.sum()):
        page, table = write_review(workspace, judged)
        older = workspace.path / "exports" / recipe.kind
        still = f"; until then {older} is what an earlier run made" if older.exists() else ""
        raise Waiting(
            f"{waiting} clips wait for keep or reject: look at {page}, fill in a copy of {table}, bring it in with "
            f"`inpaintbench curation answers {workspace.path} FILE`, and run the same command again{still}"
        )
    kept = clips.filter(pa.array(judged.kept))
    if not kept.num_rows:
        by_rule = sorted((count for count in judged.counts() if count.dropped), key=lambda count: -count.dropped)
        reasons = "; ".join(f"{count.dropped} by {count.label}" + _without(count.missing) for count in by_rule)
        raise RunError(f"all {len(clips)} clips were dropped: {reasons}")
    attribute = recipe.motion_attribute(_rates(workspace))
    levels = _levels(recipe, workspace, kept, _sure(motion, workspace), attribute=attribute, level=SLICE_LEVELS["camera_motion"])
    of_kinds = [levels, _scene_motion_levels(recipe, workspace, kept)]
    if recipe.behaviour == "corrected":
        of_kinds = [_once(workspace, levels) for levels in of_kinds]
    workspace.write_columns("attributes", LEVELS, pa.concat_tables(of_kinds))


def _measured(recipe: DevilRecipe, executor: Executor, workspace: Workspace) -> pa.Table:
    """Measure what the rules and labels need; the rows of camera motion."""
    # As published, clips whose features agree on no camera stay without a label.
    constants = {"camera_motion": {"fallback": False}} if recipe.behaviour == "as-published" else {}
    rates = _rates(workspace)
    # Copies are found by hashes that are measured with the rest, so that each clip is decoded once.
    hashes = look_alikes.leaves(workspace.columns("clips", Clip, columns=["clip_id"]).num_rows)
    leaves = {name: constants.get(name, {}) for name in (*measured_by(recipe, rates), *hashes)}
    outcomes = measuring.measure_together(executor, workspace, leaves=leaves)
    return outcomes[recipe.motion_attribute(rates)].columns("subject_id", "value", "value_text", "reason")


def _sure(motion: pa.Table, workspace: Workspace) -> pa.Table:
    """Rows of camera motion with a reason instead of a value where it may be the motion of something else."""
    rows = workspace.columns("attributes", Attribute, where=("name", [CONFIDENCE]), columns=["subject_id", "value"])
    places = last_places(flat(rows["subject_id"]), flat(motion["subject_id"]))
    confidence = flat(rows["value"]).take(pa.array(places, mask=places < 0))
    unsure = pc.fill_null(pc.less(confidence, LEAST_CONFIDENCE), False)
    unsure = pc.and_(unsure, flat(motion["value"]).is_valid())
    told = [f"{CONFIDENCE} is {value:.2g}, below {LEAST_CONFIDENCE:g}" for value in confidence.filter(unsure).to_pylist()]
    nothing = pa.scalar(None, motion.schema.field("value").type)
    changed = {
        "value": pc.if_else(unsure, nothing, flat(motion["value"])),
        "reason": pc.replace_with_mask(flat(motion["reason"]), unsure, pa.array(told, pa.string())),
    }
    for name, column in changed.items():
        motion = motion.set_column(motion.schema.get_field_index(name), name, column)
    return motion


def _rates(workspace: Workspace) -> list[float]:
    """The different frame rates of clips; of those that are published where they are added to, whose thresholds hold."""
    if published := appended(workspace):
        return sorted({clip.fps for clip in published.clips.values()})
    rates: list[float] = pc.unique(workspace.columns("clips", Clip, columns=["fps"])["fps"]).to_pylist()
    return rates


def _levels(
    recipe: DevilRecipe, workspace: Workspace, clips: pa.Table, measured: pa.Table, *, attribute: str, level: str
) -> pa.Table:
    """Labels by rank; in a benchmark that is added to, by the thresholds of its published labels, which stay."""
    published = appended(workspace)
    thresholds = published.thresholds(attribute, level=level) if published else {}
    if published is None or not thresholds:
        corrected = recipe.behaviour == "corrected"
        if corrected:
            clips = pa.table({"clip_id": clips["clip_id"], "source_id": leakage.sources_of(workspace, clips)})
        return select.rank_levels(
            clips, measured, level=level, share=recipe.level_share,
            at_most=recipe.level_limit, spread=recipe.spread_levels, alike=leakage.alike(workspace) if corrected else {},
            least_high=LEAST_HIGH.get(attribute, -math.inf) if corrected else -math.inf,
        )  # fmt: skip
    was = published.dataset.recipe["leaves"]["attribute"].get(attribute)
    now = ATTRIBUTES.get(attribute).version if attribute in ATTRIBUTES else None
    if was != now:
        raise InputError(
            f"{attribute} {now} measures otherwise than version {was}, by which {dataset_id(published.dataset)} divides low from"
            " high, so its thresholds do not hold; build anew with --replace, or add with the version of the program that made it"
        )
    return select.levels_within(clips, measured, level=level, thresholds=thresholds, known=published.values(level))


def _once(workspace: Workspace, levels: pa.Table) -> pa.Table:
    """Labels of one kind, of which near-duplicates get one: the first that has any."""
    labelled = flat(levels["subject_id"]).filter(flat(levels["value_text"]).is_valid()).to_pylist()
    doubles = set(labelled).difference(leakage.once(workspace, labelled))
    if not doubles:
        return levels
    rows = [
        replace(row, value=None, reason="a near-duplicate of a clip that stands for it") if row.subject_id in doubles else row
        for row in to_records(levels, Attribute)
    ]
    return to_columns(rows, Attribute)


def _scene_motion_levels(recipe: DevilRecipe, workspace: Workspace, kept: pa.Table) -> pa.Table:
    """By rank among the clips that raters answered about; the others keep the labels of their footage or from a file."""
    rows = workspace.columns("attributes", Attribute, where=("name", [SCENE_MOTION]))
    answered = rows.filter(pc.equal(rows["producer"], ANNOTATED))
    asked = pc.is_in(kept["clip_id"], value_set=flat(answered["subject_id"]))
    level = SLICE_LEVELS[SCENE_MOTION]
    ranked = _levels(recipe, workspace, kept.filter(asked), answered, attribute=SCENE_MOTION, level=level)
    labels = [workspace.columns("attributes", Attribute, step=step, where=("name", [level])) for step in (KNOWN, LABELS)]
    others = kept.filter(pc.invert(asked))
    return pa.concat_tables([ranked, select.inherited_levels(others, pa.concat_tables(labels), level=level)])


def scene_motion_words(workspace: Workspace, dataset: Dataset) -> str | None:
    """Way to the slices by scene motion, which people's labels give; None where none is left out."""
    lacking = [name for name in dataset.left_out if name.startswith(f"{SCENE_MOTION}-")]
    if not lacking:
        return None
    rows = workspace.columns("attributes", Attribute, where=("name", [SCENE_MOTION]))
    rows = rows.filter(pc.and_(pc.equal(rows["producer"], ANNOTATED), rows["value"].is_valid()))
    answered = len(pc.unique(rows["subject_id"]))
    again = "and run the same command again" + ("" if appended(workspace) else " with --replace")
    if answered:
        return (
            f"{' and '.join(lacking)}: raters' answers give a share for {answered} clip{'' if answered == 1 else 's'} of the "
            f"workspace, and low and high need two that the rules keep; ask about more of them or add films, {again}"
        )
    return (
        f"{' and '.join(lacking)}: what moves behind the camera is a label that people give; write it into a CSV for --labels, "
        f"or ask raters (inpaintbench annotate new devil_labels), {again}"
    )


def _without(missing: int) -> str:
    return f" ({missing} of them have no value)" if missing else ""


def corrupt(recipe: DevilRecipe, executor: Executor, workspace: Workspace, *, masks: Path | None = None) -> None:
    """Labels to items: pair clips with masks, render the masks that are used, measure them.

    ``masks`` is the folder of the saved masks of a recipe that uses those.
    """
    require(workspace.columns("attributes", Attribute, step=LEVELS, columns=["name"]), LABELS, "curation select")
    if recipe.saved_masks is not None:
        names, of_clips = _drawn_from(recipe, workspace)
        clips = {clip.clip_id: clip for clip in workspace.table("clips", Clip)}
        own_masks.corrupt(recipe, executor, workspace, [clips[name] for name in names], masks, of_clips)
        return
    if recipe.design == "paired":
        paired.corrupt(recipe, executor, workspace, draw(recipe, workspace))
        return
    if AXES_OF_ITEMS in workspace.steps("attributes"):  # of an earlier build with another design
        workspace.write_table("attributes", AXES_OF_ITEMS, [], Attribute)
        workspace.write_table("rejected", AXES_OF_ITEMS, [], Rejection)
    rendered = sliced.make(recipe, executor, workspace, _plan(recipe, workspace))
    measured = render.measure_all(executor, rendered)
    workspace.write_rows("attributes", MASK_LEVELS, promised_levels(rendered, measured))
    if recipe.imperfect:
        _write_imperfect(recipe, executor, workspace, rendered.records)


def draw(recipe: DevilRecipe, workspace: Workspace) -> paired.Drawn:
    """Return the clips of each slice and axis of corrected blobs, of a workspace with labels."""
    names, of_clips = _drawn_from(recipe, workspace)
    if recipe.design == "slices":
        plan = _plan(recipe, workspace)
        ids = iter(plan.pairs.clip_ids)
        drawn = {name: list(islice(ids, count)) for name, count in plan.pairs.counts.items()}
        return paired.Drawn(drawn, left_out=plan.left_out, films=_films(workspace, names))
    motion = recipe.motion_attribute(_rates(workspace))
    moves = workspace.columns("attributes", Attribute, where=("name", [motion]), columns=["subject_id", "value"])
    still = flat(moves["subject_id"]).filter(pc.fill_null(pc.less(flat(moves["value"]), LEAST_HIGH[motion]), False))
    wanted, published = recipe.sliced_by or SLICED_BY, appended(workspace)
    return paired.draw(
        {attribute: levels for attribute, levels in of_clips.items() if attribute in wanted},
        every=names, still=set(names).intersection(still.to_pylist()), sources=_films(workspace, names),
        axes=recipe.axes_of_pairs, per_slice=recipe.per_slice, seed=recipe.seed, members=published.members if published else {},
    )  # fmt: skip


def _drawn_from(recipe: DevilRecipe, workspace: Workspace) -> tuple[list[str], dict[str, dict[str, list[str]]]]:
    """Return ``_clips_by_level``, of clips that show the same but one, unless it is as published or people gave the masks."""
    names, of_clips = _clips_by_level(workspace)
    # Masks of the name of a film make an item that people gave.
    if recipe.behaviour == "corrected" and (recipe.saved_masks is None or recipe.masks_by_turn):
        labelled = {clip for levels in of_clips.values() for clips in levels.values() for clip in clips}
        chosen = set(leakage.once(workspace, sorted(names, key=lambda name: name not in labelled)))
        names = [name for name in names if name in chosen]
    return names, of_clips


def _clips_by_level(workspace: Workspace) -> tuple[list[str], dict[str, dict[str, list[str]]]]:
    """Ids of the clips that are kept, in the order of their names, and clip attribute -> level -> those that are labelled so."""
    dropped = workspace.columns("selection", Selection, columns=["clip_id", "keep"])
    outside = flat(dropped.filter(pc.invert(dropped["keep"]))["clip_id"])
    clips = workspace.columns("clips", Clip, columns=["clip_id", "source_id", "start_frame"])
    clips = clips.filter(pc.invert(pc.is_in(clips["clip_id"], value_set=outside))).combine_chunks()
    sources = workspace.columns("sources", Source, columns=["source_id", "uri"])
    uris = flat(sources["uri"]).take(pa.array(last_places(flat(sources["source_id"]), flat(clips["source_id"]))))
    order = pc.sort_indices(
        pa.table({"uri": uris, "start": clips["start_frame"]}), [("uri", "ascending"), ("start", "ascending")]
    )
    ids = flat(clips["clip_id"]).take(order)
    by_name: list[str] = ids.to_pylist()
    levels = workspace.columns("attributes", Attribute, step=LEVELS, columns=["subject_id", "name", "value_text"])
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


def _plan(recipe: DevilRecipe, workspace: Workspace) -> slices.Plan:
    names, of_clips = _drawn_from(recipe, workspace)
    wanted, published = recipe.sliced_by or SLICED_BY, appended(workspace)
    return slices.plan(
        {attribute: levels for attribute, levels in of_clips.items() if attribute in wanted},
        all_clips=names,
        presets={preset: {name: level for name, level in labels_of(preset).items() if name in wanted} for preset in PRESETS},
        per_slice=recipe.per_slice,
        behaviour=recipe.behaviour,
        seed=recipe.seed,
        masks_per_preset=recipe.masks_per_preset,
        members=published.members if published else {},
        sources=_films(workspace, names) if recipe.behaviour == "corrected" else {},
    )


def _films(workspace: Workspace, clip_ids: Collection[str]) -> dict[str, str]:
    """Return the source of each of some clips, and of published ones."""
    clips = workspace.columns("clips", Clip, columns=["clip_id", "source_id"], where=("clip_id", set(clip_ids))).combine_chunks()
    published = appended(workspace)
    return {
        **(published.films if published else {}),
        **dict(zip(clips["clip_id"].to_pylist(), leakage.sources_of(workspace, clips).to_pylist(), strict=True)),
    }


def _write_imperfect(recipe: DevilRecipe, executor: Executor, workspace: Workspace, exact: Sequence[Corruption]) -> None:
    """Add the items with imperfect masks: under them shows what is missing, as far as they do not cover it."""
    clips = {clip.clip_id: clip for clip in workspace.table("clips", Clip)}
    shown = {row.parameters["parent"]: row for row in removal.shown(executor, exact, clips).records}
    parents = [shown[row.corruption_id] for row in exact if row.corruption_id in shown]
    rows, _ = imperfect.spoilt(executor, workspace, parents, clips, [], kinds=recipe.imperfect, seed=recipe.seed)
    items, known = workspace.table("items", Item, step=PAIR), {row.corruption_id: row for row in exact}
    if not items:
        return  # all that is asked for is published, so nothing is added
    split_of = {item.clip_id: item.split for item in items}
    more = [
        Item(content_id(row.clip_id, row.corruption_id), row.clip_id, row.corruption_id, split_of[row.clip_id]) for row in rows
    ]
    of_masks = imperfect.by_mask([*items, *more], [*(known[item.corruption_id] for item in items), *rows])
    stages.write_items(
        workspace, [*items, *more], [*workspace.table("slices", Slice, step=PAIR), *of_masks],
        {row.subject_id: row.reason for row in workspace.table("rejected", Rejection, step=PAIR)}, empty="",
    )  # fmt: skip


def leaves_of(recipe: DevilRecipe, rates: Iterable[float] = ()) -> dict[str, list[str]]:
    """Kind of leaf -> names of those that the recipe uses."""
    return {
        "splitter": [recipe.cutting.splitter["name"]],
        "normalizer": [recipe.cutting.normalizer["name"]],
        "attribute": measured_by(recipe, rates),
        "mask generator": [
            sliced.GENERATOR if recipe.saved_masks is None else "saved_masks",
            *(["imperfect_mask"] if recipe.imperfect else []),
            *(["varied"] if any(AXES.get(axis).changes != "preset" for axis in recipe.axes_of_pairs) else []),
        ],
        **({"axis": list(recipe.axes_of_pairs)} if recipe.axes_of_pairs else {}),
    }


def export(recipe: DevilRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices to a frozen dataset folder, by default ``WORKSPACE/exports/devil``."""
    rates = _rates(workspace)
    measured = [measuring.step_of(name) for name in measured_by(recipe, rates)]
    people = [step for step in workspace.steps("attributes") if step.startswith(f"{ANNOTATED}.")]
    steps = (*measured, MEASURED_MASKS, KNOWN, LABELS, *people, LEVELS, MASK_LEVELS, imperfect.STEP, AXES_OF_ITEMS)
    steps = (*steps, *map(paired.measure_step, recipe.axes_of_pairs))
    names = workspace.columns("slices", Slice, columns=["name"])["name"].to_pylist()
    there = {str(name).rsplit("-", 1)[0] for name in names}
    # Whatever a benchmark that is added to has, it keeps.
    axes = [axis for axis in recipe.axes_of_pairs if axis in there or appended(workspace)]
    facts = {paired.FACT: paired.facts(axes)} if axes else {}
    about = paired.about(axes) if axes else ""
    publication = stages.Publication(recipe, steps, leaves_of(recipe, rates), about=about, facts=facts)
    return stages.export(publication, workspace, target=target)


# The form that comes nearest to the publication; what that leaves open is stated as a deviation.
AS_PUBLISHED = DevilRecipe(behaviour="as-published")
