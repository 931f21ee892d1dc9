"""Scores arranged for a reader, and which of them may stand in one report: numbers and their order, no markup."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from inpaintbench import frozen
from inpaintbench.claims import too_few
from inpaintbench.compute import RANDOM_WEIGHTS
from inpaintbench.errors import InputError
from inpaintbench.eval.metrics.base import INAPPLICABLE
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.eval.scoring.parts import everything
from inpaintbench.eval.scoring.repeating import DEPENDS, ON_ORDER
from inpaintbench.eval.scoring.run_state import NOT_RUN
from inpaintbench.eval.values.permutation import LEVEL, PairTest, like_best, paired, told_from
from inpaintbench.eval.values.statistics import (
    InfiniteRule,
    Spread,
    Summary,
    apart,
    rank,
    relative_improvement,
    share_first,
    spread_of,
    summarise,
)
from inpaintbench.manifest import column
from inpaintbench.regions import OBJECT_REGIONS
from inpaintbench.types import Dataset, Score, Slice, SliceScore

# The slice of all items that image and decaptioning benchmarks publish; the report shows all items anyway.
EVERY_ITEM = "all"


# Reason why a method holds no place.
REFERENCE = "a reference, which does not compete"
# Why nobody has a place by a diagnostic quantity that nothing stands beside.
NO_PRIMARY = "damage can better it, and no primary quantity that damage cannot better was measured"
# No name of a dataset's slice has a blank.
UNEXPOSED = "not shown by others"
# Why a score is missing that nobody tried to measure.
NOT_SCORED = "not scored"
# Seed of the sign flips of paired tests.
SEED = 0


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
        options: label -> the option of `eval predict` that asks for the method.
        efforts: label -> what the method took; in no number of a table of scores.
        run: folder of the run, whose alignment with people's answers stands beside the metrics.
        aside: label -> reason, of further methods that hold no place.

    Raises:
        InputError: no scores, scores of several protocols or fingerprints or of another than ``protocol``, scores that were made
            with random weights, an item that is not in the dataset, or two different scores of the same thing.
    """

    def __init__(
        self, dataset: Dataset, scores: Sequence[Score], *, protocol: Protocol, slice_scores: Sequence[SliceScore] = (),
        references: Collection[str] = (), options: Mapping[str, str] | None = None, efforts: Mapping[str, Effort] | None = None,
        run: Path | None = None, aside: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.fingerprint = one_fingerprint(scores, protocol)
        self.dataset, self.protocol, self.scores = dataset, protocol, tuple(scores)
        self.options = dict(options or {})
        self.run = run
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
        self._scored_in: dict[str, list[str]] = {}
        self._weights: dict[tuple[str, Quantity], dict[str, float]] = {}
        self._n_sources: dict[str, int] = {}
        self._lacking: dict[tuple[str, Quantity], dict[str, int]] = {}
        self._failed: list[Failure] | None = None
        self._tests: dict[tuple[str, Quantity, tuple[tuple[str, str], ...] | None], list[PairTest]] = {}
        self._best: dict[tuple[str, Quantity], set[str]] = {}
        self._placed: dict[tuple[str, Quantity], dict[str, float | None]] = {}
        self._summaries: dict[tuple[str, str, Quantity], Summary] = {}

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

    def infinite_rule(self, metric: str) -> InfiniteRule:
        """The protocol's rule for infinite values of ``metric``."""
        return self.protocol.infinite_rule(metric)

    def summary(self, one: Slice, method: str, quantity: Quantity) -> Summary:
        """Mean of a method over the items of a slice, with its interval where there are enough sources for one."""
        key = (one.name, method, quantity)
        if quantity.of_sets:
            return _compared(self.slice_score(one, method, quantity), sources=self.n_sources(one, method, quantity))
        if key not in self._summaries:
            scored = self._scored_items(one)
            found = self.over(scored, method, quantity)
            self._summaries[key] = found._replace(n_missing=found.n_missing + len(one.item_ids) - len(scored))
        return self._summaries[key]

    def over(self, item_ids: Sequence[str], method: str, quantity: Quantity) -> Summary:
        """Mean of a method over any items, each as often as it is named; not for a quantity ``of_sets``."""
        own, weights = self._by_item.get((method, quantity), {}), self._weights_of(method, quantity)
        return summarise(
            [None if (score := own.get(item_id)) is None else score.value for item_id in item_ids],
            clusters=[self.sources[item_id] for item_id in item_ids],
            infinite=self.infinite_rule(quantity.metric),
            weights=[weights.get(item_id, 1.0) for item_id in item_ids],
            bounds=quantity.bounds,
        )

    def _scored_items(self, one: Slice) -> list[str]:
        """Items of a slice with a score by any method: of millions, often few."""
        if one.name not in self._scored_in:
            self._scored_in[one.name] = [item_id for item_id in one.item_ids if item_id in self._scored]
        return self._scored_in[one.name]

    def weight(self, method: str, item_id: str, quantity: Quantity) -> float:
        """Weight of an item in means, by the protocol."""
        return self._weights_of(method, quantity).get(item_id, 1.0)

    def _weights_of(self, method: str, quantity: Quantity) -> dict[str, float]:
        key = (method, quantity)
        if key not in self._weights:
            own = self._by_item.get(key, {})
            weigh, metric = self.protocol.weight, quantity.metric
            self._weights[key] = {item_id: float(weigh(metric, score.details)) for item_id, score in own.items()}
        return self._weights[key]

    def level(self, one: Slice, method: str, quantity: Quantity) -> float | None:
        """Value that a method is ranked by: its mean, or infinity when all its values are infinite."""
        summary = self.summary(one, method, quantity)
        return math.inf if summary.mean is None and summary.n_infinite else summary.mean

    def measured(self, one: Slice, method: str, quantity: Quantity) -> set[str]:
        """Items of a slice that a method has a value of, or that are in its set for a quantity ``of_sets``."""
        own = self._by_item.get((method, quantity), {})
        return {
            item_id
            for item_id in self._scored_items(one)
            if item_id in own and (own[item_id].value is not None or own[item_id].features is not None)
        }

    def lacking(self, one: Slice, quantity: Quantity) -> dict[str, int]:
        """For each method the items of a slice that it has no value of while a contender has one.

        Who lacks any has no place: its mean is over other items than the others' means, and who leaves out the hardest would gain
        by that. Nothing is forgiven, since one item in twenty can decide a place, and nobody is ranked over the items that all
        have, since then who has few would choose the items for all. What no contender has a value of, because it cannot be
        measured there, nobody lacks.
        """
        key = (one.name, quantity)
        if key not in self._lacking:
            found = {method: self.measured(one, method, quantity) for method in self.methods}
            owed = set().union(*(found[method] for method in self.contenders))
            self._lacking[key] = {method: len(owed - items) for method, items in found.items()}
        return self._lacking[key]

    def comparable(self, one: Slice, quantity: Quantity) -> dict[str, bool]:
        """Return whether the mean of each method is over all items that any contender has a value of; see ``lacking``."""
        return {method: not count for method, count in self.lacking(one, quantity).items()}

    def n_sources(self, one: Slice, method: str | None = None, quantity: Quantity | None = None) -> int:
        """Sources of the items of a slice, or of those that a method's ``level`` rests on.

        These are the items in its mean, so that an infinite value that a mean leaves out bears nothing; where all values are
        infinite, all of them.
        """
        if method is None or quantity is None:
            if one.name not in self._n_sources:
                self._n_sources[one.name] = len({self.sources[item_id] for item_id in one.item_ids})
            return self._n_sources[one.name]
        if not quantity.of_sets and (summary := self.summary(one, method, quantity)).mean is not None:
            return summary.n_clusters
        return len({self.sources[item_id] for item_id in self.measured(one, method, quantity)})

    def unfit(self, one: Slice, method: str, quantity: Quantity) -> str | None:
        """Reason, one clause, why a method's number in a slice bears no comparison with the others'; None where it does.

        Gate of places, bold and filled bars on every page: all items that any contender has (see ``lacking``), of enough sources;
        and by a diagnostic quantity that the protocol's primary one does not contradict (see ``contradicted``).
        """
        thin = self._thin(one, method, quantity)
        return thin or (self.contradicted(one, method, quantity) if self.gated(quantity) else None)

    def _thin(self, one: Slice, method: str, quantity: Quantity) -> str | None:
        if count := self.lacking(one, quantity)[method]:
            return f"it lacks {count} item{'' if count == 1 else 's'} that others have"
        return too_few(self.n_sources(one, method, quantity))

    def gated(self, quantity: Quantity) -> bool:
        """Return whether a place by it needs the consent of the primary quantity.

        A metric that damage can better does, but for published protocols, whose tables are as they were printed.
        """
        return bool(quantity.diagnostic) and not self.protocol.follows

    def contradicted(self, one: Slice, method: str, quantity: Quantity) -> str | None:
        """Reason, one clause, against a place by a diagnostic quantity that a method has the values for; None where it puts the
        method before nobody who is better by the primary quantity, for other quantities, and for those ``aside``."""
        own = self.level(one, method, quantity)
        if not quantity.diagnostic or method in self.aside or own is None or self._thin(one, method, quantity):
            return None
        primary = Quantity(*self.protocol.primary)
        if primary.diagnostic or primary not in self.quantities:
            return NO_PRIMARY
        if reason := self.unfit(one, method, primary):
            return f"damage can better it, and by the primary quantity {reason}"
        sign = 1 if quantity.higher_is_better else -1
        for other in self.contenders:
            level = self.level(one, other, quantity)
            passed = level is not None and not self._thin(one, other, quantity) and sign * level < sign * own
            if passed and not self.unfit(one, other, primary) and self.worse(one, method, other):
                return f"damage can better it, and {other}, which it would pass, is better by the primary quantity"
        return None

    def worse(self, one: Slice, method: str, other: str) -> bool:
        """Return whether a method is worse than another by the primary quantity, by the paired test of the two.

        That test is not corrected for others, since what it is to prevent is a place that damage gained. Where it could never be
        small, or where numbers are of sets, the means decide.
        """
        primary = Quantity(*self.protocol.primary)
        test = next((test for test in self.pair_tests(primary, one) if {test.one, test.other} == {method, other}), None)
        if test is None or test.p is None or test.least_p >= LEVEL:
            levels = {name: self.level(one, name, primary) for name in (method, other)}
            return rank(levels, higher_is_better=primary.higher_is_better)[method] != 1
        return test.one == other and test.p < LEVEL

    def unfit_change(self, pair: Pair, method: str, quantity: Quantity) -> str | None:
        """Reason against a method's ``improvement`` beside those of others and in a finding, from either slice; None where it may
        stand there. Published protocols keep their tables, but no finding of theirs rests on what damage can better."""
        reasons = (of(one, method, quantity) for one in (pair.low, pair.high) for of in (self.unfit, self.contradicted))
        return next(filter(None, reasons), None)

    def places(self, one: Slice, quantity: Quantity, *, as_printed: bool = False) -> dict[str, int | None]:
        """Place of each method in a slice, 1 = best; None without a value, for who is ``unfit`` or ``aside``, and for metrics
        that rank nobody.

        Equal means share a place, and all that are ``best`` the first. Under a protocol that follows a publication places are by
        the means alone.

        Args:
            one: the slice.
            quantity: metric in a region.
            as_printed: in the direction that the publication ranked it, which may be the wrong one.
        """
        if not quantity.ranked:
            return dict.fromkeys(self.methods)
        upwards = quantity.higher_is_better != (as_printed and quantity.metric in self.protocol.ranked_against)
        places = rank(self._placed_levels(one, quantity), higher_is_better=upwards)
        shared = set() if self.protocol.follows else self.best(one, quantity)
        return dict.fromkeys(self.methods) | share_first(places, shared)

    def _placed_levels(self, one: Slice, quantity: Quantity) -> dict[str, float | None]:
        key = (one.name, quantity)
        if key not in self._placed:
            self._placed[key] = {
                method: None if self.unfit(one, method, quantity) else self.level(one, method, quantity)
                for method in self.contenders
            }
        return self._placed[key]

    def ranking(self, one: Slice, quantity: Quantity) -> list[tuple[str, int | None]]:
        """Contenders with their places from best to worst; those without a place by their mean, then those with values of
        fewer items than others, last those without a value."""
        places, fair = self.places(one, quantity), self.comparable(one, quantity)

        def order(method: str) -> tuple[bool, int, bool, bool, float]:
            place, level = places[method], self.level(one, method, quantity)
            worse = 0.0 if level is None else -level if quantity.higher_is_better else level
            return place is None, place or 0, level is None, not fair[method], worse if quantity.ranked else 0.0

        return [(method, places[method]) for method in sorted(self.contenders, key=order)]

    def best(self, one: Slice, quantity: Quantity) -> set[str]:
        """Methods that stand out as the best, see ``like_best``; none where fewer than two have a place, or nobody is ranked.

        By a diagnostic quantity whoever is worse than the best of them by the primary one does not.
        """
        key = (one.name, quantity)
        if key not in self._best:
            levels = self._placed_levels(one, quantity) if quantity.ranked else {}

            def told(best: str, others: Sequence[str]) -> set[str]:
                if quantity.of_sets:
                    own = self.summary(one, best, quantity)
                    return {other for other in others if apart(own, self.summary(one, other, quantity))}
                barred = {other for other in others if self.gated(quantity) and self.worse(one, other, best)}
                return barred | told_from(self.tests_of_best(one, quantity).values(), best)

            self._best[key] = like_best(levels, told, higher_is_better=quantity.higher_is_better)
        return self._best[key]

    def tests_of_best(self, one: Slice, quantity: Quantity) -> dict[str, PairTest]:
        """A test of the best mean in a slice against that of each other method with a place, corrected over these; none for a
        quantity ``of_sets`` or one that ranks nobody."""
        levels = self._placed_levels(one, quantity) if quantity.ranked and not quantity.of_sets else {}
        known = {method: level for method, level in levels.items() if level is not None}
        if len(known) < 2:
            return {}
        best = (max if quantity.higher_is_better else min)(known, key=known.__getitem__)
        others = tuple(method for method in known if method != best)
        return dict(zip(others, self.pair_tests(quantity, one, tuple((best, other) for other in others)), strict=True))

    def compared(self, one: Slice, quantity: Quantity) -> list[str]:
        """Contenders whose means are of the same items: those that a mean over methods is made of."""
        return [method for method, fair in self.comparable(one, quantity).items() if fair and method in self.contenders]

    def few(self, one: Slice, quantity: Quantity) -> str | None:
        """Reason against a claim from a slice's mean over methods: the sources of what it ``compared`` are too few; or None."""
        return too_few(min((self.n_sources(one, method, quantity) for method in self.compared(one, quantity)), default=0))

    def difficulty(self, one: Slice, quantity: Quantity) -> Spread:
        """Mean and standard error over the means of the ``compared`` methods in a slice (DEVIL, CVPR 2022, Figure 4)."""
        found = spread_of([self.summary(one, method, quantity).mean for method in self.compared(one, quantity)])
        return found._replace(standard_error=None) if self.few(one, quantity) else found

    def improvement(self, pair: Pair, method: str, quantity: Quantity) -> float | None:
        """Relative improvement from low to high, as a share (DEVIL, CVPR 2022, Figures 5 to 9); None where it has none."""
        if not quantity.ranked:
            return None
        low, high = (self.level(one, method, quantity) for one in (pair.low, pair.high))
        return relative_improvement(low, high, higher_is_better=quantity.higher_is_better)

    def slice_score(self, one: Slice, method: str, quantity: Quantity) -> SliceScore | None:
        """Result of comparing the sets of a slice, for a quantity ``of_sets``; None where they were not compared."""
        return self._slice_scores.get((one.name, method, quantity))

    def pair_tests(
        self, quantity: Quantity, one: Slice | None = None, pairs: tuple[tuple[str, str], ...] | None = None
    ) -> list[PairTest]:
        """Tests of pairs of methods over the items of a slice, by default of every two over all; none for a quantity ``of_sets``
        or one that ranks nobody.

        Items weigh and infinite values count as in the means, but that an infinite value that is kept leaves its item out.
        """
        part = one or self.everything
        key = (part.name, quantity, pairs)
        if key not in self._tests:
            tested = quantity.ranked and not quantity.of_sets
            self._tests[key] = self._paired(quantity, self._scored_items(part), pairs) if tested else []
        return self._tests[key]

    def _paired(self, quantity: Quantity, items: Sequence[str], pairs: Sequence[tuple[str, str]] | None) -> list[PairTest]:
        return paired(
            {method: [self.value(method, item_id, quantity) for item_id in items] for method in self.contenders},
            [self.sources[item_id] for item_id in items],
            higher_is_better=quantity.higher_is_better,
            seed=SEED,
            infinite=self.infinite_rule(quantity.metric),
            weights={method: [self.weight(method, item_id, quantity) for item_id in items] for method in self.contenders},
            pairs=pairs,
        )

    def failures(self) -> list[Failure]:
        """Every missing prediction and score with its reason, in the order of methods and items; also scores never made."""
        if self._failed is None:
            pairs = [(method, item_id) for method in self.methods for item_id in self.sources]
            self._failed = [failure for method, item_id in pairs for failure in self._failures(method, item_id)]
        return list(self._failed)

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


# Between low and high, of slices in three steps.
MID = "mid"


def split_level(name: str) -> tuple[str, str | None]:
    """``camera_motion-high`` as ``("camera_motion", "high")``; a name without a level with None."""
    attribute, dash, level = name.rpartition("-")
    return (attribute, level) if dash and attribute and level in ("low", "high") else (name, None)


def split_step(name: str) -> tuple[str, str | None]:
    """As ``split_level``, of slices in three steps too: ``effect-shadow-mid`` as ``("effect-shadow", "mid")``."""
    return (name.removesuffix(f"-{MID}"), MID) if name.endswith(f"-{MID}") else split_level(name)


def pair_slices(slices: Sequence[Slice]) -> list[Pair]:
    """Attributes of which both slices are there, in the order of their first slice."""
    by_name = {slice_.name: slice_ for slice_ in slices}
    attributes = dict.fromkeys(split_level(slice_.name)[0] for slice_ in slices)
    return [
        Pair(attribute, by_name[f"{attribute}-low"], by_name[f"{attribute}-high"])
        for attribute in attributes
        if f"{attribute}-low" in by_name and f"{attribute}-high" in by_name
    ]


class Series(NamedTuple):
    """Slices of one attribute in steps: names ``<attribute>-low``, ``-mid`` and ``-high``, or ``<attribute>-0-50`` ..."""

    attribute: str
    steps: tuple[tuple[str, Slice], ...]
    """What each step is called, and its slice."""


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


def unpaired(slices: Sequence[Slice]) -> list[Slice]:
    """Slices that belong to no pair."""
    paired = {one.name for pair in pair_slices(slices) for one in (pair.low, pair.high)}
    return [slice_ for slice_ in slices if slice_.name not in paired]


# A slice by the intersection over union of its masks with exact ones, in per cent.
_MASK_BIN = re.compile(r"(?P<attribute>mask_iou(?:-[a-z_]+)?)-(?P<low>[0-9]+)-(?P<high>[0-9]+)")


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
        Group(attribute, tuple(members), tuple(split_value(member.name)[1] for member in members))
        for attribute, members in by_attribute.items()
    ]


def split_value(name: str) -> tuple[str, str | None]:
    """``class-left_loop`` as ``("class", "left_loop")``; a name without a value with None."""
    attribute, _, value = name.partition("-")
    return (attribute, value) if attribute and value else (name, None)


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


def _compared(score: SliceScore | None, *, sources: int) -> Summary:
    """A number of a whole slice in the form of a mean."""
    if score is None:
        return Summary(None, 0, 0, 0, 0, None, None, None, "its sets were not compared; run `inpaintbench eval score` again")
    counts = (int(score.details.get("items", 0)), 0, int(score.details.get("missing", 0)), sources)
    few = too_few(sources)
    reason = score.reason or score.details.get("warning") or score.details.get("note") or few
    # A run that was compared before may hold intervals of fewer sources.
    sure = (None, None, None) if few else (score.standard_error, score.interval_low, score.interval_high)
    return Summary(score.value, *counts, *sure, reason)


REGION_ORDER = ("hole", "band", "frame", *OBJECT_REGIONS)


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


def unmeasured_metrics(rows: Sequence[Score]) -> dict[str, list[str]]:
    """Metrics that have no number in any region, by the reason of each."""
    unmeasured = unmeasured_quantities(rows)
    measured = {row.metric for row in rows if Quantity(row.metric, row.region) not in unmeasured}
    found: dict[str, dict[str, None]] = {}
    for quantity, reason in unmeasured.items():
        if quantity.metric not in measured:
            found.setdefault(reason, {})[quantity.metric] = None
    return {reason: list(names) for reason, names in found.items()}
