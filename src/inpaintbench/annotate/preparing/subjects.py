"""Subjects of a study: clips of a workspace, or items of a frozen dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inpaintbench import frozen
from inpaintbench.annotate.preparing.pictures import Shape
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.files import display_name, file_sha256
from inpaintbench.tables import to_columns, to_records
from inpaintbench.types import Attribute, Clip, Dataset, Selection, Source, content_id, item_rng
from inpaintbench.workspace import Workspace


@dataclass(frozen=True)
class StudySubject:
    """A clip or an item, with what its players are made from."""

    subject_id: str
    cluster: str
    """Its source, by which answers cluster: as ``frozen.source_of`` has it."""
    name: str
    """Name of its source, as people know it."""
    caption: str
    shape: Shape
    fps: float
    content: str
    """Identity of its pixels."""
    media: Mapping[str, Any]
    """``clip``: path of its file; or ``root`` and ``row`` of an item."""
    has_hole: bool = False
    has_truth: bool = True
    file: str = ""
    """Id of the file that it is from."""
    prompt: str = ""
    """Text that raters read."""


def clip_subjects(workspace: Workspace, *, kept: bool, prompt: str | None = None) -> list[StudySubject]:
    """The clips of ``workspace`` by the names of their sources, then by time.

    Args:
        workspace: with the tables ``clips`` and ``sources``.
        kept: without those that a rule of the table ``selection`` drops, or that wait for answers.
        prompt: attribute of the clips, or else their sources, that raters read.

    Raises:
        InputError: none is there, none is kept, or none has the attribute.
    """
    clips = list({clip.clip_id: clip for clip in workspace.table("clips", Clip)}.values())
    if not clips:
        raise InputError(f"workspace {str(workspace.path)!r} holds no clips; make them with `inpaintbench curation clips`")
    dropped = {row.clip_id for row in workspace.table("selection", Selection) if not row.keep} if kept else set()
    left = [clip for clip in clips if clip.clip_id not in dropped]
    if not left:
        raise InputError(f'no clip of {str(workspace.path)!r} is kept by its rules; choose clips = "all" to label every one')
    uri_of = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    left.sort(key=lambda clip: (uri_of.get(clip.source_id, ""), clip.start_frame, clip.clip_id))
    texts: dict[str, str] = {}
    if prompt:
        rows = to_records(workspace.columns("attributes", Attribute, where=("name", [prompt])), Attribute)
        texts = {row.subject_id: str(row.value) for row in rows if row.value is not None}
    subjects, sources = [], frozen.sources_of_clips(workspace, to_columns(left, Clip)).to_pylist()
    for clip, source in zip(left, sources, strict=True):
        uri = uri_of.get(clip.source_id, clip.source_id)
        caption = _caption(uri, clip.start_frame, clip.end_frame, clip.fps, clip.frames)
        subjects.append(StudySubject(
            clip.clip_id, source, display_name(uri), caption, (clip.frames, clip.height, clip.width), clip.fps,
            content_id("clip", clip.rgb_sha256, clip.fps), {"clip": str(workspace.blobs.path(clip.blob).resolve())},
            file=clip.source_id, prompt=texts.get(clip.clip_id) or texts.get(clip.source_id, ""),
        ))  # fmt: skip
    return _with_prompt(subjects, prompt)


def _with_prompt(subjects: list[StudySubject], prompt: str | None) -> list[StudySubject]:
    """``subjects``, unless a prompt was asked for and none has it."""
    if prompt and not any(subject.prompt for subject in subjects):
        raise InputError(f"none of the {len(subjects)} subjects has an attribute {prompt!r} for raters to read")
    return subjects


def item_subjects(dataset: Dataset, *, root: Path, slices: Sequence[str], prompt: str | None = None) -> list[StudySubject]:
    """The items of a frozen dataset in its order: those of the named slices, or all; ``prompt`` is an attribute of its rows,
    or one of their texts: ``prompts`` stands for both of an edit.

    Raises:
        UnknownNameError: no such slice.
        InputError: no items, none with the attribute, or items whose truth is held back.
    """
    members = {part.name: part.item_ids for part in dataset.slices}
    if unknown := [name for name in slices if name not in members]:
        raise UnknownNameError(unknown_name("slice", unknown[0], members))
    wanted = {item_id for name in slices for item_id in members[name]}
    rows = [row for row in dataset.items if not slices or row["item_id"] in wanted]
    if not rows:
        raise InputError(f"dataset {str(root)!r} has no items{' in ' + ', '.join(slices) if slices else ''}")
    if hidden := [row for row in rows if frozen.is_held_back(row)]:
        raise InputError(
            f"dataset {str(root)!r} holds the truth of {len(hidden)} items back, with which raters compare: give the study the "
            "dataset of the truth, or slices without them"
        )
    folder, subjects = str(root.resolve()), []
    for row in rows:
        uri, fps = row["source_uri"], row["fps"]
        caption = f"{_caption(uri, row['start_frame'], row['end_frame'], fps, row['frames'])}, item {row['item_id']}"
        hashes = [row["truth_rgb_sha256"], row["hole_sha256"], row["input_sha256"], row["fill"]]
        text: Any = ""
        if prompt == "prompts" and (asked := frozen.asked_of_edit(row)):
            text = " → ".join(text for text in (row.get("source_prompt"), asked) if text)
        elif prompt:
            text = row.get(prompt) if row["attributes"].get(prompt) is None else row["attributes"][prompt]
        subjects.append(StudySubject(
            row["item_id"], frozen.source_of(row), display_name(uri), caption, (row["frames"], row["height"], row["width"]), fps,
            content_id("item", *hashes, fps), {"root": folder, "row": dict(row)}, frozen.has_hole(row), frozen.has_truth(row),
            row["source_id"], str(text) if isinstance(text, str | int | float) else "",
        ))  # fmt: skip
    return _with_prompt(subjects, prompt)


def _caption(uri: str, start_frame: int, end_frame: int, fps: float, frames: int) -> str:
    name = display_name(uri)
    return name if frames == 1 else f"{name}, {start_frame / fps:.1f}-{end_frame / fps:.1f} s"


def drawn(subjects: Sequence[StudySubject], *, most: int | None, seed: int) -> list[StudySubject]:
    """``most`` of ``subjects`` in their order, each with the same chance; more or other subjects change no draw."""
    if most is None or most >= len(subjects):
        return list(subjects)
    lots = {subject.subject_id: item_rng(seed, "most", subject.subject_id).random() for subject in subjects}
    chosen = set(sorted(lots, key=lambda subject_id: (lots[subject_id], subject_id))[:most])
    return [subject for subject in subjects if subject.subject_id in chosen]


def fingerprints(subjects: Sequence[StudySubject], *, dataset: Path | None) -> dict[str, str]:
    """Hashes of the inputs of the study."""
    hashes = {"subjects": content_id(*([subject.subject_id, subject.content] for subject in subjects))}
    return hashes if dataset is None else {**hashes, frozen.MANIFEST: file_sha256(dataset / frozen.MANIFEST)}
