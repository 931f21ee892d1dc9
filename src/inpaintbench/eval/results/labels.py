"""Names of metrics, regions and slices as they are printed, the same everywhere in the report; plain text, not escaped."""

from __future__ import annotations

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import Quantity, exploratory, metric_leaf
from inpaintbench.eval.results.slices import split_step, split_value

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
