"""Records that metrics give: the value of one item, or of sets of items, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.values.statistics import InfiniteRule
from inpaintbench.types import Plain

Array = npt.NDArray[np.float32]


class Features(NamedTuple):
    """Vectors of a network for one item, ``float32[n, d]`` for the prediction and for the truth."""

    prediction: Array
    truth: Array


# Among the details of a measurement without a value: nothing is missing, the metric is of other items.
INAPPLICABLE = "not_applicable"


@dataclass(frozen=True)
class Measurement:
    """Value of a metric in one region of one item, or why there is none."""

    value: float | None
    """May be infinite, never NaN; None where there is nothing to measure, and for metrics that compare sets of items."""
    reason: str | None = None
    """Reason why ``value`` is None or that of a missing prediction, one sentence; None when there is a measured value."""
    details: Plain = field(default_factory=dict)
    """Counts behind the value, e.g. ``{"frames": 90, "infinite_frames": 2}``."""
    features: Features | None = field(default=None, compare=False)
    """For metrics that compare sets of items: this item's share."""


@dataclass(frozen=True)
class Comparison:
    """Value of a metric that compares sets of items, for many items together."""

    value: float | None
    reason: str | None = None
    standard_error: float | None = None
    """Jackknife over sources, where there are enough."""
    interval_low: float | None = None
    interval_high: float | None = None
    details: Plain = field(default_factory=dict)
    """``n`` (vectors in each set) and ``d`` (their length) at least, ``warning`` where the sets are small for it."""


def check_next_frame(frames: int) -> None:
    """Raise ``NotMeasurable`` for a clip of one frame, of what compares a frame with the next."""
    if frames < 2:
        raise NotMeasurable("one frame has no next frame")


def mean_over_clip(values: Sequence[float], *, parts: str, missing: str, infinite: InfiniteRule = "count") -> Measurement:
    """The mean of the values of a clip's ``parts`` ("frames" or "pairs"), counted in the details, the infinite ones apart.

    An infinite part makes the whole clip infinite, but under ``"count"`` it is left out of the mean, and the clip is infinite
    only when all its parts are. Without values the measurement is None and ``missing`` its reason. A part that is NaN leaves
    the clip without a value: nothing tells what its mean would be.
    """
    if not values:
        return Measurement(None, missing)
    if undefined := sum(map(math.isnan, values)):
        counts = {parts: len(values), f"nan_{parts}": undefined}
        return Measurement(None, f"{undefined} of {len(values)} {parts} gave NaN", counts)
    finite = [value for value in values if math.isfinite(value)]
    details = {parts: len(values)}
    if len(finite) < len(values):
        details[f"infinite_{parts}"] = len(values) - len(finite)
    kept = finite if finite and infinite == "count" else values
    return Measurement(math.fsum(kept) / len(kept), details=details)
