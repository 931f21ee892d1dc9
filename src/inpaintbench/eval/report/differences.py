"""How far two methods are apart over the items that both have, with an interval over sources."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from inpaintbench.eval.comparing.statistics import Summary, summarise
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Results


class Difference(NamedTuple):
    """The mean of one method less that of another, over the same items."""

    mean: float
    low: float | None
    """Of the interval over sources; None with too few of them."""
    high: float | None

    def turned(self) -> Difference:
        """The other method less the one."""
        low = None if self.high is None else -self.high
        return Difference(-self.mean, low, None if self.low is None else -self.low)


# The page and the JSON beside it ask for the same ones.
_FOUND: WeakKeyDictionary[Results, dict[tuple[str, str, Quantity], Difference | None]] = WeakKeyDictionary()


def difference(results: Results, one: str, other: str, quantity: Quantity) -> Difference | None:
    """``one`` less ``other``, item by item, as the paired test takes them; None where no item has a finite value of both."""
    known = _FOUND.setdefault(results, {})
    key = (one, other, quantity)
    if key not in known:
        known[key] = _difference(results, one, other, quantity)
    return known[key]


def _difference(results: Results, one: str, other: str, quantity: Quantity) -> Difference | None:
    left, right = (_column(results, method, quantity) for method in (one, other))
    apart = [a - b if a is not None and b is not None else None for a, b in zip(left, right, strict=True)]
    shares = None
    if results.protocol.averaging == "all_frames":
        shares = [
            (results.weight(one, item_id, quantity) + results.weight(other, item_id, quantity)) / 2 for item_id in results.sources
        ]
    found: Summary = summarise(apart, clusters=list(results.sources.values()), weights=shares)
    return None if found.mean is None else Difference(found.mean, found.interval_low, found.interval_high)


def _column(results: Results, method: str, quantity: Quantity) -> Sequence[float | None]:
    """A method's finite values; infinite ones as the protocol counts them in means."""
    values = [results.value(method, item_id, quantity) for item_id in results.sources]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if results.infinite_rule(quantity.metric) == "largest_finite" and finite:
        values = [None if value is None else min(value, max(finite)) for value in values]
    return [value if value is not None and math.isfinite(value) else None for value in values]
