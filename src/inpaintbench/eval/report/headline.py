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
from inpaintbench.types import Slice

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

    It is shown on the item of each slice that is nearest to the slice's mean, so that no extreme is chosen.
    """
    change = strongest_change(results, quantity)
    if change is None or not change.told:
        return None
    name = name_label(change.pair.attribute).lower()
    sentence = (*change_words(change, quantity), f" when {name} goes from low to high")
    proofs = tuple(
        _proof(results, change, part, summary, quantity, words=f"{name} {level}")
        for level, part, summary in (("low", change.pair.low, change.low), ("high", change.pair.high, change.high))
    )
    return Headline(sentence, _reasons(change, quantity, among=len(changes(results, quantity))), proofs)


def _reasons(change: Change, quantity: Quantity, *, among: int) -> str:
    decimals = metric_leaf(quantity.metric).decimals
    low, high = (
        f"{with_unit(summary.mean, quantity.metric)} ({interval(summary.interval_low, summary.interval_high, decimals)}) over "
        f"{count(summary.n, 'item')} of {count(summary.n_clusters, 'source')}"
        for summary in (change.low, change.high)
    )
    return (
        f"{quantity_label(quantity)}: {low} where it is low, {high} where it is high. A rule chose this: of "
        f"{count(among, 'change')} between a low and a high slice, each of one method, the largest whose 95 % intervals do not "
        "meet. "
        "The clips are those nearest to the two means."
    )


def _proof(results: Results, change: Change, part: Slice, summary: Summary, quantity: Quantity, *, words: str) -> Proof:
    values = {item_id: results.value(change.method, item_id, quantity) for item_id in part.item_ids}
    finite = {item_id: value for item_id, value in values.items() if value is not None and math.isfinite(value)}
    mean = summary.mean or 0.0
    item_id = min(finite, key=lambda name: (abs(finite[name] - mean), name))
    return Proof(item_id, change.method, f"{words}: {with_unit(finite[item_id], quantity.metric)} on this clip")


def add_proofs(choices: Sequence[Choice], finding: Headline | None) -> list[Choice]:
    """``choices`` and the items of the headline, so that they have videos."""
    known = {choice.item_id: choice for choice in choices}
    for proof in finding.proofs if finding else ():
        known.setdefault(proof.item_id, Choice(proof.item_id)).labels[_LABEL] = "it shows the finding on top of the page"
    return list(known.values())
