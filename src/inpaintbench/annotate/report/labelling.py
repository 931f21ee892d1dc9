"""The section of a question that labels clips or grades single predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from inpaintbench.annotate.events import ANCHORED
from inpaintbench.annotate.questions.base import Part, Question, number
from inpaintbench.annotate.report.agreeing import agreement_panel, confusion_panel, disputed_panel, ordered_colours
from inpaintbench.annotate.report.facts import Estimate, Proportion
from inpaintbench.annotate.report.markup import PALETTE, colour, count, decimal, folded, method_name, panel, percent
from inpaintbench.annotate.report.plots import axis, bars, heat, whisker
from inpaintbench.annotate.report.records import Material, ReportVote
from inpaintbench.annotate.statistics.agreement import confusion_with
from inpaintbench.annotate.statistics.ratings import Answers, Scheme, answers_of, scheme_of
from inpaintbench.annotate.statistics.shares import mean_opinion, opinions_of

_MOST_COLOURED = 4
_ANCHORED = (
    "<p class='warning'>The machine’s answer was seen beforehand: raters may have been led by it, so this is no proof "
    "that it is right.</p>"
)
_MODES = {False: "shown after the answer or never", True: "seen beforehand"}


def labelling_panels(material: Material, label: str) -> str:
    """Distribution, agreement, confusion, the machine's answers and disputed tasks."""
    question, votes = material.study.question_of[label], material.by_question[label]
    parts = _form_parts(material, label)
    scheme, answers = scheme_of(question), answers_of(votes, label)
    clusters = {task.task_id: task.cluster for task in material.tasks[label]}
    names = {option.value: option.label for option in parts[0].options}
    machine = _suggestion_panels(material, label, names=names)
    between = confusion_panel(answers, scheme, names=names, inside=len(machine) % 2 == 0)
    found = [
        _grades(votes, material.methods, question=question) if question.subject == "one" else "",
        _distribution(parts[0], answers, title="Answers", below="" if len(machine) % 2 else between),
        agreement_panel(answers, scheme, clusters=clusters),
        between if len(machine) % 2 else "",
        *machine,
        *(_further(votes, label, part, scheme_of(question, part=part.name), clusters=clusters) for part in parts[1:]),
        disputed_panel(answers, scheme, tasks=material.study.task_of, names=names, colours=_colours(scheme)),
    ]
    return "".join(found)


def _form_parts(material: Material, label: str) -> tuple[Part, ...]:
    return material.study.question_of[label].parts()


def _colours(scheme: Scheme) -> dict[str, str]:
    values = [value for value in scheme.values or () if value not in scheme.missing]
    if scheme.scale != "nominal" or len(values) > _MOST_COLOURED:
        return ordered_colours(values)
    return dict(zip(values, PALETTE, strict=False))


def _distribution(part: Part, answers: Answers, *, title: str, below: str = "") -> str:
    told = Counter(value for given in answers.values() for value in given.values())
    rows = [(option.label, told[option.value]) for option in part.options]
    words = f"{escape(part.prompt)} {count(told.total(), 'vote')} on {count(len(answers), 'task')}."
    drawn = bars(rows, label=part.prompt)
    return panel(title, f'{drawn}<p class="note">{words}</p>{below}' if below else drawn, note="" if below else words)


def _further(votes: Sequence[ReportVote], label: str, part: Part, scheme: Scheme, *, clusters: Mapping[str, str]) -> str:
    answers = answers_of(votes, label, part=part.name)
    if not answers:
        return ""
    title = f"Also asked: {escape(part.name.replace('_', ' '))}"
    return _distribution(part, answers, title=title) + agreement_panel(
        answers, scheme, clusters=clusters, title=f"Agreement on {escape(part.name.replace('_', ' '))}"
    )


def suggestions(material: Material, label: str) -> dict[str, str]:
    """Task -> option that the machine would choose; numbers become the nearest option that is one."""
    values = [option.value for option in _form_parts(material, label)[0].options]
    found: dict[str, str] = {}
    for task in material.tasks[label]:
        told: Any = task.suggestion
        told = material.automatic.get((task.subject_id, label)) if told is None else told
        option = _option(told, values)
        if option is not None:
            found[task.task_id] = option
    return found


def _option(told: Any, values: Sequence[str]) -> str | None:
    if told is None:
        return None
    if str(told) in values:
        return str(told)
    numbers = {value: numeric for value in values if (numeric := number(value)) is not None}
    wanted = number(str(told))
    return None if wanted is None or not numbers else min(numbers, key=lambda value: abs(numbers[value] - wanted))


def _suggestion_panels(material: Material, label: str, *, names: Mapping[str, str]) -> list[str]:
    reference = suggestions(material, label)
    votes = [vote for vote in material.by_question[label] if vote.task_id in reference]
    found = []
    for anchored in (False, True):
        some = [vote for vote in votes if (vote.suggestion_shown in ANCHORED) == anchored]
        if some:
            found.append(_suggestion_panel(some, label, reference, material=material, names=names, anchored=anchored))
    return found


def _suggestion_panel(
    votes: Sequence[ReportVote], label: str, reference: Mapping[str, str], *, material: Material, names: Mapping[str, str],
    anchored: bool,
) -> str:  # fmt: skip
    values = tuple(names)
    found = confusion_with(answers_of(votes, label), Scheme(values=values), reference=reference)
    totals = found.counts.sum(axis=1)
    used = np.flatnonzero(totals)
    drawn = heat(
        [f"{escape(names[values[row]])} <small>n {totals[row]:,.0f}</small>" for row in used],
        [escape(names[value]) for value in values],
        found.counts[used] / totals[used, None],
        corner="machine said",
        label="Machine against people",
        written=lambda share: f"{100 * share:.0f}",
        diagonal=False,
    )
    same = Proportion(int(np.trace(found.counts)), int(totals.sum()))
    low, high = map(percent, same.interval)
    words = (
        f"<b class='big'>{percent(same.value)}</b> <small>{low} to {high}</small> of {count(same.whole, 'vote')} are what the "
    )
    words = f"<p class='reading'>{words}machine says.{_distance(votes, reference, material.study.question_of[label])}</p>"
    note = f"Per hundred votes of each row. The machine’s answer was {_MODES[anchored]}; the interval takes votes as independent."
    title = "Machine against people" + (" <small>seen beforehand</small>" if anchored else "")
    return panel(title, words + (_ANCHORED if anchored else "") + drawn, note=note)


def _distance(votes: Sequence[ReportVote], reference: Mapping[str, str], question: Question) -> str:
    if question.scale != "interval":
        return ""
    pairs = [(number(vote.choice), number(reference[vote.task_id])) for vote in votes]
    off = np.array([person - machine for person, machine in pairs if person is not None and machine is not None])
    if not len(off):
        return ""
    mean, apart = float(off.mean()), float(np.abs(off).mean())
    side = "above" if mean >= 0 else "below"
    told = f"{decimal(abs(mean), decimals=1)} {side} it; the mean distance is {decimal(apart, decimals=1)}"
    return f" On average people answer {told}."


def method_grades(votes: Sequence[ReportVote], question: Question) -> dict[str, tuple[Estimate, Proportion]]:
    """Method -> mean grade with its 95 % interval over sources, and votes over all votes; ``unclear`` is left out."""
    found = mean_opinion(opinions_of(votes, question), scale=question.ends())
    return {method: (Estimate(one.value, one.low, one.high), Proportion(one.n, len(votes))) for method, one in found.items()}


def _grades(votes: Sequence[ReportVote], methods: Sequence[str], *, question: Question) -> str:
    found = method_grades(votes, question)
    if not found:
        return ""
    values = [option.value for option in question.parts()[0].options]
    marks = {place: value for value in values if (place := question.number(value)) is not None}
    low, high = min(marks), max(marks)
    rows = "".join(
        f'<div class="row"><span>{method_name(method, methods)}</span>'
        f"{whisker(one, low=low, high=high, marks=list(marks), colour=colour(method, methods))}"
        f"<span class='n'><b>{decimal(one.value)}</b> "
        f"<small>{decimal(one.low)} to {decimal(one.high)} · n {n.part:,}</small></span></div>"
        for method, (one, n) in sorted(found.items(), key=lambda entry: (-entry[1][0].value, entry[0]))
    )
    scale = f'<div class="row"><span></span>{axis(low, high, marks=marks)}<span></span></div>'
    note = "Mean grade of all votes; 95 % interval by Student’s t over sources."
    return panel("Mean opinion", f'<div class="forest">{rows}{scale}</div>', note=note, wide=True)


def read_by_raters(material: Material, label: str) -> str:
    """Title and instruction as raters had them."""
    task = next((one for one in material.study.tasks if one.question == label), None)
    if task is None:
        return ""
    form = material.study.form(task)
    parts = "".join(f"<li>{escape(part.prompt)} {_offered(part)}</li>" for part in form.parts)
    return folded(
        "What raters read", f'<p class="instruction">{escape(form.instruction.strip())}</p><ul class="asked">{parts}</ul>'
    )


def _offered(part: Part) -> str:
    return "<small>" + " · ".join(escape(option.label) for option in part.options) + "</small>"
