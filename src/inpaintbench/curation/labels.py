"""Labels that people made elsewhere, from a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path
from urllib.parse import quote

from inpaintbench.errors import InputError
from inpaintbench.types import Attribute, Clip, Source
from inpaintbench.workspace import Workspace

VERSION = "1"
_COLUMNS = ("subject", "name", "value")


def import_labels(workspace: Workspace, path: Path) -> list[Attribute]:
    """Read a CSV with the columns subject, name, value into the table ``attributes``.

    Args:
        workspace: its sources and clips are the possible subjects.
        path: the file. A subject is a clip id, a source id, or the path of a source below the source folder. A label that
            decides a slice is called ``<attribute>_level`` and is ``low`` or ``high``, for example ``scene_motion_level``.

    Raises:
        InputError: not readable, a column or value is missing, or a subject that the workspace does not have.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"labels {str(path)!r} cannot be read: {error}") from error
    if lines and (missing := [column for column in _COLUMNS if column not in lines[0]]):
        raise InputError(f"labels {str(path)!r} have no column {missing[0]!r}; needed are {', '.join(_COLUMNS)}")
    subjects = _subjects(workspace)
    rows = [_attribute(line, number, subjects, path) for number, line in enumerate(lines, start=2)]
    workspace.write_table("attributes", "labels", rows, Attribute)
    return rows


def _subjects(workspace: Workspace) -> dict[str, str]:
    sources = workspace.table("sources", Source)
    known = {row.uri: row.source_id for row in sources} | {row.source_id: row.source_id for row in sources}
    return known | {row.clip_id: row.clip_id for row in workspace.table("clips", Clip)}


def _attribute(line: dict[str, str | None], number: int, subjects: dict[str, str], path: Path) -> Attribute:
    subject, name, value = ((line[column] or "").strip() for column in _COLUMNS)
    found = subjects.get(subject) or subjects.get(quote(subject))
    if found is None:
        raise InputError(f"{path.name} line {number}: {subject!r} is neither a clip, a source nor a source's path")
    if not name or not value:
        raise InputError(f"{path.name} line {number}: name and value must not be empty")
    if name.endswith("_level") and value not in ("low", "high"):
        raise InputError(f"{path.name} line {number}: {name} is {value!r}, choose from low, high")
    return Attribute(found, name, _number(value), None, "labels", VERSION)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
