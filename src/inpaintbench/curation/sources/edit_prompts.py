"""Tables that ask edits of clips: this program's own, and those of other benchmarks, whose columns go by other names."""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError
from inpaintbench.files import read_text
from inpaintbench.table_files import read_lines
from inpaintbench.types import EDIT_TASKS

# Of which `clip` and one of `ASKING` have to be there.
COLUMNS = ("clip", "source_prompt", "task", "target_prompt", "instruction", "object")
# What an edit is asked for by.
ASKING = ("target_prompt", "instruction")
# Task of all edits of a table that has no column for tasks.
UNNAMED_TASK = "edit"
# Target prompts of a clip in a task. Source: EditBoard, AAAI 2025.
FEWEST_PROMPTS = 2
_MOST_OBJECT = 255
_TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
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


class _Entry(NamedTuple):
    """One edit of a table, as it stands there."""

    where: str
    fields: Mapping[str, Any]
    key: str | None = None
    """What it, or the list that it stands in, is called in an object of JSON."""


def read_prompts(
    path: Path, *, fewest: int = FEWEST_PROMPTS, columns: Mapping[str, str] | None = None
) -> tuple[list[Asked], list[str]]:
    """The edits of a table, and what is wrong with it.

    Args:
        path: by its ending JSON lines, or JSON (a list of edits; an object whose keys name clips, of edits or of lists of them);
            else CSV with commas, semicolons or tabs; of a folder every table in it.
        fewest: target prompts, or instructions, that a clip needs in each of its tasks.
        columns: one of ``COLUMNS`` -> what the table calls it, where that is something else.

    Returns:
        The usable edits, and one sentence for each fault.

    Raises:
        InputError: not readable, not one edit, or a column is missing.
    """
    entries = _entries(path, known={*COLUMNS, *(columns or {}).values()})
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
    """``OURS=THEIRS,OURS=THEIRS`` as a mapping; raises ``ValueError`` for anything else, or a column that is none of ours."""
    found: dict[str, str] = {}
    for part in text.split(","):
        ours, sign, theirs = (piece.strip() for piece in part.partition("="))
        if not (ours and sign and theirs):
            raise ValueError(f"{part.strip()!r} is not OURS=THEIRS, such as clip=video_name")
        if ours not in COLUMNS:
            raise ValueError(unknown_name("column", ours, list(COLUMNS)))
        if ours in found:
            raise ValueError(f"{ours} is {found[ours]!r} and {theirs!r}; name one")
        found[ours] = theirs
    return found


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


# Reading


def _entries(path: Path, *, known: set[str]) -> list[_Entry]:
    if path.is_dir():
        tables = [one for one in sorted(path.iterdir()) if one.suffix.lower() in _TABLES]
        return [entry for one in tables for entry in _entries(one, known=known)]
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return list(_of_json_lines(path))
    if suffix == ".json":
        return list(_of_json(path))
    return [_Entry(line.where, line.fields) for line in read_lines(path, kind="prompts", needed=(), known=known)]


def _text_of(path: Path) -> str:
    try:
        return read_text(path)
    except UnicodeDecodeError as error:
        raise InputError(f"prompts {str(path)!r} is not {error.encoding.upper()}") from error
    except OSError as error:
        raise InputError(f"prompts {str(path)!r} cannot be read: {error.strerror}") from error


def _of_json_lines(path: Path) -> Iterator[_Entry]:
    for number, text in enumerate(_text_of(path).splitlines(), start=1):
        where = f"{path.name} line {number}"
        if not text.strip():
            continue
        try:
            entry: Any = json.loads(text)
        except ValueError as error:
            raise InputError(f"{where} is not JSON: {error}") from error
        if not isinstance(entry, dict):
            raise InputError(f'{where} is not an object such as {{"clip": "bear", "task": "SE", "target_prompt": "..."}}')
        yield _Entry(where, entry)


def _of_json(path: Path) -> Iterator[_Entry]:
    try:
        found: Any = json.loads(_text_of(path))
    except ValueError as error:
        raise InputError(f"prompts {str(path)!r} is not JSON: {error}") from error
    if isinstance(found, list):
        yield from _of_list(found, path.name)
    elif isinstance(found, dict):
        for key, value in found.items():
            where = f"{path.name} {key!r}"
            if isinstance(value, list):
                yield from _of_list(value, where, key=key)
            elif isinstance(value, dict):
                yield _Entry(where, value, key)
            else:
                raise InputError(f"{where} is {json.dumps(value)[:40]}, not an edit and not a list of edits")
    else:
        raise InputError(f"prompts {str(path)!r} hold neither a list of edits nor an object whose keys name clips")


def _of_list(found: Sequence[Any], name: str, *, key: str | None = None) -> Iterator[_Entry]:
    for number, entry in enumerate(found, start=1):
        if not isinstance(entry, dict):
            raise InputError(f"{name} entry {number} is {json.dumps(entry)[:40]}, not an object that says what is asked")
        yield _Entry(f"{name} entry {number}", entry, key)


# Columns


def _named(path: Path, entries: Sequence[_Entry], columns: Mapping[str, str]) -> list[_Entry]:
    """The entries with our names for their columns, whose keys name their clips where no column does.

    Raises:
        InputError: a column that has to be there is not, or ``columns`` names one that is not.
    """
    there = list(dict.fromkeys(name for entry in entries for name in entry.fields))
    for theirs in columns.values():
        if theirs not in there:
            raise InputError(f"prompts {str(path)!r}: {unknown_name('column', theirs, there)}")
    known = {name for name in COLUMNS if name in there} | set(columns)
    is_keyed = all(entry.key is not None for entry in entries)
    guessed = _guessed([name for name in there if name not in columns.values()], known, without=_VAGUE if is_keyed else ())
    keys_name_clips = is_keyed and "clip" not in {*known, *guessed}
    missing = [] if "clip" in known or keys_name_clips else ["'clip'"]
    if not known.intersection(ASKING):
        missing.append(" or ".join(map(repr, ASKING)))
    missing += ["'task'"] if "task" in guessed else []
    if missing:
        lacks = [what for what in missing if not any(repr(ours) in what for ours in guessed)]
        options = {**columns, **guessed} if not lacks else {**columns, **guessed, **_left_to_say(lacks)}
        way_out = shlex.quote(",".join(f"{ours}={theirs}" for ours, theirs in options.items()))
        raise InputError(
            f"prompts {str(path)!r} have no column {' and no '.join(missing)}, they have {', '.join(there) or 'none'}; "
            f"{'say what they call these:' if lacks else 'if this is what they mean, add'} --columns {way_out}"
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


def _left_to_say(lacks: Iterable[str]) -> dict[str, str]:
    return {what.split("'")[1]: "THEIRS" for what in lacks}


def _guessed(there: Sequence[str], known: set[str], *, without: Sequence[str]) -> dict[str, str]:
    """Our columns that the table lacks -> which of its columns they may be."""
    spelt = {re.sub(r"[\s-]+", "_", name.strip().casefold()): name for name in there if name not in COLUMNS}
    found: dict[str, str] = {}
    for ours, names in _THEIRS.items():
        free = (spelt[name] for name in names if name in spelt and name not in without and spelt[name] not in found.values())
        if ours not in known and (theirs := next(free, None)) is not None:
            found[ours] = theirs
    return found


# Edits


def _asked(entry: _Entry, *, has_tasks: bool) -> Asked | list[str]:
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
