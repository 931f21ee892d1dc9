"""Methods from best to worst for each metric, attribute and setting (DEVIL, CVPR 2022, Table 2).

Attributes with a low and a high slice have two lists side by side; other slices have a line of text each.
"""

from __future__ import annotations

from typing import NamedTuple

from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.results.labels import name_label, quantity_title
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results, group_slices, pair_slices
from inpaintbench.eval.values.permutation import BOLD
from inpaintbench.pages.words import count
from inpaintbench.types import Slice


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


def rank_tables(results: Results) -> list[RankTable]:
    """For each region the attributes with a low and a high slice, then the other slices, as far as there are any."""
    regions = dict.fromkeys(quantity.region for quantity in results.quantities if quantity.ranked)
    tables = (_table(results, region) for region in regions)
    return [table for table in tables if table.rows]


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


def _table(results: Results, region: str) -> RankTable:
    ranked = _ranked(results)
    quantities = [quantity for quantity in results.quantities if quantity.region == region and quantity.ranked]

    def lists(part: Slice, level: str) -> tuple[Ranked, ...]:
        return tuple(_list(results, part, quantity, level) for quantity in quantities)

    pairs = [
        RankRow(name_label(pair.attribute), paired=True, slices=(lists(pair.low, "low"), lists(pair.high, "high")))
        for pair in pair_slices(ranked)
    ]
    others = [
        RankRow(
            name_label(group.attribute),
            paired=False,
            slices=tuple(
                lists(part, "" if value is None else name_label(value))
                for part, value in zip(group.slices, group.values, strict=True)
            ),
        )
        for group in group_slices(ranked)
    ]
    return RankTable(region, tuple(quantity_title(one, results.protocol) for one in quantities), (*pairs, *others))


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
