"""Labels that people made elsewhere, from a CSV file."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from urllib.parse import quote

from inpaintbench.curation.attributes import ATTRIBUTES
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
    lines = read_labels(path)
    subjects = _subjects(workspace)
    rows = [_attribute(line, number, subjects, path) for number, line in enumerate(lines, start=2)]
    seen: dict[tuple[str, str], int] = {}
    for number, row in enumerate(rows, start=2):
        if (earlier := seen.setdefault((row.subject_id, row.name), number)) != number:
            raise InputError(f"{path.name} line {number}: {row.name} of this subject is already given in line {earlier}")
    workspace.write_table("attributes", "labels", rows, Attribute)
    return rows


def read_labels(path: Path) -> list[dict[str, str | None]]:
    """The lines of a label file, its columns checked.

    Raises:
        InputError: not readable, or a column is missing.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            lines, columns = list(reader), reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"labels {str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if missing := [column for column in _COLUMNS if column not in columns]:
        raise InputError(f"labels {str(path)!r} have no column {missing[0]!r}; needed are {', '.join(_COLUMNS)}")
    return lines


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
    if name in ATTRIBUTES:
        raise InputError(f"{path.name} line {number}: {name} is measured, not labelled; use another name")
    if name.endswith("_level") and value not in ("low", "high"):
        raise InputError(f"{path.name} line {number}: {name} is {value!r}, choose from low, high")
    number_or_text = _number(value)
    if isinstance(number_or_text, float) and not math.isfinite(number_or_text):
        raise InputError(f"{path.name} line {number}: {name} is {value!r}; leave a line out where nothing is known")
    return Attribute(found, name, number_or_text, None, "labels", VERSION)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
