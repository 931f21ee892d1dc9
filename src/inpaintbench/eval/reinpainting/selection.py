"""How often each method is the best of its row, by a metric or by people (Table 5 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from inpaintbench.types import Score

# Method -> share of the items on which it was chosen; shares sum to 1.
Frequencies = Mapping[str, float]


class Selected(NamedTuple):
    """Who was chosen how often."""

    shares: dict[str, float]
    """Empty where no item has values of all methods."""
    items: int
    """Items that count."""
    left_out: int
    """Items without a value of some method."""
    tied: int
    """Items with several best methods; each then has an equal part of the item."""


def selected(values: Mapping[str, Mapping[str, float | None]], *, higher_is_better: bool) -> Selected:
    """The share of items on which each method is the best.

    The paper states no rule for ties; here an item is divided between its best methods. An item counts when all methods have a
    value, which may be infinite.

    Args:
        values: method -> item id -> value.
        higher_is_better: the metric's direction.
    """
    items = list(dict.fromkeys(item for column in values.values() for item in column))
    votes, tied, count = dict.fromkeys(values, 0.0), 0, 0
    for item in items:
        row = {method: column.get(item) for method, column in values.items()}
        known = {method: value for method, value in row.items() if value is not None}
        if len(known) < len(values):
            continue
        best = max(known.values()) if higher_is_better else min(known.values())
        winners = [method for method, value in known.items() if value == best]
        count, tied = count + 1, tied + (len(winners) > 1)
        for method in winners:
            votes[method] += 1 / len(winners)
    shares = {method: vote / count for method, vote in votes.items()} if count else {}
    return Selected(shares, count, len(items) - count, tied)


def selected_by_metric(
    rows: Sequence[Score], metric: str, *, higher_is_better: bool, items: Iterable[str], region: str = "frame"
) -> Selected:
    """``selected`` from rows of scores, over some items."""
    wanted = set(items)
    values: dict[str, dict[str, float | None]] = {}
    for row in rows:
        if row.metric == metric and row.region == region and row.item_id in wanted:
            values.setdefault(row.method, {})[row.item_id] = row.value
    return selected(values, higher_is_better=higher_is_better)


def chosen_by_people(choices: Iterable[tuple[str, str]], *, methods: Sequence[str], items: Iterable[str]) -> Selected:
    """Shares of people's choices: the average percentage of times that a method was chosen.

    Args:
        choices: (item id, chosen method), one for each answer.
        methods: those that stood in the rows; answers that name another are left out and counted.
        items: those that count.
    """
    wanted, votes, answered, left_out = set(items), dict.fromkeys(methods, 0), set(), 0
    for item, method in choices:
        if item not in wanted:
            continue
        if method in votes:
            votes[method] += 1
            answered.add(item)
        else:
            left_out += 1
    total = sum(votes.values())
    shares = {method: count / total for method, count in votes.items()} if total else {}
    return Selected(shares, len(answered), left_out, 0)


def agreement(one: Frequencies, other: Frequencies) -> float | None:
    """Half the sum of differences of two sets of shares, taken from 1: 1 = equal, 0 = nothing in common; None without shares."""
    if not one or not other:
        return None
    return 1 - math.fsum(abs(one.get(name, 0.0) - other.get(name, 0.0)) for name in {*one, *other}) / 2
