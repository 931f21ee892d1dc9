"""Clips that a file of prompts asks edits of, from folders as EditBoard, DAVIS and TGVE keep them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.sources.base import PARTS, Footage, Origin, Sidecars, SourceLeaf, quoted_path, unquoted_path
from inpaintbench.curation.sources.edit_folders import Found, faults_of, locate, of_one_size, order_notes, read_mask
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.files import read_text
from inpaintbench.ranges import Positive, Whole
from inpaintbench.table_files import Line, read_lines
from inpaintbench.types import EDIT_TASKS, content_id

# Columns; `source_prompt` and `object` may be there too.
NEEDED = ("clip", "task", "target_prompt")
# Target prompts of a clip in a task. Source: EditBoard, AAAI 2025.
FEWEST_PROMPTS = 2
_MOST_OBJECT = 255


@dataclass(frozen=True)
class Asked:
    """One edit."""

    where: str
    """``prompts.csv line 4``."""
    clip: str
    """Name of a folder of frames or of a video, without a slash at its end."""
    task: str
    target_prompt: str
    source_prompt: str | None
    """None where the file does not say what the clip shows."""
    object: int | None
    """Value of the object in the masks; None = whatever is not 0."""


def read_prompts(path: Path, *, fewest: int = FEWEST_PROMPTS) -> tuple[list[Asked], list[str]]:
    """The edits of a CSV file (commas, semicolons or tabs) or, by its ending, of a file of JSON lines, and what is wrong with it.

    Args:
        path: the file, with ``clip``, ``task`` and ``target_prompt``, perhaps ``source_prompt`` and ``object``.
        fewest: target prompts that a clip needs in each of its tasks.

    Returns:
        The usable lines, and one sentence for each fault.

    Raises:
        InputError: not readable, not one edit, or a column is missing.
    """
    lines = _json_lines(path) if path.suffix.lower() in (".jsonl", ".ndjson") else read_lines(path, kind="prompts", needed=NEEDED)
    if not lines:
        raise InputError(f"prompts {str(path)!r} hold no edit; give a line for each, with {', '.join(NEEDED)}")
    asked, faults = [], []
    for line in lines:
        parsed = _asked(line)
        if isinstance(parsed, Asked):
            asked.append(parsed)
        else:
            faults += parsed
    return asked, [*faults, *_together(asked, fewest)]


def _asked(line: Line) -> Asked | list[str]:
    fields = {name: line.fields.get(name, "") for name in (*NEEDED, "source_prompt", "object")}
    faults = [f"{line.where}: there is no {name}" for name in NEEDED if not fields[name]]
    if fields["task"] and fields["task"] not in EDIT_TASKS:
        faults.append(f"{line.where}: {unknown_name('task', fields['task'], list(EDIT_TASKS))}")
    number = fields["object"]
    if number and not (number.isdecimal() and 1 <= int(number) <= _MOST_OBJECT):
        faults.append(f"{line.where}: object {number!r} is not its number in the masks, 1 to {_MOST_OBJECT}")
    if faults:
        return faults
    # `./bear/` and `bear` are one clip.
    clip = "/".join(part for part in fields["clip"].replace("\\", "/").split("/") if part not in ("", "."))
    return Asked(
        line.where, clip, fields["task"], fields["target_prompt"], fields["source_prompt"] or None,
        int(number) if number else None,
    )  # fmt: skip


def _together(asked: Sequence[Asked], fewest: int) -> Iterator[str]:
    """Faults of lines that are right by themselves."""
    first: dict[tuple[str, str, str, int | None], str] = {}
    for edit in asked:
        target = _words(edit.target_prompt)
        if edit.source_prompt and _words(edit.source_prompt) == target:
            yield f"{edit.where}: the target prompt is the source prompt, so nothing is to be edited"
        key = (edit.clip, edit.task, target, edit.object)
        if key in first:
            yield f"{edit.where}: asks the same as {first[key]}"
        first.setdefault(key, edit.where)
    different = dict.fromkeys((edit.clip, edit.task, _words(edit.target_prompt)) for edit in asked)
    for (clip, task), count in Counter((clip, task) for clip, task, _ in different).items():
        if count < fewest:
            noun = "prompt" if count == 1 else "prompts"
            yield f"clip {clip!r} has {count} target {noun} in {task}, at least {fewest} are needed"


def _words(text: str) -> str:
    """A prompt as it is compared: blanks and capitals make no other prompt."""
    return " ".join(text.split()).casefold()


def _json_lines(path: Path) -> list[Line]:
    try:
        texts = read_text(path).splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"prompts {str(path)!r} is not {error.encoding.upper()}") from error
    except OSError as error:
        raise InputError(f"prompts {str(path)!r} cannot be read: {error.strerror}") from error
    lines = []
    for number, text in enumerate(texts, start=1):
        where = f"{path.name} line {number}"
        if not text.strip():
            continue
        try:
            entry: Any = json.loads(text)
        except ValueError as error:
            raise InputError(f"{where} is not JSON: {error}") from error
        if not isinstance(entry, dict):
            raise InputError(f'{where} is not an object such as {{"clip": "bear", "task": "SE", "target_prompt": "..."}}')
        lines.append(Line(where, {name: str(value).strip() for name, value in entry.items() if value is not None}))
    return lines


# The fact of a source that says what edits are asked of it.
EDITS = "edits"
# The part of a source with its masks, as they are: `uint8[T, H, W]`, 0 = no object.
OBJECT_MASK = "object_mask"
# Tasks whose items carry an object mask. Source: EditBoard, AAAI 2025.
MASK_TASKS = ("SOSA",)
_MOST_TOLD = 20


class EditClips(SourceLeaf):
    """The clips that ``prompts`` names, below ``folder``, with their object masks; ``sources.edit_folders`` has the layouts.

    Args (all constants):
        folder: where clips lie, three folders deep at most: folders of frames (.png, .jpg ...), or videos.
        prompts: CSV or JSON lines with ``clip``, ``task``, ``target_prompt``, perhaps ``source_prompt`` and ``object``.
        masks: folder of folders of masks, by the names of the clips; by default beside the clips.
        mask_tasks: tasks that need an object mask.
        fps: frames a second of folders of frames.
        fewest_prompts: target prompts that a clip needs in each of its tasks.
        licence, author: of clips that ``sidecars`` say nothing of.

    Raises:
        InputError: a path that cannot be used, or a file that cannot be read.
    """

    name = "edit_clips"
    version = "1"

    def __init__(
        self, *, folder: str, prompts: str, masks: str | None = None, mask_tasks: Sequence[str] = MASK_TASKS,
        fps: Positive = 24.0, fewest_prompts: Whole = FEWEST_PROMPTS, licence: str | None = None, author: str | None = None,
    ) -> None:  # fmt: skip
        if not 0 < fps <= 240:
            raise InputError(f"fps is {fps:g}, give frames a second above 0 and at most 240")
        if fewest_prompts < 1:
            raise InputError(f"fewest_prompts is {fewest_prompts}, give 1 or more")
        self.folder, self.prompts = Path(folder), Path(prompts)
        self.masks = None if masks is None else Path(masks)
        self.mask_tasks, self.fps, self.fewest_prompts = tuple(mask_tasks), float(fps), fewest_prompts
        self._sidecars = Sidecars(self.folder, otherwise=Origin(licence, author))
        self._notes: list[tuple[str, str]] = []

    def notes(self) -> list[tuple[str, str]]:
        """Odd points of clips that are used all the same: (name, reason), after ``footage``."""
        return self._notes

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a clip, in the order of the prompts.

        Raises:
            InputError: what is wrong with prompts, frames and masks, all of it.
        """
        asked, clips = self.checked()
        for clip in clips:
            edits = [edit for edit in asked if edit.clip == clip.name]
            masked = any(edit.task in self.mask_tasks for edit in edits)
            payload: dict[str, Any] = {
                "frames": [quoted_path(path.absolute()) for path in clip.frames], "fps": self.fps,
                "masks": [quoted_path(path.absolute()) for path in clip.masks] if masked else [],
            }  # fmt: skip
            if not clip.frames:
                payload["path"] = quoted_path(clip.path.absolute())
            files = [*(clip.frames or (clip.path,)), *(clip.masks if masked else ())]
            said = self._sidecars.of(clip.path)
            yield Footage(
                name=clip.name, uri=quoted_path(clip.name), origin=self.name,
                content=content_id(self.version, self.fps, [_state(path) for path in files], *said.state),
                payload=payload, **said.columns, data={EDITS: [edit_of(edit) for edit in edits]},
            )  # fmt: skip
        self._notes = [(quote(name), note) for name, note in order_notes(clips).items()]

    def checked(self) -> tuple[list[Asked], list[Found]]:
        """The edits and the clips that they are asked of; reads prompts and masks, not the frames.

        Raises:
            InputError: what is wrong with them, all of it.
        """
        asked, faults = read_prompts(self.prompts, fewest=self.fewest_prompts)
        clips, missing = locate(self.folder, list(dict.fromkeys(edit.clip for edit in asked)), masks=self.masks)
        faults += missing
        for clip in clips:
            masked = [edit.object for edit in asked if edit.clip == clip.name and edit.task in self.mask_tasks]
            faults += faults_of(clip, objects=list(dict.fromkeys(masked)))
        if len(faults) > 1:
            more = [f"and {len(faults) - _MOST_TOLD} more"] if len(faults) > _MOST_TOLD else []
            raise InputError(f"{len(faults)} things are wrong: " + "; ".join([*faults[:_MOST_TOLD], *more]))
        if faults:
            raise InputError(faults[0])
        return asked, clips

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """A video where it lies, or the frames as one without loss; the masks as a part, without loss too.

        Raises:
            Rejected: frames or masks that cannot be read, or of several sizes.
        """
        try:
            if payload["masks"]:
                write_masks(Path(scratch), np.stack(list(of_one_size(payload["masks"], read_mask))), fps=payload["fps"])
            if not payload["frames"]:
                return unquoted_path(payload["path"])
            path = Path(scratch) / "clip.mp4"
            video.write_clip(path, of_one_size(payload["frames"], video.read_image), fps=payload["fps"], form="lossless")
        except MediaError as error:
            raise Rejected(str(error)) from error
        return str(path)


def edit_of(asked: Asked) -> dict[str, Any]:
    """An edit as plain data, as the fact ``EDITS`` holds it."""
    names = ("task", "source_prompt", "target_prompt", "object")
    return {name: getattr(asked, name) for name in names}


def write_masks(scratch: Path, levels: npt.NDArray[np.uint8], *, fps: float) -> None:
    """``uint8[T, H, W]`` as the part ``OBJECT_MASK`` of what a source obtains into ``scratch``."""
    (scratch / PARTS).mkdir(exist_ok=True)
    video.write_levels(scratch / PARTS / f"{OBJECT_MASK}.mp4", levels, fps=fps)


def _state(path: Path) -> list[Any]:
    status = path.stat()
    return [quoted_path(path.name), status.st_size, status.st_mtime_ns]
