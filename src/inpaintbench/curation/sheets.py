"""CSV files that people filled in, with commas, semicolons or tabs: labels of clips and sources, and answers of raters."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.errors import InputError
from inpaintbench.steps import LABELS
from inpaintbench.table_files import Line, read_lines
from inpaintbench.types import Answer, Attribute, Clip, Source
from inpaintbench.workspace import Workspace

LABELS_VERSION = "1"
_LABEL_COLUMNS = ("subject", "name", "value")


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
    sources = workspace.table("sources", Source)
    subjects = {row.uri: row.source_id for row in sources} | {row.source_id: row.source_id for row in sources}
    subjects |= {row.clip_id: row.clip_id for row in workspace.table("clips", Clip)}
    rows = [_label(line, subjects) for line in lines]
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
    return read_lines(path, kind="labels", needed=_LABEL_COLUMNS)


def _label(line: Line, subjects: Mapping[str, str]) -> Attribute:
    subject, name, value = (line.fields[column] for column in _LABEL_COLUMNS)
    subject_id = subjects.get(subject) or subjects.get(quote(subject))
    if subject_id is None:
        raise InputError(f"{line.where}: {subject!r} is neither a clip, a source nor a source's path")
    try:
        return Attribute(subject_id, name, label_value(name, value), None, LABELS, LABELS_VERSION)
    except InputError as error:
        raise InputError(f"{line.where}: {error}") from error


def label_value(name: str, value: str) -> float | str:
    """The value of a label, as a number where it is one.

    Raises:
        InputError: no label can be called that or have that value.
    """
    if not name or not value:
        raise InputError("name and value must not be empty")
    if name in ATTRIBUTES:
        raise InputError(f"{name} is measured, not labelled; use another name")
    if name.endswith("_level") and value not in ("low", "high"):
        raise InputError(f"{name} is {value!r}, choose from low, high")
    number_or_text: float | str = value
    with suppress(ValueError):
        number_or_text = float(value)
    if isinstance(number_or_text, float) and not math.isfinite(number_or_text):
        raise InputError(f"{name} is {value!r}; leave a line out where nothing is known")
    return number_or_text


TABLE, STEP = "answers", "import"
KEEP_REJECT = "keep_reject"
# Question -> its possible answers, for questions that rules rely on.
CHOICES: Mapping[str, tuple[str, ...]] = {KEEP_REJECT: ("keep", "reject")}
COLUMNS = ("clip", "question", "answer", "reason", "rater")
_NEEDED = ("clip", "answer")


def import_answers(workspace: Workspace, path: Path) -> list[Answer]:
    """Read votes from a CSV with the columns clip and answer, and perhaps question, reason and rater, into the table ``answers``.

    Commas, semicolons or tabs may stand between the columns. Lines without an answer are votes still to come. Of one clip and
    question the answer that most raters gave counts; a draw leaves it without one. What an earlier file said of other clips and
    questions stays.

    Raises:
        InputError: not readable, a column is missing, a clip that the workspace does not have, an answer that the question does
            not know, or one rater answering twice.
    """
    known = {clip.clip_id for clip in workspace.table("clips", Clip)}
    votes: dict[tuple[str, str], dict[str, tuple[str, str]]] = defaultdict(dict)
    for line in read_lines(path, kind="answers", needed=_NEEDED):
        vote = {column: line.fields.get(column, "") for column in COLUMNS}
        if not vote["answer"]:
            continue
        question = vote["question"] or KEEP_REJECT
        if vote["clip"] not in known:
            raise InputError(f"{line.where}: the workspace has no clip {vote['clip']!r}")
        choices = CHOICES.get(question)
        if choices and vote["answer"] not in choices:
            raise InputError(f"{line.where}: {vote['answer']!r} is no answer to {question}, choose from {', '.join(choices)}")
        rater = vote["rater"] or "unnamed"
        if rater in votes[vote["clip"], question]:
            raise InputError(f"{line.where}: {rater!r} has answered {question} of clip {vote['clip']} before")
        votes[vote["clip"], question][rater] = (vote["answer"], vote["reason"])
    resolved = {}
    for (clip_id, question), given in votes.items():
        counts = Counter(answer for answer, _ in given.values()).most_common()
        answer: str | None
        (answer, most), asked = counts[0], len(given)
        reason: str | None = "; ".join(dict.fromkeys(why for choice, why in given.values() if choice == answer and why)) or None
        if len(counts) > 1 and counts[1][1] == most:
            answer, reason = None, f"{asked} votes, and no answer has most of them"
        resolved[clip_id, question] = Answer(clip_id, question, answer, reason, asked, most / asked)
    before = {(row.subject_id, row.question): row for row in workspace.table(TABLE, Answer, step=STEP)}
    rows = sorted((before | resolved).values(), key=lambda row: (row.question, row.subject_id))
    workspace.write_table(TABLE, STEP, rows, Answer)
    return list(resolved.values())
