"""Tables over slices: ranks, difficulty, the change from low to high, and steps of an attribute over the same material."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.report.tables import method_row, slice_cell
from inpaintbench.eval.results.quantity import Quantity, metric_leaf, name_label, quantity_title
from inpaintbench.eval.results.slices import Series, group_slices, in_reading_order, pair_slices
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.values.permutation import BOLD
from inpaintbench.eval.values.statistics import Summary
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import count, number, signed_percent
from inpaintbench.types import Slice, content_id

# A step that has less than this share of the subjects of the fullest one is left out, so that the others need not wait for it.
FEWEST = 0.5
_MASKS, _KIND = "mask_iou", "mask.mask_kind"
_Subjects = dict[Hashable, list[str]]


class Entry(NamedTuple):
    """A method in a list from best to worst."""

    method: str
    place: int | None
    tied: bool
    first: bool
    """True when it has the first place and is not alone with a place."""


class Ranked(NamedTuple):
    """A slice with its methods from best to worst, or why they are not ranked."""

    rule: str
    level: str
    """``low``, ``high``, or the slice's value."""
    entries: tuple[Entry, ...]
    reason: str


class RankRow(NamedTuple):
    """One attribute: its slices, each with a list for each quantity."""

    attribute: str
    paired: bool
    """Low and high slice, whose lists stand side by side."""
    slices: tuple[tuple[Ranked, ...], ...]


class RankTable(NamedTuple):
    """The ranks in one region; a column for each quantity."""

    region: str
    titles: tuple[str, ...]
    rows: tuple[RankRow, ...]


# Methods from best to worst for each metric, attribute and setting (DEVIL, CVPR 2022, Table 2). Attributes with a low and a high
# slice have two lists side by side; other slices have a line of text each.


def rank_tables(results: Results) -> list[RankTable]:
    """For each region the attributes with a low and a high slice, then the other slices, as far as there are any."""
    ranked = _ranked(results)
    listed = [(pair.attribute, True, [(pair.low, "low"), (pair.high, "high")]) for pair in pair_slices(ranked)]
    for group in group_slices(ranked):
        levels = ("" if value is None else name_label(value) for value in group.values)
        listed.append((group.attribute, False, list(zip(group.slices, levels, strict=True))))
    tables = []
    for region in dict.fromkeys(quantity.region for quantity in results.quantities if quantity.ranked) if listed else ():
        quantities = [quantity for quantity in results.quantities if quantity.region == region and quantity.ranked]
        rows = []
        for attribute, paired, slices in listed:
            lists = tuple(tuple(_list(results, part, one, level) for one in quantities) for part, level in slices)
            rows.append(RankRow(name_label(attribute), paired, lists))
        titles = tuple(quantity_title(one, results.protocol) for one in quantities)
        tables.append(RankTable(region, titles, tuple(rows)))
    return tables


def ranks_lead(results: Results) -> str:
    """Sentence above the tables, with the number of slices that are not ranked."""
    ranked = _ranked(results)
    if not ranked:
        return f"Nothing is ranked: no slice has the {ENOUGH_SOURCES} sources that a rank needs."
    few = sum(too_few(results.n_sources(slice_)) is not None for slice_ in results.slices)
    without = f" {count(few, 'slice')} of fewer than {ENOUGH_SOURCES} sources: not ranked." if few else ""
    return f"Methods from best to worst for each metric, attribute and setting. {BOLD}{without}"


def _ranked(results: Results) -> list[Slice]:
    """The slices of enough sources for a rank, and those that stand beside such a one as low or high."""
    enough = {slice_.name for slice_ in results.slices if too_few(results.n_sources(slice_)) is None}
    beside = {one.name for pair in pair_slices(results.slices) for one in (pair.low, pair.high)
              if enough & {pair.low.name, pair.high.name}}  # fmt: skip
    return [slice_ for slice_ in results.slices if slice_.name in enough | beside]


def _list(results: Results, part: Slice, quantity: Quantity, level: str) -> Ranked:
    if few := too_few(results.n_sources(part)):
        return Ranked(part.rule, level, (), few)
    ranking = results.ranking(part, quantity)
    places, best = [place for _, place in ranking], results.best(part, quantity)
    entries = (
        Entry(method, place, tied=place is not None and places.count(place) > 1, first=method in best)
        for method, place in ranking
    )
    return Ranked(part.rule, level, tuple(entries), "")


def difficulty_table(results: Results, quantity: Quantity) -> Table:
    """The mean over methods of every slice, with its standard error."""
    decimals = metric_leaf(quantity.metric).decimals
    rows = []
    for part in in_reading_order(results.slices):
        spread = results.difficulty(part, quantity)
        numbers = (number(spread.mean, decimals), number(spread.standard_error, decimals), spread.n)
        rows.append(Row((slice_cell(part), *map(Cell, numbers))))
    heads = (Column(head, numeric=True) for head in ("Mean over methods", "Standard error", "Methods"))
    caption = f"{quantity_title(quantity, results.protocol)}, mean over methods"
    return Table((Column("Slice"), *heads), tuple(rows), caption=caption)


def _by_method(results: Results, heads: Sequence[str], texts: Mapping[str, Sequence[str]], *, caption: str) -> Table:
    """A row for each method with its texts, a column for each of ``heads``."""
    rows = (method_row(results, method, map(Cell, texts[method])) for method in results.methods)
    return Table((Column("Method"), *(Column(head, numeric=True) for head in heads)), tuple(rows), caption=caption)


def improvement_table(results: Results, quantity: Quantity) -> Table:
    """The relative improvement of every method from low to high; a row for each method, a column for each attribute."""
    pairs = pair_slices(results.slices)
    texts = {
        method: [signed_percent(results.improvement(pair, method, quantity)) for pair in pairs] for method in results.methods
    }
    caption = f"{quantity_title(quantity, results.protocol)}, change from low to high"
    return _by_method(results, [name_label(pair.attribute) for pair in pairs], texts, caption=caption)


# Steps of an attribute over the same material: between two steps nothing else than the attribute is to change. A mean over the
# items of a slice says how hard these items are too. Of masks that are spoilt step by step, and of side effects of growing
# strength, the steps share their clips; where not all steps have all of them, those count that all have.


class Compared(NamedTuple):
    """The steps of a series that a quantity is compared over."""

    series: Series
    items: tuple[tuple[str, tuple[str, ...]], ...]
    """What each step is called, and ids of its items; an exact mask counts once for each kind of spoilt ones."""
    shared: int | None
    """Clips, or exact masks, that all steps have; None where the steps have none in common and each has all of its items."""
    largest: int
    """How many the fullest step has."""
    left_out: tuple[tuple[str, int], ...] = ()
    """Steps that too few of them have, and how many."""


def compared(results: Results, series: Sequence[Series]) -> dict[tuple[str, Quantity], Compared]:
    """The steps of every series, by its attribute, and quantity with the items that they are compared over.

    Args:
        results: scores and slices.
        series: of ``step_series``.
    """
    if not series:
        return {}
    steps: dict[str, list[tuple[str, _Subjects]]] = {}
    wanted = {item_id for one in series for _, part in one.steps for item_id in part.item_ids}
    rows = {row["item_id"]: row for row in results.dataset.items if row["item_id"] in wanted}
    for one in series:
        kinds = {rows[item_id].get("attributes", {}).get(_KIND) for _, part in one.steps for item_id in part.item_ids} - {None}
        steps[one.attribute] = [(step, _by_subject(part.item_ids, rows, one.attribute, kinds)) for step, part in one.steps]
    found = {}
    methods = results.contenders or results.methods
    for quantity in results.quantities:
        # Of sets that are compared nothing can be left out, of others the items that no method has a value of.
        known = set().union(*(results.measured(results.everything, method, quantity) for method in methods))
        for one in series:
            own = [
                (step, {name: ids for name, ids in subjects.items() if quantity.of_sets or known.issuperset(ids)})
                for step, subjects in steps[one.attribute]
            ]
            found[one.attribute, quantity] = _compared(one, own)
    return found


def _by_subject(
    item_ids: Sequence[str], rows: Mapping[str, Mapping[str, Any]], attribute: str, kinds: set[Any]
) -> _Subjects:  # fmt: skip
    """Items by what they share with those of other steps: their clip; of masks the exact one and, among all, the kind."""
    found: _Subjects = {}
    mixed = attribute == _MASKS
    for item_id in item_ids:
        row = rows[item_id]
        if not attribute.startswith(_MASKS):
            found.setdefault(row["clip_id"], []).append(item_id)
            continue
        parent = row.get("generator_parameters", {}).get("parent")
        exact = item_id if parent is None else content_id(row["clip_id"], parent)
        kind = row.get("attributes", {}).get(_KIND)
        # An exact mask stands beside those of every kind.
        for own in (sorted(kinds) if kinds and kind is None else [kind]) if mixed else [None]:
            found.setdefault((exact, own), []).append(item_id)
    return found


def _compared(series: Series, steps: Sequence[tuple[str, _Subjects]]) -> Compared:
    largest = max((len(subjects) for _, subjects in steps), default=0)
    full = [(step, subjects) for step, subjects in steps if subjects and len(subjects) >= FEWEST * largest]
    shared = set.intersection(*(set(subjects) for _, subjects in full)) if len(full) > 1 else set()
    if not shared:
        everything = ((step, tuple(item_id for ids in subjects.values() for item_id in ids)) for step, subjects in steps)
        return Compared(series, tuple(everything), None, largest)
    kept = (
        (step, tuple(item_id for name, ids in subjects.items() if name in shared for item_id in ids)) for step, subjects in full
    )
    names = {step for step, _ in full}
    left_out = tuple((step, len(subjects)) for step, subjects in steps if step not in names and subjects)
    return Compared(series, tuple(kept), len(shared), largest, left_out)


def step_means(results: Results, compared: Compared, quantity: Quantity) -> Iterator[tuple[str, dict[str, Summary]]]:
    """Each step with the mean of each method over the items that are compared."""
    parts = dict(compared.series.steps)
    for step, items in compared.items:
        if quantity.of_sets:
            yield step, {method: results.summary(parts[step], method, quantity) for method in results.methods}
        else:
            yield step, {method: results.over(items, method, quantity) for method in results.methods}


def series_words(series: Series) -> str:
    """What a plot and a table call the attribute of a series: ``IoU of masks (%)``, ``Shadow``."""
    kind = series.attribute.removeprefix("mask_iou-")
    if kind != series.attribute:
        return f"{name_label('IoU of masks')} (%), {name_label(kind).lower()}"
    return name_label(series.attribute.removeprefix("effect-").replace("mask_iou", "IoU of masks (%)").replace("-", " "))


def steps_table(results: Results, quantity: Quantity, steps: Mapping[tuple[str, Quantity], Compared]) -> Table:
    """The mean of every method at every step; a row for each method, columns of steps attribute by attribute."""
    decimals = metric_leaf(quantity.metric).decimals
    shown = [one for (_, own), one in steps.items() if own == quantity]
    columns = [(one, step, means) for one in shown for step, means in step_means(results, one, quantity)]
    heads = [f"{series_words(one.series)}, {step}" for one, step, _ in columns]
    texts = {method: [number(means[method].mean, decimals) for _, _, means in columns] for method in results.methods}
    return _by_method(results, heads, texts, caption=f"{quantity_title(quantity, results.protocol)}, by steps")


def steps_notes(quantity: Quantity, steps: Mapping[tuple[str, Quantity], Compared]) -> list[str]:
    """A sentence for each attribute whose steps are compared over less than all of its items."""
    notes = []
    for one in (one for (_, own), one in steps.items() if own == quantity and one.largest):
        words, things = series_words(one.series), "masks" if one.series.attribute.startswith("mask_iou") else "clips"
        if one.shared is None:
            notes.append(f"{words}: its steps have no {things} in common, so they differ in more than that.")
            continue
        told = [f"over the {one.shared} of {one.largest} {things} that all of its steps have"] * (one.shared < one.largest)
        told += [f"without {step}, which only {number} have" for step, number in one.left_out]
        notes += [f"{words}: {', '.join(told)}."] if told else []
    return notes
