"""Judgements leave a study as a table for other programs, and come in from other servers or from elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from inpaintbench.annotate.outcomes.judgement_files import SCHEMA, Row, read_rows, write_rows
from inpaintbench.annotate.outcomes.label_studio import SUFFIX, Annotations, read_tasks, write_tasks
from inpaintbench.annotate.questions.base import checked
from inpaintbench.annotate.records import Purpose, SuggestionShown
from inpaintbench.annotate.study import Study, StudyTask
from inpaintbench.errors import InputError
from inpaintbench.files import write_atomically
from inpaintbench.table_files import csv_text
from inpaintbench.types import canonical_json, content_id

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.records import Submission, Vote

# Judgements stored in one transaction, so that raters who are at work need not wait for long.
_AT_ONCE = 200
# Characters of an id that the journal can store.
_ID_LIMIT = 200


@dataclass(frozen=True)
class Judged:
    """One judgement to be stored: the bodies of a ``lease`` and an ``answer``."""

    where: str
    rater_id: str
    at: float
    lease: Mapping[str, Any]
    answer: Mapping[str, Any]


@dataclass(frozen=True)
class Imported:
    """Numbers of rows of a file that were stored or known."""

    stored: int
    known: int
    """Rows that the journal had already."""
    cancelled: int = 0
    """Annotations of Label Studio that whoever made them cancelled."""
    truths: int = 0
    """Those that are ground truth; see ``write_gold``."""


def export_judgements(
    study: Study, votes: Sequence[Vote], path: Path, *, names: Mapping[str, str] | None = None, media: str = "",
    skips: Sequence[Submission] = (), gold: bool = False,
) -> int:  # fmt: skip
    """Write one row an answer that stands, of gold tasks and repeats too, to a ``.parquet``, ``.csv`` or ``.jsonl`` file.

    A ``.json`` file is that of ``label_studio``, with all tasks.

    Args:
        study: whose votes they are.
        votes: answers that stand, in order.
        path: of the file.
        names: rater id -> name; by default, and where one is missing, ``rater-001`` and so on in order of first answer.
        media: address of the folder with the videos, of ``.json`` files.
        skips: those that stand, for ``.json`` files.
        gold: write known answers into ``.json`` files.

    Returns:
        The number of rows.

    Raises:
        InputError: another suffix, or not writable.
    """
    known = names or {}
    order = dict.fromkeys([*(vote.rater_id for vote in votes), *(skip.rater_id for skip in skips)])
    called = {rater_id: known.get(rater_id, f"rater-{number:03}") for number, rater_id in enumerate(order, 1)}
    if path.suffix == SUFFIX:
        return write_tasks(study, votes, path, called=called, media=media, skips=skips, gold=gold)
    own = [name for name in SCHEMA.names if name not in ("study_id", "rater")]

    def row(vote: Vote) -> dict[str, Any]:
        texts = {"study_id": study.study_id, "rater": called[vote.rater_id], "given": _given(tuple(vote.given.items()))}
        lists = {"candidates": list(vote.candidates), "shown": list(vote.shown)}
        return {name: getattr(vote, name) for name in own} | texts | lists

    write_rows(path, map(row, votes))
    return len(votes)


@lru_cache(maxsize=4096)
def _given(parts: tuple[tuple[str, str], ...]) -> str:
    return canonical_json(dict(parts))


def import_judgements(path: Path, study: Study, journal: Journal, *, at: float) -> Imported:
    """Store the judgements of a file; what is stored already, by an earlier import too, is passed over.

    A rater whose answer to the same task stands in the journal already gets no second vote: what is stored later, the row or
    the answer to a task that they had open meanwhile, is a repeat (see ``desk.state``), like the second of two rows of a file.

    Args:
        path: a file as for ``read_judgements``.
        study: what they are about.
        journal: where they go. The study is registered there.
        at: seconds since 1970, for rows that do not say when they were given.

    Raises:
        InputError: as ``read_judgements``, or a judgement that is stored with another answer.
    """
    annotations = _annotations(path, study)
    judged = _all_judged(annotations.rows, study, at=at)
    stored = 0
    for start in range(0, len(judged), _AT_ONCE):
        with journal.writing(study.study_id) as writer:
            for one in judged[start : start + _AT_ONCE]:
                before = writer.submitted(one.answer["submission_id"])
                if before is not None:
                    _same(Judged("the journal", before.rater_id, before.at, {}, before.body), one)
                    continue
                writer.append("lease", one.rater_id, one.lease, at=one.at)
                writer.append("answer", one.rater_id, one.answer, at=one.at)
                stored += 1
    return Imported(stored, len(judged) - stored, annotations.cancelled, annotations.truths)


def write_gold(path: Path, study: Study, out: Path) -> int:
    """Write the ground truth of a file of Label Studio as a gold file, for ``[checks] gold``; return how many tasks it knows.

    Raises:
        InputError: as ``read_judgements``, or not writable.
    """
    right: dict[str, dict[str, None]] = {}
    for judgement in _all_judged(read_tasks(path, study, truths=True).rows, study, at=0.0):
        right.setdefault(judgement.answer["task_id"], {})[judgement.answer["choice"]] = None
    rows = [("subject", "question", "answers", "candidates")]
    for task_id, answers in right.items():
        task = study.task_of[task_id]
        rows.append((task.subject_id, task.question, "|".join(answers), "|".join(task.candidates)))
    try:
        write_atomically(out, csv_text(rows).encode())
    except OSError as error:
        raise InputError(f"{str(out)!r} cannot be written: {error.strerror}") from error
    return len(right)


def read_judgements(path: Path, study: Study, *, at: float) -> list[Judged]:
    """The judgements of a ``.parquet``, ``.csv``, ``.jsonl`` or (of Label Studio) ``.json`` file, each checked against ``study``.

    Needed are ``rater_id`` or ``rater``; ``task_id``, or ``question`` and ``subject_id`` or ``subject``; and ``given``, or
    ``choice``, the main answer: other parts of its form then stay unsaid. ``candidates`` are needed too where a subject has
    several tasks in which the choice could have been made: pairs of three methods or more, grades of several methods. The others
    may be left out. A rater's second answer to a task is a repeat. Lists and ``given`` are JSON in CSV files; lists may also be
    divided by ``|``.

    Raises:
        InputError: not readable, or a row with an unknown task, candidate or choice, or without what is needed: says which.
    """
    return _all_judged(_annotations(path, study).rows, study, at=at)


def _annotations(path: Path, study: Study) -> Annotations:
    return read_tasks(path, study) if path.suffix == SUFFIX else Annotations(read_rows(path), 0, 0)


def _all_judged(rows: Sequence[Row], study: Study, *, at: float) -> list[Judged]:
    seen: Counter[tuple[str, str]] = Counter()
    by_subject: dict[tuple[str, str], list[StudyTask]] = {}
    for task in study.tasks:
        if task.use != "honey":
            by_subject.setdefault((task.question, task.subject_id), []).append(task)
    judged: dict[str, Judged] = {}
    for row in rows:
        try:
            judgement = _judged(row, study, _task_of(row, study, by_subject), seen, at=at)
        except InputError as error:
            raise InputError(f"{row.where}: {error}") from error
        _same(judged.setdefault(judgement.answer["submission_id"], judgement), judgement)
    return list(judged.values())


def _task_of(row: Row, study: Study, by_subject: Mapping[tuple[str, str], Sequence[StudyTask]]) -> StudyTask:
    """The task that a row of this study is about."""
    fields = row.fields
    if fields.get("study_id", study.study_id) != study.study_id:
        raise InputError(f"the row is of study {fields['study_id']}, not of {study.study_id}; without that column it is taken")
    tasks: Sequence[StudyTask]
    if "task_id" in fields:
        tasks = [study.task_of[fields["task_id"]]] if fields["task_id"] in study.task_of else []
    else:
        question = str(row.value("question"))
        # The clip or item, under the name that `export` gives it, or that of gold files.
        given = fields["subject"] if "subject_id" not in fields and "subject" in fields else row.value("subject_id")
        tasks = by_subject.get((question, str(given)), [])
    candidates = row.names("candidates") or row.names("shown")
    tasks = [task for task in tasks if not candidates or sorted(candidates) == sorted(task.candidates)]
    named = {name: fields[name] for name in ("task_id", "question", "subject_id", "subject") if name in fields}
    if not tasks:
        about = f" about {', '.join(candidates)}" if candidates else ""
        raise InputError(f"the study has no task with {named}{about}")
    able = [task for task in tasks if row.text("choice") in task.candidates] or tasks
    if len(able) > 1:
        shown = " or ".join("|".join(task.candidates) for task in able[:3])
        raise InputError(f"{len(able)} tasks have {named}; say in a column candidates which was shown, such as {shown}")
    return able[0]


def _judged(row: Row, study: Study, task: StudyTask, seen: Counter[tuple[str, str]], *, at: float) -> Judged:
    fields = row.fields
    rater_id = _id(fields.get("rater_id") or row.value("rater"), name="rater_id")
    seen[rater_id, task.task_id] += 1
    number = seen[rater_id, task.task_id]
    derived = content_id("import", study.study_id, rater_id, task.task_id, number)
    submission_id = _id(fields.get("submission_id", derived), name="submission_id")
    shown = row.names("shown")
    if shown and sorted(shown) != sorted(task.candidates):
        raise InputError(f"shown were {', '.join(shown)}, the task has {', '.join(task.candidates)}")
    given, choice = _answered(row, study, task, shown or task.candidates)
    when = row.number("at") if "at" in fields else at
    suggestion = fields.get("suggestion_shown", "hidden")
    if suggestion not in get_args(SuggestionShown):
        raise InputError(f"suggestion_shown is {suggestion!r}, choose from {', '.join(get_args(SuggestionShown))}")
    ids = {"lease_id": content_id("lease", submission_id), "task_id": task.task_id}
    purpose: Purpose = "repeat" if number > 1 or fields.get("purpose") == "repeat" else "gold" if task.gold else "vote"
    lease = {**ids, "shown": list(shown), "purpose": purpose, "expires_at": when}
    answer = {
        "submission_id": submission_id, **ids, "given": given, "choice": choice,
        "seconds": row.number("seconds") if "seconds" in fields else None,
        "watched_frames": None, "dropped_frames": None, "plays": None,
        "stuttered": fields.get("stuttered") in (True, "true", "True", "TRUE", "1"), "suggestion_shown": str(suggestion),
        "revision": int(row.number("revision")) if "revision" in fields else 0,
    }  # fmt: skip
    return Judged(row.where, rater_id, when, lease, answer)


def _id(value: Any, *, name: str) -> str:
    text = str(value)
    if len(text) > _ID_LIMIT or not text.isprintable():
        raise InputError(f"{name} is {text[:40]!r}, at most {_ID_LIMIT} printable characters can be stored")
    return text


def _answered(row: Row, study: Study, task: StudyTask, shown: Sequence[str]) -> tuple[dict[str, str], str]:
    """Given form and the choice that it means; a choice alone says the main part and leaves the others unsaid."""
    question, form = study.question_of[task.question], study.form(task)
    stated = row.text("choice")
    main = form.parts[0]
    if "given" in row.fields:
        stored = row.mapping("given")
        # What a choice alone became is exported as the main part alone.
        given = checked(replace(form, parts=(main,)) if set(stored) == {main.name} else form, stored)
    else:
        row.value("choice")
        meant = {question.choice({main.name: option.value}, shown=shown): option.value for option in main.options}
        if stated is None or stated not in meant:
            raise InputError(f"the choice is {stated!r}, choose from {', '.join(meant)}")
        given = {main.name: meant[stated]}
    choice = question.choice(given, shown=shown)
    if stated is None and choice in task.candidates and len(task.candidates) > 1 and not row.names("shown"):
        raise InputError("given names a place, and nothing says what stood there; add a column choice or shown")
    if stated not in (None, choice):
        raise InputError(f"the choice is {stated!r}, but what was given means {choice!r}")
    return given, choice


def _same(before: Judged, now: Judged) -> None:
    for field in ("task_id", "given", "choice"):
        if before.answer.get(field) != now.answer[field] or before.rater_id != now.rater_id:
            raise InputError(
                f"{now.where}: submission {now.answer['submission_id']} stands in {before.where} with another answer; "
                f"judgements are never changed"
            )
