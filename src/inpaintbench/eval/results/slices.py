"""Slices by their names: pairs of low and high, steps of one attribute, values of another, and the order they are read in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from inpaintbench.types import Slice

# Between low and high, of slices in three steps.
MID = "mid"

# A slice by the intersection over union of its masks with exact ones, in per cent.
_MASK_BIN = re.compile(r"(?P<attribute>mask_iou(?:-[a-z_]+)?)-(?P<low>[0-9]+)-(?P<high>[0-9]+)")


class Pair(NamedTuple):
    """Two slices of one attribute, named ``<attribute>-low`` and ``<attribute>-high``."""

    attribute: str
    low: Slice
    high: Slice


class Series(NamedTuple):
    """Slices of one attribute in steps: names ``<attribute>-low``, ``-mid`` and ``-high``, or ``<attribute>-0-50`` ..."""

    attribute: str
    steps: tuple[tuple[str, Slice], ...]
    """What each step is called, and its slice."""


class Group(NamedTuple):
    """Slices of one attribute that stand in no pair: names ``<attribute>-<value>``, or one name without a value."""

    attribute: str
    slices: tuple[Slice, ...]
    values: tuple[str | None, ...]
    """The part of each slice's name after the attribute; None where it is the whole name."""


def split_level(name: str) -> tuple[str, str | None]:
    """``camera_motion-high`` as ``("camera_motion", "high")``; a name without a level with None."""
    attribute, dash, level = name.rpartition("-")
    return (attribute, level) if dash and attribute and level in ("low", "high") else (name, None)


def split_step(name: str) -> tuple[str, str | None]:
    """As ``split_level``, of slices in three steps too: ``effect-shadow-mid`` as ``("effect-shadow", "mid")``."""
    return (name.removesuffix(f"-{MID}"), MID) if name.endswith(f"-{MID}") else split_level(name)


def split_value(name: str) -> tuple[str, str | None]:
    """``class-left_loop`` as ``("class", "left_loop")``; a name without a value with None."""
    attribute, _, value = name.partition("-")
    return (attribute, value) if attribute and value else (name, None)


def pair_slices(slices: Sequence[Slice]) -> list[Pair]:
    """Attributes of which both slices are there, in the order of their first slice."""
    by_name = {slice_.name: slice_ for slice_ in slices}
    attributes = dict.fromkeys(split_level(slice_.name)[0] for slice_ in slices)
    return [
        Pair(attribute, by_name[f"{attribute}-low"], by_name[f"{attribute}-high"])
        for attribute in attributes
        if f"{attribute}-low" in by_name and f"{attribute}-high" in by_name
    ]


def step_series(slices: Sequence[Slice]) -> list[Series]:
    """Attributes with three steps or more, in the order of their first slice; bins of shares are those of masks alone."""
    by_name = {part.name: part for part in slices}
    series = []
    for attribute in dict.fromkeys(name.removesuffix("-low") for name in by_name if name.endswith("-low")):
        steps = [(step, by_name[f"{attribute}-{step}"]) for step in ("low", MID, "high") if f"{attribute}-{step}" in by_name]
        if len(steps) == 3:
            series.append(Series(attribute, tuple(steps)))
    bins: dict[str, list[tuple[str, Slice]]] = {}
    for part in slices:
        if found := _MASK_BIN.fullmatch(part.name):
            step = "exact" if found["low"] == found["high"] else f"{found['low']}-{found['high']}"
            bins.setdefault(found["attribute"], []).append((step, part))
    return series + [Series(name, tuple(steps)) for name, steps in bins.items() if len(steps) > 1]


def group_slices(slices: Sequence[Slice]) -> list[Group]:
    """Slices that belong to no pair, by attribute, in the order of their first slice."""
    paired = {one.name for pair in pair_slices(slices) for one in (pair.low, pair.high)}
    found: dict[str, list[tuple[Slice, str | None]]] = {}
    for one in (one for one in slices if one.name not in paired):
        attribute, value = split_value(one.name)
        found.setdefault(attribute, []).append((one, value))
    return [
        Group(attribute, tuple(one for one, _ in members), tuple(value for _, value in members))
        for attribute, members in found.items()
    ]


def in_reading_order(slices: Sequence[Slice]) -> list[Slice]:
    """Low before mid before high for each attribute, then the slices that stand alone, those of one attribute together."""
    by_name = {part.name: part for part in slices}
    ordered = [
        by_name[name]
        for pair in pair_slices(slices)
        for name in (pair.low.name, f"{pair.attribute}-{MID}", pair.high.name)
        if name in by_name
    ]
    there = {part.name for part in ordered}
    return ordered + [part for group in group_slices(slices) for part in group.slices if part.name not in there]
