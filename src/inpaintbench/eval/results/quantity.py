"""Quantities of a report, metrics in regions, and the region in which each is shown unless another is asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Metric
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.slices import split_step, split_value
from inpaintbench.pages.words import number


@cache
def metric_leaf(metric: str) -> type[Metric]:
    """The class of a metric: its unit, direction, decimals and documentation."""
    return METRICS.get(metric)


class Quantity(NamedTuple):
    """One metric in one region."""

    metric: str
    region: str

    @property
    def key(self) -> str:
        """By which scripts of pages find it: ``psnr/hole``."""
        return f"{self.metric}/{self.region}"

    @property
    def higher_is_better(self) -> bool:
        """The metric's direction."""
        return metric_leaf(self.metric).higher_is_better

    @property
    def ranked(self) -> bool:
        """Return whether methods can be ordered by it; a metric says ``ranked = False`` where neither more nor less is better."""
        return metric_leaf(self.metric).ranked

    @property
    def diagnostic(self) -> str:
        """Why damage can better it, so that it never ranks alone; empty where it cannot."""
        return metric_leaf(self.metric).diagnostic

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value that there can be."""
        return metric_leaf(self.metric).bounds

    @property
    def of_sets(self) -> bool:
        """Return whether it is one number for many items, so that a single item has none."""
        return metric_leaf(self.metric).of_sets


# Metrics that are about one region by definition.
_OWN_REGIONS = {"pcons": "hole"}
_HOLE_FIRST, _FRAME_FIRST = ("hole", "frame", "band"), ("frame", "hole", "band")
# Whole frames hardly change when a shadow stays, or when an object is filled badly; a mask that is not exact differs from what is
# missing, which is the object.
_OBJECT_FIRST = ("object", "effect", *_FRAME_FIRST)


def usual_quantities(quantities: Sequence[Quantity], protocol: Protocol | None) -> list[Quantity]:
    """Each metric once, in the region where it is shown: the hole where it is measured there, since known pixels dilute a mean.

    Whole frames come first where a protocol repeats published numbers, which are of whole frames, and where it judges predictions
    as they were given, since what a method spoils elsewhere counts there; objects to be removed, and exact holes of masks that
    are not, where these are measured. The primary quantity's region is always that of its metric. ``protocol`` is None for scores
    that follow none.
    """
    order, own = _order(protocol), _OWN_REGIONS | (dict([protocol.primary]) if protocol else {})
    of_metric: dict[str, list[Quantity]] = {}
    for quantity in quantities:
        of_metric.setdefault(quantity.metric, []).append(quantity)
    usual = []
    for metric, found in of_metric.items():
        by_region = {one.region: one for one in found}
        regions = (own.get(metric, order[0]), *order)
        usual.append(next((by_region[region] for region in regions if region in by_region), found[0]))
    return usual


def standing(quantity: Quantity, protocol: Protocol) -> str:
    """``primary`` for the quantity that the protocol declared before anything was scored, else ``exploratory``."""
    return "primary" if quantity == protocol.primary else "exploratory"


def exploratory(quantity: Quantity, protocol: Protocol) -> str:
    """``, exploratory`` behind the name of a quantity that ranks methods and is not the primary one; else empty."""
    return ", exploratory" if quantity.ranked and quantity != protocol.primary else ""


def first_shown(quantities: Sequence[Quantity], protocol: Protocol) -> Quantity:
    """Quantity that a page opens with: the primary one; without it the first metric of those whose usual region comes first."""
    if protocol.primary in quantities:
        return Quantity(*protocol.primary)
    usual, order = usual_quantities(quantities, protocol), _order(protocol)
    return min(usual, key=lambda one: order.index(one.region) if one.region in order else len(order))


def quantities_in(quantities: Sequence[Quantity], protocol: Protocol, region: str | None) -> list[Quantity]:
    """Each metric once: in ``region`` where it is measured there, else, and for None, where it is usually shown."""
    asked = {quantity.metric: quantity for quantity in quantities if quantity.region == region}
    return [asked.get(quantity.metric, quantity) for quantity in usual_quantities(quantities, protocol)]


def _order(protocol: Protocol | None) -> tuple[str, ...]:
    if protocol is None:
        return _HOLE_FIRST
    if "object" in protocol.regions:
        return _OBJECT_FIRST
    return _FRAME_FIRST if protocol.name.endswith("/as-published") or not protocol.composite else _HOLE_FIRST


REGION_LABELS = {
    "hole": "hole", "band": "boundary band", "frame": "whole frame", "effect": "side effects of the object",
    "rest": "rest of the frame",
}  # fmt: skip
_PLACES = {
    "hole": "in the hole", "band": "in the boundary band", "frame": "of the frame", "object": "in the object",
    "effect": "in its side effects", "rest": "in the rest",
}  # fmt: skip
_SHORT_REGIONS = {"band": "band", "frame": "frame"}
_ACRONYMS = ("ssim", "psnr", "lpips", "fid")
_BACKGROUND = "bg_"


def metric_label(metric: str) -> str:
    """Printed name of a metric: ``PSNR`` for ``psnr``."""
    if metric in METRICS and (label := metric_leaf(metric).label):
        return label
    first, dash, rest = metric.partition("_")
    if not dash:
        return metric.upper()
    return f"{first.upper()} {rest.replace('_', ' ')}" if first in _ACRONYMS else name_label(metric)


def metric_arrow(metric: str) -> str:
    """A metric with its direction, if it has one: ``PSNR ↑``."""
    if not metric_leaf(metric).ranked:
        return metric_label(metric)
    return f"{metric_label(metric)} {'↑' if metric_leaf(metric).higher_is_better else '↓'}"


def metric_title(metric: str) -> str:
    """A metric with its direction and unit: ``PSNR ↑ (dB)``."""
    unit = metric_leaf(metric).unit
    return f"{metric_arrow(metric)} ({unit})" if unit else metric_arrow(metric)


def place_label(region: str) -> str:
    """Region as the words after a metric's name: ``in the hole``, ``of the frame``."""
    return _PLACES.get(region, f"in the {region}")


def quantity_label(quantity: Quantity) -> str:
    """A metric with its region, as every number is labelled: ``PSNR in the hole``."""
    return f"{metric_label(quantity.metric)} {place_label(quantity.region)}"


def quantity_arrow(quantity: Quantity) -> str:
    """The same with its direction, if it has one: ``PSNR in the hole ↑``."""
    return quantity_label(quantity) + metric_arrow(quantity.metric).removeprefix(metric_label(quantity.metric))


def quantity_title(quantity: Quantity, protocol: Protocol | None = None) -> str:
    """The same with its unit: ``PSNR in the hole ↑ (dB)``, and ``, exploratory`` where it is that under a protocol."""
    title = quantity_label(quantity) + metric_title(quantity.metric).removeprefix(metric_label(quantity.metric))
    return title if protocol is None else title + exploratory(quantity, protocol)


def region_label(region: str, *, short: bool = False) -> str:
    """A region in words: ``boundary band``, or in one word."""
    return (_SHORT_REGIONS if short else REGION_LABELS).get(region, region)


def name_label(name: str) -> str:
    """A name as words: ``Camera motion`` for ``camera_motion``."""
    words = name.removeprefix(_BACKGROUND).replace("_", " ").strip()
    if name.startswith(_BACKGROUND):
        return f"Background {words}"
    return words[:1].upper() + words[1:]


def slice_label(name: str) -> str:
    """A slice without its level: ``Camera motion`` for ``camera_motion-high``, ``Class: left loop`` for ``class-left_loop``."""
    attribute, value = split_value(split_step(name)[0])
    return name_label(attribute) if value is None else f"{name_label(attribute)}: {value.replace('_', ' ')}"


def with_unit(value: float | None, metric: str) -> str:
    """A value of ``metric`` as printed, with its unit."""
    leaf = metric_leaf(metric)
    words = number(value, leaf.decimals)
    return f"{words} {leaf.unit}" if leaf.unit and value is not None and math.isfinite(value) else words
