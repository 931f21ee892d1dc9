"""Raters, and the pace of the work."""

from __future__ import annotations

from html import escape

import numpy as np

from inpaintbench.annotate.report.facts import Proportion, playback, rater_rows, repeated, seconds_of, sitting_seconds, skips
from inpaintbench.annotate.report.markup import count, decimal, duration, moment, panel, percent, proportion, table
from inpaintbench.annotate.report.plots import bars, columns
from inpaintbench.annotate.report.records import Material
from inpaintbench.annotate.statistics.agreement import Share

_STEPS = (60, 300, 900, 3600, 3 * 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600)
"""Seconds that a column of the pace may stand for."""
_MOST_COLUMNS = 60
_BINS = 32
_TAIL_QUANTILE = 0.98


def raters_table(material: Material) -> str:
    """One row a rater; shares with the number they are of."""
    rows = []
    for row in rater_rows(material):
        paused = ' <span class="state open">paused</span>' if row.paused else ""
        rows.append([
            escape(material.called[row.rater_id]) + paused, f"{row.answers:,}", decimal(row.median_seconds, decimals=1),
            proportion(row.gold), proportion(row.repeats), _share(row.others), _left(row.left), proportion(row.stuttered),
        ])  # fmt: skip
    heads = ["Rater", "answers", "median s", "gold right", "same when repeated", "agrees with others", "chose left", "stuttered"]
    note = (
        "Agreement is the share of the other raters of a task who gave the same answer: compare raters with each other, not with "
        "100&nbsp;%. Chose left is in colour where its 95 % interval leaves 50 % out; of many raters one or two do by chance."
    )
    return table(heads, rows, label="Raters", numeric=range(1, 8)) + f'<p class="note">{note}</p>'


def _share(one: Share) -> str:
    return f"{percent(one.value)} <small>of {count(one.units, 'task')}</small>" if one.value is not None else "–"


def _left(one: Proportion) -> str:
    low, high = one.interval
    return proportion(one) if low <= 0.5 <= high else f'<span class="odd">{proportion(one)}</span>'


def pace_panels(material: Material) -> str:
    """Votes over time, time an answer takes, and how clips played."""
    return _over_time(material) + _seconds(material) + _played(material) + _skipped(material)


def _over_time(material: Material) -> str:
    times = np.array([vote.at for vote in material.votes])
    first, last = float(times.min()), float(times.max())
    step = next((one for one in _STEPS if (last - first) / one < _MOST_COLUMNS), _STEPS[-1])
    start = first // step * step
    places = ((times - start) // step).astype(int)
    heights = np.bincount(places).tolist()
    edges = [f"{moment(start + place * step)} UTC" for place in range(len(heights))]
    marks = _dates(start, step, len(heights))
    sitting = sitting_seconds(material)
    words = (
        f"A column is {_step_words(step)}; times are UTC. Raters sat {duration(sitting)} in all without breaks of over 5 minutes"
    )
    rate = f": {3600 * len(times) / sitting:,.0f} answers an hour and rater." if sitting else "."
    drawn = columns(heights, label="Answers over time", edges=edges, unit="answer", marks=marks)
    return panel("Answers over time", drawn, note=words + rate)


def _step_words(step: int) -> str:
    hours = {60: "a minute", 300: "5 minutes", 900: "15 minutes", 3600: "an hour", 86400: "a day", 7 * 86400: "a week"}
    return hours.get(step, f"{step // 3600} hours")


def _dates(start: float, step: int, number: int) -> dict[float, str]:
    last = start + (number - 1) * step
    form = slice(5, 10) if step >= 3 * 3600 else slice(5, 16)
    if number < 4:
        return {0.0: moment(start)[form]}
    return {0.0: moment(start)[form], 0.5: moment((start + last) / 2)[form], 1.0: moment(last)[form]}


def _seconds(material: Material) -> str:
    seconds = np.array(seconds_of(material.votes))
    if not len(seconds):
        return ""
    end = max(float(np.quantile(seconds, _TAIL_QUANTILE)), 1.0)
    places = np.minimum((seconds / end * _BINS).astype(int), _BINS - 1)
    heights = np.bincount(places, minlength=_BINS).tolist()
    edges = [f"{end * place / _BINS:.1f} to {end * (place + 1) / _BINS:.1f} s" for place in range(_BINS)]
    edges[-1] = f"from {end * (_BINS - 1) / _BINS:.1f} s on"
    marks = {0.0: "0 s", 0.5: f"{end / 2:.0f} s", 1.0: f"≥ {end:.0f} s"}
    quartiles = np.quantile(seconds, [0.25, 0.5, 0.75])
    words = f"From first frame to answer: median {quartiles[1]:.1f} s, half between {quartiles[0]:.1f} and {quartiles[2]:.1f} s."
    drawn = columns(heights, label="Time an answer takes", edges=edges, unit="answer", marks=marks)
    return panel("Time an answer takes", drawn, note=words)


def _played(material: Material) -> str:
    found, again = playback(material), repeated(material.votes)
    gold = {task.task_id: task.gold for task in material.study.tasks if task.gold}
    asked = [vote for vote in material.votes if vote.task_id in gold and vote.purpose != "repeat"]
    right = Proportion(sum(vote.choice in gold[vote.task_id] for vote in asked), len(asked))
    told = [
        ("Frames dropped", percent(found.dropped.value), f"of {found.dropped.whole:,} to be shown"),
        ("Answers after stutter", percent(found.stuttered.value), f"{found.stuttered.part:,} of {found.stuttered.whole:,}"),
        ("Gold tasks right", percent(right.value), f"{right.part:,} of {right.whole:,}"),
        ("Same when repeated", percent(again.value), f"{again.part:,} of {again.whole:,}"),
    ]
    facts = "".join(f"<dt>{name}</dt><dd><b>{value}</b> <small>{n}</small></dd>" for name, value, n in told)
    return panel("Playback and checks", f'<dl class="told">{facts}</dl>', note="Frames of videos, as browsers reported them.")


def _skipped(material: Material) -> str:
    found = skips(material)
    undone = sum(event.kind == "undo" for event in material.events)
    drawn = bars(found.most_common(), label="Skips by reason") if found else "<p>Nothing was skipped.</p>"
    note = f"{count(found.total(), 'skip')}, and {count(undone, 'undo')} of answers or skips."
    return panel("Skipped", drawn, note=note)
