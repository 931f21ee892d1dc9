"""Which scores may stand in one report, and what of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from inpaintbench.compute import RANDOM_WEIGHTS
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.scoring.run_state import NOT_RUN
from inpaintbench.types import Score

REGION_ORDER = ("hole", "band", "frame")


def unmeasured_quantities(scores: Sequence[Score]) -> dict[Quantity, str]:
    """What no method has a number for, each with the reason that most of its scores give.

    An item without any number (not run, or failed) says nothing of one metric: it gives the reason only where no other item does,
    and that it was not run only where nothing else is known.
    """
    there = {(one.method, one.item_id) for one in scores if not one.reason and (one.value is not None or one.features)}
    reasons: dict[Quantity, Counter[str]] = {}
    own: dict[Quantity, Counter[str]] = {}
    measured = set()
    for score in scores:
        quantity, reason = Quantity(score.metric, score.region), score.reason or "no reason given"
        reasons.setdefault(quantity, Counter())[reason] += reason != NOT_RUN
        if (score.method, score.item_id) in there:
            own.setdefault(quantity, Counter())[reason] += 1
        if score.value is not None or score.features is not None:
            measured.add(quantity)
    return {one: own.get(one, found).most_common(1)[0][0] for one, found in reasons.items() if one not in measured}


def one_fingerprint(scores: Sequence[Score], protocol: Protocol) -> str:
    """The fingerprint that all scores share, with its marks.

    Raises:
        InputError: there are none, they are of several protocols or fingerprints or of another than ``protocol``, or were made
            with random weights.
    """
    if not scores:
        raise InputError("there are no scores to report; run a method and score it first")
    if any(RANDOM_WEIGHTS in score.fingerprint for score in scores):
        raise InputError(
            "these scores were made with random weights, which say nothing of a method; score another run folder without them"
        )
    found = dict.fromkeys((score.protocol, score.fingerprint) for score in scores)
    own = (protocol.name, protocol.fingerprint)
    if any((name, fingerprint.split("+")[0]) != own for name, fingerprint in found):
        found[own] = None
    if len(found) > 1:
        names = " and ".join(f"{name} ({fingerprint})" for name, fingerprint in found)
        raise InputError(f"scores of {names} cannot stand in one report; choose one protocol and score again with it")
    return scores[0].fingerprint


def quantities_of(scores: Sequence[Score], protocol: Protocol) -> tuple[Quantity, ...]:
    """What the scores are of: metrics in the order of the protocol, the hole first.

    Raises:
        InputError: a metric that the protocol does not have.
    """
    found = {Quantity(score.metric, score.region) for score in scores}
    foreign = sorted({quantity.metric for quantity in found} - set(protocol.metrics))
    if foreign:
        raise InputError(f"protocol {protocol.name!r} has no metric {foreign[0]!r}, only {', '.join(protocol.metrics)}")
    regions = (*REGION_ORDER, *sorted({quantity.region for quantity in found} - set(REGION_ORDER)))
    ordered = (Quantity(metric, region) for metric in protocol.metrics for region in regions)
    return tuple(quantity for quantity in ordered if quantity in found)


def index_scores(scores: Sequence[Score], *, known: Collection[str]) -> dict[tuple[str, str, Quantity], Score]:
    """(method, item, quantity) -> score.

    Raises:
        InputError: an item that is not ``known``, or two different scores of the same thing.
    """
    index: dict[tuple[str, str, Quantity], Score] = {}
    for score in scores:
        if score.item_id not in known:
            raise InputError(f"{score.method} has a score for item {score.item_id!r}, which is not in the dataset")
        key = (score.method, score.item_id, Quantity(score.metric, score.region))
        if index.setdefault(key, score).value != score.value:
            names = f"{score.method} on item {score.item_id!r}: {score.metric} ({score.region})"
            raise InputError(f"two different scores of {names}: {index[key].value} and {score.value}")
    return index


def unmeasured_metrics(rows: Sequence[Score]) -> dict[str, list[str]]:
    """Metrics that have no number in any region, by the reason of each."""
    unmeasured = unmeasured_quantities(rows)
    measured = {row.metric for row in rows if Quantity(row.metric, row.region) not in unmeasured}
    found: dict[str, dict[str, None]] = {}
    for quantity, reason in unmeasured.items():
        if quantity.metric not in measured:
            found.setdefault(reason, {})[quantity.metric] = None
    return {reason: list(names) for reason, names in found.items()}
