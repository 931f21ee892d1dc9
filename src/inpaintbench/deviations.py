"""Differences from the publication that something here follows, stated as data beside the leaf that differs.

A leaf may have a class attribute ``deviations``; protocols and recipes have them too, for what belongs to no single leaf. The
page docs/deviations.md is made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Deviation:
    """One difference from a publication; all texts are Markdown without line ends."""

    what: str
    """The quantity or the rule, in a few words."""
    published: str
    """Practice of the paper or its released code; "not stated" where neither says it."""
    here: str
    effect: str
    """Effect on numbers: which way, and how far where it was measured."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Constants of the leaf (fields of the recipe) with which it holds; none = always."""


def holding(stated: Sequence[Deviation], constants: Mapping[str, Any]) -> Sequence[Deviation]:
    """Those of the ``stated`` deviations of a leaf that hold when it is built with ``constants``."""
    return [one for one in stated if all(constants.get(name) == value for name, value in one.where.items())]
