"""From a study file to its tasks: which question is asked about what, and what has to be left out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Literal

from inpaintbench.annotate.preparing.proxies import Candidates, StudySubject
from inpaintbench.annotate.questions.base import PLACE, SHOWN, Option, number
from inpaintbench.annotate.questions.base import Subject as Shows
from inpaintbench.annotate.study import QuestionSpec, StudyFile, StudyTask, build_question, task_id
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError
from inpaintbench.table_files import csv_text, read_lines
from inpaintbench.types import Attribute, canonical_json, item_rng
from inpaintbench.workspace import Workspace

# Tasks whose answer is known: a CSV that people write.

NEEDED = ("subject", "question", "answers")
CANDIDATES, TOLERANCE = "candidates", "tolerance"


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
        try:
            line = _gold(row.where, row.fields, subjects=subjects, asked=asked)
        except InputError as error:
            raise InputError(f"{row.where}: {error}") from error
        key = (line.subject_id, line.question, line.candidates)
        if key in lines:
            raise InputError(
                f"{row.where} says again what {lines[key].where} says of {row.fields['subject']!r}; keep one of both"
            )
        lines[key] = line
    return list(lines.values())


def _gold(where: str, fields: Mapping[str, str], *, subjects: Sequence[StudySubject], asked: Mapping[str, Asked]) -> Gold:
    label, text, tolerance = fields["question"], fields["subject"], fields.get(TOLERANCE) or "0"
    if label not in asked:
        raise InputError(unknown_name("question", label, asked))
    question = asked[label]
    named: dict[str, tuple[str, ...]] = {}
    for kind, column, known in (("answer", "answers", question.choices), ("method", CANDIDATES, question.methods)):
        named[kind] = tuple(dict.fromkeys(name.strip() for name in fields.get(column, "").split("|") if name.strip()))
        if unknown := [name for name in named[kind] if name not in known]:
            shows_none = f"{kind} {unknown[0]!r}, but the question shows none"
            raise InputError(unknown_name(kind, unknown[0], list(known)) if known else shows_none)
        if kind == "answer" and not named[kind]:
            raise InputError(f"no answer; choose from {', '.join(question.choices)}")
    if tolerance != "0" and not question.ordered:
        raise InputError(f"a tolerance of {tolerance!r}, but the answers to {label!r} have no order; leave it empty")
    if not tolerance.isdecimal() or int(tolerance) >= max(1, len(question.choices)):
        raise InputError(f"the tolerance is {tolerance!r}, give a number of steps below {len(question.choices)}")
    meant = [subject.subject_id for subject in subjects if text in (subject.subject_id, subject.name)]
    meant = [text] if text in meant else meant
    if len(meant) > 1:
        raise InputError(f"the study has {len(meant)} subjects of {text!r}; name one by its id, such as {meant[0]}")
    if not meant:
        raise InputError(f"the study has no subject {text!r}; give a clip or item id, or the name of its source")
    candidates, why = tuple(sorted(named["method"])), fields.get("why", "")
    return Gold(where, meant[0], label, named["answer"], candidates, why, int(tolerance))


# Attribute -> why it is shown to no rater; what a rater sees beforehand pulls the answer.
MISLEADING = {"water_suggestion": "it finds too little of real water, and calls fields and butterflies water"}


@dataclass(frozen=True)
class Draft:
    """A task whose proxy is not made yet."""

    question: str
    subject: StudySubject
    candidates: tuple[str, ...]
    asks_for: tuple[str, ...] = ()
    """The candidate that its pictures ask for, where they do."""

    @property
    def shown(self) -> tuple[str, tuple[str, ...]]:
        """Subject, and methods that are shown, the one asked for once more: tasks that agree in both share a proxy."""
        return self.subject.subject_id, (*self.candidates, *self.asks_for)


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
    file: StudyFile, subjects: Sequence[StudySubject], candidates: Candidates, *, gold: Sequence[Gold] = (),
    asked: Mapping[str, Asked] = {},
) -> tuple[list[Draft], list[LeftOut]]:  # fmt: skip
    """The tasks of a study, question by question in the order of its subjects, and those that lack a prediction; then those whose
    pictures say what to choose, drawn from comparisons of which ``gold`` says that something else is right.

    Tasks that show a decoy are those alone of which ``gold`` says what is right; ``asked`` says what may be answered.
    """
    decoys = set(file.subjects.decoys)
    said: dict[tuple[str, str], list[Gold]] = {}
    for line in gold:
        said.setdefault((line.question, line.subject_id), []).append(line)
    tasks: list[Draft] = []
    lacking: list[LeftOut] = []
    honeys: list[tuple[float, Draft]] = []
    for spec in file.questions:
        shows, methods = build_question(spec).subject, candidates.methods
        sets = [methods] if shows == "set" else list(combinations(methods, SHOWN[shows]))
        if shows == "set" and decoys:
            sets.append(tuple(name for name in methods if name not in decoys))
        for subject in subjects:
            about = said.get((spec.label, subject.subject_id), ())
            for chosen in sets:
                right = {answer for line in about for answer in line.right(chosen, asked=asked[spec.label])}
                if decoys & set(chosen) and not right:
                    continue
                reason = candidates.why_not(subject.subject_id, chosen)
                if reason is not None:
                    lacking.append(LeftOut(spec.label, subject.subject_id, chosen, reason))
                    continue
                tasks.append(Draft(spec.label, subject, chosen))
                if right and len(chosen) > 1 and asked[spec.label].chooses and (wrong := sorted(set(chosen) - right)):
                    rng = item_rng(file.seed, "honey", canonical_json([spec.label, subject.subject_id, *chosen]))
                    lot, place = rng.random(), int(rng.integers(len(wrong)))
                    honeys.append((lot, replace(tasks[-1], asks_for=(wrong[place],))))
    most = 0 if file.crowd is None else file.crowd.honey
    return [*tasks, *(task for _, task in sorted(honeys, key=lambda one: one[0])[:most])], lacking


def finished(
    drafts: Iterable[Draft], *, proxy_of: Mapping[tuple[str, tuple[str, ...]], str], suggested: Mapping[str, Mapping[str, str]]
) -> list[StudyTask]:
    """The tasks of those drafts that have a proxy.

    Args:
        drafts: in the order of the tasks.
        proxy_of: ``Draft.shown`` -> name.
        suggested: question -> subject id -> option.
    """
    return [
        StudyTask(
            task_id=task_id(draft.question, *draft.shown),
            question=draft.question,
            subject_id=draft.subject.subject_id,
            cluster=draft.subject.cluster,
            candidates=draft.candidates,
            proxy=proxy_of[draft.shown],
            caption=draft.subject.caption,
            prompt=draft.subject.prompt,
            suggestion=suggested.get(draft.question, {}).get(draft.subject.subject_id),
            gold=draft.asks_for,
            use="honey" if draft.asks_for else "",
        )
        for draft in drafts
        if draft.shown in proxy_of
    ]


def with_gold(
    tasks: Sequence[StudyTask], lines: Sequence[Gold], *, asked: Mapping[str, Asked], use: Literal["", "training", "test"] = ""
) -> list[StudyTask]:
    """``tasks`` with what is right of them; a line that names the candidates goes before one that does not.

    With ``use`` the tasks that lines speak of are those of a crowd's practice or test, in the order of the tasks.

    Raises:
        InputError: a line of practice or test speaks of a task that is gold, practice or test already.
    """
    said: dict[tuple[str, str], list[Gold]] = {}
    for line in sorted(lines, key=lambda line: not line.candidates):
        said.setdefault((line.question, line.subject_id), []).append(line)
    made = []
    for task in tasks:
        about = said.get((task.question, task.subject_id), ()) if task.use != "honey" else ()
        right = ((line.right(task.candidates, asked=asked[task.question]), line) for line in about)
        answers, speaking = next(((answers, line) for answers, line in right if answers), ((), None))
        if use and speaking is not None and task.gold:
            raise InputError(f"{speaking.where}: {task.caption or task.subject_id!r} has a known answer for another use already")
        if speaking is None:
            made.append(task if use or task.use else replace(task, gold=(), tolerance=0))
        else:
            why = speaking.why if use else task.why
            made.append(replace(task, gold=answers, tolerance=speaking.tolerance, use=use or task.use, why=why))
    return made


# Largest option of a scale in per cent.
_PERCENT = 100.0


def left_out_table(rows: Sequence[LeftOut]) -> str:
    """As CSV, for people."""
    lines = [(row.question, row.subject_id, "|".join(row.candidates), row.reason) for row in rows]
    return csv_text([("question", "subject", "candidates", "reason"), *lines])


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
    suggested: dict[str, str] = {}
    for subject in subjects:
        measured = values.get(subject.subject_id, values.get(subject.file))
        if isinstance(measured, str):
            suggested |= {subject.subject_id: measured} if measured in texts else {}
        elif measured is not None and numbers:
            wanted = measured * unit
            suggested[subject.subject_id] = numbers[min(numbers, key=lambda step: (abs(step - wanted), step))]
    return suggested
