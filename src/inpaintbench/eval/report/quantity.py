"""What the numbers of a report are: metrics in regions."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from inpaintbench.eval.metrics import METRICS


@cache
def metric_leaf(metric: str) -> Any:
    """The class of a metric: its unit, direction, decimals and documentation."""
    return METRICS.get(metric)


class Quantity(NamedTuple):
    """What a number is: one metric in one region."""

    metric: str
    region: str

    @property
    def higher_is_better(self) -> bool:
        """The metric's direction."""
        return bool(metric_leaf(self.metric).higher_is_better)

    @property
    def ranked(self) -> bool:
        """Whether methods can be ordered by it; a metric says ``ranked = False`` where neither more nor less is better."""
        return bool(getattr(metric_leaf(self.metric), "ranked", True))

    @property
    def of_sets(self) -> bool:
        """Whether it is one number for many items, so that a single item has none."""
        return hasattr(metric_leaf(self.metric), "compare")
