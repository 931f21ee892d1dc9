"""Plots as inline SVG; colours come from the page's style."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.facts import Column, Flags
from inpaintbench.curation.funnel.markup import count, number

_WIDTH, _HEIGHT, _TOP, _BASE = 340, 126, 18, 108
_GUTTER = 34
"""Left of the columns, for the counts."""
_BINS = 34
_MOST_WORDS = 6
_STATES = ("kept", "waiting", "dropped", "other")
_SAID = {"other": "dropped by another rule"}
_TICKS = 4
_MARGIN = 0.08
"""Of the axis, kept free beyond a threshold at its end, so that both sides of the threshold can be seen."""
_TAIL = 4.0
"""A tail this many times as long as the span of 98 % of the values is drawn into the last bar."""

States = npt.NDArray[np.int64]
"""``[n]``, 0 = kept, 1 = waiting, 2 = dropped, 3 = dropped, but by another rule."""


def states(kept: Flags, waiting: Flags, *, by_own_rule: Flags | None = None) -> States:
    """The state of every clip; ``by_own_rule`` are those that a rule on what is drawn drops, None for all that are dropped."""
    dropped = 2 if by_own_rule is None else np.where(by_own_rule, 2, 3)
    found: States = np.where(kept, 0, np.where(waiting, 1, dropped)).astype(np.int64)
    return found


def legend(*, waiting: bool, other: bool = False, threshold: bool = True) -> str:
    """What the colours mean, of those that are to be seen."""
    told = [
        ("kept", "kept", True), ("waiting", "waiting for an answer", waiting),
        ("dropped", "dropped by a rule on it" if other else "dropped", True), ("other", _SAID["other"], other),
        ("threshold", "threshold", threshold),
    ]  # fmt: skip
    spans = "".join(f'<span class="{name}">{words}</span>' for name, words, seen in told if seen)
    return f'<p class="legend">{spans}</p>'


def distribution(column: Column, of: States, *, bounds: Sequence[float], unit: str, name: str) -> str:
    """How the values of an attribute spread, as columns or as bars of words, and how many clips have none."""
    numeric = ~np.isnan(column.numbers)
    if numeric.any():
        drawn = histogram(column.numbers[numeric], of[numeric], bounds=bounds, unit=unit, name=name)
    else:
        drawn = words(column.texts.to_pylist(), of)
    missing = len(column.known) - int(column.known.sum())
    told = [unit if numeric.any() else "", f"{count(missing, 'clip')} without a value" if missing else ""]
    below = " · ".join(escape(part) for part in told if part)
    return drawn + (f'<p class="unit">{below}</p>' if below else "")


def axis_range(values: npt.NDArray[np.float64], bounds: Sequence[float]) -> tuple[float, float]:
    """Where the axis begins and ends: all values, thresholds with a margin, but of a very long tail only its beginning."""
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


def ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Round numbers from ``low`` to ``high``, about four, and how they are written."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(part for part in (1, 2, 5, 10) if part * power >= 0.7 * rough)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [(place * step, _written(place * step, decimals)) for place in places]


def _written(value: float, decimals: int) -> str:
    text = f"{value:.3g}" if decimals > 4 or abs(value) >= 1e7 else f"{value:,.{decimals}f}"
    return text.replace("-", "−")


def bin_counts(values: npt.NDArray[np.float64], of: States, *, low: float, high: float) -> npt.NDArray[np.int64]:
    """``[4, bins]``, how many clips of each state lie in each of equal steps; the outer ones hold all beyond."""
    places = np.clip(((values - low) / (high - low) * _BINS).astype(np.int64), 0, _BINS - 1)
    counts = np.zeros((len(_STATES), _BINS), np.int64)
    np.add.at(counts, (of, places), 1)
    return counts


def histogram(values: npt.NDArray[np.float64], of: States, *, bounds: Sequence[float], unit: str, name: str) -> str:
    """Columns of clips of each state, one upon the other, with counts, round values and a line at each threshold."""
    low, high = axis_range(values, bounds)
    counts = bin_counts(values, of, low=low, high=high)
    tallest = max(1, int(counts.sum(axis=0).max()))
    columns = "".join(_column(counts[:, place], place, tallest, low, high) for place in range(_BINS))
    lines = "".join(_threshold(bound, (bound - low) / (high - low) * _WIDTH) for bound in bounds)
    label = f"{name}: {count(len(values), 'clip')} from {number(float(values.min()))} to {number(float(values.max()))} {unit}"
    return (
        f'<svg class="histogram" viewBox="{-_GUTTER} 0 {_WIDTH + _GUTTER + 4} {_HEIGHT}" role="img" '
        f'aria-label="{escape(label)}"><line class="grid" x1="0" x2="{_WIDTH}" y1="{_TOP}" y2="{_TOP}"/>{columns}'
        f'<line class="base" x1="0" x2="{_WIDTH}" y1="{_BASE}" y2="{_BASE}"/>{lines}'
        f'<text class="count" x="-6" y="{_TOP + 4}" text-anchor="end">{tallest:,}</text>'
        f'<text class="count" x="-6" y="{_BASE}" text-anchor="end">0</text>'
        f"{_axis(low, high, below=bool(values.min() < low), above=bool(values.max() > high))}</svg>"
    )


def _axis(low: float, high: float, *, below: bool, above: bool) -> str:
    """Round values under the columns; where a tail is cut off, its end says so instead."""
    found = [(((value - low) / (high - low)) * _WIDTH, text) for value, text in ticks(low, high)]
    first, last = (56.0 if below else -1.0), (_WIDTH - 56.0 if above else _WIDTH + 1.0)
    told = [(0.0, "start", f"≤ {number(low)}")] if below else []
    told += [(x, "middle" if x < _WIDTH - 8 else "end", text) for x, text in found if first <= x <= last]
    told += [(float(_WIDTH), "end", f"≥ {number(high)}")] if above else []
    return "".join(
        f'<line class="base" x1="{x:.1f}" x2="{x:.1f}" y1="{_BASE}" y2="{_BASE + 4}"/>'
        f'<text class="tick" x="{x:.1f}" y="{_HEIGHT - 4}" text-anchor="{anchor}">{text}</text>'
        for x, anchor, text in told
    )


def _column(counts: npt.NDArray[np.int64], place: int, tallest: int, low: float, high: float) -> str:
    if not counts.any():
        return ""
    step, bottom, parts = _WIDTH / _BINS, float(_BASE), ""
    for state, n in zip(_STATES, counts.tolist(), strict=True):
        if n:
            # A single clip among thousands must still be seen.
            height = max(1.5, n / tallest * (_BASE - _TOP))
            bottom -= height
            box = f'x="{place * step + 0.6:.1f}" width="{step - 1.2:.1f}" y="{bottom:.1f}" height="{height:.1f}"'
            parts += f'<rect class="{state}" {box}/>'
    edges = (low + (high - low) * (place + more) / _BINS for more in (0, 1))
    told = ", ".join(f"{n:,} {_SAID.get(state, state)}" for state, n in zip(_STATES, counts.tolist(), strict=True) if n)
    return f"<g><title>{' – '.join(map(number, edges))}: {told}</title>{parts}</g>"


def _threshold(bound: float, x: float) -> str:
    anchor, shift = ("end", -3) if x > 0.75 * _WIDTH else ("start", 3)
    return (
        f'<line class="threshold" x1="{x:.1f}" x2="{x:.1f}" y1="2" y2="{_BASE}"/>'
        f'<text class="threshold" x="{x + shift:.1f}" y="11" text-anchor="{anchor}">{number(bound, digits=4)}</text>'
    )


def words(texts: Sequence[str | None], of: States) -> str:
    """Bars of the most frequent words."""
    told: dict[str, Counter[str]] = {}
    for text, state in zip(texts, of.tolist(), strict=True):
        if text is not None:
            told.setdefault(text, Counter())[_STATES[state]] += 1
    ranked = sorted(told.items(), key=lambda pair: (-pair[1].total(), pair[0]))
    most = ranked[0][1].total() if ranked else 1
    rows = "".join(
        f'<li><span title="{escape(text)}">{escape(_short(text))}</span>{stacked(counts, most)}<b>{counts.total():,}</b></li>'
        for text, counts in ranked[:_MOST_WORDS]
    )
    rest = len(ranked) - _MOST_WORDS
    more = f'<p class="note">and {rest:,} other {"value" if rest == 1 else "values"}</p>' if rest > 0 else ""
    return f'<ul class="words">{rows}</ul>{more}' if rows else '<p class="note">No clip has a value.</p>'


def stacked(counts: Counter[str], whole: float) -> str:
    """A bar of kept, waiting and dropped parts of ``whole``."""
    title = ", ".join(f"{counts[state]:,} {_SAID.get(state, state)}" for state in _STATES if counts[state])
    parts = "".join(f'<i class="{one}" style="width:{100 * counts[one] / whole:.2f}%"></i>' for one in _STATES if counts[one])
    return f'<span class="stack" role="img" aria-label="{title}" title="{title}">{parts}</span>'


def _short(text: str) -> str:
    return text if len(text) <= 34 else text[:33] + "…"


def is_drawable(bound: float | str) -> bool:
    """Whether a threshold has a place on an axis of numbers."""
    return isinstance(bound, float) and math.isfinite(bound)
