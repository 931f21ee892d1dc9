"""The file of prompts: one line for each edit that is asked for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.sheets import Line, read_lines
from inpaintbench.errors import InputError
from inpaintbench.types import EDIT_TASKS

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
        found = _asked(line)
        if isinstance(found, Asked):
            asked.append(found)
        else:
            faults += found
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
    return Asked(
        line.where, _tidy(fields["clip"]), fields["task"], fields["target_prompt"], fields["source_prompt"] or None,
        int(number) if number else None,
    )  # fmt: skip


def _tidy(name: str) -> str:
    """``./bear/`` and ``bear`` are one clip."""
    return "/".join(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))


def _together(asked: Sequence[Asked], fewest: int) -> Iterator[str]:
    """What is wrong with lines that are right by themselves."""
    first: dict[tuple[str, str, str, int | None], str] = {}
    for one in asked:
        target = _words(one.target_prompt)
        if one.source_prompt and _words(one.source_prompt) == target:
            yield f"{one.where}: the target prompt is the source prompt, so nothing is to be edited"
        key = (one.clip, one.task, target, one.object)
        if key in first:
            yield f"{one.where}: asks the same as {first[key]}"
        first.setdefault(key, one.where)
    for (clip, task), count in _counts(asked).items():
        if count < fewest:
            noun = "prompt" if count == 1 else "prompts"
            yield f"clip {clip!r} has {count} target {noun} in {task}, at least {fewest} are needed"


def _words(text: str) -> str:
    """A prompt as it is compared: blanks and capitals make no other prompt."""
    return " ".join(text.split()).casefold()


def _counts(asked: Sequence[Asked]) -> Mapping[tuple[str, str], int]:
    """(clip, task) -> its different target prompts."""
    different = dict.fromkeys((one.clip, one.task, _words(one.target_prompt)) for one in asked)
    return Counter((clip, task) for clip, task, _ in different)


def _json_lines(path: Path) -> list[Line]:
    try:
        texts = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"prompts {str(path)!r} is not UTF-8") from error
    except OSError as error:
        raise InputError(f"prompts {str(path)!r} cannot be read: {error.strerror}") from error
    numbered = [(f"{path.name} line {number}", text) for number, text in enumerate(texts, start=1) if text.strip()]
    return [Line(where, _fields(where, text)) for where, text in numbered]


def _fields(where: str, text: str) -> dict[str, str]:
    try:
        found: Any = json.loads(text)
    except ValueError as error:
        raise InputError(f"{where} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f'{where} is not an object such as {{"clip": "bear", "task": "SE", "target_prompt": "..."}}')
    return {name: str(value).strip() for name, value in found.items() if value is not None}
