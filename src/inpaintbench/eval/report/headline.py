"""The first thing on the page: one sentence that the items can tell, and the clips that show it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from inpaintbench.eval.comparing.statistics import Summary
from inpaintbench.eval.report.findings import Change, change_words, changes, strongest_change, with_unit
from inpaintbench.eval.report.gallery import Choice
from inpaintbench.eval.report.labels import name_label, quantity_label
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.tables import Results
from inpaintbench.pages import Sentence
from inpaintbench.pages.words import count, interval
from inpaintbench.types import Plain, Slice

_LABEL = "Finding"


class Proof(NamedTuple):
    """An item on which the finding can be seen."""

    item_id: str
    method: str
    caption: str


class Headline(NamedTuple):
    """A finding with its reasons and the items that show it."""

    sentence: Sentence
    reasons: str
    proofs: tuple[Proof, ...]


def headline(results: Results, quantity: Quantity) -> Headline | None:
    """The largest change of a method from a low to a high slice, of those whose intervals do not meet; None where there is none.

    It is shown on the item of each slice that is nearest to the slice's mean, so that no extreme is chosen; where the slices hold
    items of one exact hole, on the pair of them that is.
    """
    change = strongest_change(results, quantity)
    if change is None or not change.told:
        return None
    name = name_label(change.pair.attribute).lower()
    sentence = (*change_words(change, quantity), f" when {name} goes from low to high")
    items = _shown(results, change, quantity)
    proofs = tuple(
        _proof(results, change, item_id, quantity, words=f"{name} {level}")
        for level, item_id in zip(("low", "high"), items.item_ids, strict=True)
    )
    return Headline(sentence, _reasons(change, quantity, items, among=len(changes(results, quantity))), proofs)


def _reasons(change: Change, quantity: Quantity, items: _Shown, *, among: int) -> str:
    decimals = metric_leaf(quantity.metric).decimals
    low, high = (
        f"{with_unit(summary.mean, quantity.metric)} ({interval(summary.interval_low, summary.interval_high, decimals)}) over "
        f"{count(summary.n, 'item')} of {count(summary.n_clusters, 'source')}"
        for summary in (change.low, change.high)
    )
    return (
        f"{quantity_label(quantity)}: {low} where it is low, {high} where it is high. A rule chose this: of "
        f"{count(among, 'change')} between a low and a high slice, each of one method, the largest whose 95 % intervals do not "
        f"meet. The clips are those nearest to the two means{', of those that share their hole' if items.of_one_hole else ''}."
    )


class _Shown(NamedTuple):
    """Items that show a change."""

    item_ids: tuple[str, str]
    """Of the low slice and of the high one."""
    of_one_hole: bool
    """The two differ in nothing but what tells the slices apart, as far as the hole goes."""


def _shown(results: Results, change: Change, quantity: Quantity) -> _Shown:
    """The items nearest to the two means: a pair of one exact hole where there is any, and of one clip before others."""
    off = [_off_mean(results, change, part, summary, quantity) for part, summary in _sides(change)]
    rows = {row["item_id"]: row for row in results.dataset.items if any(row["item_id"] in known for known in off)}
    of_hole: dict[str, list[str]] = {}
    for item_id in off[1]:
        if (hole := _exact_hole(rows[item_id])) is not None:
            of_hole.setdefault(hole, []).append(item_id)
    pairs = [
        (rows[low].get("clip_id") != rows[high].get("clip_id"), off[0][low] + off[1][high], low, high)
        for low in off[0]
        for high in of_hole.get(_exact_hole(rows[low]) or "", ())
    ]
    if pairs:
        return _Shown(min(pairs)[2:], of_one_hole=True)
    low, high = (min(known, key=lambda name: (known[name], name)) for known in off)
    return _Shown((low, high), of_one_hole=False)


def _exact_hole(row: Plain) -> str | None:
    """Hash of the exact hole of an item, whatever mask methods were given."""
    found = row.get("object_mask_sha256") or row.get("hole_sha256")
    return None if found is None else str(found)


def _sides(change: Change) -> tuple[tuple[Slice, Summary], tuple[Slice, Summary]]:
    return (change.pair.low, change.low), (change.pair.high, change.high)


def _off_mean(results: Results, change: Change, part: Slice, summary: Summary, quantity: Quantity) -> dict[str, float]:
    """Item of a slice -> how far its finite value is from the slice's mean."""
    values = {item_id: results.value(change.method, item_id, quantity) for item_id in part.item_ids}
    mean = summary.mean or 0.0
    return {item_id: abs(value - mean) for item_id, value in values.items() if value is not None and math.isfinite(value)}


def _proof(results: Results, change: Change, item_id: str, quantity: Quantity, *, words: str) -> Proof:
    value = results.value(change.method, item_id, quantity)
    return Proof(item_id, change.method, f"{words}: {with_unit(value, quantity.metric)} on this clip")


def add_proofs(choices: Sequence[Choice], finding: Headline | None) -> list[Choice]:
    """``choices`` and the items of the headline, so that they have videos."""
    known = {choice.item_id: choice for choice in choices}
    for proof in finding.proofs if finding else ():
        known.setdefault(proof.item_id, Choice(proof.item_id)).labels[_LABEL] = "it shows the finding on top of the page"
    return list(known.values())
