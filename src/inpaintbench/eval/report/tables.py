"""Scores arranged for a reader: numbers and their order, no markup."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from inpaintbench.errors import InputError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.statistics import InfiniteRule, Summary, rank, relative_improvement, summarise
from inpaintbench.types import Dataset, Plain, Score, Slice

ALL_ITEMS = "all items"
"""Name of the row that takes every item of the dataset once."""
EVERY_ITEM = "all"
"""The slice of all items that image and decaptioning benchmarks publish; the report shows all items anyway."""
_REGION_ORDER = ("hole", "band", "frame")


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


class Pair(NamedTuple):
    """Two slices of one attribute, named ``<attribute>-low`` and ``<attribute>-high``."""

    attribute: str
    low: Slice
    high: Slice


class Failure(NamedTuple):
    """Everything that one method could not be scored on in one item for one reason."""

    method: str
    item_id: str
    reason: str
    quantities: tuple[Quantity, ...]


class Results:
    """The scores of one protocol on one dataset.

    ``methods`` keep the order in which they first appear in the scores, ``quantities`` that of the protocol with the hole first.
    ``sources`` say what items have in common that makes them resemble each other: see ``source_of``.

    Raises:
        InputError: no scores, scores of several protocols or fingerprints or of another than ``protocol``, an item that is not
            in the dataset, or two different scores of the same thing.
    """

    def __init__(self, dataset: Dataset, scores: Sequence[Score], *, protocol: Protocol) -> None:
        self.fingerprint = _one_fingerprint(scores, protocol)
        self.dataset, self.protocol, self.scores = dataset, protocol, tuple(scores)
        self.sources: dict[str, str] = {row["item_id"]: source_of(row) for row in dataset.items}
        self.methods = tuple(dict.fromkeys(score.method for score in scores))
        self.quantities = _quantities(scores, protocol)
        self._scores = _index(scores, known=self.sources)
        self._summaries: dict[tuple[str, str, Quantity], Summary] = {}

    @property
    def slices(self) -> tuple[Slice, ...]:
        """The slices that have items, less the one that repeats ``everything``."""
        filled = tuple(one for one in self.dataset.slices if one.item_ids)
        return tuple(one for one in filled if one.name != EVERY_ITEM) or filled

    @property
    def everything(self) -> Slice:
        """All items of the dataset as a slice."""
        return Slice(name=ALL_ITEMS, rule="every item once", item_ids=tuple(self.sources))

    def value(self, method: str, item_id: str, quantity: Quantity) -> float | None:
        """One score; None when it is missing."""
        score = self._scores.get((method, item_id, quantity))
        return None if score is None else score.value

    def infinite_rule(self, metric: str) -> InfiniteRule:
        """What the protocol does with infinite values of ``metric``."""
        return self.protocol.infinite_rule(metric)

    def summary(self, one: Slice, method: str, quantity: Quantity) -> Summary:
        """Mean and interval of a method over the items of a slice; sources are what the interval resamples."""
        key = (one.name, method, quantity)
        if key not in self._summaries:
            self._summaries[key] = summarise(
                [self.value(method, item_id, quantity) for item_id in one.item_ids],
                clusters=[self.sources[item_id] for item_id in one.item_ids],
                infinite=self.infinite_rule(quantity.metric),
                interval=self.protocol.interval,
            )
        return self._summaries[key]

    def level(self, one: Slice, method: str, quantity: Quantity) -> float | None:
        """What a method is ranked by: its mean, or infinity when all its values are infinite."""
        summary = self.summary(one, method, quantity)
        return math.inf if summary.mean is None and summary.n_infinite else summary.mean

    def places(self, one: Slice, quantity: Quantity) -> dict[str, int | None]:
        """Place of each method in a slice, 1 = best, ties shared, None without a value."""
        levels = {method: self.level(one, method, quantity) for method in self.methods}
        return rank(levels, higher_is_better=quantity.higher_is_better)

    def ranking(self, one: Slice, quantity: Quantity) -> list[tuple[str, int | None]]:
        """Methods with their places from best to worst; those without a value last."""
        return sorted(self.places(one, quantity).items(), key=lambda entry: (entry[1] is None, entry[1]))

    def best(self, one: Slice, quantity: Quantity) -> set[str]:
        """Methods in first place; none where there is nobody to compare with."""
        return {method for method, place in self.places(one, quantity).items() if place == 1 and len(self.methods) > 1}

    def difficulty(self, one: Slice, quantity: Quantity) -> Summary:
        """Mean and standard error over the means of the methods in a slice (DEVIL, CVPR 2022, Figure 4)."""
        means = [self.summary(one, method, quantity).mean for method in self.methods]
        return summarise(means, clusters=self.methods)

    def improvement(self, pair: Pair, method: str, quantity: Quantity) -> float | None:
        """Relative improvement from low to high, as a share (DEVIL, CVPR 2022, Figures 5 to 9); None where it has none."""
        low, high = (self.level(one, method, quantity) for one in (pair.low, pair.high))
        return relative_improvement(low, high, higher_is_better=quantity.higher_is_better)

    def failures(self) -> list[Failure]:
        """Every missing prediction and score with its reason, in the order of methods and items; also scores never made."""
        return [failure for method in self.methods for item_id in self.sources for failure in self._failures(method, item_id)]

    def reason(self, method: str, item_id: str) -> str | None:
        """Why a method lacks scores of an item; None when it lacks none."""
        return next((failure.reason for failure in self._failures(method, item_id)), None)

    def _failures(self, method: str, item_id: str) -> list[Failure]:
        by_reason: dict[str, list[Quantity]] = {}
        for quantity in self.quantities:
            score = self._scores.get((method, item_id, quantity))
            if score is None or score.value is None or score.reason:  # what a protocol scores though it is missing, too
                reason = "not scored" if score is None else score.reason or "no reason given"
                by_reason.setdefault(reason, []).append(quantity)
        return [Failure(method, item_id, reason, tuple(quantities)) for reason, quantities in by_reason.items()]


def source_of(row: Plain) -> str:
    """What an item comes from: the film, person or finger that its benchmark never splits, else the file."""
    group = row.get("attributes", {}).get("split_group")
    return str(row["source_id"] if group is None else group)


def split_level(name: str) -> tuple[str, str | None]:
    """``camera_motion-high`` as ``("camera_motion", "high")``; a name without a level with None."""
    attribute, dash, level = name.rpartition("-")
    return (attribute, level) if dash and attribute and level in ("low", "high") else (name, None)


def pair_slices(slices: Sequence[Slice]) -> list[Pair]:
    """Attributes of which both slices are there, in the order of their first slice."""
    by_name = {one.name: one for one in slices}
    attributes = dict.fromkeys(split_level(one.name)[0] for one in slices)
    return [
        Pair(attribute, by_name[f"{attribute}-low"], by_name[f"{attribute}-high"])
        for attribute in attributes
        if f"{attribute}-low" in by_name and f"{attribute}-high" in by_name
    ]


def unpaired(slices: Sequence[Slice]) -> list[Slice]:
    """Slices that belong to no pair."""
    paired = {one.name for pair in pair_slices(slices) for one in (pair.low, pair.high)}
    return [one for one in slices if one.name not in paired]


class Group(NamedTuple):
    """Slices of one attribute that stand in no pair: names ``<attribute>-<value>``, or one name without a value."""

    attribute: str
    slices: tuple[Slice, ...]
    values: tuple[str | None, ...]
    """The part of each slice's name after the attribute; None where it is the whole name."""


def group_slices(slices: Sequence[Slice]) -> list[Group]:
    """Slices that belong to no pair, by attribute, in the order of their first slice."""
    by_attribute: dict[str, list[Slice]] = {}
    for one in unpaired(slices):
        by_attribute.setdefault(split_value(one.name)[0], []).append(one)
    return [
        Group(attribute, tuple(members), tuple(split_value(one.name)[1] for one in members))
        for attribute, members in by_attribute.items()
    ]


def split_value(name: str) -> tuple[str, str | None]:
    """``class-left_loop`` as ``("class", "left_loop")``; a name without a value with None."""
    attribute, _, value = name.partition("-")
    return (attribute, value) if attribute and value else (name, None)


def in_reading_order(slices: Sequence[Slice]) -> list[Slice]:
    """Low before high for each attribute, then the slices that stand alone, those of one attribute together."""
    pairs = [one for pair in pair_slices(slices) for one in (pair.low, pair.high)]
    return pairs + [one for group in group_slices(slices) for one in group.slices]


def _one_fingerprint(scores: Sequence[Score], protocol: Protocol) -> str:
    if not scores:
        raise InputError("there are no scores to report; run a method and score it first")
    found = dict.fromkeys((score.protocol, score.fingerprint) for score in scores)
    found[(protocol.name, protocol.fingerprint)] = None
    if len(found) > 1:
        names = " and ".join(f"{name} ({fingerprint})" for name, fingerprint in found)
        raise InputError(f"scores of {names} cannot stand in one report; choose one protocol and score again with it")
    return scores[0].fingerprint


def _quantities(scores: Sequence[Score], protocol: Protocol) -> tuple[Quantity, ...]:
    found = {Quantity(score.metric, score.region) for score in scores}
    foreign = sorted({quantity.metric for quantity in found} - set(protocol.metrics))
    if foreign:
        raise InputError(f"protocol {protocol.name!r} has no metric {foreign[0]!r}, only {', '.join(protocol.metrics)}")
    regions = (*_REGION_ORDER, *sorted({quantity.region for quantity in found} - set(_REGION_ORDER)))
    ordered = (Quantity(metric, region) for metric in protocol.metrics for region in regions)
    return tuple(quantity for quantity in ordered if quantity in found)


def _index(scores: Sequence[Score], *, known: dict[str, str]) -> dict[tuple[str, str, Quantity], Score]:
    index: dict[tuple[str, str, Quantity], Score] = {}
    for score in scores:
        if score.item_id not in known:
            raise InputError(f"{score.method} has a score for item {score.item_id!r}, which is not in the dataset")
        key = (score.method, score.item_id, Quantity(score.metric, score.region))
        if index.setdefault(key, score).value != score.value:
            names = f"{score.method} on item {score.item_id!r}: {score.metric} ({score.region})"
            raise InputError(f"two different scores of {names}: {index[key].value} and {score.value}")
    return index
