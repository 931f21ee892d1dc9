"""One mean for each slice, method and metric: of own scores, or the numbers that DEVIL, CVPR 2022, published."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import NamedTuple

from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.report.tables import counts
from inpaintbench.eval.results.cautions import cautions, diagnostic_note, exposure_sentences, protocol_cautions, set_sizes
from inpaintbench.eval.results.quantity import (
    Quantity,
    metric_label,
    metric_leaf,
    name_label,
    place_label,
    quantities_in,
    quantity_label,
    standing,
)
from inpaintbench.eval.results.slices import in_reading_order, split_level
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.values.permutation import BOLD
from inpaintbench.eval.values.statistics import best_of, rank, relative_improvement, spread_of
from inpaintbench.pages.words import count
from inpaintbench.types import Slice


class Measure(NamedTuple):
    """A metric in one region."""

    key: str
    """The metric's name, e.g. ``pvcs``."""
    label: str
    """Name with its region: ``PVCS of the frame``."""
    unit: str
    """``"dB"``, or ``""`` for a pure number."""
    decimals: int
    higher_is_better: bool
    caution: str | None = None
    """Caution before using its numbers; None where there is none."""
    ranked: bool = True
    """True when more or less of it is better, so that methods can be ordered and slices compared by it."""
    region: str = "frame"
    gated: bool = False
    """True where damage can better it, so that it counts in no order of methods by several metrics."""
    standing: str = ""
    """``primary`` or ``exploratory`` under the protocol; empty for published numbers."""

    @property
    def title(self) -> str:
        """The label with direction and unit: ``PCons ↑ (dB), exploratory``."""
        arrow = f"{self.label} {'↑' if self.higher_is_better else '↓'}" if self.ranked else self.label
        return (f"{arrow} ({self.unit})" if self.unit else arrow) + self.mark

    @property
    def mark(self) -> str:
        """``, exploratory`` where it is that and ranks methods."""
        return ", exploratory" if self.ranked and self.standing == "exploratory" else ""


class Cell(NamedTuple):
    """One number of Table 1."""

    mean: float | None
    """Infinite where every item is infinite."""
    standard_error: float | None = None
    n: int | None = None
    """Items in the mean; None where unknown."""
    reason: str | None = None
    """Reason why ``mean`` is None, or what it leaves out."""
    doubtful: bool = False
    """True when its column contradicts the mean that was published for it."""
    n_vectors: int | None = None
    """Vectors in the smaller set, for a metric of sets."""
    dimension: int | None = None
    """Length of these vectors."""
    warning: str | None = None
    """Effect of such small sets on the number; None where they are large enough."""
    n_sources: int | None = None
    """Sources of these items; None for published numbers, which stand as they were printed."""
    compared: bool = True
    """True when it is of all items that any method has a value of, so that it enters means over methods."""
    unfit: str | None = None
    """Reason against a place and a claim (``Results.unfit``); None where there may be both, and for published numbers."""


# The paper has means alone: with no items behind them nothing can be tested.
PRINTED = "Bold: the best mean of its column, as printed; of numbers without items no test can tell a lead from chance."
ABSENT = Cell(None, reason="there is no such number")


class Pair(NamedTuple):
    """The two slices of an attribute."""

    attribute: str
    low: str
    high: str


@dataclass(frozen=True)
class Means:
    """One mean for each slice, method and metric; cells that are not there are gaps with a reason."""

    title: str
    origin: str
    """Origin of the numbers, one sentence."""
    methods: tuple[str, ...]
    slices: tuple[str, ...]
    """Names, in reading order: low before high."""
    measures: tuple[Measure, ...]
    cells: Mapping[tuple[str, str, str], Cell]
    """(slice, method, metric) -> the number."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Attribute -> how it is printed."""
    notes: tuple[str, ...] = ()
    """Sentences that belong beside every table and figure."""
    references: Mapping[str, str] = field(default_factory=dict)
    """The last of the methods, which do not compete, and what each is called: in no rank and no mean over methods."""
    places: Mapping[tuple[str, str], Mapping[str, int | None]] | None = None
    """(slice, metric) -> the place of each method; None for published numbers, which are placed by their means."""
    best: Mapping[tuple[str, str], Collection[str]] = field(default_factory=dict)
    """(slice, metric) -> methods that cannot be told from the best, where there are ``places``."""

    @property
    def contenders(self) -> tuple[str, ...]:
        """The methods that compete."""
        return tuple(method for method in self.methods if method not in self.references)

    def named(self, method: str) -> str:
        """A method as printed at the head of a row."""
        return f"{method} ({self.references[method]})" if method in self.references else method

    def cell(self, name: str, method: str, measure: Measure) -> Cell:
        """The number of ``method`` in slice ``name``."""
        return self.cells.get((name, method, measure.key), ABSENT)

    def few(self, name: str, measure: Measure) -> str | None:
        """Return why a slice's mean over methods bears no claim: the sources of a number in it are too few; else None."""
        cells = [self.cell(name, method, measure) for method in self.contenders]
        known = [cell.n_sources for cell in cells if cell.compared and cell.n_sources is not None]
        return too_few(min(known)) if known else None

    def unfit(self, names: Sequence[str], method: str, measure: Measure) -> str | None:
        """Return why a method's numbers in some slices bear no comparison with those of others: the first reason, or None."""
        return next(filter(None, (self.cell(name, method, measure).unfit for name in names)), None)

    @property
    def foot(self) -> str:
        """Line below tables with bold numbers."""
        return PRINTED if self.places is None else BOLD

    def measure(self, key: str) -> Measure:
        """The measure with a metric's name; ``KeyError`` where there is none."""
        return {measure.key: measure for measure in self.measures}[key]

    def doubtful(self, name: str, measure: Measure) -> bool:
        """Return whether any number of a column is doubtful."""
        return any(self.cell(name, method, measure).doubtful for method in self.methods)

    def marks(self, names: Sequence[str], measure: Measure) -> str:
        """Marks after the head of a column made of slices: † for doubtful, ‡ for sets that are small for it."""
        cells = [self.cell(name, method, measure) for name in names for method in self.methods]
        return " †" * any(cell.doubtful for cell in cells) + " ‡" * any(cell.warning for cell in cells)

    def sizes(self, name: str) -> list[str]:
        """A line for each metric of sets: how large the sets of a slice are."""
        lines = []
        for measure in self.measures:
            cells = [self.cell(name, method, measure) for method in self.methods]
            found = {(one.n_vectors, one.dimension) for one in cells if one.n_vectors is not None and one.dimension is not None}
            sizes = " or ".join(f"N = {n}, d = {d}" for n, d in sorted(found))
            small = " ‡" * any(cell.warning for cell in cells)
            lines += [f"{measure.label}{small}: {sizes}."] if found else []
        return lines

    @property
    def ranked_measures(self) -> tuple[Measure, ...]:
        """The measures that order methods."""
        return tuple(measure for measure in self.measures if measure.ranked)

    @property
    def pairs(self) -> list[Pair]:
        """Attributes of which both slices are there, in the order of the slices."""
        attributes = dict.fromkeys(split_level(name)[0] for name in self.slices)
        found = [Pair(attribute, f"{attribute}-low", f"{attribute}-high") for attribute in attributes]
        return [pair for pair in found if pair.low in self.slices and pair.high in self.slices]

    @property
    def half_pairs(self) -> list[tuple[str, str]]:
        """Attributes of which one slice is there alone, each with the level that is not."""
        levels: dict[str, set[str]] = {}
        for name in self.slices:
            attribute, level = split_level(name)
            if level:
                levels.setdefault(attribute, set()).add(level)
        return [(attribute, "high" if "low" in found else "low") for attribute, found in levels.items() if len(found) == 1]

    def attribute_label(self, attribute: str) -> str:
        """An attribute as printed."""
        return self.labels.get(attribute, name_label(attribute))

    def slice_label(self, name: str) -> str:
        """A slice as printed: ``Camera motion, high``."""
        attribute, level = split_level(name)
        return f"{self.attribute_label(attribute)}, {level}" if level else self.attribute_label(name)


def means_of(results: Results, *, region: str | None = None) -> Means:
    """The means of all slices of our own scores, each metric in ``region`` where it has one there, else in its usual region."""
    quantities = quantities_in(results.quantities, results.protocol, region)
    slices = in_reading_order(results.slices)
    cells = {
        (part.name, method, quantity.metric): _cell(results, part, method, quantity)
        for part in slices
        for quantity in quantities
        for method in results.methods
    }
    measures = []
    for quantity in quantities:
        leaf, own = metric_leaf(quantity.metric), [cell for key, cell in cells.items() if key[2] == quantity.metric]
        caution, small = None, [cell for cell in own if cell.warning]
        if small:
            worst, numbers = min(small, key=lambda cell: cell.n_vectors or 0), sum(cell.mean is not None for cell in own)
            caution = (
                f"{len(small)} of {count(numbers, 'number')} from small sets and biased, so slices of unequal N do not compare; "
                f"the smallest: {worst.warning}"
            )
        measures.append(
            Measure(
                quantity.metric, quantity_label(quantity), leaf.unit, leaf.decimals, leaf.higher_is_better, caution,
                quantity.ranked, quantity.region, results.gated(quantity), standing(quantity, results.protocol),
            )
        )  # fmt: skip
    protocol = f"{results.protocol.name} ({results.fingerprint})"
    return Means(
        title=results.dataset.name,
        origin=f"Scores of one run under protocol {protocol}; {count(len(results.sources), 'item')}.",
        methods=results.methods,
        slices=tuple(part.name for part in slices),
        measures=tuple(measures),
        cells=cells,
        references={method: results.role(method) for method in results.aside},
        places={(one.name, quantity.metric): results.places(one, quantity) for one in slices for quantity in quantities},
        best={(one.name, quantity.metric): results.best(one, quantity) for one in slices for quantity in quantities},
        notes=tuple(_notes(results, quantities, measures)),
    )


def _cell(results: Results, one: Slice, method: str, quantity: Quantity) -> Cell:
    summary, level = results.summary(one, method, quantity), results.level(one, method, quantity)
    left_out = counts(summary) if summary.n_missing or summary.n_infinite else None
    reason = left_out if level is not None else summary.reason or "no item has a value"
    score = results.slice_score(one, method, quantity) if level is not None else None
    warning = None if score is None else score.details.get("warning")
    sizes = set_sizes(score)
    return Cell(level, summary.standard_error, summary.n, reason, n_vectors=sizes[0], dimension=sizes[1], warning=warning,
                n_sources=results.n_sources(one, method, quantity), compared=results.comparable(one, quantity)[method],
                unfit=results.unfit(one, method, quantity))  # fmt: skip


def _notes(results: Results, quantities: Sequence[Quantity], measures: Sequence[Measure]) -> Iterator[str]:
    """What to know before the means are believed: of few sources, of fewer items, what is missing, and cautions."""
    sources = {part.name: results.n_sources(part) for part in results.slices}
    few = [f"{name} ({n})" for name, n in sources.items() if too_few(n)]
    if few:
        takes = f"an interval, rank or lead needs at least {ENOUGH_SOURCES}"
        yield f"Means alone, unranked, of the slices of few sources ({takes}): {', '.join(few)}."
    ranked = [quantity for quantity in quantities if quantity.ranked]
    for method in results.contenders:
        by_count: dict[int, list[str]] = {}
        for quantity in ranked:
            by_count.setdefault(results.lacking(results.everything, quantity)[method], []).append(quantity_label(quantity))
        by_count.pop(0, None)
        found = [
            f"{n} by {'every metric' if len(labels) == len(ranked) > 1 else ', '.join(labels)}" for n, labels in by_count.items()
        ]
        if found:
            yield f"{method} lacks items that others have, so it has no place and is in no mean over methods: {'; '.join(found)}."
    empty = {part.name: "it has no items" for part in results.dataset.slices if not part.item_ids}
    yield from (f"No {name}: {reason}." for name, reason in {**empty, **results.dataset.left_out}.items())
    by_reason: dict[str, dict[str, None]] = {}
    for quantity, reason in results.unmeasured.items():
        if quantity.metric not in {one.metric for one in quantities}:
            by_reason.setdefault(reason, {})[metric_label(quantity.metric)] = None
    yield from (f"Not measured: {', '.join(names)} ({reason})." for reason, names in by_reason.items())
    yield from protocol_cautions(results)
    yield from exposure_sentences(results)
    yield from filter(None, (diagnostic_note(results, quantity) for quantity in quantities))
    yield from (sentence for quantity in quantities for sentence in cautions(results, quantity))
    yield from (f"‡ {measure.label}: {measure.caution}." for measure in measures if measure.caution)


def published_means() -> Means:
    """The paper's Table 1: ten slices, seven methods, five metrics.

    Numbers of the four columns that contradict their own printed means are there and marked as doubtful. LPIPS is as printed and
    carries its caution: the network behind it had random parameters.
    """
    text = resources.files(__package__).joinpath("devil_paper.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    doubtful = {(entry["slice"], entry["metric"]) for entry in data["doubtful"]}
    measures = tuple(
        Measure(key=entry.pop("name"), label=f"{entry.pop('label')} {place_label(entry['region'])}", **entry)
        for entry in map(dict, data["metrics"])
    )
    cells = {
        (name, method, measure.key): Cell(
            value, n=data["items_per_slice"], doubtful=(name, measure.key) in doubtful
        )
        for name, rows in data["table_1"].items()
        for method in data["methods"]
        for measure, value in zip(measures, rows[method], strict=True)
    }  # fmt: skip
    return Means(
        title=data["title"],
        origin=f"{data['source']}.",
        methods=tuple(data["methods"]),
        slices=tuple(data["table_1"]),
        measures=measures,
        cells=cells,
        labels=data["attributes"],
        notes=tuple(data["notes"]),
    )


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
    found = []
    for method in means.methods:
        low, high = (means.cell(name, method, measure) for name in (pair.low, pair.high))
        share, reason = relative_improvement(low.mean, high.mean, higher_is_better=measure.higher_is_better), None
        if share is None:
            reason = "the value in the low slice is 0"
            for level, cell in (("high", high), ("low", low)):  # what the low slice lacks is told first
                if cell.mean is None:
                    reason = f"no value in the {level} slice: {cell.reason}"
                elif math.isinf(cell.mean):
                    reason = f"infinite in the {level} slice"
        found.append(Improvement(pair.attribute, method, measure, share, reason, low.doubtful or high.doubtful))
    return found


def improvements(means: Means) -> list[Improvement]:
    """Every attribute x metric x method."""
    return [one for pair in means.pairs for measure in means.ranked_measures for one in improvement(means, pair, measure)]


def _spread(cells: Mapping[str, Cell], kind: str, *, same_items: bool = False) -> Spread:
    """Of the cells, or of those that are of the same items, with how many are left out and why."""
    # Who leaves out the hard items would make a slice look easier than it is.
    taken = [cell for cell in cells.values() if cell.compared or not same_items]
    found = spread_of([cell.mean for cell in taken])
    error = found.standard_error if all(cell.unfit is None for cell in taken) else None
    left_out = {
        "without a value": [name for name, cell in cells.items() if cell.mean is None],
        "infinite and left out": [name for name, cell in cells.items() if cell.mean is not None and math.isinf(cell.mean)],
        "of fewer items and left out": [
            name for name, cell in cells.items() if same_items and not cell.compared and cell.mean is not None
        ],
    }
    words = []
    for what, names in left_out.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        words += [f"{len(names)} of {len(cells)} {kind} {what} ({', '.join(names[:3])}{more})"] if names else []
    doubtful = any(cell.doubtful for cell in cells.values())
    return Spread(found.mean, error, found.n, "; ".join(words) or None, doubtful)
