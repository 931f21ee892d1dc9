"""Which items stand out: hard for all methods, or done most differently; some are shown beside those of slices."""

from __future__ import annotations

import math
import statistics

from inpaintbench.eval.report.gallery import Choice
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Results

HARDEST, DISAGREED, ASKED = "Hardest", "Most disagreed", "Asked for"


def finite_values(results: Results, item_id: str, quantity: Quantity) -> list[float]:
    """The values of the methods on one item, without missing and infinite ones."""
    values = (results.value(method, item_id, quantity) for method in results.contenders)
    return [value for value in values if value is not None and math.isfinite(value)]


def spread(values: list[float]) -> float | None:
    """The sample standard deviation (n - 1) of the methods' values on one item; None for fewer than two."""
    return statistics.stdev(values) if len(values) > 1 else None


def add_standouts(results: Results, choices: list[Choice], quantity: Quantity, *, count: int) -> list[Choice]:
    """``choices`` and up to ``count`` items more, taken by turns from the hardest and from the most disagreed ones.

    An item that is among ``choices`` already gets a further label and counts for none of them, so items with videos are never
    more than ``count`` more.
    """
    found = {choice.item_id: choice for choice in choices}
    lists = {HARDEST: _hardest(results, quantity), DISAGREED: _disagreed(results, quantity)}
    places = dict.fromkeys(lists, 0)
    left = count
    while left > 0 and any(places[label] < len(items) for label, items in lists.items()):
        for label, items in lists.items():
            if left > 0 and places[label] < len(items):
                item_id, place = items[places[label]], places[label] + 1
                places[label] = place
                left -= item_id not in found
                found.setdefault(item_id, Choice(item_id)).labels[f"{label} {place}"] = _reason(
                    label, place, len(results.sources)
                )
    return list(found.values())


def add_asked(choices: list[Choice], item_ids: tuple[str, ...]) -> list[Choice]:
    """``choices`` and the items that the caller names."""
    found = {choice.item_id: choice for choice in choices}
    for item_id in dict.fromkeys(item_ids):
        found.setdefault(item_id, Choice(item_id)).labels[ASKED] = "it was asked for"
    return list(found.values())


def _hardest(results: Results, quantity: Quantity) -> list[str]:
    """Items by the mean over methods, worst first."""
    means = {
        item_id: statistics.fmean(found) for item_id in results.sources if (found := finite_values(results, item_id, quantity))
    }
    if not quantity.ranked:
        return []
    return sorted(means, key=lambda item_id: means[item_id], reverse=not quantity.higher_is_better)


def _disagreed(results: Results, quantity: Quantity) -> list[str]:
    """Items by the spread of the methods, largest first."""
    spreads = {item_id: spread(finite_values(results, item_id, quantity)) for item_id in results.sources}
    known = {item_id: value for item_id, value in spreads.items() if value}
    return sorted(known, key=lambda item_id: known[item_id], reverse=True)


def _reason(label: str, place: int, items: int) -> str:
    what = "the mean over methods is worst" if label == HARDEST else "the values of the methods spread most"
    rank = "here" if place == 1 else f"here but for {place - 1}"
    return f"{what} {rank} among all {items} items"
