"""The values of metrics among the scores of a run, and whether they are still the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.types import Score, SliceScore

# The metric under which resolved answers stand among the scores of a run.
PREFERENCE = "human_preference"
# (item, method) -> value, which may be infinite.
Value = Mapping[tuple[str, str], float]


def values_of(
    scores: Iterable[Score], *, compared: Iterable[SliceScore] = ()
) -> tuple[dict[str, dict[tuple[str, str], float]], dict[str, str]]:
    """Name of each metric with its region -> its values, and why such a one has none, where it has none; see ``measured_of``."""
    whole = {(one.method, one.metric, one.region): one for one in compared if one.slice == ALL_ITEMS}
    values: dict[str, dict[tuple[str, str], float]] = {}
    reasons: dict[str, str] = {}
    for row in scores:
        if row.metric == PREFERENCE:
            continue
        name = measure_name(row.metric, row.region)
        column = values.setdefault(name, {})
        if row.value is not None:
            column[row.item_id, row.method] = row.value
        elif row.features is not None:
            of_set = whole.get((row.method, row.metric, row.region))
            if of_set is None or of_set.value is None:
                reasons.setdefault(name, (of_set and of_set.reason) or "it compares sets of items, and those were not compared")
            else:
                column[row.item_id, row.method] = of_set.value
        else:
            reasons.setdefault(name, row.reason or "no reason given")
    return values, reasons


def digests(values: Value) -> dict[str, str]:
    """Method -> a hash of its values, which tells whether they are still the ones that were compared."""
    of_method: dict[str, list[tuple[str, str]]] = {}
    for (item, method), value in sorted(values.items()):
        of_method.setdefault(method, []).append((item, repr(float(value))))
    return {method: sha256(repr(told).encode()).hexdigest()[:16] for method, told in of_method.items()}


def measure_name(metric: str, region: str) -> str:
    """``psnr/hole``, ``psnr/frame``."""
    return f"{metric}/{region}"
