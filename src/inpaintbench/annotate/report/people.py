"""Raters, the pace of the work, and how answers were seen: facts that browsers tell with them, and conditions on these."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from inpaintbench.annotate.records import Proportion, Standing, Vote
from inpaintbench.annotate.report.agreement import count_bars
from inpaintbench.annotate.report.material import (
    Material,
    gold_right,
    playback,
    rater_rows,
    repeated,
    seconds_of,
    sitting_seconds,
    skips,
)
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Column, Row, Table, figure
from inpaintbench.pages.panels import Fact, Facts, Panel
from inpaintbench.pages.words import count, duration, moment, number, percent, span

if TYPE_CHECKING:
    import altair
else:
    altair = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

# Seconds that a column of the pace may stand for, in words too.
_STEPS = (
    (60, "a minute"), (300, "5 minutes"), (900, "15 minutes"), (3600, "an hour"), (3 * 3600, "3 hours"), (6 * 3600, "6 hours"),
    (86400, "a day"), (7 * 86400, "a week"),
)  # fmt: skip
# Columns of the plot over time: still some 8 pixels wide.
_MOST_COLUMNS = 60
# Columns of the plot of seconds.
_BINS = 32
# Quantile of the seconds at which the axis ends: one rater's lunch must not flatten the rest.
_TAIL_QUANTILE = 0.98
# Pixels between the axes of a plot that fills half of a wide page.
_WIDTH, _HEIGHT = 500, 120
_RATERS = ("answers", "median s", "gold right", "same when repeated", "agrees with others", "chose left", "stuttered")


def raters_parts(material: Material) -> tuple[object, ...]:
    """One row a rater; shares with the number they are of."""
    rows = []
    for row in rater_rows(material):
        low, high = row.left.interval
        tasks = "" if row.others.value is None else f"of {count(row.others.units, 'task')}"
        others = Cell(percent(row.others.value), row.others.value, note=tasks)
        rows.append(Row((
            Cell(material.called[row.rater_id], tags=("excluded",) if row.excluded else ("paused",) if row.paused else ()),
            Cell(f"{row.answers:,}", row.answers),
            Cell(number(row.median_seconds, 1), row.median_seconds),
            _share(row.gold),
            _share(row.repeats),
            others,
            _share(row.left, kind="" if low <= 0.5 <= high else "warn"),
            _share(row.stuttered),
        )))  # fmt: skip
    columns = (Column("Rater"), *(Column(head, numeric=True, sorts=True) for head in _RATERS))
    note = (
        "Agreement is the share of the other raters of a task who gave the same answer: compare raters with each other, not with "
        "100\N{NO-BREAK SPACE}%. Chose left is in colour where its 95 % interval leaves 50 % out; of many raters one or two do "
        "by chance."
    )
    return Table(columns, tuple(rows), label="Raters"), note


def _share(share: Proportion, *, kind: str = "") -> Cell:
    """``92 % of 24``; a dash of nothing."""
    return Cell(percent(share.value), share.value, note=f"of {share.whole:,}" if share.whole else "", kind=kind)


def pace_panels(material: Material) -> list[Panel]:
    """Votes over time, time an answer takes, and how clips played."""
    seconds, frames, reasons = seconds_of(material.votes), playback(material), skips(material)
    facts = [Fact("Frames dropped", percent(frames.dropped.value), f"of {frames.dropped.whole:,} to be shown")]
    for term, share in (
        ("Answers after stutter", frames.stuttered),
        ("Gold tasks right", gold_right(material, material.votes)),
        ("Same when repeated", repeated(material.votes)),
    ):
        facts.append(Fact(term, percent(share.value), f"{share.part:,} of {share.whole:,}"))
    undone = sum(event.kind == "undo" for event in material.events)
    note = f"{count(reasons.total(), 'skip')}, and {count(undone, 'undo')} of answers or skips."
    skipped = count_bars(reasons.most_common(), label="Skips by reason") if reasons else "Nothing was skipped."
    return [
        _over_time(material),
        *([_seconds(np.array(seconds))] if seconds else ()),
        Panel("Playback and checks", (Facts(tuple(facts)), "Frames of videos, as browsers reported them.")),
        Panel("Skipped", (skipped, note)),
    ]


def _over_time(material: Material) -> Panel:
    times = np.array([vote.at for vote in material.votes])
    first, last = float(times.min()), float(times.max())
    step, called = next(((step, called) for step, called in _STEPS if (last - first) / step < _MOST_COLUMNS), _STEPS[-1])
    begin = first // step * step
    rows = [
        {"from": 1000 * (begin + place * step), "to": 1000 * (begin + (place + 1) * step), "answers": n,
         "words": f"{moment(begin + place * step)} UTC: {count(n, 'answer')}"}
        for place, n in enumerate(np.bincount(((times - begin) // step).astype(int)).tolist())
    ]  # fmt: skip
    sitting = sitting_seconds(material)
    note = f"A column is {called}; times are UTC. Raters sat {duration(sitting)} in all without breaks of over 5 minutes"
    rate = f": {3600 * len(times) / sitting:,.0f} answers an hour and rater." if sitting else "."
    # Milliseconds since the epoch, drawn in UTC wherever the page is made.
    axis = altair.Axis(format="%m-%d %H:%M", tickCount=4, labelOverlap=True)
    when = altair.X("from:T", bin="binned", title=None, scale=altair.Scale(type="utc"), axis=axis)
    return Panel("Answers over time", (figure(_columns(rows, when), label="Answers over time"), note + rate))


def _columns(rows: list[dict[str, Any]], x: altair.X) -> altair.Chart:
    """Columns that touch; ``rows`` have ``from``, ``to``, ``answers`` and ``words``, which are told where one points."""
    data = altair.InlineData([row for row in rows if row["answers"]])
    bars = altair.Chart(data, width=_WIDTH, height=_HEIGHT).mark_bar(binSpacing=1)
    y = altair.Y("answers:Q", title=None, axis=altair.Axis(tickCount=3, tickMinStep=1))
    chart: altair.Chart = bars.encode(x=x, x2="to", y=y, description="words:N")
    return chart


def _seconds(seconds: np.ndarray[Any, np.dtype[np.float64]]) -> Panel:
    end = max(float(np.quantile(seconds, _TAIL_QUANTILE)), 1.0)
    width = end / _BINS
    heights = np.bincount(np.minimum((seconds / width).astype(int), _BINS - 1), minlength=_BINS).tolist()
    edges = [f"{width * place:.1f} to {width * (place + 1):.1f} s" for place in range(_BINS - 1)]
    rows = [
        {"from": width * place, "to": width * (place + 1), "answers": n, "words": f"{edge}: {count(n, 'answer')}"}
        for place, (n, edge) in enumerate(zip(heights, [*edges, f"from {end - width:.1f} s on"], strict=True))
    ]
    quartiles = np.quantile(seconds, [0.25, 0.5, 0.75])
    note = f"From first frame to answer: median {quartiles[1]:.1f} s, half between {quartiles[0]:.1f} and {quartiles[2]:.1f} s."
    tail = f" The last column holds all from {end - width:.1f} s on."
    scale = altair.Scale(domain=[0, end], nice=False)
    chart = _columns(rows, altair.X("from:Q", bin="binned", title="seconds", axis=altair.Axis(tickCount=8), scale=scale))
    return Panel("Time an answer takes", (figure(chart, label="Time an answer takes"), note + tail))


# How answers were seen.

_NUMBERS = ("width", "scale", "pixel_ratio", "zoom", "hidden_seconds", "dropped_frames")
_YES_OR_NO = ("full_screen", "portrait")
# What answers that do not say it were given in.
_WORDS = {"browser": "other", "frame_source": "poll", "quality": "full", "language": "en"}
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip
_CONDITION = re.compile(r"\s*([a-z_]+)\s*(>=|<=|>|<|=)\s*(\S.*?)\s*")
# A fact that is a problem, in words, and when it is one.
_PROBLEMS: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = (
    ("fewer pixels of the screen than of the proxy", lambda seen: seen["scale"] < 1),
    ("enlarged by two fingers", lambda seen: seen["zoom"] > 1.01),
    ("page hidden for a second or longer", lambda seen: seen["hidden_seconds"] >= 1),
    ("more than 5 % of the frames dropped", lambda seen: seen["dropped_frames"] > 0.05 * max(1, seen["watched_frames"])),
    ("a browser that does not tell its frames", lambda seen: seen["frame_source"] == "poll"),
    ("the light encoding, for a slow line", lambda seen: seen.get("quality") == "light"),
    ("held upright", lambda seen: bool(seen["portrait"])),
    ("not in full screen", lambda seen: not seen["full_screen"]),
)


def condition(text: str) -> Callable[[Vote], bool]:
    """The answers that were seen so, such as ``width>=200``, ``full_screen=yes``, ``browser=Chrome``; others do not fulfil it.

    Raises:
        InputError: no such fact, or a value that it cannot have.
    """
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is no condition; write FACT>=NUMBER, FACT=yes or FACT=WORD, such as width>=200")
    name, sign, said = match.groups()
    if name in _NUMBERS:
        try:
            limit = float(said)
        except ValueError as error:
            raise InputError(f"{text!r}: {said!r} is no number") from error
        return lambda vote: vote.seen is not None and _COMPARED[sign](vote.seen[name], limit)
    if name not in (*_YES_OR_NO, *_WORDS):
        raise InputError(unknown_name("fact", name, [*_NUMBERS, *_YES_OR_NO, *_WORDS]))
    if sign != "=" or (name in _YES_OR_NO and said not in ("yes", "no")):
        raise InputError(f"{text!r}: {name} takes {'=yes or =no' if name in _YES_OR_NO else '= and a word'}")
    if name in _YES_OR_NO:
        return lambda vote: vote.seen is not None and vote.seen[name] == (said == "yes")
    # Chrome, or Chrome 130.
    return lambda vote: vote.seen is not None and said in ((is_so := vote.seen.get(name) or _WORDS[name]), is_so.split()[0])


def seen_so(standing: Standing, conditions: Sequence[str]) -> Standing:
    """The answers that fulfil all ``conditions``; see ``condition``.

    Raises:
        InputError: as ``condition``.
    """
    held = [condition(text) for text in conditions]

    def of(votes: Sequence[Vote]) -> list[Vote]:
        return [vote for vote in votes if all(holds(vote) for holds in held)]

    return replace(standing, votes=of(standing.votes), everything=of(standing.everything), excluded=of(standing.excluded))


def viewing_parts(material: Material) -> tuple[object, ...]:
    """Sizes, problems and browsers of the answers, and what encoding the proxies lost."""
    parts: list[object] = []
    measured = [(proxy.psnr_db, proxy.flicker_added) for proxy in material.study.proxies.values()]
    sharp, added = (
        ([value for value in values if value is not None] for values in zip(*measured, strict=True)) if measured else ([], [])
    )
    if sharp:
        flicker = f", flicker {median(added):+.3f} levels of 255 (most {max(added, key=abs):+.3f})" if added else ""
        parts.append(f"Proxies against what was made: {median(sharp):.1f} dB PSNR of luma (least {min(sharp):.1f}){flicker}.")
    seen = [vote.seen for vote in material.votes if vote.seen is not None]
    sizes = ""
    if seen:
        problems = Counter({words: sum(map(holds, seen)) for words, holds in _PROBLEMS})
        browsers = Counter(str(one["browser"]).split()[0] for one in seen)
        parts += [_table("Problem", problems, len(seen)), _table("Browser", browsers, len(seen))]
        if material.study.file.languages:
            parts.append(_languages(material))
        widths, scales = [one["width"] for one in seen], [one["scale"] for one in seen]
        scaled = span(number(min(scales), 2), number(max(scales), 2))
        sizes = f"Smallest pictures: {min(widths)} CSS pixels wide, median {median(widths):.0f}; "
        sizes += f"{scaled} pixels of the screen for each of the proxy. "
    told = f"Told with {len(seen):,} of {count(len(material.votes), 'answer')}. "
    return (*parts, f"{sizes}{told}A report of some of them: `annotate report --seen width>=200`.")


def _languages(material: Material) -> Table:
    """People and answers a language; who changed theirs is counted in each."""
    seen = [(str(vote.seen.get("language") or "en"), vote.rater_id) for vote in material.votes if vote.seen is not None]
    people = Counter(language for language, _ in set(seen))
    rows = [
        Row((Cell(language), Cell(f"{people[language]:,}"), Cell(f"{n:,}")))
        for language, n in Counter(language for language, _ in seen).most_common()
    ]
    columns = (Column("Language"), Column("Raters", numeric=True), Column("Answers", numeric=True))
    return Table(columns, tuple(rows), label="Language")


def _table(heading: str, counted: Counter[str], of: int) -> Table:
    rows = tuple(Row((Cell(words), Cell(f"{n:,}"), Cell(percent(n / of)))) for words, n in counted.most_common())
    return Table((Column(heading), Column("Answers", numeric=True), Column("Share", numeric=True)), rows, label=heading)
