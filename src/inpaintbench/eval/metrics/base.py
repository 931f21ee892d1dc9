"""Base classes of metrics, and the records that they give.

A metric is built with the regions it measures and with every constant of its protocol, keyword-only and without defaults, so a
protocol that forgets a constant cannot be built. ``measure`` looks at one item once and answers for all its regions; ``reduce``
turns the values of many items into one number and touches no pixels.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypedDict

from inpaintbench import regions
from inpaintbench.catalogue import Leaf, known_name
from inpaintbench.eval.values.measurement import (
    INAPPLICABLE,
    Array,
    Comparison,
    Features,
    Measurement,
    check_next_frame,
    mean_over_clip,
)
from inpaintbench.eval.values.statistics import InfiniteRule, mean_of
from inpaintbench.ranges import Whole
from inpaintbench.types import Hole
from inpaintbench.view import ItemView


class Where(TypedDict):
    """Constants that every metric is built with, besides its own."""

    regions: tuple[str, ...]
    """Some of ``inpaintbench.regions.ALL_REGIONS``."""
    band_radius_pixels: Whole
    """Reach of the boundary band on both sides of the hole's border."""


class Brought(Protocol):
    """A program or a file of the user's own."""

    def state(self) -> str:
        """Changes whenever it does; ``missing`` where there is none."""
        ...


class Metric(Leaf, ABC):
    """A way to score one prediction.

    A metric with constants of its own takes them in ``__init__(self, *, ..., **where: Unpack[Where])`` and passes ``where`` on.

    Args:
        regions: some of ``inpaintbench.regions.ALL_REGIONS``; those that it has no answer for are left out.
        band_radius_pixels: reach of the boundary band on both sides of the hole's border.
    """

    version: str
    label: str = ""
    """Printed name, where it is not made of ``name``."""
    unit: str = ""
    """``"dB"``, say; empty for a pure number."""
    higher_is_better: bool
    decimals: int
    """Decimals that are printed."""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """Least and greatest value that it can have, at which intervals end."""
    needs: tuple[str, ...]
    """Parts of the view."""
    answers: tuple[str, ...] = regions.ALL_REGIONS
    """The regions that it has an answer for."""
    ranked: bool = True
    """False: neither more nor less of it is better by itself, so reports order no methods by it."""
    diagnostic: str = ""
    """Why damage can better it (freezing, blurring or greying the hole, say), one clause; empty where it cannot. Such a metric is
    shown, and nobody has a place, is bold or makes a finding by it who is worse by the protocol's primary quantity than one that
    it puts behind; nor does it enter mean places."""
    by_judge: bool = False
    """True: a model answers in place of people, and its name and seed are in the details."""
    fewest_frames: int = 1
    """2: it compares frames in time, so benchmarks of single pictures go without it."""
    weights: tuple[str, ...] = ()
    """Names in ``weights.toml`` of the parameters that it needs."""
    follows: str = ""
    """Released code whose numbers it gives, with its licence; empty where it follows a definition alone."""
    brings: str = ""
    """What a user brings for it, with its licence; empty for nothing."""
    brought: Brought | None = None
    """That program or file."""
    of_sets: bool = False
    """True when it compares sets of items, so that a single item has no value: see ``SetMetric``."""
    command: str = ""
    """Command that measures it in place of `eval run --for scores`; empty for all that `eval run --for scores` measures."""

    def __init__(self, *, regions: tuple[str, ...], band_radius_pixels: Whole) -> None:
        self.regions = tuple(region for region in check_regions(regions) if region in self.answers)
        self.band_radius_pixels = band_radius_pixels

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts of the view that it is given: what it needs, and the masks of its regions."""
        return tuple(dict.fromkeys([*self.needs, *(mask for region in self.regions for mask in regions.masks_of(region))]))

    @classmethod
    def bases_for(cls, leaf: type) -> tuple[type[Leaf], ...]:
        """``TogetherMetric`` and ``SetMetric`` for those that have the method that these are about."""
        bases = {"measure_together": TogetherMetric, "compare": SetMetric}
        return tuple(base for name, base in bases.items() if hasattr(leaf, name)) or (Metric,)

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG003 - of networks that a constant names
        """The names in ``weights.toml`` that it needs when built with ``constants``: ``weights``, whatever these are.

        Their hashes are part of the protocol's fingerprint.
        """
        return cls.weights

    @classmethod
    def state(cls) -> str:
        """Changes whenever what the user brought does, so that another file means other scores; empty where that is nothing."""
        return cls.brought.state() if cls.brought else ""

    @abstractmethod
    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """One measurement for each of ``regions``, in their order.

        Raises:
            NotMeasurable: no region of this item can be measured (e.g. the frames are too small).
        """

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """``measure`` for the predictions of several methods for one item; see ``TogetherMetric``."""
        return list(map(self.measure, views))

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The value of many items: their mean, each with equal weight; None without any, infinite only under the rule "keep"."""
        return mean_of(measurements)


class TogetherMetric(Metric):
    """A metric whose work on the truth of an item serves the predictions of several methods."""

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """``measure_together`` of one prediction, which raises the same."""
        return self.measure_together([view])[0]

    @abstractmethod
    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """``measure`` for each of the predictions of several methods for one item; the truth is looked at once."""


class SingleRegionTogether(TogetherMetric):
    """``SingleRegionMetric`` whose work on the truth serves the predictions of several methods."""

    answers = ("frame",)

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """``measurements`` for the region, or nothing where the protocol does not ask for it."""
        if not self.regions or not views:
            return [{} for _ in views]
        return [dict.fromkeys(self.regions, one) for one in self.measurements(views)]

    @abstractmethod
    def measurements(self, views: Sequence[ItemView]) -> Sequence[Measurement]:
        """The answer for each prediction of one item; raises what ``measure`` raises."""


class SingleRegionMetric(Metric):
    """A metric with one answer for an item, that of the whole frame where ``answers`` names no other region."""

    answers: tuple[str, ...] = ("frame",)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """``measurement`` for the region, or nothing where the protocol does not ask for it."""
        return {region: self.measurement(view) for region in self.regions}

    @abstractmethod
    def measurement(self, view: ItemView) -> Measurement:
        """The answer; raises what ``measure`` raises."""


class SetMetric(Metric):
    """A metric that compares sets of items: ``measure`` gives features instead of values."""

    of_sets = True

    def reduce(self, measurements: Sequence[float]) -> float | None:  # noqa: ARG002 - items have no values
        """None: items have no values of their own."""
        return None

    @abstractmethod
    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """One number for many items.

        Args:
            sets: one for each item.
            clusters: the source of each item.
        """


def check_regions(names: tuple[str, ...]) -> tuple[str, ...]:
    """``names`` when each is one of ``regions.ALL_REGIONS``, else ``UnknownNameError``."""
    return tuple(known_name("region", name, regions.ALL_REGIONS) for name in names)


def region_pixels(view: ItemView, region: str, *, band_radius_pixels: int) -> Hole:
    """Pixels of ``region`` in each frame, ``bool[T, H, W]``; worked out once for all metrics and methods of the item."""
    masks = {mask: getattr(view, mask) for mask in regions.masks_of(region) if view.has(mask)}
    pixels: Hole = view.shared.once(
        ("pixels", region, band_radius_pixels),
        lambda: regions.select(view.hole, region, band_radius=band_radius_pixels, **masks),
    )
    return pixels


def means_by_region(
    values: Mapping[str, Sequence[float]],
    *,
    parts: str = "frames",
    missing: str = "no frame has a pixel of the region {!r}",
    infinite: InfiniteRule = "count",
) -> dict[str, Measurement]:
    """``mean_over_clip`` for each region, whose name goes into ``missing``."""
    return {
        region: mean_over_clip(found, parts=parts, missing=missing.format(region), infinite=infinite)
        for region, found in values.items()
    }


__all__ = [  # a leaf finds all that it gives and is made of in this module
    "INAPPLICABLE", "Array", "Brought", "Comparison", "Features", "Measurement", "Metric", "SetMetric", "SingleRegionMetric",
    "SingleRegionTogether", "TogetherMetric", "Where", "check_next_frame", "check_regions", "mean_over_clip", "means_by_region",
    "region_pixels",
]  # fmt: skip
