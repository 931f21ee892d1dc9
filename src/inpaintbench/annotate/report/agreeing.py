"""How far raters agree, in numbers, in a plot and in words; and where they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from inpaintbench.annotate.report.facts import Estimate
from inpaintbench.annotate.report.markup import breakable, count, decimal, panel, percent, table
from inpaintbench.annotate.report.plots import axis, heat, stacked, whisker
from inpaintbench.annotate.statistics.agreement import (
    Alpha,
    Bootstrap,
    agreement_by_unit,
    confusion,
    krippendorff_alpha,
    raw_agreement,
)
from inpaintbench.annotate.statistics.ratings import Answers, Scheme
from inpaintbench.annotate.study import StudyTask

RELIABLE, TENTATIVE = 0.8, 0.667
"""Customary bounds (Krippendorff, Content Analysis, 2004, p. 241), conventions rather than laws."""
_FEW_UNITS = 30
_DISPUTED = 8
_LOWEST = -0.4
_UNSURE = "var(--waiting)"
_SCALES = {
    "nominal": "answers are equal or not",
    "ordinal": "answers further apart in their order count as more disagreement",
    "interval": "answers further apart in number count as more disagreement",
}


_NO_CHOICE = (
    "Task by task, raters agree no more than chance would have them. A preference over all tasks can still be real: its own "
    "interval says so."
)
_PAIRS = (
    " Pairs of all methods are taken together; which method of a pair is called first is arbitrary, so chance has no favourite."
)


def reading(alpha: Alpha, *, of_choices: bool = False) -> str:
    """What an alpha says, no more than its interval allows; plain text. ``of_choices`` among methods, not of labels."""
    if alpha.value is None:
        return f"Not defined: {alpha.reason}."
    if alpha.low is None or alpha.high is None:
        return f"One number without an interval ({alpha.reason}): take it as a hint."
    few = f" With {count(alpha.units, 'task')} even the interval is rough." if alpha.units < _FEW_UNITS else ""
    if of_choices and alpha.low <= 0 <= alpha.high:
        return _NO_CHOICE + few
    return _bounded(alpha.low, alpha.high) + few


def _bounded(low: float, high: float) -> str:
    if high < 0:
        return "Raters agree less than chance would have them: they seem to read the question in opposite ways."
    if low <= 0:
        return "Cannot be told from chance: single answers mean little, and labels made from them may mean as little."
    if low >= RELIABLE:
        return "High: the whole interval lies above 0.80, the customary bound for data to build on."
    if low >= TENTATIVE:
        return "Fair: the whole interval lies above 0.67, customarily enough for tentative conclusions."
    if high < TENTATIVE:
        return (
            "Beyond chance, but the whole interval lies below 0.67: single answers are noisy, so rely on several raters a task."
        )
    return "Beyond chance; whether it reaches 0.67, the customary bound for tentative conclusions, is open."


def agreement_panel(
    answers: Answers, scheme: Scheme, *, clusters: Mapping[str, str], title: str = "Agreement", of_choices: bool = False
) -> str:
    """Alpha with its interval over sources, raw agreement, and how to read them."""
    alpha = krippendorff_alpha(answers, scheme, bootstrap=Bootstrap(), clusters=clusters)
    raw = raw_agreement(answers, scheme)
    told = [
        ("Krippendorff’s α", _alpha_words(alpha)),
        ("Raw agreement", f"<b>{percent(raw.value)}</b> <small>of the pairs of raters of a task gave the same answer</small>"),
        ("Based on", f"{count(alpha.answers, 'answer')} to {count(alpha.units, 'task')} with two raters or more"),
    ]
    if scheme.missing:
        whole = alpha.left_out + sum(value not in scheme.missing for given in answers.values() for value in given.values())
        words = " or ".join(f"“{escape(value)}”" for value in sorted(scheme.missing))
        share = percent(alpha.left_out / whole if whole else None)
        told.append(("Left out", f"{count(alpha.left_out, 'answer')} {words} <small>({share})</small>"))
    facts = "".join(f"<dt>{name}</dt><dd>{fact}</dd>" for name, fact in told)
    drawn = "" if alpha.value is None else _drawn(alpha)
    words = escape(reading(alpha, of_choices=of_choices))
    note = f"α on the {scheme.scale} scale ({_SCALES[scheme.scale]}); 95 % bootstrap interval over sources."
    note += _PAIRS if scheme.alike else ""
    return panel(title, f'{drawn}<dl class="told">{facts}</dl><p class="reading">{words}</p>', note=note)


def _alpha_words(alpha: Alpha) -> str:
    if alpha.value is None:
        return "–"
    interval = "" if alpha.low is None else f" <small>{decimal(alpha.low)} to {decimal(alpha.high)}</small>"
    return f'<b class="big">{decimal(alpha.value)}</b>{interval}'


def _drawn(alpha: Alpha) -> str:
    low = min(0.0, _LOWEST if min(alpha.value or 0, alpha.low or 0) < 0 else 0.0)
    marks = {low: decimal(low, decimals=1)} if low else {}
    marks |= {0.0: "0 chance", TENTATIVE: "0.67", RELIABLE: "0.80", 1.0: "1"}
    one = Estimate(alpha.value or 0.0, alpha.low, alpha.high)
    lines = [mark for mark in marks if mark not in (low, 1.0)]
    return f'<div class="gauge">{whisker(one, low=low, high=1.0, marks=lines)}{axis(low, 1.0, marks=marks)}</div>'


def confusion_panel(answers: Answers, scheme: Scheme, *, names: Mapping[str, str], inside: bool) -> str:
    """Which answers are given to one task beside each other; a panel of its own or to go ``inside`` another."""
    found = confusion(answers, scheme)
    if not found.counts.sum():
        return ""
    labels = [escape(names.get(value, value)) for value in found.values]
    with np.errstate(invalid="ignore"):
        shares = found.counts / found.counts.sum(axis=1, keepdims=True)
    drawn = heat(
        labels,
        labels,
        shares,
        corner="one rater said",
        label="Confusion between raters",
        written=lambda number: f"{100 * number:.0f}",
    )
    note = "When one rater gives the answer of the row, how many in a hundred others of that task give that of the column."
    if inside:
        return f'<h4>Between raters</h4>{drawn}<p class="note">{note}</p>'
    return panel("Between raters", drawn, note=note)


def disputed_panel(
    answers: Answers, scheme: Scheme, *, tasks: Mapping[str, StudyTask], names: Mapping[str, str], colours: Mapping[str, str],
    reads: Mapping[str, Mapping[str, str]] | None = None,
) -> str:  # fmt: skip
    """The tasks that raters agree on least; ``reads`` holds the answers as they are to be shown, when alpha is of others."""
    shares = agreement_by_unit(answers, scheme)
    ranked = sorted(shares, key=lambda unit: (-_spread(answers[unit], scheme), shares[unit], -len(answers[unit]), unit))
    worst = [unit for unit in ranked if shares[unit] < 1][:_DISPUTED]
    if not worst:
        words = "No task has two raters yet." if not shares else "Raters agree on every task."
        return panel("Most disputed", f'<p class="note">{words}</p>', wide=True)
    rows = []
    for unit in worst:
        told = Counter((reads or answers)[unit].values())
        order = dict.fromkeys((*tasks[unit].candidates, *(scheme.values or ()), *sorted(told)))
        parts = [(names.get(value, value), told[value], colours.get(value, _UNSURE)) for value in order if value in told]
        words = ", ".join(f"{escape(name)}&nbsp;<b>{n}</b>" for name, n, _ in parts)
        label = f"answers to {tasks[unit].caption or tasks[unit].subject_id}"
        rows.append([_called(tasks[unit]), stacked(parts, label=label) + f"<div>{words}</div>", percent(shares[unit])])
    heads = ["Task", "Answers", "Agreeing pairs"]
    whole = sum(share < 1 for share in shares.values())
    note = (
        f"{whole:,} of {count(len(shares), 'task')} with two raters or more have different answers; {_shown(len(worst), whole)}."
    )
    return panel("Most disputed", table(heads, rows, label="Most disputed tasks", numeric=(2,)), note=note, wide=True)


def _shown(shown: int, whole: int) -> str:
    return "all are shown" if shown == whole else f"the {shown} that are furthest apart are shown"


def _spread(given: Mapping[str, str], scheme: Scheme) -> float:
    """How far the answers to a unit lie apart, where that means something."""
    told = [value for value in given.values() if value not in scheme.missing]
    if scheme.scale == "nominal" or scheme.values is None:
        return 0.0
    return float(np.std([float(value) if scheme.scale == "interval" else scheme.values.index(value) for value in told] or [0.0]))


def _called(task: StudyTask) -> str:
    caption = f"{breakable(task.caption)}<br>" if task.caption and task.caption != task.subject_id else ""
    methods = f"<br><small>{' · '.join(map(breakable, task.candidates))}</small>" if len(task.candidates) == 2 else ""
    prompt = f"<br><small>“{escape(task.prompt)}”</small>" if task.prompt else ""
    return f"{caption}<code>{breakable(task.subject_id)}</code>{prompt}{methods}"


def ordered_colours(values: Sequence[str]) -> dict[str, str]:
    """Colours of answers that have an order: from light to full."""
    steps = max(1, len(values) - 1)
    return {
        value: f"color-mix(in srgb, var(--fill) {18 + 82 * place / steps:.0f}%, var(--panel))"
        for place, value in enumerate(values)
    }
