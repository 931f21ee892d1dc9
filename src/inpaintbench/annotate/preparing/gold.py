"""Tasks whose answer is known: a CSV that people write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.annotate.preparing.subjects import StudySubject
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError
from inpaintbench.table_files import read_lines

NEEDED = ("subject", "question", "answers")
CANDIDATES, TOLERANCE = "candidates", "tolerance"
_BETWEEN = "|"


@dataclass(frozen=True)
class Asked:
    """Facts of a question that gold lines are checked against."""

    choices: tuple[str, ...]
    """Everything that votes on it can be counted over."""
    methods: tuple[str, ...]
    """Methods whose predictions it shows."""
    chooses: bool
    """True when its answers are methods."""
    ordered: bool = False
    """True when its answers have an order, so that one can be some steps away from another."""


@dataclass(frozen=True)
class Gold:
    """One line: what is right of a question about a subject."""

    where: str
    subject_id: str
    question: str
    answers: tuple[str, ...]
    candidates: tuple[str, ...]
    """Methods, sorted; none stated when empty."""
    why: str = ""
    """Explanation for people who practise."""
    tolerance: int = 0
    """Steps that an answer may lie away from those that are right."""

    def right(self, candidates: tuple[str, ...], *, asked: Asked) -> tuple[str, ...]:
        """The right choices of the task that shows ``candidates``; none where the line says nothing about it.

        A line that names methods is about tasks that show one of them beside one that it does not name.
        """
        if self.candidates and self.candidates != candidates:
            return ()
        better = set(self.answers) & set(asked.methods) if asked.chooses else set()
        here = better & set(candidates)
        if better and (not here or here == set(candidates)):
            return ()
        return tuple(answer for answer in self.answers if answer in here or answer not in better)


def read_gold(path: Path, *, subjects: Sequence[StudySubject], asked: Mapping[str, Asked]) -> list[Gold]:
    """The lines of ``checks.gold``.

    The columns are ``subject`` (its id, or the name of its source where that has one subject), ``question`` (its label),
    ``answers`` and, if wanted, ``candidates`` (the methods of the one task that is meant) and ``tolerance`` (steps of the
    scale by which raters may miss); ``|`` divides several.

    Raises:
        InputError: not readable as CSV, a column is missing, or a line names a subject, question, method or answer that the
            study does not have, or says again what is right; the text tells the line.
    """
    lines: dict[tuple[str, str, tuple[str, ...]], Gold] = {}
    for row in read_lines(path, kind="gold answers", needed=NEEDED):
        where, fields = row.where, row.fields
        line = _line(where, fields, subjects=subjects, asked=asked)
        key = (line.subject_id, line.question, line.candidates)
        if key in lines:
            raise InputError(f"{where} says again what {lines[key].where} says of {fields['subject']!r}; keep one of both")
        lines[key] = line
    return list(lines.values())


def _line(where: str, fields: Mapping[str, str], *, subjects: Sequence[StudySubject], asked: Mapping[str, Asked]) -> Gold:
    label = fields["question"]
    if label not in asked:
        raise InputError(f"{where}: {unknown_name('question', label, asked)}")
    question = asked[label]
    answers = _each(where, "answer", fields["answers"], known=question.choices)
    if not answers:
        raise InputError(f"{where}: no answer; choose from {', '.join(question.choices)}")
    candidates = _each(where, "method", fields.get(CANDIDATES, ""), known=question.methods)
    tolerance = _tolerance(where, fields.get(TOLERANCE, ""), label, question)
    subject = _subject(where, fields["subject"], subjects)
    return Gold(where, subject, label, answers, tuple(sorted(candidates)), fields.get("why", ""), tolerance)


def _tolerance(where: str, field: str, label: str, question: Asked) -> int:
    if field in ("", "0"):
        return 0
    if not question.ordered:
        raise InputError(f"{where}: a tolerance of {field!r}, but the answers to {label!r} have no order; leave it empty")
    if not field.isdecimal() or int(field) >= len(question.choices):
        raise InputError(f"{where}: the tolerance is {field!r}, give a number of steps below {len(question.choices)}")
    return int(field)


def _each(where: str, kind: str, field: str, *, known: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in field.split(_BETWEEN) if name.strip()))
    if unknown := [name for name in names if name not in known]:
        sentence = unknown_name(kind, unknown[0], list(known)) if known else f"{kind} {unknown[0]!r}, but the question shows none"
        raise InputError(f"{where}: {sentence}")
    return names


def _subject(where: str, text: str, subjects: Sequence[StudySubject]) -> str:
    if any(subject.subject_id == text for subject in subjects):
        return text
    named = [subject.subject_id for subject in subjects if subject.name == text]
    if len(named) > 1:
        raise InputError(f"{where}: the study has {len(named)} subjects of {text!r}; name one by its id, such as {named[0]}")
    if not named:
        raise InputError(f"{where}: the study has no subject {text!r}; give a clip or item id, or the name of its source")
    return named[0]
