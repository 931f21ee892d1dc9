"""What the numbers of a report are: metrics in regions."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Metric


@cache
def metric_leaf(metric: str) -> type[Metric]:
    """The class of a metric: its unit, direction, decimals and documentation."""
    return METRICS.get(metric)


class Quantity(NamedTuple):
    """What a number is: one metric in one region."""

    metric: str
    region: str

    @property
    def higher_is_better(self) -> bool:
        """The metric's direction."""
        return metric_leaf(self.metric).higher_is_better

    @property
    def ranked(self) -> bool:
        """Whether methods can be ordered by it; a metric says ``ranked = False`` where neither more nor less is better."""
        return metric_leaf(self.metric).ranked

    @property
    def of_sets(self) -> bool:
        """Whether it is one number for many items, so that a single item has none."""
        return metric_leaf(self.metric).of_sets
