"""From a study file to its tasks: which question is asked about what, and what has to be left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Literal

from inpaintbench.annotate.preparing.proxies import Candidates
from inpaintbench.annotate.preparing.subjects import StudySubject
from inpaintbench.annotate.questions.base import PLACE, SHOWN, Option, number
from inpaintbench.annotate.questions.base import Subject as Shows
from inpaintbench.annotate.study import QuestionSpec, StudyFile, StudyTask, build_question, task_id
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError
from inpaintbench.table_files import csv_text, read_lines
from inpaintbench.types import Attribute
from inpaintbench.workspace import Workspace

# Tasks whose answer is known: a CSV that people write.

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


# Attribute -> why it is shown to no rater; what a rater sees beforehand pulls the answer.
MISLEADING = {"water_suggestion": "it finds too little of real water, and calls fields and butterflies water"}


@dataclass(frozen=True)
class Draft:
    """A task whose proxy is not made yet."""

    question: str
    subject: StudySubject
    candidates: tuple[str, ...]


@dataclass(frozen=True)
class LeftOut:
    """A task that the study cannot have."""

    question: str
    subject_id: str
    candidates: tuple[str, ...]
    reason: str


def check_questions(file: StudyFile, methods: Collection[str]) -> dict[str, Asked]:
    """Every question's label with what may be answered.

    Raises:
        InputError: a question cannot be asked about the study's subjects, has too few methods to compare, or one whose label is
            an answer; suggestions that nothing gives.
    """
    return {spec.label: _checked(spec, file=file, methods=sorted(methods)) for spec in file.questions}


def _checked(spec: QuestionSpec, *, file: StudyFile, methods: Sequence[str]) -> Asked:
    shows = build_question(spec).subject
    if shows == "clip" and file.subjects.dataset is not None:
        raise InputError(f"question {spec.label!r} is about clips, but the subjects are items of a dataset; name a workspace")
    if shows != "clip" and file.subjects.dataset is None:
        raise InputError(
            f"question {spec.label!r} is about predictions, but the subjects are clips of a workspace; name a dataset and runs"
        )
    if len(methods) < SHOWN[shows]:
        raise InputError(
            f"question {spec.label!r} compares methods, but the runs have only {', '.join(methods)}; add a run of another method"
        )
    if spec.suggested_by is not None and shows != "clip":
        raise InputError(f"question {spec.label!r} names suggested_by, but only labels of clips have suggestions; leave it out")
    if spec.suggested_by in MISLEADING:
        raise InputError(
            f"question {spec.label!r} shows {spec.suggested_by} to raters, but {MISLEADING[spec.suggested_by]}: "
            "leave suggested_by out"
        )
    if spec.suggestion != "hidden" and spec.suggested_by is None:
        raise InputError(f"question {spec.label!r} shows suggestions, but no attribute gives them; name one in suggested_by")
    options = [option.value for option in main_options(spec, shows=shows, methods=len(methods))]
    words = tuple(value for value in options if not value.startswith(PLACE))
    if taken := sorted(set(words) & set(methods)):
        raise InputError(f"a method is called {taken[0]!r}, which is an answer to {spec.label!r}; predict under another label")
    chooses = len(words) < len(options)
    shown = tuple(methods) if shows != "clip" else ()
    ordered = build_question(spec).kind in ("grade", "share")
    return Asked((*shown, *words) if chooses else words, shown, chooses, ordered)


def main_options(spec: QuestionSpec, *, shows: Shows, methods: int) -> tuple[Option, ...]:
    """The options of the question's main part, where there are so many methods."""
    return build_question(spec).form(candidates=methods if shows == "set" else SHOWN[shows]).parts[0].options


def draft(
    file: StudyFile, subjects: Sequence[StudySubject], candidates: Candidates, *, known: Callable[[Draft], bool] = lambda _: False
) -> tuple[list[Draft], list[LeftOut]]:
    """The tasks of a study, question by question in the order of its subjects, and those that lack a prediction.

    Tasks that show a decoy are those alone whose answer is ``known``.
    """
    decoys = set(file.subjects.decoys)
    tasks: list[Draft] = []
    lacking: list[LeftOut] = []
    for spec in file.questions:
        shows, methods = build_question(spec).subject, candidates.methods
        sets = [methods] if shows == "set" else list(combinations(methods, SHOWN[shows]))
        if shows == "set" and decoys:
            sets.append(tuple(name for name in methods if name not in decoys))
        for subject in subjects:
            for chosen in sets:
                task = Draft(spec.label, subject, chosen)
                if decoys & set(chosen) and not known(task):
                    continue
                reason = candidates.why_not(subject.subject_id, chosen)
                if reason is None:
                    tasks.append(task)
                else:
                    lacking.append(LeftOut(spec.label, subject.subject_id, chosen, reason))
    return tasks, lacking


def finished(
    drafts: Iterable[Draft], *, proxy_of: Mapping[tuple[str, tuple[str, ...]], str], suggested: Mapping[str, Mapping[str, str]]
) -> list[StudyTask]:
    """The tasks of those drafts that have a proxy.

    Args:
        drafts: in the order of the tasks.
        proxy_of: (subject id, candidates) -> name.
        suggested: question -> subject id -> option.
    """
    return [
        StudyTask(
            task_id=task_id(draft.question, draft.subject.subject_id, draft.candidates),
            question=draft.question,
            subject_id=draft.subject.subject_id,
            cluster=draft.subject.cluster,
            candidates=draft.candidates,
            proxy=proxy_of[draft.subject.subject_id, draft.candidates],
            caption=draft.subject.caption,
            prompt=draft.subject.prompt,
            suggestion=suggested.get(draft.question, {}).get(draft.subject.subject_id),
        )
        for draft in drafts
        if (draft.subject.subject_id, draft.candidates) in proxy_of
    ]


def with_gold(
    tasks: Sequence[StudyTask],
    lines: Sequence[Gold],
    *,
    asked: Mapping[str, Asked],
    use: Literal["", "training", "test"] = "",
) -> list[StudyTask]:
    """``tasks`` with what is right of them; a line that names the candidates goes before one that does not.

    With ``use`` the tasks that lines speak of are those of a crowd's practice or test, in the order of the tasks.

    Raises:
        InputError: a line of practice or test speaks of a task that is gold, practice or test already.
    """
    said: dict[tuple[str, str], list[Gold]] = {}
    for line in sorted(lines, key=lambda line: not line.candidates):
        said.setdefault((line.question, line.subject_id), []).append(line)

    def right(task: StudyTask) -> tuple[tuple[str, ...], Gold | None]:
        for line in said.get((task.question, task.subject_id), ()):
            if answers := line.right(task.candidates, asked=asked[task.question]):
                return answers, line
        return (), None

    made = []
    for task in tasks:
        answers, speaking = right(task)
        if use and speaking is not None and task.gold:
            raise InputError(f"{speaking.where}: {task.caption or task.subject_id!r} has a known answer for another use already")
        if speaking is None:
            made.append(task if use else replace(task, gold=(), tolerance=0))
        else:
            made.append(
                replace(
                    task, gold=answers, tolerance=speaking.tolerance, use=use or task.use, why=speaking.why if use else task.why
                )
            )
    return made


def speaks_of(lines: Sequence[Gold], task: Draft, *, asked: Mapping[str, Asked]) -> bool:
    """Return whether a line says what is right of a task."""
    about = [line for line in lines if (line.question, line.subject_id) == (task.question, task.subject.subject_id)]
    return any(line.right(task.candidates, asked=asked[task.question]) for line in about)


def left_out_table(rows: Sequence[LeftOut]) -> str:
    """As CSV, for people."""
    lines = [(row.question, row.subject_id, "|".join(row.candidates), row.reason) for row in rows]
    return csv_text([("question", "subject", "candidates", "reason"), *lines])


# Largest option of a scale in per cent.
_PERCENT = 100.0


def suggestions(
    workspace: Workspace, subjects: Sequence[StudySubject], *, attribute: str, options: Sequence[Option]
) -> dict[str, str]:
    """Subject id -> the option that ``attribute`` comes nearest to; subjects without a value, or with one that fits none, lack.

    A fact about the clip goes before one about its source. Texts and labels have to equal an option. Numbers go to the nearest
    option that is a number, the smaller of two as near; where options go up to 100, a measure whose values all lie in 0..1 is a
    share, and 1 is 100.

    Raises:
        InputError: the workspace has no such attribute.
    """
    rows = [row for row in workspace.table("attributes", Attribute) if row.name == attribute]
    if not rows:
        raise InputError(
            f"workspace {str(workspace.path)!r} has no attribute {attribute!r} to suggest answers with; "
            f"measure it with `inpaintbench curation measure`, or leave suggested_by out"
        )
    values = {row.subject_id: row.value for row in rows if row.value is not None}
    numbers = {value: option.value for option in options if (value := number(option.value)) is not None}
    shares = all(isinstance(value, str) or 0 <= value <= 1 for value in values.values())
    unit = _PERCENT if shares and max(numbers, default=0) == _PERCENT else 1.0
    texts = {option.value for option in options}
    suggested = {}
    for subject in subjects:
        measured = values.get(subject.subject_id, values.get(subject.file))
        if isinstance(measured, str):
            nearest = measured if measured in texts else None
        else:
            nearest = _nearest(measured, numbers, unit=unit)
        if nearest is not None:
            suggested[subject.subject_id] = nearest
    return suggested


def _nearest(measured: float | None, numbers: Mapping[float, str], *, unit: float) -> str | None:
    if measured is None or not numbers:
        return None
    return numbers[min(numbers, key=lambda step: (abs(step - measured * unit), step))]
