"""Agreement of raters, in numbers, in a plot and in words, and where they do not agree; with parts that sections share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.statistics.agreement import (
    Alpha,
    Answers,
    Scheme,
    agreement_by_unit,
    as_named,
    confusion,
    krippendorff_alpha,
    raw_agreement,
)
from inpaintbench.annotate.study import StudyTask
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.panels import Bar, Bars, Fact, Facts, Gauge, Panel, Portion, Scale, Stack, Statement
from inpaintbench.pages.words import count, number, percent


def count_bars(rows: Sequence[tuple[str, int]], *, label: str) -> Bars:
    """Return how often each answer was given, with its share of all; the longest bar is that of the most."""
    total, most = sum(n for _, n in rows), max((n for _, n in rows), default=0) or 1
    return Bars(label, tuple(Bar(name, n / most, f"{n:,}", percent(n / total if total else None)) for name, n in rows))


def per_hundred(share: float) -> str:
    """A share 0..1 as a whole number of hundredths."""
    return f"{100 * share:.0f}"


def heat(
    rows: Sequence[str], columns: Sequence[str], shades: npt.NDArray[np.float64], *,
    corner: str, label: str, written: Callable[[float], str], caption: str = "", framed: bool = False,
) -> Table:  # fmt: skip
    """A table whose cells are the darker the larger a number is, negative ones in the other hue.

    Args:
        rows: their heads; what follows a line break is small print.
        columns: their heads.
        shades: -1..1, of shape (rows, columns); NaN is an empty cell.
        corner: what the rows are, in the corner.
        label: for screen readers.
        written: a shade -> the cell's text.
        caption: stands above.
        framed: the diagonal is, where rows and columns are the same things.
    """
    lines = []
    for place, head in enumerate(rows):
        name, _, note = head.partition("\n")
        cells = [
            Cell() if np.isnan(shade) else Cell(written(shade), shade=float(shade), strong=framed and place == column)
            for column, shade in enumerate(shades[place])
        ]
        lines.append(Row((Cell(name, note=note), *cells)))
    return Table((Column(corner), *map(Column, columns)), tuple(lines), label=label, caption=caption, kind="heat")


# Customary bounds (Krippendorff, Content Analysis, 2004, p. 241), conventions rather than laws.
RELIABLE, TENTATIVE = 0.8, 0.667
# Tasks below which an interval is rough.
_FEW_UNITS = 30
# Rows of the most disputed tasks.
_DISPUTED = 8
# Left end of the gauge when alpha or its interval is negative; lower ones are cut off.
_LOWEST = -0.4
_UNSURE = "var(--waiting)"
_SCALES = {
    "nominal": "answers are equal or not",
    "ordinal": "answers further apart in their order count as more disagreement",
    "interval": "answers further apart in number count as more disagreement",
}


def reading(alpha: Alpha, *, of_choices: bool = False) -> str:
    """Sentence on an alpha, no stronger than its interval allows. ``of_choices`` among methods, not of labels."""
    if alpha.value is None:
        return f"Not defined: {alpha.reason}."
    low, high = alpha.low, alpha.high
    if low is None or high is None:
        return f"One number without an interval ({alpha.reason}): take it as a hint."
    if of_choices and low <= 0 <= high:
        said = (
            "Task by task, raters agree no more than chance would have them. A preference over all tasks can still be real: its "
        )
        said += "own interval says so."
    elif high < 0:
        said = "Raters agree less than chance would have them: they seem to read the question in opposite ways."
    elif low <= 0:
        said = "Cannot be told from chance: single answers mean little, and labels made from them may mean as little."
    elif low >= RELIABLE:
        said = "High: the whole interval lies above 0.80, the customary bound for data to build on."
    elif low >= TENTATIVE:
        said = "Fair: the whole interval lies above 0.67, customarily enough for tentative conclusions."
    elif high < TENTATIVE:
        said = (
            "Beyond chance, but the whole interval lies below 0.67: single answers are noisy, so rely on several raters a task."
        )
    else:
        said = "Beyond chance; whether it reaches 0.67, the customary bound for tentative conclusions, is open."
    return said + (f" With {count(alpha.units, 'task')} even the interval is rough." if alpha.units < _FEW_UNITS else "")


def agreement_panel(
    answers: Answers, scheme: Scheme, *, clusters: Mapping[str, str], title: str = "Agreement", of_choices: bool = False
) -> Panel:
    """Alpha with its interval over sources, raw agreement, and how to read them."""
    alpha = krippendorff_alpha(answers, scheme, clusters=clusters)
    raw = raw_agreement(answers, scheme)
    interval = "" if alpha.low is None else f"{number(alpha.low, 2)} to {number(alpha.high, 2)}"
    facts = [
        Fact("Krippendorff’s α", number(alpha.value, 2), interval),
        Fact("Raw agreement", percent(raw.value), "of the pairs of raters of a task gave the same answer"),
        Fact("Based on", count(alpha.answers, "answer"), f"to {count(alpha.units, 'task')} with two raters or more"),
    ]
    if scheme.missing:
        whole = alpha.left_out + sum(value not in scheme.missing for given in answers.values() for value in given.values())
        values = " or ".join(f"“{value}”" for value in sorted(scheme.missing))
        share = percent(alpha.left_out / whole if whole else None)
        facts.append(Fact("Left out", f"{count(alpha.left_out, 'answer')} {values}", f"({share})"))
    note = f"α on the {scheme.scale} scale ({_SCALES[scheme.scale]}); 95 % interval that leaves out one source at a time."
    if scheme.alike:
        note += " Pairs of all methods are taken together; which method of a pair is called first is arbitrary, so chance has no "
        named = number(as_named(answers, scheme), 2)
        note += f"favourite. Programs that take the names as they are, such as krippendorff, give {named}."
    told = Facts(tuple(facts)), Statement(reading(alpha, of_choices=of_choices)), note
    if alpha.value is None:
        return Panel(title, told)
    scale = Scale(_LOWEST if min(alpha.value, alpha.low or 0) < 0 else 0.0, 1.0)
    ticks = {scale.low: number(scale.low, 1), 0.0: "0 chance", TENTATIVE: "0.67", RELIABLE: "0.80", 1.0: "1"}
    return Panel(title, (Gauge(scale.ends(alpha.value, alpha.low, alpha.high), scale.ticks(ticks)), *told))


def confusion_parts(answers: Answers, scheme: Scheme, *, names: Mapping[str, str], caption: str = "") -> tuple[object, ...]:
    """Return which answers are given to one task beside each other; nothing where no task has two."""
    matrix = confusion(answers, scheme)
    if not matrix.counts.sum():
        return ()
    labels = [names.get(value, value) for value in matrix.values]
    with np.errstate(invalid="ignore"):
        shares = matrix.counts / matrix.counts.sum(axis=1, keepdims=True)
    table = heat(
        labels, labels, shares, corner="one rater said", label="Confusion between raters", caption=caption,
        written=per_hundred, framed=True,
    )  # fmt: skip
    return table, "When one rater gives the answer of the row, how many in a hundred others of that task give that of the column."


def disputed_panel(
    answers: Answers, scheme: Scheme, *, tasks: Mapping[str, StudyTask], names: Mapping[str, str], colours: Mapping[str, str],
    reads: Mapping[str, Mapping[str, str]] | None = None, picture_of: Callable[[StudyTask], str] = lambda _: "",
) -> Panel:  # fmt: skip
    """The tasks that raters agree on least; ``reads`` holds the answers as they are to be shown, when alpha is of others.

    ``picture_of`` gives the address of a task's picture.
    """
    shares = agreement_by_unit(answers, scheme)
    ranked = sorted(shares, key=lambda unit: (-_spread(answers[unit], scheme), shares[unit], -len(answers[unit]), unit))
    worst = [unit for unit in ranked if shares[unit] < 1][:_DISPUTED]
    if not worst:
        note = "No task has two raters yet." if not shares else "Raters agree on every task."
        return Panel("Most disputed", (note,), wide=True)
    rows = []
    for unit in worst:
        task, votes = tasks[unit], Counter((reads or answers)[unit].values())
        called = task.caption or task.subject_id
        below = [task.subject_id] if called != task.subject_id else []
        below += [f"“{task.prompt}”"] if task.prompt else []
        below += [" · ".join(task.candidates)] if len(task.candidates) == 2 else []
        order = dict.fromkeys((*task.candidates, *(scheme.values or ()), *sorted(votes)))
        portions = [
            Portion(names.get(value, value), votes[value], colours.get(value, _UNSURE)) for value in order if votes[value]
        ]
        words = ", ".join(f"{name}\N{NO-BREAK SPACE}{n}" for name, n, _ in portions)
        rows.append(Row((
            Cell(called, below="\n".join(below), picture=picture_of(task)),
            Cell(words, stack=Stack(f"answers to {called}", tuple(portions))),
            Cell(percent(shares[unit])),
        )))  # fmt: skip
    whole = sum(share < 1 for share in shares.values())
    shown = "all are shown" if len(worst) == whole else f"the {len(worst)} that are furthest apart are shown"
    note = f"{whole:,} of {count(len(shares), 'task')} with two raters or more have different answers; {shown}."
    columns = (Column("Task"), Column("Answers"), Column("Agreeing pairs", numeric=True))
    return Panel("Most disputed", (Table(columns, tuple(rows), label="Most disputed tasks"), note), wide=True)


def _spread(given: Mapping[str, str], scheme: Scheme) -> float:
    """Return how far the answers to a unit lie apart, where that means something."""
    if scheme.scale == "nominal" or scheme.values is None:
        return 0.0
    values = [value for value in given.values() if value not in scheme.missing]
    places = [float(value) if scheme.scale == "interval" else scheme.values.index(value) for value in values]
    return float(np.std(places or [0.0]))


def ordered_colours(values: Sequence[str]) -> dict[str, str]:
    """Colours of answers that have an order: from light to full."""
    steps = max(1, len(values) - 1)
    return {
        value: f"color-mix(in srgb, var(--fill) {18 + 82 * place / steps:.0f}%, var(--panel))"
        for place, value in enumerate(values)
    }
