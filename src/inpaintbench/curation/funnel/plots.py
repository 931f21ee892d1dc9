"""Spread of an attribute's values over clips, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from inpaintbench.curation.facts import Column, Flags
from inpaintbench.lazily import lazily
from inpaintbench.pages import figure
from inpaintbench.pages.words import count, number

if TYPE_CHECKING:
    import altair as alt
else:
    alt = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

# Pixels of the columns, and above them, where thresholds are told.
_WIDTH, _HEIGHT, _ABOVE = 340, 90, 14
_BINS = 34
_MOST_WORDS = 6
_STATES = ("kept", "waiting", "dropped", "other")
_SAID = {"other": "dropped by another rule"}
_TICKS = 4
# Of the axis, kept free beyond a threshold at its end, so that both sides of the threshold can be seen.
_MARGIN = 0.08
# A tail this many times as long as the span of 98 % of the values is drawn into the last bar.
_TAIL = 4.0
# Share of the axis that the words at the end of a tail that is cut off take from the other ticks.
_CUT_OFF = 56 / _WIDTH

# `[n]`, 0 = kept, 1 = waiting, 2 = dropped, 3 = dropped, but by another rule.
States = npt.NDArray[np.int64]


@dataclass(frozen=True)
class WordBar:
    """Count of clips whose attribute is one text."""

    text: str
    counts: tuple[tuple[str, int], ...]
    """State and number of clips."""

    @property
    def total(self) -> int:
        """Clips of all states."""
        return sum(n for _, n in self.counts)

    @property
    def label(self) -> str:
        """The numbers in words."""
        return told(dict(self.counts))


@dataclass(frozen=True)
class Distribution:
    """Distribution of one attribute over clips, for a page."""

    name: str
    direction: str
    """Meaning of higher values."""
    plot: Markup | None
    """Histogram of the numbers; None where there are none."""
    words: tuple[WordBar, ...]
    """The most frequent texts, where there are no numbers."""
    further_words: int
    """Texts that are not among them."""
    told: tuple[str, ...]
    """Small print: the unit, and how many clips have no value."""

    @property
    def most(self) -> int:
        """Clips with the most frequent text."""
        return max((word.total for word in self.words), default=1)


def states(kept: Flags, waiting: Flags, *, by_own_rule: Flags | None = None) -> States:
    """The state of every clip; ``by_own_rule`` are those that a rule on what is drawn drops, None for all that are dropped."""
    dropped = 2 if by_own_rule is None else np.where(by_own_rule, 2, 3)
    codes: States = np.where(kept, 0, np.where(waiting, 1, dropped)).astype(np.int64)
    return codes


def legend(*, waiting: bool, other: bool = False) -> list[tuple[str, str]]:
    """States with what their colours mean, of those that are to be seen."""
    keys = [
        ("kept", "kept", True), ("waiting", "waiting for an answer", waiting),
        ("dropped", "dropped by a rule on it" if other else "dropped", True), ("other", _SAID["other"], other),
        ("threshold", "threshold", True),
    ]  # fmt: skip
    return [(state, words) for state, words, seen in keys if seen]


def told(counts: Mapping[str, int]) -> str:
    """Numbers of clips by state in words: ``3 kept, 1 dropped by another rule``."""
    return ", ".join(f"{counts[state]:,} {_SAID.get(state, state)}" for state in _STATES if counts.get(state))


def distribution(
    column: Column, of: States, *, bounds: Sequence[float], unit: str, name: str, direction: str = ""
) -> Distribution:
    """Return how the values of an attribute spread, as columns or as bars of words, and how many clips have none."""
    numeric = ~np.isnan(column.numbers)
    drawn = histogram(column.numbers[numeric], of[numeric], bounds=bounds, unit=unit, name=name) if numeric.any() else None
    words = [] if drawn else word_bars(column.texts.to_pylist(), of)
    missing = len(column.known) - int(column.known.sum())
    below = (unit if drawn else "", f"{count(missing, 'clip')} without a value" if missing else "")
    return Distribution(
        name, direction, drawn, tuple(words[:_MOST_WORDS]), len(words[_MOST_WORDS:]), tuple(note for note in below if note)
    )


def axis_range(values: npt.NDArray[np.float64], bounds: Sequence[float]) -> tuple[float, float]:
    """Return where the axis begins and ends: all values, thresholds with a margin, but of a very long tail only its beginning."""
    low, high = float(values.min()), float(values.max())
    most, least = (float(np.quantile(values, share)) for share in (0.99, 0.01))
    span = most - least
    if span > 0 and high > most + _TAIL * span:
        high = most + span
    if span > 0 and low < least - _TAIL * span:
        low = least - span
    low, high = min([low, *bounds]), max([high, *bounds])
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    if 0 < low < _MARGIN * high:
        low = 0.0  # a scale that begins at 0.0009 reads worse than one from 0
    margin = _MARGIN * (high - low)
    return (
        low - margin if any(bound < low + margin for bound in bounds) else low,
        high + margin if any(bound > high - margin for bound in bounds) else high,
    )


def bin_counts(values: npt.NDArray[np.float64], of: States, *, low: float, high: float) -> npt.NDArray[np.int64]:
    """``[4, bins]``, how many clips of each state lie in each of equal steps; the outer ones hold all beyond."""
    places = np.clip(((values - low) / (high - low) * _BINS).astype(np.int64), 0, _BINS - 1)
    counts = np.zeros((len(_STATES), _BINS), np.int64)
    np.add.at(counts, (of, places), 1)
    return counts


def histogram(values: npt.NDArray[np.float64], of: States, *, bounds: Sequence[float], unit: str, name: str) -> Markup:
    """Columns of clips of each state, one upon the other, with counts, round values and a line at each threshold."""
    low, high = axis_range(values, bounds)
    counts = bin_counts(values, of, low=low, high=high)
    tallest = max(1, int(counts.sum(axis=0).max()))
    below, beyond = bool(values.min() < low), bool(values.max() > high)
    taken = _CUT_OFF * (high - low)
    shown = [low + taken * below, high - taken * beyond]
    x = alt.X("from:Q").scale(domain=[low, high], nice=False)
    x = x.axis(title=None, tickCount=_TICKS, labelExpr=f"inrange(datum.value, [{shown[0]}, {shown[1]}]) ? datum.label : ''")
    y = alt.Y("below:Q").scale(domain=[0, tallest], nice=False)
    y = y.axis(title=None, values=[0, tallest], format=",.0f", domain=False, ticks=False)
    columns = _chart(_column_rows(counts, low=low, high=high)).mark_bar(xOffset=0.6, x2Offset=-0.6)
    layers: list[alt.Chart] = [
        columns.encode(x=x, x2="to", y=y, y2="above", color=alt.Color("colour:N").scale(None), description="told:N")
    ]
    for bound in bounds:
        left, value = (bound - low) / (high - low) > 0.75, number(bound, digits=4)
        base = _chart([{"from": bound, "words": value, "told": f"threshold {value}"}])
        line = base.mark_rule(color="var(--threshold)", strokeWidth=1.5, strokeDash=[4, 3])
        words = base.mark_text(align="right" if left else "left", dx=-4 if left else 4, fontWeight=600)
        layers.append(line.encode(x="from:Q", y=alt.value(-_ABOVE), y2=alt.value(_HEIGHT), description="told:N"))
        layers.append(words.encode(x="from:Q", y=alt.value(5 - _ABOVE), text="words:N"))
    if below:
        layers.append(_end(low, f"≤ {number(low)}").mark_text(align="left", color="var(--soft)"))
    if beyond:
        layers.append(_end(high, f"≥ {number(high)}").mark_text(align="right", color="var(--soft)"))
    label = f"{name}: {count(len(values), 'clip')} from {number(float(values.min()))} to {number(float(values.max()))} {unit}"
    return figure(alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT), label=label)


def _column_rows(counts: npt.NDArray[np.int64], *, low: float, high: float) -> list[dict[str, Any]]:
    """One row a state and step, stacked."""
    least = 1.5 / _HEIGHT * max(1, int(counts.sum(axis=0).max()))  # a single clip among thousands must still be seen
    edges, rows = np.linspace(low, high, _BINS + 1).tolist(), []
    for place, column in enumerate(counts.T.tolist()):
        words = told(dict(zip(_STATES, column, strict=True)))
        below = 0.0
        for state, n in zip(_STATES, column, strict=True):
            if n:
                rows.append({
                    "from": edges[place], "to": edges[place + 1], "below": below, "above": below + max(least, n),
                    "colour": f"var(--{state})", "told": f"{number(edges[place])} – {number(edges[place + 1])}: {words}",
                })  # fmt: skip
                below += max(least, n)
    return rows


def _end(at: float, words: str) -> alt.Chart:
    """Label of an outer column that holds a cut-off tail, in the place of a tick."""
    return _chart([{"from": at, "words": words}]).encode(x="from:Q", y=alt.value(_HEIGHT + 14), text="words:N")


def _chart(rows: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def word_bars(texts: Sequence[str | None], of: States) -> list[WordBar]:
    """Every text with its clips by state, the most frequent first."""
    counts: dict[str, Counter[str]] = {}
    for text, state in zip(texts, of.tolist(), strict=True):
        if text is not None:
            counts.setdefault(text, Counter())[_STATES[state]] += 1
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1].total(), pair[0]))
    return [WordBar(text, tuple((state, numbers[state]) for state in _STATES if numbers[state])) for text, numbers in ranked]
