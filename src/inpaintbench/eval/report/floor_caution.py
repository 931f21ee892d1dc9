"""Metrics that do not tell a method from a floor, a method that fills nothing.

Where doing nothing scores as well as a method, a rank by that metric says nothing of what was filled. Flicker is the usual case:
what stands still is steady, filled or not.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from inpaintbench.eval.report.labels import quantity_label
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Results

# Standard deviations of the floor's items that a method's mean must be away from the floor's. Cohen's bound of a small effect: a
# smaller difference drowns in what items differ by anyway.
LEAST_EFFECT = 0.2


@dataclass(frozen=True)
class Untold:
    """A metric that does not put every method above a floor, over all items."""

    metric: str
    region: str
    floor: str
    alike: tuple[str, ...]
    """Methods less than ``LEAST_EFFECT`` away from it."""
    below: tuple[str, ...]
    """Methods that it beats by as much or more."""
    methods: int
    """That could be compared with it."""


def untold(results: Results, quantity: Quantity) -> list[Untold]:
    """The floors that a ranked metric of items does not tell some method from; none where there is no floor."""
    if not quantity.ranked or quantity.of_sets:
        return []
    found = []
    for floor in results.references:
        effects = {
            method: effect for method in results.contenders if (effect := _effect(results, method, floor, quantity)) is not None
        }
        alike = tuple(method for method, effect in effects.items() if abs(effect) < LEAST_EFFECT)
        below = tuple(method for method, effect in effects.items() if effect <= -LEAST_EFFECT)
        if alike or below:
            found.append(Untold(quantity.metric, quantity.region, floor, alike, below, len(effects)))
    return found


def _effect(results: Results, method: str, floor: str, quantity: Quantity) -> float | None:
    """How much better the mean of a method is over the items of both, in standard deviations of the floor's; None below two."""
    pairs = [
        (value, base)
        for item_id in results.sources
        if (value := results.value(method, item_id, quantity)) is not None and math.isfinite(value)
        and (base := results.value(floor, item_id, quantity)) is not None and math.isfinite(base)
    ]  # fmt: skip
    if len(pairs) < 2:
        return None
    lead = math.fsum(value - base for value, base in pairs) / len(pairs) * (1 if quantity.higher_is_better else -1)
    spread = statistics.stdev(base for _, base in pairs)
    return lead / spread if spread else math.copysign(math.inf, lead) if lead else 0.0


def floor_sentences(results: Results, quantity: Quantity) -> list[str]:
    """What to know before ranking by a metric; plain text, empty where it tells every method from every floor."""
    return [_sentence(one, quantity) for one in untold(results, quantity)]


def _sentence(one: Untold, quantity: Quantity) -> str:
    told = f"{quantity_label(quantity)} cannot be read alone: "
    parts = []
    if one.alike:
        most = "most methods, " if 2 * len(one.alike) > one.methods > 2 else ""
        parts.append(
            f"it does not tell {most}{', '.join(one.alike)} from {one.floor}, which fills nothing (means less than "
            f"{LEAST_EFFECT:g} standard deviations of {one.floor}’s items apart)"
        )
    if one.below:
        parts.append(f"it puts {one.floor} above {', '.join(one.below)}")
    return f"{told}{'; '.join(parts)}."
