"""What a metric leaf gives.

A metric is built with the regions it measures and with every constant of its protocol, keyword-only and without defaults, so a
protocol that forgets a constant cannot be built. ``measure`` looks at one item once and answers for all its regions; ``reduce``
turns the values of many items into one number and touches no pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from inpaintbench import regions
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.statistics import InfiniteRule
from inpaintbench.types import Plain
from inpaintbench.view import ItemView

Array = npt.NDArray[np.float32]


class Features(NamedTuple):
    """What a network says of one item: a set of vectors for the prediction and one for the truth, each ``float32[n, d]``."""

    prediction: Array
    truth: Array


INAPPLICABLE = "not_applicable"
"""Among the details of a measurement without a value: nothing is missing, the metric is of other items."""


@dataclass(frozen=True)
class Measurement:
    """What a metric found in one region of one item."""

    value: float | None
    """May be infinite, never NaN; None where there is nothing to measure, and for metrics that compare sets of items."""
    reason: str | None = None
    """Why ``value`` is None or that of a missing prediction, one sentence; None when there is a measured value."""
    details: Plain = field(default_factory=dict)
    """Counts behind the value, e.g. ``{"frames": 90, "infinite_frames": 2}``."""
    features: Features | None = field(default=None, compare=False)
    """For metrics that compare sets of items: this item's share."""


class Metric(Protocol):
    """A way to score one prediction.

    A metric may have further members, which most do without:

    * ``ranked = False``: neither more nor less of it is better, so reports order no methods by it.
    * ``fewest_frames = 2``: it compares frames in time, so benchmarks of single pictures go without it.
    * ``measure_together(views) -> list[dict[str, Measurement]]``: as ``measure``, for the predictions of several methods for one
      item at once, where they can share what is found out about the truth.
    * ``weights_of(constants) -> tuple[str, ...]``, a static method: the names in ``weights.toml`` that it needs when built with
      these constants. Their hashes are part of the protocol's fingerprint.
    * ``state() -> str``, a static method: which of the user's own files it runs, so that another file means other scores.
    * ``compare(sets, clusters) -> Comparison``: it compares sets of items, so ``measure`` gives features instead of values, and
      ``reduce`` is not asked.
    """

    name: str
    version: str
    """Changes whenever the same constants could give another number."""
    unit: str
    """``"dB"``, or ``""`` for a pure number."""
    higher_is_better: bool
    decimals: int
    """How many are printed."""
    needs: tuple[str, ...]
    """Parts of the view."""
    regions: tuple[str, ...]
    """Those of the protocol's that it has an answer for."""

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """One measurement for each of ``regions``, in their order.

        Raises:
            NotMeasurable: no region of this item can be measured (e.g. the frames are too small).
        """
        ...

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The value of many items, each with equal weight; None where there is none, infinite only under the rule "keep"."""
        ...


@dataclass(frozen=True)
class Comparison:
    """What a metric that compares sets of items found in many items together."""

    value: float | None
    reason: str | None = None
    standard_error: float | None = None
    """Jackknife over sources, where there are enough."""
    interval_low: float | None = None
    interval_high: float | None = None
    details: Plain = field(default_factory=dict)
    """``n`` (vectors in each set) and ``d`` (their length) at least, ``warning`` where the sets are small for it."""


class SetMetric(Metric, Protocol):
    """A metric of sets of items."""

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """One number for many items.

        Args:
            sets: one for each item.
            clusters: the source of each item.
        """
        ...


def check_regions(names: tuple[str, ...]) -> tuple[str, ...]:
    """``names`` when each is one of ``regions.REGIONS``, else ``UnknownNameError``."""
    for name in names:
        if name not in regions.REGIONS:
            raise UnknownNameError(unknown_name("region", name, list(regions.REGIONS)))
    return names


def region_pixels(hole: npt.NDArray[np.bool_], region: str, *, band_radius_pixels: int) -> npt.NDArray[np.bool_]:
    """The pixels of ``region`` in one frame, ``bool[H, W]``, from that frame's hole, ``bool[H, W]``."""
    pixels: npt.NDArray[np.bool_] = regions.select(hole[None], region, band_radius=band_radius_pixels)[0]
    return pixels


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
