"""The section of a question that labels clips or grades single predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from inpaintbench.annotate.events import ANCHORED
from inpaintbench.annotate.questions.base import Part, Question, number
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.report.agreeing import agreement_panel, confusion_parts, disputed_panel, ordered_colours
from inpaintbench.annotate.report.facts import Proportion
from inpaintbench.annotate.report.parts import count_bars, heat, per_hundred
from inpaintbench.annotate.report.records import Material
from inpaintbench.annotate.statistics.agreement import confusion_with
from inpaintbench.annotate.statistics.ratings import Answers, Scheme, answers_of, scheme_of
from inpaintbench.annotate.statistics.shares import mean_opinion, opinions_of
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.colours import COLOURS
from inpaintbench.pages.panels import Caution, Panel, Scale, Statement
from inpaintbench.pages.words import count, percent
from inpaintbench.pages.words import number as written

# Answers that get colours of their own; more are told apart by shades.
_MOST_COLOURED = 4
_ANCHORED = Caution(
    "The machine’s answer was seen beforehand: raters may have been led by it, so this is no proof that it is right."
)
_MODES = {False: "shown after the answer or never", True: "seen beforehand"}


def labelling_panels(material: Material, label: str) -> list[Panel]:
    """Distribution, agreement, confusion, the machine's answers and disputed tasks."""
    question, votes = material.study.question_of[label], material.by_question[label]
    parts = question.parts()
    scheme, answers = scheme_of(question), answers_of(votes, label)
    clusters = {task.task_id: task.cluster for task in material.tasks[label]}
    names = {option.value: option.label for option in parts[0].options}
    machine = _suggestion_panels(material, label, names=names)
    # Panels stand in twos: beside an odd number of the machine's the confusion has one of its own.
    apart = len(machine) % 2 == 1
    between = confusion_parts(answers, scheme, names=names, caption="" if apart else "Between raters")
    return [
        *(_grades(votes, question) if question.subject == "one" else ()),
        _distribution(parts[0], answers, title="Answers", below=() if apart else between),
        agreement_panel(answers, scheme, clusters=clusters),
        *([Panel("Between raters", between)] if apart and between else ()),
        *machine,
        *(panel for part in parts[1:] for panel in _further(votes, label, part, scheme_of(question, part=part.name), clusters)),
        disputed_panel(
            answers, scheme, tasks=material.study.task_of, names=names, colours=_colours(scheme), picture_of=material.picture_of
        ),
    ]


def _colours(scheme: Scheme) -> dict[str, str]:
    values = [value for value in scheme.values or () if value not in scheme.missing]
    if scheme.scale != "nominal" or len(values) > _MOST_COLOURED:
        return ordered_colours(values)
    return dict(zip(values, COLOURS, strict=False))


def _distribution(part: Part, answers: Answers, *, title: str, below: Sequence[object] = ()) -> Panel:
    votes = Counter(value for given in answers.values() for value in given.values())
    bars = count_bars([(option.label, votes[option.value]) for option in part.options], label=part.prompt)
    note = f"{part.prompt} {count(votes.total(), 'vote')} on {count(len(answers), 'task')}."
    return Panel(title, (bars, note, *below))


def _further(votes: Sequence[Vote], label: str, part: Part, scheme: Scheme, clusters: Mapping[str, str]) -> tuple[Panel, ...]:
    answers = answers_of(votes, label, part=part.name)
    if not answers:
        return ()
    name = part.name.replace("_", " ")
    return (
        _distribution(part, answers, title=f"Also asked: {name}"),
        agreement_panel(answers, scheme, clusters=clusters, title=f"Agreement on {name}"),
    )


def suggestions(material: Material, label: str) -> dict[str, str]:
    """Task -> option that the machine would choose; numbers become the nearest option that is one."""
    values = [option.value for option in material.study.question_of[label].parts()[0].options]
    suggested: dict[str, str] = {}
    for task in material.tasks[label]:
        answer: Any = task.suggestion
        answer = material.automatic.get((task.subject_id, label)) if answer is None else answer
        option = _option(answer, values)
        if option is not None:
            suggested[task.task_id] = option
    return suggested


def _option(answer: Any, values: Sequence[str]) -> str | None:
    if answer is None:
        return None
    if str(answer) in values:
        return str(answer)
    numbers = {value: numeric for value in values if (numeric := number(value)) is not None}
    wanted = number(str(answer))
    return None if wanted is None or not numbers else min(numbers, key=lambda value: abs(numbers[value] - wanted))


def _suggestion_panels(material: Material, label: str, *, names: Mapping[str, str]) -> list[Panel]:
    reference = suggestions(material, label)
    votes = [vote for vote in material.by_question[label] if vote.task_id in reference]
    panels = []
    for anchored in (False, True):
        some = [vote for vote in votes if (vote.suggestion_shown in ANCHORED) == anchored]
        if some:
            panels.append(_suggestion_panel(some, label, reference, material=material, names=names, anchored=anchored))
    return panels


def _suggestion_panel(
    votes: Sequence[Vote], label: str, reference: Mapping[str, str], *, material: Material, names: Mapping[str, str],
    anchored: bool,
) -> Panel:  # fmt: skip
    values = tuple(names)
    matrix = confusion_with(answers_of(votes, label), Scheme(values=values), reference=reference)
    totals = matrix.counts.sum(axis=1)
    used = np.flatnonzero(totals)
    table = heat(
        [f"{names[values[row]]}\nn {totals[row]:,.0f}" for row in used],
        list(names.values()),
        matrix.counts[used] / totals[used, None],
        corner="machine said",
        label="Machine against people",
        written=per_hundred,
    )
    same = Proportion(int(np.trace(matrix.counts)), int(totals.sum()))
    low, high = map(percent, same.interval)
    distance = _distance(votes, reference, material.study.question_of[label])
    sentence = f"of {count(same.whole, 'vote')} are what the machine says.{distance}"
    statement = Statement(sentence, value=percent(same.value), interval=f"{low} to {high}")
    note = f"Per hundred votes of each row. The machine’s answer was {_MODES[anchored]}; the interval takes votes as independent."
    caution = (_ANCHORED,) if anchored else ()
    return Panel("Machine against people", (statement, *caution, table, note), tag="seen beforehand" if anchored else "")


def _distance(votes: Sequence[Vote], reference: Mapping[str, str], question: Question) -> str:
    if question.scale != "interval":
        return ""
    pairs = [(number(vote.choice), number(reference[vote.task_id])) for vote in votes]
    off = np.array([person - machine for person, machine in pairs if person is not None and machine is not None])
    if not len(off):
        return ""
    mean, apart = float(off.mean()), float(np.abs(off).mean())
    side = "above" if mean >= 0 else "below"
    distance = f"{written(abs(mean), 1)} {side} it; the mean distance is {written(apart, 1)}"
    return f" On average people answer {distance}."


def _grades(votes: Sequence[Vote], question: Question) -> tuple[Panel, ...]:
    grades = mean_opinion(opinions_of(votes, question), scale=question.ends())
    if not grades:
        return ()
    values = [option.value for option in question.parts()[0].options]
    ticks = {grade: value for value in values if (grade := question.number(value)) is not None}
    scale = Scale(min(ticks), max(ticks))
    rows = [
        Row((
            Cell(method, method=method, below=f"{written(mean.low, 2)} to {written(mean.high, 2)} · n {mean.n:,}"),
            Cell(whisker=scale.ends(mean.value, mean.low, mean.high), method_colour=method),
            Cell(written(mean.value, 2)),
        ))
        for method, mean in sorted(grades.items(), key=lambda entry: (-entry[1].value, entry[0]))
    ]  # fmt: skip
    columns = (Column("Method"), Column("Grade, with its interval", ticks=scale.ticks(ticks)), Column("Mean", numeric=True))
    table = Table(columns, tuple(rows), label="Mean opinion")
    return (Panel("Mean opinion", (table, "Mean grade of all votes; 95 % interval by Student’s t over sources."), wide=True),)
