"""EditBoard, AAAI 2025: clips, prompts that ask for edits in four tasks, and masks of the objects that these are about.

Nothing is missing: a method sees the clip itself, and whole frames are judged. The video list and the prompts of the paper were
never released, so footage and prompts are the builder's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from inpaintbench import video
from inpaintbench.catalogue import Deviation
from inpaintbench.curation import fitting, footage, measuring, nearer
from inpaintbench.curation.attributes.changes import ENOUGH, WarpValidShare
from inpaintbench.curation.nearer import ZOOM
from inpaintbench.curation.sources.base import located
from inpaintbench.curation.sources.edit_folders import EDITS, MASK_TASKS, OBJECT_MASK
from inpaintbench.curation.sources.edit_prompts import task_fault, wants_mask
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Executor, Rejection
from inpaintbench.export import slices
from inpaintbench.recipes import levels, stages
from inpaintbench.recipes.options import CLIPS, DATASET, TEST_ALONE, Behaviour, HeldOut, Option
from inpaintbench.recipes.stages import SourceSpec, require
from inpaintbench.steps import AXES_OF_ITEMS, AXIS_CLIPS, KNOWN, LEVEL_OF, OBJECT_MASKS
from inpaintbench.types import EDIT, EDIT_TASKS, Answer, Attribute, Clip, Corruption, Dataset, Item, Plain, Source, content_id
from inpaintbench.workspace import Workspace

VERSION = "1"
# The question whose answers say what clips show, where the file of prompts does not.
QUESTION = "source_prompt"
# In a task. Source: EditBoard, AAAI 2025.
FEWEST_CLIPS = 10
# The axis of a paired design: the same clip as it is, and from nearer.
SMALL, LARGE = "small", "large"
AXIS = levels.LevelsOf("object_size", (SMALL, LARGE), "share of the frame that the object covers", "the clip")
# Steps of the footage that nearer clips are cut from and of its masks, and of the masks of nearer clips.
_LARGE, _LARGE_MASKS, _NEARER = f"{AXIS_CLIPS}.large", f"{OBJECT_MASKS}.large", f"{OBJECT_MASKS}.nearer"
# Of a nearer clip, the clip that it shows: name and step.
_SHOWS = "nearer_of"


class EditingRecipe(BaseModel):
    """Every choice of the benchmark; the dataset carries it resolved."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", use_attribute_docstrings=True)
    kind: ClassVar[str] = "editing"
    kept_by_growth: ClassVar[tuple[str, ...]] = ("paired",)
    follows: ClassVar[str] = "the paper of EditBoard, AAAI 2025; its videos and prompts were not published"
    deviations: ClassVar[tuple[Deviation, ...]] = (
        Deviation(
            "clips and prompts",
            "10 clips a task from DAVIS 2017 and LOVEU-TGVE-2023, two prompts each",
            "the builder's; fewer than 10 clips in a task are told",
            "numbers of other clips compare with none that were printed",
        ),
        Deviation(
            "source prompts",
            "captions of BLIP-2",
            "from the file of prompts, from raters, or from a captioner that is named",
            "success rates compare with other words",
        ),
    )

    name: str = "Video editing"
    behaviour: Behaviour = "corrected"
    """``as-published`` squashes frames to the square, as EditBoard's script does; ``corrected`` cuts out the centre."""
    fit: Annotated[Literal["square", "none"], Option(CLIPS)] = Field("square", exclude_if="square".__eq__)
    """Frames become squares, as EditBoard has them, or keep their size and shape."""
    side: Annotated[int, Option(CLIPS)] = Field(512, ge=16)
    """Of the square frames; with --fit none they keep theirs."""
    frames: Annotated[int | None, Option(CLIPS, shown="all")] = Field(None, ge=2)
    """At most so many of a clip, the first."""
    mask_tasks: tuple[str, ...] = MASK_TASKS
    """Tasks whose items carry an object mask; without one they are refused."""
    paired: Annotated[bool, Option(DATASET, "--paired/--no-paired")] = Field(False, exclude_if=lambda paired: not paired)
    """Show objects from nearer, too, where footage has twice the side and they stay in half of the frame."""
    captioner: Annotated[str | None, Option(DATASET)] = Field(
        None, description="Attribute whose text says what a clip shows where the prompts do not."
    )
    """A leaf, perhaps of another package, for what neither file nor rater says."""
    seed: int = Field(0, exclude_if=(0).__eq__)
    """Of the order in which clips are dealt to splits."""
    splits: HeldOut = TEST_ALONE

    @field_validator("mask_tasks")
    @classmethod
    def _known_tasks(cls, tasks: tuple[str, ...]) -> tuple[str, ...]:
        for task in tasks:
            if fault := task_fault(task):
                raise ValueError(fault)
        return tasks

    @model_validator(mode="after")
    def _nothing_is_squashed(self) -> EditingRecipe:
        if self.paired and self.behaviour == "as-published":
            raise ValueError("paired: published frames are squashed, and nobody shows them from nearer; give one of the two")
        if self.fit == "none" and (self.paired or self.behaviour == "as-published" or "side" in self.model_fields_set):
            raise ValueError("fit: frames that keep their size have no side, are not squashed and are not shown from nearer")
        return self

    @property
    def large(self) -> dict[str, Any]:
        """Normalizer of the frames that nearer ones are cut from, which enlarges nothing."""
        return {"name": "cover", "width": ZOOM * self.side, "height": ZOOM * self.side, "most_enlargement": 1}

    @property
    def normalizer(self) -> dict[str, Any]:
        """Normalizer that brings frames, and masks with them, to the square; with ``fit`` none to none."""
        if self.fit == "none":
            return {"name": "as_is"}
        name = "stretch" if self.behaviour == "as-published" else "cover"
        most = {"most_enlargement": 1e6} if name == "stretch" else {}  # the script enlarges whatever it takes
        return {"name": name, "width": self.side, "height": self.side, **most}


@dataclass(frozen=True)
class _Edit:
    """One edit of one clip."""

    clip: Clip
    task: str
    source_prompt: str | None
    target_prompt: str | None
    object: int | None
    instruction: str | None = None
    questions: Mapping[str, str] | None = None

    def wants_mask(self, recipe: EditingRecipe) -> bool:
        """Whether its item carries the mask of an object."""
        return wants_mask(self.task, self.object, recipe.mask_tasks)


def curate(recipe: EditingRecipe, sources: Sequence[SourceSpec], executor: Executor, workspace: Workspace) -> None:
    """Clips, exact to the normalised frames: whole frames are judged, and edits may come from the same originals."""
    cutting = stages.Cutting.without_loss(recipe.normalizer, frames=recipe.frames, shortest=2)
    made = stages.curate(cutting, sources, executor, workspace)
    if recipe.paired:
        footage.cut(
            executor, made.sources, located(made.sources, made.footage), (), splitter=cutting.splitter,
            normalizer=recipe.large, form=cutting.form, name=_LARGE, table=AXIS_CLIPS,
        )  # fmt: skip


def check(recipe: EditingRecipe) -> None:
    """Raise ``InputError`` when the captioner is no attribute."""
    if recipe.captioner:
        from inpaintbench.curation.attributes import ATTRIBUTES

        ATTRIBUTES.get(recipe.captioner)


def label(recipe: EditingRecipe, executor: Executor, workspace: Workspace) -> None:
    """Measure how well flow explains each clip, object masks at its size, and what it shows if a captioner is to say so."""
    clips = stages.first_clips(workspace)
    parts = {row.source_id: row for row in workspace.table("sources", Source)}
    wanted = {
        (edit.clip.clip_id, edit.object): fitting.Wanted(edit.clip, str(source.parts[OBJECT_MASK]), edit.object, source.uri)
        for edit in _edits(workspace, clips)
        if edit.wants_mask(recipe) and OBJECT_MASK in (source := parts[edit.clip.source_id]).parts
    }
    fitting.fit_masks(executor, list(wanted.values()), normalizer=recipe.normalizer)
    nearer_ones = _from_nearer(recipe, executor, workspace, list(wanted.values())) if recipe.paired else []
    measuring.measure(executor, [*clips, *nearer_ones], leaf=WarpValidShare.name)
    if recipe.captioner:
        measuring.measure(executor, clips, leaf=recipe.captioner)


def _from_nearer(recipe: EditingRecipe, executor: Executor, workspace: Workspace, wanted: Sequence[fitting.Wanted]) -> list[Clip]:
    """Film what is wanted from nearer, with its masks; the clips."""
    spans = {(row.source_id, row.start_frame, row.end_frame): row for row in workspace.table(AXIS_CLIPS, Clip, step=_LARGE)}
    large = {}
    for clip in (one.clip for one in wanted):
        if (row := spans.get((clip.source_id, clip.start_frame, clip.end_frame))) is not None:
            large[clip.clip_id] = row
    of_large = [replace(one, clip=large[one.clip.clip_id]) for one in wanted if one.clip.clip_id in large]
    fitted = fitting.fit_masks(executor, of_large, step=_LARGE_MASKS, normalizer=recipe.large)
    masks = {(row.subject_id, row.name): str(row.blob) for row in fitted.records}
    asked: dict[str, nearer.Wanted] = {}
    names: dict[str, list[str]] = {}
    for one in wanted:
        name, of = fitting.mask_name(one.variant), large.get(one.clip.clip_id)
        if of is not None and (mask := masks.get((of.clip_id, name))) is not None:
            clip_id = nearer.clip_id_of(one.clip, mask)
            asked[clip_id] = nearer.Wanted(one.clip, of, mask, one.name)
            names.setdefault(clip_id, []).append(name)
    made = nearer.film(executor, list(asked.values()), step=AXIS.name).records
    rows, shows = [], []
    for clip in made:
        hole = nearer.mask_of(video.read_hole(workspace.blobs.proved(asked[clip.clip_id].mask)))
        blob, _ = workspace.blobs.put(video.suffix_for(clip.frames), partial(video.write_hole, hole=hole, fps=clip.fps))
        of_mask = (None, OBJECT_MASKS, fitting.MASKS_VERSION, blob)
        rows += [Attribute(clip.clip_id, name, float(hole.mean()), *of_mask) for name in names[clip.clip_id]]
        shows.append(Attribute(clip.clip_id, _SHOWS, asked[clip.clip_id].clip.clip_id, None, OBJECT_MASKS, nearer.VERSION))
    workspace.write_table("attributes", _NEARER, rows, Attribute)
    workspace.write_table("attributes", _SHOWS, shows, Attribute)
    return made


def _edits(workspace: Workspace, clips: Sequence[Clip]) -> Iterator[_Edit]:
    known = stages.facts_of(workspace, [KNOWN])
    for clip in clips:
        row = known.get((clip.source_id, EDITS))
        if row is None or row.blob is None:
            raise InputError("the clips come without prompts; build from a source that has some, such as edit_clips")
        for edit in json.loads(workspace.blobs.proved(row.blob).read_bytes()):
            yield _Edit(clip, **edit)


def corrupt(recipe: EditingRecipe, executor: Executor, workspace: Workspace) -> None:  # noqa: ARG001 - stage signature
    """An item for every prompt. What a clip shows is taken from the file, else from raters, else from the captioner."""
    clips = stages.first_clips(workspace)
    require(clips, "clips", "build editing")
    # (clip, attribute) -> the mask's blob and the hash of what it decodes to.
    masks = {}
    for row in (row for step in (OBJECT_MASKS, _NEARER) for row in workspace.table("attributes", Attribute, step=step)):
        hole = video.read_hole(workspace.blobs.proved(str(row.blob)))
        masks[row.subject_id, row.name] = (str(row.blob), hashlib.sha256(hole.tobytes()).hexdigest())
    prompts, names = _told(recipe, workspace), stages.clip_names(workspace, clips)
    near, groups = _nearer_clips(workspace) if recipe.paired else {}, dict[str, dict[str, Corruption]]()
    made, refused = [], []
    for edit in _edits(workspace, clips):
        mask = masks.get((edit.clip.clip_id, fitting.mask_name(edit.object)))
        if not edit.wants_mask(recipe):
            mask = None
        elif mask is None:
            reason = f"has no object mask, which {edit.task} needs"
            refused.append(Rejection(edit.clip.clip_id, EDITS, names[edit.clip.clip_id], reason))
            continue
        said = edit.source_prompt or prompts.get(edit.clip.clip_id)
        made.append(_corruption(edit, said, mask))
        if mask and (clip := near.get((edit.clip.clip_id, fitting.mask_name(edit.object)))) is not None:
            mask = masks[clip.clip_id, fitting.mask_name(edit.object)]
            of = {SMALL: made[-1], LARGE: _corruption(replace(edit, clip=clip), said, mask, of_clip=edit.clip.clip_id)}
            groups[of[SMALL].corruption_id] = of
            made.append(of[LARGE])
    workspace.write_table("rejected", EDITS, list(dict.fromkeys(refused)), Rejection)
    workspace.write_table("corruptions", EDITS, sorted(made, key=lambda row: row.corruption_id), Corruption)
    source_of = {clip.clip_id: clip.source_id for clip in clips}
    cut = {row.corruption_id: str(row.parameters.get("of_clip", row.clip_id)) for row in made}
    split_of = stages.split_of(recipe, workspace, {clip: source_of[clip] for clip in cut.values()})
    items = {
        name: Item(content_id(row.clip_id, name), row.clip_id, name, split_of[cut[name]])
        for name, row in {row.corruption_id: row for row in made}.items()
    }
    tasks = {items[row.corruption_id].item_id: (str(row.parameters["task"]),) for row in made}
    own = [task for task in dict.fromkeys(task for (task,) in tasks.values()) if task not in EDIT_TASKS]
    published = EDIT_TASKS if any(task in EDIT_TASKS for (task,) in tasks.values()) or not own else ()
    parts, left_out = slices.by_value(tasks, "task", name="task", wanted=(*published, *sorted(own)))
    parts += levels.write(workspace, AXIS, groups, list(items.values()))
    stages.write_items(
        workspace, list(items.values()), [slices.everything(list(tasks)), *parts], left_out,
        empty="not one edit can be asked for; `inpaintbench curation rejected` says why",
    )  # fmt: skip


def _nearer_clips(workspace: Workspace) -> dict[tuple[str, str], Clip]:
    """(clip, name of the attribute of an object's mask) -> the clip from nearer."""
    clips = {clip.clip_id: clip for clip in workspace.table(AXIS_CLIPS, Clip, step=f"{AXIS_CLIPS}.{AXIS.name}")}
    shows = {row.subject_id: str(row.value) for row in workspace.table("attributes", Attribute, step=_SHOWS)}
    rows = workspace.table("attributes", Attribute, step=_NEARER)
    return {(shows[row.subject_id], row.name): clips[row.subject_id] for row in rows}


def _told(recipe: EditingRecipe, workspace: Workspace) -> dict[str, str]:
    """Clip -> what it shows, by the captioner or, before it, by raters."""
    prompts: dict[str, str] = {}
    if recipe.captioner:
        rows = workspace.table("attributes", Attribute, step=measuring.step_of(recipe.captioner))
        prompts = {row.subject_id: row.value for row in rows if isinstance(row.value, str)}
    answers = (row for row in workspace.table("answers", Answer) if row.question == QUESTION)
    return prompts | {row.subject_id: row.answer for row in answers if row.answer}


def _corruption(
    edit: _Edit, source_prompt: str | None, mask: tuple[str, str] | None, *, of_clip: str | None = None
) -> Corruption:
    clip, (blob, digest) = edit.clip, mask or (None, None)
    asked: dict[str, Any] = {"task": edit.task, "source_prompt": source_prompt, "target_prompt": edit.target_prompt}
    if edit.instruction is not None:
        asked["instruction"] = edit.instruction
    if edit.questions:
        asked["questions"] = dict(edit.questions)
    if blob and edit.object is not None:
        asked["object"] = edit.object
    if of_clip is not None:
        asked["of_clip"] = of_clip
    return Corruption(
        corruption_id=content_id(clip.clip_id, EDIT, VERSION, asked, digest), clip_id=clip.clip_id, generator=EDIT,
        parameters=asked, seed=0, parent_id=None, hole=None, hole_sha256=None, input=clip.blob, input_sha256=clip.rgb_sha256,
        object_mask=blob, object_mask_sha256=digest,
    )  # fmt: skip


def leaves_of(recipe: EditingRecipe) -> dict[str, list[str]]:
    """Kind of leaf -> names of those that the recipe uses."""
    captions = [recipe.captioner] if recipe.captioner else []
    return {
        "splitter": ["windows"],
        "normalizer": [recipe.normalizer["name"]],
        "attribute": [WarpValidShare.name, *captions],
    }


def export(recipe: EditingRecipe, workspace: Workspace, *, target: Path | None = None) -> tuple[Path, Dataset]:
    """Items and slices to a frozen dataset folder, by default ``WORKSPACE/exports/editing``."""
    publication = stages.Publication(
        recipe,
        attribute_steps=(OBJECT_MASKS, _NEARER, AXES_OF_ITEMS, *map(measuring.step_of, leaves_of(recipe)["attribute"])),
        leaves=leaves_of(recipe),
        about=_ABOUT,
        hole_is_given=False,
        facts=levels.facts(workspace, AXIS),
    )
    return stages.export(publication, workspace, target=target)


_ABOUT = (
    "Edits by prompt: `truth` shows what `source_prompt` says and is to show what `target_prompt` says, in four tasks: one"
    " attribute of one object (SOSA), style (SE), several attributes of one object (SOMA), several objects and attributes (MOA)."
    " Nothing is missing; whole frames are judged. In `attributes`, `warp_valid_share` is the share of pixels that optical flow"
    f" explains: from {ENOUGH:.2f} FF-alpha applies, below it FF-beta; `object_fraction` is the mean share of the object."
)


def warnings(rows: Sequence[Plain]) -> list[str]:
    """Warnings for readers of a dataset's scores, from its rows, a sentence each."""
    notes, as_filmed = [], [row for row in rows if row["attributes"].get(f"{LEVEL_OF}{AXIS.name}") != LARGE]
    for task in dict.fromkeys(row["task"] for row in rows):
        clips = len({row["clip_id"] for row in as_filmed if row["task"] == task})
        if task in EDIT_TASKS and clips < FEWEST_CLIPS:
            notes.append(
                f"{task} has {_counted(clips, 'clip')}, fewer than the {FEWEST_CLIPS} of the paper: its means will be unsure"
            )
    shares = {row["clip_id"]: row["attributes"].get(WarpValidShare.name) for row in rows}
    known: list[float] = [share for share in shares.values() if share is not None]
    if not any(share >= ENOUGH for share in known):
        best = f"; the best has {max(known):.2f}" if known else ""
        notes.append(f"no clip reaches a valid share of {ENOUGH:.2f}{best}: FF-alpha will have no value, only FF-beta")
    unsaid = sum(row["source_prompt"] is None for row in rows)
    if unsaid:
        notes.append(
            f"nobody says what the clip shows for {unsaid} of {_counted(len(rows), 'item')}, which success_rate needs: add"
            f" source_prompt to the prompts, import answers to {QUESTION!r}, or name a captioner"
        )
    bare = sum(row.get("target_prompt") is None and row.get("instruction") is not None for row in rows)
    if bare:
        notes.append(
            f"{bare} of {_counted(len(rows), 'item')} have an instruction alone, where clip_similarity and success_rate have"
            " no value: add target_prompt to the prompts"
        )
    return notes


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# The form that comes nearest to the publication; what that leaves open is stated as a deviation.
AS_PUBLISHED = EditingRecipe(behaviour="as-published")
