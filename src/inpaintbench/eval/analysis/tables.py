"""Tables 1 and 2 of DEVIL, CVPR 2022, and the numbers behind its Figures 3, 4, 5, 7 and 9, from any means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from inpaintbench.eval.analysis.means import Cell, Means, Measure, Pair
from inpaintbench.eval.values.statistics import best_of, rank, relative_improvement, spread_of


class Line(NamedTuple):
    """One number of Table 1 with its place among the methods of its column."""

    slice: str
    method: str
    measure: Measure
    cell: Cell
    place: int | None


class Ranking(NamedTuple):
    """The methods of one slice under one metric, from best to worst, those without a value last; ties share the better place."""

    slice: str
    measure: Measure
    places: tuple[tuple[str, int | None], ...]
    doubtful: bool


class Spread(NamedTuple):
    """The mean of several means and its standard error."""

    mean: float | None
    standard_error: float | None
    """ddof 1; None for fewer than two, and where a mean in it is unfit for a claim."""
    n: int
    """Means in it."""
    reason: str | None
    """Values left out, and the reasons; None when nothing is left out."""
    doubtful: bool
    """True when a doubtful number is in it."""


class Improvement(NamedTuple):
    """Relative improvement of a method from the low slice of an attribute to the high one."""

    attribute: str
    method: str
    measure: Measure
    share: float | None
    """Share of the low slice's value; positive is better whatever the metric's direction."""
    reason: str | None
    """Reason why there is none."""
    doubtful: bool


def table_1(means: Means) -> list[Line]:
    """Every slice x metric x method (Table 1), gaps included."""
    return [
        Line(name, method, measure, means.cell(name, method, measure), place)
        for name in means.slices
        for measure in means.measures
        for method, place in places(means, name, measure).items()
    ]


def places(means: Means, name: str, measure: Measure) -> dict[str, int | None]:
    """The place of each method in a column of Table 1, 1 = best; None for who is unfit and where nobody is ranked."""
    if means.places is not None:
        return dict(means.places[name, measure.key])
    if not measure.ranked:
        return dict.fromkeys(means.methods)
    cells = {method: means.cell(name, method, measure) for method in means.contenders}
    values = {method: None if cell.unfit else cell.mean for method, cell in cells.items()}
    return dict.fromkeys(means.methods) | rank(values, higher_is_better=measure.higher_is_better)


def best(means: Means, name: str, measure: Measure) -> set[str]:
    """Methods of a column of Table 1 that cannot be told from the best; of published numbers those in first place."""
    return best_of(places(means, name, measure)) if means.places is None else set(means.best[name, measure.key])


def table_2(means: Means) -> list[Ranking]:
    """Methods sorted by performance, for each metric and slice, that is by metric, attribute and setting (Table 2)."""
    return [ranking(means, name, measure) for measure in means.ranked_measures for name in means.slices]


def ranking(means: Means, name: str, measure: Measure) -> Ranking:
    """One column of Table 2."""
    found = [entry for entry in places(means, name, measure).items() if entry[0] not in means.references]

    def order(entry: tuple[str, int | None]) -> tuple[bool, int, bool, float]:
        method, place = entry
        mean = means.cell(name, method, measure).mean
        return place is None, place or 0, mean is None, (mean or 0.0) * (-1 if measure.higher_is_better else 1)

    return Ranking(name, measure, tuple(sorted(found, key=order)), means.doubtful(name, measure))


def over_slices(means: Means, measure: Measure) -> dict[str, Spread]:
    """Mean and standard error of each method over the slices (Figure 3).

    The slices of DEVIL share clips, so their means are not independent; the published error bars have the same fault.
    """
    return {
        method: _spread({means.slice_label(name): means.cell(name, method, measure) for name in means.slices}, "slices")
        for method in means.methods
    }


def difficulty(means: Means, measure: Measure) -> dict[str, Spread]:
    """Mean and standard error of each slice over the methods (Figure 4)."""
    return {name: over_methods(means, name, measure) for name in means.slices}


def over_methods(means: Means, name: str, measure: Measure) -> Spread:
    """Mean and standard error of one slice over the methods that have the same items."""
    return _spread({method: means.cell(name, method, measure) for method in means.contenders}, "methods", same_items=True)


def improvement(means: Means, pair: Pair, measure: Measure) -> list[Improvement]:
    """``(high - low) / low`` of each method, negated where lower is better (Figures 5, 7 and 9)."""
    return [_improvement(means, pair, method, measure) for method in means.methods]


def improvements(means: Means) -> list[Improvement]:
    """Every attribute x metric x method."""
    return [one for pair in means.pairs for measure in means.ranked_measures for one in improvement(means, pair, measure)]


def _improvement(means: Means, pair: Pair, method: str, measure: Measure) -> Improvement:
    low, high = (means.cell(name, method, measure) for name in (pair.low, pair.high))
    share = relative_improvement(low.mean, high.mean, higher_is_better=measure.higher_is_better)
    reason = _why_no_share(low, high) if share is None else None
    return Improvement(pair.attribute, method, measure, share, reason, low.doubtful or high.doubtful)


def _why_no_share(low: Cell, high: Cell) -> str:
    for level, cell in (("low", low), ("high", high)):
        if cell.mean is None:
            return f"no value in the {level} slice: {cell.reason}"
        if math.isinf(cell.mean):
            return f"infinite in the {level} slice"
    return "the value in the low slice is 0"


def _spread(cells: Mapping[str, Cell], kind: str, *, same_items: bool = False) -> Spread:
    taken = [cell for cell in cells.values() if cell.compared or not same_items]
    found = spread_of([cell.mean for cell in taken])
    error = found.standard_error if all(cell.unfit is None for cell in taken) else None
    missing = [name for name, cell in cells.items() if cell.mean is None]
    infinite = [name for name, cell in cells.items() if cell.mean is not None and math.isinf(cell.mean)]
    fewer = [name for name, cell in cells.items() if same_items and not cell.compared and cell.mean is not None]
    words = [
        f"{len(names)} of {len(cells)} {kind} {what} ({_listed(names)})"
        for names, what in (
            (missing, "without a value"),
            (infinite, "infinite and left out"),
            (fewer, "of fewer items and left out"),
        )
        if names
    ]
    doubtful = any(cell.doubtful for cell in cells.values())
    return Spread(found.mean, error, found.n, "; ".join(words) or None, doubtful)


def _listed(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
