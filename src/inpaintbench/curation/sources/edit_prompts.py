"""Tables that ask edits of clips: this program's own, and those of other benchmarks, whose columns go by other names."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inpaintbench.curation.sources import user_tables
from inpaintbench.curation.sources.user_tables import Entry
from inpaintbench.errors import InputError
from inpaintbench.types import EDIT_TASKS, QUESTIONS

# Of which `clip` and one of `ASKING` have to be there.
COLUMNS = ("clip", "source_prompt", "task", "target_prompt", "instruction", "object", *QUESTIONS)
# What an edit is asked for by.
ASKING = ("target_prompt", "instruction")
# Task of all edits of a table that has no column for tasks.
UNNAMED_TASK = "edit"
# Target prompts of a clip in a task. Source: EditBoard, AAAI 2025.
FEWEST_PROMPTS = 2
_MOST_OBJECT = 255
# Tasks name slices, and slices files.
_TASK = re.compile(r"\w[\w-]{0,39}")
# From how alike a word in capitals is to one of EditBoard's tasks it is taken for a slip.
_SLIP = 0.75
# What other tables call our columns, the likeliest first; compared in small letters, blanks and hyphens as `_`.
_THEIRS: Mapping[str, tuple[str, ...]] = {
    "clip": (
        "video_name", "video_path", "video_file", "video_id", "video", "source_video", "source_video_path", "source_video_name",
        "src_video", "src_video_path", "original_video", "original_video_path", "input_video", "clip_name", "clip_id",
        "file_name", "filename", "file", "path", "name", "id",
    ),
    "target_prompt": (
        "tgt_prompt", "edited_prompt", "target_caption", "edited_caption", "output_caption", "target_text", "target",
        "edit_prompt",
    ),
    "source_prompt": (
        "src_prompt", "original_prompt", "source_caption", "original_caption", "input_caption", "source_text", "caption",
        "source",
    ),
    "instruction": (
        "edit_instruction", "editing_instruction", "instruct", "editing_prompt", "edit_prompt", "edit_text", "edit", "prompt",
    ),
    "task": (
        "edit_type", "edited_type", "editing_type", "edit_task", "task_type", "edit_category", "category", "sub_category", "type",
    ),
    "object": ("object_id", "mask_id", "object_number"),
}  # fmt: skip
# Of these names, those that say what a thing is called, be it a clip or not: nothing is guessed from them where keys name clips.
_VAGUE = ("file_name", "filename", "file", "path", "name", "id")


@dataclass(frozen=True)
class Asked:
    """One edit."""

    where: str
    """``prompts.csv line 4``."""
    clip: str
    """Name of a folder of frames or of a video, without a slash at its end."""
    task: str
    target_prompt: str | None
    """None where there is an instruction alone."""
    source_prompt: str | None
    """None where the file does not say what the clip shows."""
    object: int | None
    """Value of the object in the masks; None = whatever is not 0."""
    instruction: str | None = None
    """None where there are prompts alone."""
    questions: Mapping[str, str] | None = None
    """Of ``QUESTIONS``, those that a judge of the edit is to be asked."""


def read_prompts(
    path: Path, *, fewest: int = FEWEST_PROMPTS, columns: Mapping[str, str] | None = None
) -> tuple[list[Asked], list[str]]:
    """The edits of a table, and what is wrong with it.

    Args:
        path: a table as ``user_tables.entries`` reads it, or a folder of such tables.
        fewest: target prompts, or instructions, that a clip needs in each of its tasks.
        columns: one of ``COLUMNS`` -> what the table calls it, where that is something else.

    Returns:
        The usable edits, and one sentence for each fault.

    Raises:
        InputError: not readable, not one edit, or a column is missing.
    """
    entries = user_tables.entries(path, kind="prompts", known={*COLUMNS, *(columns or {}).values()})
    if not entries:
        raise InputError(f"prompts {str(path)!r} hold no edit; give a line for each, with clip and {' or '.join(ASKING)}")
    named = _named(path, entries, columns or {})
    has_tasks = any("task" in entry.fields for entry in named)
    asked, faults = [], []
    for entry in named:
        parsed = _asked(entry, has_tasks=has_tasks)
        if isinstance(parsed, Asked):
            asked.append(parsed)
        else:
            faults += parsed
    return asked, [*faults, *_together(asked, fewest)]


def read_columns(text: str) -> dict[str, str]:
    """``user_tables.read_columns`` of tables of prompts."""
    return user_tables.read_columns(text, COLUMNS)


def task_fault(task: str) -> str | None:
    """What is wrong with the name of a task; None where it is one of EditBoard's or a short word of somebody's own."""
    if task in EDIT_TASKS:
        return None
    near = [task.upper()] if task.upper() in EDIT_TASKS else difflib.get_close_matches(task, EDIT_TASKS, n=1, cutoff=_SLIP)
    if near:
        return f"unknown task {task!r}, did you mean {near[0]!r}?"
    if not _TASK.fullmatch(task):
        return f"task {task!r} is no short word: at most 40 letters, digits, - and _"
    return None


def wants_mask(task: str, number: int | None, mask_tasks: Sequence[str]) -> bool:
    """Whether an edit carries the mask of an object: those of some tasks do, and of tasks of one's own those that name one."""
    return task in mask_tasks or (task not in EDIT_TASKS and number is not None)


# Columns


def _named(path: Path, entries: Sequence[Entry], columns: Mapping[str, str]) -> list[Entry]:
    """The entries with our names for their columns, whose keys name their clips where no column does.

    Raises:
        InputError: a column that has to be there is not, or ``columns`` names one that is not.
    """
    there = user_tables.heads(entries, columns, where=f"prompts {str(path)!r}")
    known = {name for name in COLUMNS if name in there} | set(columns)
    is_keyed = all(entry.key is not None for entry in entries)
    free = [name for name in there if name not in {*columns.values(), *COLUMNS}]
    guessed = user_tables.guessed(free, known, _THEIRS, without=_VAGUE if is_keyed else ())
    keys_name_clips = is_keyed and "clip" not in {*known, *guessed}
    missing = [] if "clip" in known or keys_name_clips else ["'clip'"]
    if not known.intersection(ASKING):
        missing.append(" or ".join(map(repr, ASKING)))
    missing += ["'task'"] if "task" in guessed else []
    if missing:
        lacks = [what for what in missing if not any(repr(ours) in what for ours in guessed)]
        left = {what.split("'")[1]: "THEIRS" for what in lacks}
        raise InputError(
            f"prompts {str(path)!r} have no column {' and no '.join(missing)}, they have {', '.join(there) or 'none'}; "
            f"{'say what they call these:' if lacks else 'if this is what they mean, add'} "
            f"{user_tables.option({**columns, **guessed, **left})}"
        )
    # What is named in `columns` goes by that name alone.
    return [
        entry._replace(
            fields=({"clip": entry.key} if keys_name_clips else {})
            | {name: entry.fields[name] for name in COLUMNS if name in entry.fields}
            | {ours: entry.fields.get(theirs) for ours, theirs in columns.items()}
        )
        for entry in entries
    ]


# Edits


def _asked(entry: Entry, *, has_tasks: bool) -> Asked | list[str]:
    odd = [name for name in COLUMNS if isinstance(entry.fields.get(name), list | dict | bool)]
    if odd:
        return [f"{entry.where}: {name} is {json.dumps(entry.fields[name])[:40]}, not one text" for name in odd]
    fields = {name: "" if (value := entry.fields.get(name)) is None else str(value).strip() for name in COLUMNS}
    # PIE-Bench and FiVE have square brackets around what changes, which neither their methods nor their metrics read.
    fields |= {name: re.sub(r"[\[\]]", "", fields[name]).strip() for name in ("source_prompt", "target_prompt")}
    # Slices are called after tasks, whose words other tables divide by blanks.
    task = "_".join(fields["task"].split()) if has_tasks else UNNAMED_TASK
    needed = {"clip": fields["clip"], "task": task, "target_prompt": fields["target_prompt"] or fields["instruction"]}
    faults = [f"{entry.where}: there is no {name}" for name, text in needed.items() if not text]
    if task and (fault := task_fault(task)):
        faults.append(f"{entry.where}: {fault}")
    number = fields["object"]
    if number and not (number.isdecimal() and 1 <= int(number) <= _MOST_OBJECT):
        faults.append(f"{entry.where}: object {number!r} is not its number in the masks, 1 to {_MOST_OBJECT}")
    if faults:
        return faults
    # `./bear/` and `bear` are one clip.
    clip = "/".join(part for part in fields["clip"].replace("\\", "/").split("/") if part not in ("", "."))
    return Asked(
        entry.where, clip, task, fields["target_prompt"] or None, fields["source_prompt"] or None,
        int(number) if number else None, fields["instruction"] or None,
        {name: fields[name] for name in QUESTIONS if fields[name]} or None,
    )  # fmt: skip


def _together(asked: Sequence[Asked], fewest: int) -> Iterator[str]:
    """Faults of edits that are right by themselves."""
    first: dict[tuple[Any, ...], str] = {}
    for edit in asked:
        if edit.source_prompt and _words(edit.source_prompt) == _words(edit.target_prompt):
            yield f"{edit.where}: the target prompt is the source prompt, so nothing is to be edited"
        key = (edit.clip, edit.task, _words(edit.target_prompt), _words(edit.instruction), edit.object)
        if key in first:
            yield f"{edit.where}: asks the same as {first[key]}"
        first.setdefault(key, edit.where)
    different = dict.fromkeys((edit.clip, edit.task, _words(edit.target_prompt or edit.instruction)) for edit in asked)
    for (clip, task), count in Counter((clip, task) for clip, task, _ in different).items():
        if count < fewest:
            noun = "prompt" if count == 1 else "prompts"
            yield f"clip {clip!r} has {count} target {noun} in {task}, at least {fewest} are needed"


def _words(text: str | None) -> str:
    """A prompt as it is compared: blanks and capitals make no other prompt."""
    return " ".join((text or "").split()).casefold()
