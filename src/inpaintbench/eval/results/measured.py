"""The scores of a protocol on a dataset, as they were measured: values, means, what is missing and why; nobody is compared."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from inpaintbench import frozen
from inpaintbench.claims import too_few
from inpaintbench.compute import RANDOM_WEIGHTS
from inpaintbench.errors import InputError
from inpaintbench.eval.metrics.base import INAPPLICABLE
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.slices import Pair, pair_slices
from inpaintbench.eval.scoring.effort import DEPENDS, ON_ORDER, Effort
from inpaintbench.eval.scoring.parts import everything
from inpaintbench.eval.scoring.run_folder import NOT_RUN
from inpaintbench.eval.values.statistics import Summary, summarise
from inpaintbench.manifest import column
from inpaintbench.regions import OBJECT_REGIONS
from inpaintbench.types import Dataset, Score, Slice, SliceScore

# The slice of all items that image and decaptioning benchmarks publish; the report shows all items anyway.
EVERY_ITEM = "all"
# Reason why a method holds no place.
REFERENCE = "a reference, which does not compete"
# No name of a dataset's slice has a blank.
UNEXPOSED = "not shown by others"
# Why a score is missing that nobody tried to measure.
NOT_SCORED = "not scored"
REGION_ORDER = ("hole", "band", "frame", *OBJECT_REGIONS)


class Failure(NamedTuple):
    """Everything that one method could not be scored on in one item for one reason."""

    method: str
    item_id: str
    reason: str
    quantities: tuple[Quantity, ...]


_P = ParamSpec("_P")
_T = TypeVar("_T")
_Scores = TypeVar("_Scores", bound="Measured")


def kept(method: Callable[Concatenate[_Scores, _P], _T]) -> Callable[Concatenate[_Scores, _P], _T]:
    """A method or function of scores that a page, its files and its pictures ask for the same: computed once for its arguments,
    slices by name."""

    def plain(one: object) -> object:
        return one.name if isinstance(one, Slice) else one  # a slice may hold a list of a million items

    @wraps(method)
    def answer(self: _Scores, /, *given: _P.args, **named: _P.kwargs) -> _T:
        key = (method, tuple(map(plain, given)), tuple((name, plain(one)) for name, one in named.items()))
        if key not in self.answers:
            self.answers[key] = method(self, *given, **named)
        answered: _T = self.answers[key]
        return answered

    return answer


class Measured:
    """The scores of one protocol on one dataset.

    ``methods`` keep the order in which they first appear in the scores, those ``aside`` last, each with the reason: they stand
    beside the ``contenders`` and are in no rank, mean over methods, test or choice. These are ``references``, and methods that
    depend on what they saw before where inputs show what others hide. ``quantities`` keep that of the protocol, the hole first.
    ``sources`` say what items have in common that makes them resemble each other: see ``source_of``. ``unmeasured`` are the
    quantities that no method has a number for, each with the reason most often given: they have no place in the tables.

    Args:
        dataset: the manifest.
        scores: of items.
        protocol: theirs.
        slice_scores: of the metrics that compare sets of items.
        references: labels of reference methods; others than those of the scores do nothing.
        options: label -> the option of `eval run --for predictions` that asks for the method.
        efforts: label -> what the method took; in no number of a table of scores.
        run: folder of the run, whose alignment with people's answers stands beside the metrics.
        root: folder of the dataset; commands name both folders.
        aside: label -> reason, of further methods that hold no place.

    Raises:
        InputError: no scores, scores of several protocols or fingerprints or of another than ``protocol``, scores that were made
            with random weights, an item that is not in the dataset, or two different scores of the same thing.
    """

    def __init__(
        self, dataset: Dataset, scores: Sequence[Score], *, protocol: Protocol, slice_scores: Sequence[SliceScore] = (),
        references: Collection[str] = (), options: Mapping[str, str] | None = None, efforts: Mapping[str, Effort] | None = None,
        run: Path | None = None, root: Path | None = None, aside: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.fingerprint = one_fingerprint(scores, protocol)
        self.dataset, self.protocol, self.scores = dataset, protocol, tuple(scores)
        self.options = dict(options or {})
        self.run, self.root = run, root
        self.efforts = {method: effort for method, effort in (efforts or {}).items() if effort}
        self.sources = frozen.sources_of(dataset)
        methods = dict.fromkeys(score.method for score in scores)
        self.references = tuple(method for method in methods if method in references)
        found_out = {method for method, effort in self.efforts.items() if effort.between_items == DEPENDS and self.exposed.above}
        whys = {**(aside or {}), **dict.fromkeys(found_out, f"it {ON_ORDER}"), **dict.fromkeys(self.references, REFERENCE)}
        self.contenders = tuple(method for method in methods if method not in whys)
        self.aside = {method: whys[method] for method in methods if method in whys}
        self.methods = (*self.contenders, *self.aside)
        self._scores = index_scores(scores, known=self.sources)
        self._by_item: dict[tuple[str, Quantity], dict[str, Score]] = {}
        for (method, item_id, quantity), score in self._scores.items():
            self._by_item.setdefault((method, quantity), {})[item_id] = score
        self._slice_scores = {
            (one.slice, one.method, Quantity(one.metric, one.region)): one
            for one in slice_scores
            if one.protocol == protocol.name and one.fingerprint == self.fingerprint
        }
        self.slice_scores = tuple(self._slice_scores.values())
        unmeasured, found = unmeasured_quantities(scores), quantities_of(scores, protocol)
        self.quantities = tuple(quantity for quantity in found if quantity not in unmeasured) or found
        self.unmeasured = {quantity: unmeasured[quantity] for quantity in found if quantity not in self.quantities}
        self._scored = dict.fromkeys(item_id for _, item_id, _ in self._scores)
        self.answers: dict[tuple[object, ...], Any] = {}

    @cached_property
    def slices(self) -> tuple[Slice, ...]:
        """The slices that have items, less the one that repeats ``everything``."""
        # Asked for hundreds of times, while a dataset reads its items and slices anew whenever they are gone through.
        held = (replace(slice_, item_ids=tuple(slice_.item_ids)) for slice_ in self.dataset.slices)
        filled = tuple(slice_ for slice_ in held if slice_.item_ids)
        return tuple(one for one in filled if one.name != EVERY_ITEM) or filled

    @property
    def pairs(self) -> list[Pair]:
        """Its attributes with a low and a high slice."""
        return pair_slices(self.slices)

    @cached_property
    def everything(self) -> Slice:
        """All items of the dataset as a slice."""
        return everything(self.dataset)

    @cached_property
    def shares(self) -> dict[str, float | None]:
        """Item -> share of what its hole hides that inputs of others show; None where nothing tells."""
        return dict(zip(self.sources, column(self.dataset, frozen.SHOWN), strict=True))

    @cached_property
    def exposed(self) -> frozen.Exposed:
        """The same of all items."""
        return frozen.exposed((share, 1) for share in self.shares.values())

    @cached_property
    def unexposed(self) -> Slice | None:
        """Items of which others show next to nothing, where there are some and some others; in no comparison."""
        few = tuple(name for name, share in self.shares.items() if share is None or share <= frozen.MOST_SHOWN)
        return Slice(UNEXPOSED, f"{frozen.SHOWN} <= {frozen.MOST_SHOWN:g}", few) if few and self.exposed.above else None

    def over_unexposed(self, one: Slice, method: str, quantity: Quantity) -> Summary | None:
        """Mean of a method over the ``unexposed`` items of a slice; None where that is the mean over all, or there is none."""
        if self.unexposed is None or quantity.of_sets:
            return None
        shares = self.shares
        inside = [name for name in one.item_ids if (share := shares[name]) is None or share <= frozen.MOST_SHOWN]
        return self.over(inside, method, quantity) if len(inside) < len(one.item_ids) else None

    def role(self, method: str) -> str:
        """What one who is ``aside`` is called beside a mark."""
        return "reference" if method in self.references else "no place"

    def value(self, method: str, item_id: str, quantity: Quantity) -> float | None:
        """One score; None when it is missing."""
        score = self._scores.get((method, item_id, quantity))
        return None if score is None else score.value

    @kept
    def summary(self, one: Slice, method: str, quantity: Quantity) -> Summary:
        """Mean of a method over the items of a slice, with its interval where there are enough sources for one."""
        if not quantity.of_sets:
            scored = self.scored_items(one)
            found = self.over(scored, method, quantity)
            return found._replace(n_missing=found.n_missing + len(one.item_ids) - len(scored))
        score, sources = self.slice_score(one, method, quantity), self.n_sources(one, method, quantity)
        if score is None:
            return Summary(
                None, 0, 0, 0, 0, None, None, None, "its sets were not compared; run `inpaintbench eval run --for scores` again"
            )
        counts = (int(score.details.get("items", 0)), 0, int(score.details.get("missing", 0)), sources)
        few = too_few(sources)
        reason = score.reason or score.details.get("warning") or score.details.get("note") or few
        # A run that was compared before may hold intervals of fewer sources.
        sure = (None, None, None) if few else (score.standard_error, score.interval_low, score.interval_high)
        return Summary(score.value, *counts, *sure, reason)

    def over(self, item_ids: Sequence[str], method: str, quantity: Quantity) -> Summary:
        """Mean of a method over any items, each as often as it is named; not for a quantity ``of_sets``."""
        own, weights = self._by_item.get((method, quantity), {}), self.weights(method, quantity)
        return summarise(
            [None if (score := own.get(item_id)) is None else score.value for item_id in item_ids],
            clusters=[self.sources[item_id] for item_id in item_ids],
            infinite=self.protocol.infinite_rule(quantity.metric),
            weights=[weights.get(item_id, 1.0) for item_id in item_ids],
            bounds=quantity.bounds,
        )

    @kept
    def scored_items(self, one: Slice) -> list[str]:
        """Items of a slice with a score by any method: of millions, often few."""
        return [item_id for item_id in one.item_ids if item_id in self._scored]

    def weight(self, method: str, item_id: str, quantity: Quantity) -> float:
        """Weight of an item in means, by the protocol."""
        return self.weights(method, quantity).get(item_id, 1.0)

    @kept
    def weights(self, method: str, quantity: Quantity) -> dict[str, float]:
        """The weights of all items that a method has a score of."""
        own = self._by_item.get((method, quantity), {})
        return {name: float(self.protocol.weight(quantity.metric, score.details)) for name, score in own.items()}

    def level(self, one: Slice, method: str, quantity: Quantity) -> float | None:
        """Value that a method is ranked by: its mean, or infinity when all its values are infinite."""
        summary = self.summary(one, method, quantity)
        return math.inf if summary.mean is None and summary.n_infinite else summary.mean

    def measured(self, one: Slice, method: str, quantity: Quantity) -> set[str]:
        """Items of a slice that a method has a value of, or that are in its set for a quantity ``of_sets``."""
        own = self._by_item.get((method, quantity), {})
        return {
            item_id
            for item_id in self.scored_items(one)
            if item_id in own and (own[item_id].value is not None or own[item_id].features is not None)
        }

    @kept
    def lacking(self, one: Slice, quantity: Quantity) -> dict[str, int]:
        """For each method the items of a slice that it has no value of while a contender has one.

        Who lacks any has no place: its mean is over other items than the others' means, and who leaves out the hardest would gain
        by that. Nothing is forgiven, since one item in twenty can decide a place, and nobody is ranked over the items that all
        have, since then who has few would choose the items for all. What no contender has a value of, because it cannot be
        measured there, nobody lacks.
        """
        found = {method: self.measured(one, method, quantity) for method in self.methods}
        owed = set().union(*(found[method] for method in self.contenders))
        return {method: len(owed - items) for method, items in found.items()}

    def comparable(self, one: Slice, quantity: Quantity) -> dict[str, bool]:
        """Return whether the mean of each method is over all items that any contender has a value of; see ``lacking``."""
        return {method: not count for method, count in self.lacking(one, quantity).items()}

    @kept
    def n_sources(self, one: Slice, method: str | None = None, quantity: Quantity | None = None) -> int:
        """Sources of the items of a slice, or of those that a method's ``level`` rests on.

        These are the items in its mean, so that an infinite value that a mean leaves out bears nothing; where all values are
        infinite, all of them.
        """
        items: Collection[str] = one.item_ids
        if method is not None and quantity is not None:
            if not quantity.of_sets and (summary := self.summary(one, method, quantity)).mean is not None:
                return summary.n_clusters
            items = self.measured(one, method, quantity)
        return len({self.sources[item_id] for item_id in items})

    def slice_score(self, one: Slice, method: str, quantity: Quantity) -> SliceScore | None:
        """Result of comparing the sets of a slice, for a quantity ``of_sets``; None where they were not compared."""
        return self._slice_scores.get((one.name, method, quantity))

    @kept
    def failures(self) -> tuple[Failure, ...]:
        """Every missing prediction and score with its reason, in the order of methods and items; also scores never made."""
        pairs = [(method, item_id) for method in self.methods for item_id in self.sources]
        return tuple(failure for method, item_id in pairs for failure in self._failures(method, item_id))

    def inapplicable(self) -> dict[Quantity, tuple[int, str]]:
        """Quantities that some items cannot have by their nature: the number of these items, and the reason."""
        found: dict[Quantity, dict[str, str]] = {}
        for (_, item_id, quantity), score in self._scores.items():
            if score.details.get(INAPPLICABLE):
                found.setdefault(quantity, {})[item_id] = score.reason or ""
        return {quantity: (len(items), next(iter(items.values()))) for quantity, items in found.items()}

    def reason(self, method: str, item_id: str) -> str | None:
        """Return why a method lacks scores of an item; None when it lacks none."""
        return next((failure.reason for failure in self._failures(method, item_id)), None)

    def _failures(self, method: str, item_id: str) -> list[Failure]:
        by_reason: dict[str, list[Quantity]] = {}
        for quantity in self.quantities:
            score = self._scores.get((method, item_id, quantity))
            if score is not None and (score.features is not None or score.details.get(INAPPLICABLE)):
                continue
            if score is None or score.value is None or score.reason:  # what a protocol scores though it is missing, too
                reason = NOT_SCORED if score is None else score.reason or "no reason given"
                by_reason.setdefault(reason, []).append(quantity)
        return [Failure(method, item_id, reason, tuple(quantities)) for reason, quantities in by_reason.items()]


def unmeasured_quantities(scores: Sequence[Score]) -> dict[Quantity, str]:
    """Quantities that no method has a number for, each with the reason that most of its scores give.

    An item without any number (not run, or failed) says nothing of one metric: it gives the reason only where no other item does,
    and that it was not run only where nothing else is known.
    """
    there = {(one.method, one.item_id) for one in scores if not one.reason and (one.value is not None or one.features)}
    reasons: defaultdict[Quantity, Counter[str]] = defaultdict(Counter)
    own: defaultdict[Quantity, Counter[str]] = defaultdict(Counter)
    measured = set()
    for score in scores:
        quantity, reason = Quantity(score.metric, score.region), score.reason or "no reason given"
        reasons[quantity][reason] += reason != NOT_RUN
        if (score.method, score.item_id) in there:
            own[quantity][reason] += 1
        if score.value is not None or score.features is not None:
            measured.add(quantity)
    return {one: own.get(one, found).most_common(1)[0][0] for one, found in reasons.items() if one not in measured}


def unmeasured_metrics(rows: Sequence[Score]) -> dict[str, list[str]]:
    """Metrics that have no number in any region, by the reason of each."""
    unmeasured = unmeasured_quantities(rows)
    measured = {row.metric for row in rows if Quantity(row.metric, row.region) not in unmeasured}
    found: dict[str, dict[str, None]] = {}
    for quantity, reason in unmeasured.items():
        if quantity.metric not in measured:
            found.setdefault(reason, {})[quantity.metric] = None
    return {reason: list(names) for reason, names in found.items()}


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
    """Quantities of the scores: metrics in the order of the protocol, the hole first.

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
