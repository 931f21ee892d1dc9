"""Labels that people made elsewhere, from a CSV file."""

from __future__ import annotations

import math
from pathlib import Path
from urllib.parse import quote

from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.sheets import Line, read_lines
from inpaintbench.errors import InputError
from inpaintbench.steps import LABELS
from inpaintbench.types import Attribute, Clip, Source
from inpaintbench.workspace import Workspace

VERSION = "1"
_COLUMNS = ("subject", "name", "value")


def import_labels(workspace: Workspace, path: Path) -> list[Attribute]:
    """Read a CSV (commas, semicolons or tabs) with the columns subject, name, value into the table ``attributes``.

    Args:
        workspace: its sources and clips are the possible subjects.
        path: the file. A subject is a clip id, a source id, or the path of a source below the source folder. A label that
            decides a slice is called ``<attribute>_level`` and is ``low`` or ``high``, for example ``bg_scene_motion_level``.

    Raises:
        InputError: not readable, a column or value is missing, or a subject that the workspace does not have.
    """
    lines = read_labels(path)
    subjects = _subjects(workspace)
    rows = [_attribute(line, subjects) for line in lines]
    seen: dict[tuple[str, str], str] = {}
    for line, row in zip(lines, rows, strict=True):
        if (earlier := seen.setdefault((row.subject_id, row.name), line.where)) != line.where:
            raise InputError(f"{line.where}: {row.name} of this subject is already given in {earlier.partition(' ')[2]}")
    workspace.write_table("attributes", LABELS, rows, Attribute)
    return rows


def read_labels(path: Path) -> list[Line]:
    """The lines of a label file, its columns checked.

    Raises:
        InputError: not readable, a column is missing, or a line has too many fields.
    """
    return read_lines(path, kind="labels", needed=_COLUMNS)


def _subjects(workspace: Workspace) -> dict[str, str]:
    sources = workspace.table("sources", Source)
    known = {row.uri: row.source_id for row in sources} | {row.source_id: row.source_id for row in sources}
    return known | {row.clip_id: row.clip_id for row in workspace.table("clips", Clip)}


def _attribute(line: Line, subjects: dict[str, str]) -> Attribute:
    subject, name, value = (line.fields[column] for column in _COLUMNS)
    found = subjects.get(subject) or subjects.get(quote(subject))
    if found is None:
        raise InputError(f"{line.where}: {subject!r} is neither a clip, a source nor a source's path")
    if not name or not value:
        raise InputError(f"{line.where}: name and value must not be empty")
    if name in ATTRIBUTES:
        raise InputError(f"{line.where}: {name} is measured, not labelled; use another name")
    if name.endswith("_level") and value not in ("low", "high"):
        raise InputError(f"{line.where}: {name} is {value!r}, choose from low, high")
    number_or_text = _number(value)
    if isinstance(number_or_text, float) and not math.isfinite(number_or_text):
        raise InputError(f"{line.where}: {name} is {value!r}; leave a line out where nothing is known")
    return Attribute(found, name, number_or_text, None, LABELS, VERSION)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
