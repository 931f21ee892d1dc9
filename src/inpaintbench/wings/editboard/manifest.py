"""The list of edited videos that are to be scored: one line for each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.sources.edit_prompts import task_fault
from inpaintbench.errors import InputError, reason_of
from inpaintbench.files import read_text
from inpaintbench.table_files import Row, read_rows

PATHS = ("original_video_path", "edited_video_path", "semantic_mask_path")
PROMPTS = ("source_prompt", "target_prompt")
OWN = ("task", "model", "id")
# EditBoard's five, and three of which each may be left out.
COLUMNS = (*PATHS, *PROMPTS, *OWN)
# EditBoard's own lists lie at most two folders below the one that their paths start from.
_FOLDERS_ABOVE = 2
# Name of the model where the list has none.
MODEL = "edits"


@dataclass(frozen=True)
class Edit:
    """One line: an edited video, and what there is to compare it with. What the line leaves empty is None."""

    where: str
    """``items.csv line 4``."""
    item_id: str
    """Unique among the edits of one model; the same words may stand for the same edit by several models."""
    model: str
    task: str | None
    """One of ``EDIT_TASKS``, or a word of one's own."""
    edited: Path
    original: Path | None
    mask: Path | None
    source_prompt: str | None
    target_prompt: str | None

    @property
    def name(self) -> str:
        """Name for people: ``model/item``."""
        return f"{self.model}/{self.item_id}"


class Listed(NamedTuple):
    """Edits of a list and its faults."""

    edits: list[Edit]
    """Edits in the order of the list, ids filled in."""
    faults: list[str]
    """Faults, a sentence each."""
    folder: Path
    """Folder that relative paths start from."""


def read_manifest(path: Path) -> Listed:
    """The edits of a list. Looks at no video.

    Args:
        path: ``.csv`` (commas, semicolons or tabs), ``.jsonl`` or ``.parquet`` with some of ``COLUMNS``, or ``.json``: one list
            of objects, as EditBoard writes its items. Paths are taken from the folder of the file; where nothing is there, from
            the next folders above, because those of EditBoard's own lists begin where its program is run.

    Raises:
        InputError: not readable, or without an edit.
    """
    rows = _rows(path)
    if not rows:
        raise InputError(f"{str(path)!r} lists no edit; give a line for each, with {', '.join(COLUMNS)}")
    found = list(dict.fromkeys(name for row in rows for name in row.fields))
    faults = [f"{path.name}: {unknown_name('column', name, list(COLUMNS))}" for name in found if name not in COLUMNS]
    if "edited_video_path" not in found:
        faults.append(f"{path.name} has no column 'edited_video_path'; needed is what is to be scored")
    if any("edited_video_path" in row.fields for row in rows):
        faults += [fault for row in rows for fault in _faults(row)]
    folder = _folder(path, [str(row.first("edited_video_path")) for row in rows])
    # Edits without an id get one that does not depend on the order of the list: their path, with their prompt where needed.
    edits = [_edit(row, folder) for row in rows if row.first("edited_video_path")]
    own = [edit.item_id or relative(edit.edited, folder) for edit in edits]
    uses = Counter((edit.model, name) for edit, name in zip(edits, own, strict=True))
    named = [
        replace(edit, item_id=name if edit.item_id or uses[edit.model, name] == 1 else _long_id(edit, name))
        for edit, name in zip(edits, own, strict=True)
    ]
    return Listed(named, [*faults, *_repetitions(named)], folder)


def _folder(path: Path, edited: Sequence[str]) -> Path:
    folders = [path.parent, *path.absolute().parents[1 : 1 + _FOLDERS_ABOVE]]
    return next((folder for folder in folders if any((folder / name).exists() for name in edited)), path.parent)


def _rows(path: Path) -> list[Row]:
    if path.suffix.lower() == ".xlsx":
        raise InputError(f"{str(path)!r} is a spreadsheet; save it as CSV")
    if path.suffix.lower() != ".json":
        return read_rows(path)
    try:
        found: Any = json.loads(read_text(path))
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read: {reason_of(error)}") from error
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise InputError(f"{str(path)!r} is not a list of objects with {', '.join(COLUMNS)}")
    return [
        Row(f"{path.name} entry {number}", {name: value for name, value in one.items() if value not in (None, "")})
        for number, one in enumerate(found, start=1)
    ]


def _faults(row: Row) -> list[str]:
    faults = [] if row.first("edited_video_path") else [f"{row.where}: there is no edited_video_path"]
    task = row.first("task")
    if task and (fault := task_fault(task)):
        faults.append(f"{row.where}: {fault}")
    return faults


def _edit(row: Row, folder: Path) -> Edit:
    original, edited, mask = (row.first(name) or None for name in PATHS)
    source, target = (row.first(name) or None for name in PROMPTS)
    return Edit(
        row.where, row.first("id") or "", row.first("model") or MODEL, row.first("task") or None, folder / str(edited),
        original and folder / original, mask and folder / mask, source, target,
    )  # fmt: skip


def _long_id(edit: Edit, name: str) -> str:
    return " | ".join(filter(None, (name, edit.target_prompt, edit.task)))


def relative(path: Path, folder: Path) -> str:
    """The path from ``folder`` where it lies there, else as it is."""
    return (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()


def _repetitions(edits: Sequence[Edit]) -> list[str]:
    first: dict[str, str] = {}
    faults = []
    for edit in edits:
        if edit.name in first:
            same = f"id {edit.item_id!r} of model {edit.model!r} is that of {first[edit.name]} too"
            faults.append(f"{edit.where}: {same}; give each its own id")
        first.setdefault(edit.name, edit.where)
    return faults


def plain(edit: Edit, folder: Path) -> dict[str, str | None]:
    """An edit in the columns of a list in ``folder``, from which its paths are told."""
    paths = [None if path is None else relative(path, folder) for path in (edit.original, edit.edited, edit.mask)]
    return {
        "id": edit.item_id, "model": edit.model, "task": edit.task, **dict(zip(PATHS, paths, strict=True)),
        "source_prompt": edit.source_prompt, "target_prompt": edit.target_prompt,
    }  # fmt: skip
