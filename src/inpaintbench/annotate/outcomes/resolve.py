"""Votes about clips become the rows that other rooms read: attributes and answers.

Of each rater the first answer that stands counts; silent repeats do not. A vote and a check are two things: a gold task with one
right answer has that one, whatever raters say; where several are right their votes decide like all others, within what is right;
of votes beyond it, but within the gold task's tolerance, the nearest right answer is the label.
Several votes come to a verdict:

* The answer that most votes gave wins; a draw has no answer.
* Of numbers it is the ordinary median of the votes that have one: the mean of the middle two where there are two. They agree
  with it when they are at most one step of the scale away; a median between two steps is half a step from both. Votes without a
  number decide where they are more than half, and make a draw where they are half.
* Less agreement than asked for is no answer.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from inpaintbench.annotate.questions.base import Question, number
from inpaintbench.annotate.records import Vote, first_votes
from inpaintbench.annotate.study import Study, StudyTask
from inpaintbench.errors import InputError
from inpaintbench.types import Answer, Attribute
from inpaintbench.workspace import Workspace

# Begins the names of all steps that write what people answered.
PRODUCER = "annotate"
# Reason of answers that gold gives, without a vote.
KNOWN = "known beforehand"


@dataclass(frozen=True)
class Verdict:
    """Answer that several votes give, or why there is none."""

    answer: str | None
    reason: str | None
    """Reason why there is none, or what more there is to say."""
    votes: int
    agreement: float | None
    """Share of the votes that gave it or, of those with a number, that came near enough, 0..1; None where nobody was asked."""
    against_gold: bool = False
    """True when there is no answer because it is known that theirs is wrong."""


def majority(choices: Sequence[str], *, least_agreement: float) -> Verdict:
    """Majority of ``choices``, at least one.

    Args:
        choices: one a vote.
        least_agreement: share of them that must be the answer, 0..1.
    """
    counts = Counter(choices).most_common()
    answer, most = counts[0]
    if len(counts) > 1 and counts[1][1] == most:
        counted = ", ".join(f"{count} {choice}" for choice, count in counts)
        return Verdict(None, f"no answer has most of the {len(choices)} votes: {counted}", len(choices), most / len(choices))
    return _checked(Verdict(answer, None, len(choices), most / len(choices)), f"{len(choices)} votes", least_agreement)


def median(choices: Sequence[str], *, steps: Sequence[str], unsure: Collection[str], least_agreement: float) -> Verdict:
    """The median of ``choices``, at least one, as a text such as ``25`` or ``17.5``.

    Args:
        choices: one a vote, each of ``steps`` or of ``unsure``.
        steps: numbers of the scale, ascending.
        unsure: choices that are no number.
        least_agreement: share of the votes with a number that must be at most one step from the median, 0..1.
    """
    doubts = Counter(choice for choice in choices if choice in unsure)
    places = [steps.index(choice) for choice in choices if choice not in unsure]
    votes, doubtful = len(choices), doubts.total()
    if doubtful > len(places):
        return Verdict(doubts.most_common(1)[0][0], None, votes, doubtful / votes)
    if doubtful == len(places):
        return Verdict(None, f"as many of the {votes} votes have no number as have one", votes, doubtful / votes)
    middle = statistics.median(places)
    near = sum(abs(place - middle) <= 1 for place in places)
    value = statistics.median(float(steps[place]) for place in places)
    voters = f"{len(places)} votes with a number" if doubtful else f"{votes} votes"
    return _checked(Verdict(f"{value:g}", None, votes, near / len(places)), voters, least_agreement)


def _checked(verdict: Verdict, asked: str, least_agreement: float) -> Verdict:
    """``verdict``, or that too few of those ``asked`` agree."""
    agreement = verdict.agreement or 0.0
    if agreement >= least_agreement:
        return verdict
    reason = f"{agreement:.0%} of {asked} agree, at least {least_agreement:.0%} must"
    return Verdict(None, reason, verdict.votes, agreement)


@dataclass(frozen=True)
class Older:
    """Rows of another study about the same."""

    step: str
    taken: list[Any]
    """Those about the same."""
    left: list[Any]
    """The others."""


def overlapping(
    workspace: Workspace, table: str, record: type[Any], rows: Sequence[Any], *, own: Collection[str],
    key: Callable[[Any], Hashable],
) -> list[Older]:  # fmt: skip
    """Steps of other studies that have rows about the same as ``rows``, in order of their names.

    Args:
        workspace: where the table lies.
        table: its name.
        record: of its rows.
        rows: those to be written.
        own: steps that they replace.
        key: what a row is about.
    """
    about = {key(row) for row in rows}
    overlaps = []
    for path in sorted((workspace.path / "tables" / table).glob(f"{PRODUCER}.*.parquet")):
        theirs = workspace.table(table, record, step=path.stem) if path.stem not in own else []
        if taken := [row for row in theirs if key(row) in about]:
            overlaps.append(Older(path.stem, taken, [row for row in theirs if key(row) not in about]))
    return overlaps


@dataclass(frozen=True)
class Resolved:
    """Rows that the votes on clips come to."""

    attributes: tuple[Attribute, ...]
    answers: tuple[Answer, ...]
    unanswered: Mapping[str, int]
    """Question -> clips without a vote, and so without a row."""
    against_gold: Mapping[str, int]
    """Question -> clips whose votes come to what is known to be wrong, and so to no answer."""
    unsure: Mapping[str, int]
    """Question -> clips that raters agree to call unclear; the answer stands, no attribute follows."""


def labels(study: Study, votes: Iterable[Vote], *, least_agreement: float = 0.5) -> Resolved:
    """Attributes and answers of the clips of ``study``, in the order of its tasks.

    Args:
        study: whose votes they are; its questions about predictions are left out.
        votes: answers that stand, in order.
        least_agreement: share of the votes that must agree with an answer, 0..1.

    Raises:
        InputError: ``least_agreement`` out of range, or a vote on a task that the study does not have.
    """
    if not 0 <= least_agreement <= 1:
        raise InputError(f"the least agreement is {least_agreement}, choose a share of 0 to 1")
    of_task = first_votes(study, votes, gold=True)
    unanswered = {label: 0 for label, question in study.question_of.items() if question.subject == "clip"}
    against_gold, unsure = dict.fromkeys(unanswered, 0), dict.fromkeys(unanswered, 0)
    attributes: list[Attribute] = []
    answers: list[Answer] = []
    for task in study.tasks:
        if task.question not in unanswered:
            continue
        heard = of_task.get(task.task_id, [])
        if heard or len(task.gold) == 1:
            verdict = _main_verdict(study, task, heard, least_agreement)
            question = study.question_of[task.question]
            said = (verdict.reason, question.reasons(verdict.answer, [vote.given for vote in heard]))
            reason = "; ".join(filter(None, said)) or None
            answers.append(Answer(task.subject_id, task.question, verdict.answer, reason, verdict.votes, verdict.agreement))
            attributes += _attributes(study, task, heard, verdict, least_agreement)
            against_gold[task.question] += verdict.against_gold
            unsure[task.question] += verdict.answer in question.unsure
        else:
            unanswered[task.question] += 1
    return Resolved(tuple(attributes), tuple(answers), unanswered, against_gold, unsure)


def _attributes(
    study: Study, task: StudyTask, votes: Sequence[Vote], of_main: Verdict, least_agreement: float
) -> list[Attribute]:
    question, spec = study.question_of[task.question], study.spec_of[task.question]
    main = question.parts()[0].name
    # Where a study asks the same question under several names, attributes of the others have theirs at the end.
    alone = sum(other.leaf == spec.leaf for other in study.file.questions) == 1
    rows = []
    for part, attribute in question.attributes.items():
        if part == main:
            verdict = of_main
        elif given := [vote.given[part] for vote in votes if part in vote.given]:
            verdict = _verdict(question, part, given, least_agreement)
        else:
            verdict = Verdict(None, "nobody said; only the main answer is known", 0, None)
        name = attribute if alone or spec.label == spec.leaf else f"{attribute}_{spec.label}"
        value: str | float | None = verdict.answer
        reason = verdict.reason if value is None else None
        if verdict.answer in question.unsure:
            counted_votes = f"by {verdict.agreement:.0%} of {verdict.votes} votes" if verdict.agreement is not None else KNOWN
            value, reason = None, f"{verdict.answer} {counted_votes}"
        elif verdict.answer is not None and question.kind != "label":
            counts_as = question.number(verdict.answer)
            value = verdict.answer if counts_as is None else counts_as
        rows.append(Attribute(task.subject_id, name, value, reason, PRODUCER, question.version))
    return rows


def _verdict(question: Question, part: str, choices: Sequence[str], least_agreement: float) -> Verdict:
    options = next(offered.options for offered in question.parts() if offered.name == part)
    steps = [option.value for option in options if option.value not in question.unsure]
    if question.kind == "label" or any(number(step) is None for step in steps):  # further parts can be words
        return majority(choices, least_agreement=least_agreement)
    return median(choices, steps=steps, unsure=question.unsure, least_agreement=least_agreement)


def _main_verdict(study: Study, task: StudyTask, votes: Sequence[Vote], least_agreement: float) -> Verdict:
    """The answer that is known, or what the votes come to; None where that is known to be wrong."""
    if len(task.gold) == 1:
        return Verdict(task.gold[0], KNOWN, 0, None)
    question = study.question_of[task.question]
    part = question.parts()[0].name
    verdict = _verdict(question, part, [vote.choice for vote in votes], least_agreement)
    if verdict.answer is None or not task.gold:
        return verdict
    right = _right_answer(study, task, verdict.answer)
    if right == verdict.answer:
        return verdict
    come = "1 vote comes" if verdict.votes == 1 else f"{verdict.votes} votes come"
    if right is not None:
        steps = "1 step" if task.tolerance == 1 else f"{task.tolerance} steps"
        return replace(verdict, answer=right, reason=f"{come} to {verdict.answer}, which is right within {steps}")
    reason = f"{come} to {verdict.answer}, but right are {', '.join(task.gold)}"
    return Verdict(None, reason, verdict.votes, verdict.agreement, against_gold=True)


def _right_answer(study: Study, task: StudyTask, answer: str) -> str | None:
    """The right answer that the votes' ``answer`` stands for; None where it is wrong.

    A median lies between steps: it is right from the smallest to the largest number that is. Beyond these, but within the task's
    tolerance, it stands for the one that is nearer.
    """
    question = study.question_of[task.question]
    value, numbers = number(answer), {place: step for step in task.gold if (place := number(step)) is not None}
    if answer in task.gold or question.kind == "label" or value is None or not numbers:
        return answer if answer in task.gold else None
    nearest = min(max(value, min(numbers)), max(numbers))
    if nearest == value:
        return answer
    scale = sorted(place for option in question.parts()[0].options if (place := number(option.value)) is not None)
    steps_off = abs(np.diff(np.interp((value, nearest), scale, range(len(scale))))[0])
    return numbers[nearest] if steps_off <= task.tolerance else None


def step_of(study: Study) -> str:
    """Name of the step that writes a study's labels: by its id, as studies can be renamed."""
    return f"{PRODUCER}.{study.study_id}"


def write_labels(workspace: Workspace, resolved: Resolved, study: Study, *, override: bool = False) -> None:
    """Put the rows into the tables ``attributes`` and ``answers``, in place of what this study gave before.

    Args:
        workspace: the one whose clips were judged.
        resolved: what ``labels`` gave.
        study: where it comes from.
        override: take away what other studies answered about the same clips.

    Raises:
        InputError: another study has answered the same about a clip, and ``override`` is false.
    """
    # Table -> its rows, their record, and what tells rows of one subject apart.
    tables: dict[str, tuple[Sequence[Any], type[Any], str]] = {
        "attributes": (resolved.attributes, Attribute, "name"), "answers": (resolved.answers, Answer, "question"),
    }  # fmt: skip
    own = step_of(study)
    older = []
    for table, (rows, record, field) in tables.items():
        about = attrgetter("subject_id", field)
        older += [(table, of) for of in overlapping(workspace, table, record, rows, own={own}, key=about)]
    if older and not override:
        raise InputError(
            f"study {older[0][1].step.removeprefix(f'{PRODUCER}.')} has answered the same about some of these clips; "
            f"resolve with --override to let this one count for them"
        )
    for table, of_step in older:
        workspace.write_table(table, of_step.step, of_step.left, tables[table][1])
    for table, (rows, record, _) in tables.items():
        workspace.write_table(table, own, rows, record)
