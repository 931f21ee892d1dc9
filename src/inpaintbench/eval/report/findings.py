"""The cards on top of the page: a finding is stated only where the items can tell it, else that they cannot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.comparing.permutation import PairTest
from inpaintbench.eval.comparing.statistics import Summary, summarise
from inpaintbench.eval.report.gallery import finite_values
from inpaintbench.eval.report.labels import name_label, quantity_label, slice_label
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.significance import LEVEL, p_words
from inpaintbench.eval.report.tables import Pair, Results, pair_slices, split_step
from inpaintbench.pages import Link, Method, Sentence, Tagged
from inpaintbench.pages.words import count, number, percent
from inpaintbench.types import Slice

TOO_FEW = "Too few sources to tell"
SENSITIVITY = "Strongest sensitivity"
"""The question of the card that the headline answers, where there is one."""
_MOST_NAMES = 3


class Finding(NamedTuple):
    """One card: what was asked, the answer, why, and the items it rests on."""

    question: str
    answer: Sentence
    detail: Sentence
    basis: str
    told: bool = True
    """True when the answer is one, and not that there is none."""


def findings(results: Results, quantity: Quantity) -> list[Finding]:
    """Best method, hardest slice, strongest sensitivity, as far as they can be asked of ``quantity``; and what was measured.

    A slice counts with enough sources for a claim. Methods are compared by the paired test, slices, which have other items, by
    their intervals.
    """
    asked = (_best(results, quantity), _hardest(results, quantity), _most_sensitive(results, quantity))
    return [*(finding for finding in asked if finding is not None), _coverage(results, quantity)]


def _rests_on(items: int, sources: int) -> str:
    return f"{count(items, 'item')} of {count(sources, 'source')}"


def _both(one: Summary, other: Summary) -> str:
    return f"{_rests_on(one.n, one.n_clusters)}, against {_rests_on(other.n, other.n_clusters)}"


def _best(results: Results, quantity: Quantity) -> Finding | None:
    """The method with the best mean over all items, and those that it cannot be told apart from."""
    everything, question = results.everything, "Strongest method"
    placed = [method for method, place in results.ranking(everything, quantity) if place is not None]
    known = [method for method in results.contenders if results.level(everything, method, quantity) is not None]
    if len(results.contenders) < 2 or not known or not quantity.ranked:
        return None
    if not placed:
        extents = [_extent(results, everything, method, quantity) for method in known]
        basis = _rests_on(*max(extents, key=lambda extent: extent[::-1]))
        if not results.compared(everything, quantity):
            lacks = ("each method lacks items that others have, so that no two means are of the same items",)
            return Finding(question, ("Nobody to compare with",), lacks, basis, told=False)
        return _too_few(question, f"telling anything from chance needs at least {ENOUGH_SOURCES} sources", basis)
    first, *others = placed
    items, sources = _extent(results, everything, first, quantity)
    basis = _rests_on(items, sources)
    if not others:
        alone: Sentence = (Method(first), " alone has a value for every item that any method has one for")
        return Finding(question, ("Nobody to compare with",), alone, basis, told=False)
    open_ones = [other for other in others if not _leads(results, first, other, quantity)]
    if open_ones:
        alike = [first, *open_ones][:_MOST_NAMES]
        answer: list[str | Method] = [part for method in alike for part in (" ≈ ", Method(method))][1:]
        answer += [" …"] if len(open_ones) >= _MOST_NAMES else []
        more = f" and {len(open_ones) - 1} more" if len(open_ones) > 1 else ""
        why = _why_open(results, first, open_ones[0], quantity)
        lead = (Method(first), " has the best mean; its lead over ", Method(open_ones[0]), f"{more} could be chance: {why}")
        return Finding(question, tuple(answer), lead, basis)
    detail = (f"best mean, by more than chance: {_why_told(results, first, others, quantity)}",)
    return Finding(question, (Method(first),), detail, basis)


def _extent(results: Results, one: Slice, method: str, quantity: Quantity) -> tuple[int, int]:
    """Items of a slice that a method has a number of, infinite ones too, and their sources."""
    if quantity.of_sets:
        summary = results.summary(one, method, quantity)
        return summary.n, summary.n_clusters
    measured = results.measured(one, method, quantity)
    return len(measured), len({results.sources[item_id] for item_id in measured})


def _test_of(results: Results, one: str, other: str, quantity: Quantity) -> PairTest | None:
    return next((test for test in results.pair_tests(quantity) if {test.one, test.other} == {one, other}), None)


def _leads(results: Results, first: str, other: str, quantity: Quantity) -> bool:
    """Return whether a method is better by more than chance.

    By the test, or by the intervals where a number is one of a whole set.
    """
    if quantity.of_sets:
        return _apart(*(results.summary(results.everything, method, quantity) for method in (first, other)))
    test = _test_of(results, first, other, quantity)
    return test is not None and test.one == first and test.p_holm is not None and test.p_holm < LEVEL


def _why_open(results: Results, first: str, other: str, quantity: Quantity) -> str:
    if quantity.of_sets:
        return "there are no two intervals that are apart"
    test = _test_of(results, first, other, quantity)
    if test is None or test.p_holm is None:
        return (test.reason or "not tested") if test else "not tested"
    tested = sum(one.p is not None for one in results.pair_tests(quantity))
    if test.least_p * tested > LEVEL:
        return f"{count(test.n_sources, 'source')} cannot tell {count(tested, 'pair')} of methods apart"
    return f"p {p_words(test.p_holm)} after correction"


def _why_told(results: Results, first: str, others: Sequence[str], quantity: Quantity) -> str:
    if quantity.of_sets:
        return "its interval is apart from all others"
    tests = [_test_of(results, first, other, quantity) for other in others]
    largest = max(test.p_holm for test in tests if test is not None and test.p_holm is not None)
    return f"p {p_words(largest)} after correction" + (", or less" if len(others) > 1 else "")


def _apart(one: Summary, other: Summary) -> bool:
    """Return whether both have intervals that do not meet."""
    ends = (one.interval_low, one.interval_high, other.interval_low, other.interval_high)
    if any(end is None for end in ends):
        return False
    low, high, other_low, other_high = (float(end or 0) for end in ends)
    return high < other_low or other_high < low


def _over_methods(results: Results, one: Slice, quantity: Quantity) -> Summary:
    """Mean and interval of the items' means over the ``compared`` methods, of items that all these have a finite value of."""
    methods = [method for method in results.compared(one, quantity) if results.summary(one, method, quantity).mean is not None]
    if quantity.of_sets:
        extents = [_extent(results, one, method, quantity) for method in methods]
        n, sources = min(extents, default=(0, 0))
        return Summary(None, n, 0, 0, sources, None, None, None, None)
    needed = len(methods)
    values = [finite_values(results, item_id, quantity, methods=methods) for item_id in one.item_ids]
    return summarise(
        [math.fsum(found) / len(found) if found and len(found) >= needed else None for found in values],
        clusters=[results.sources[item_id] for item_id in one.item_ids],
        bounds=quantity.bounds,
    )


def _hardest(results: Results, quantity: Quantity) -> Finding | None:
    means = {slice_.name: results.difficulty(slice_, quantity).mean for slice_ in results.slices if quantity.ranked}
    known = {name: mean for name, mean in means.items() if mean is not None}
    if len(known) < 2:
        return None
    extents = {slice_.name: _over_methods(results, slice_, quantity) for slice_ in results.slices if slice_.name in known}
    order = sorted(known, key=lambda name: (known[name], name), reverse=not quantity.higher_is_better)
    counted = [name for name in order if not too_few(extents[name].n_clusters)]
    if len(counted) < 2:
        return _too_few_in_slices("Hardest slice", list(extents.values()))
    hardest, easiest = counted[0], counted[-1]
    values = {name: with_unit(known[name], quantity.metric) for name in (hardest, easiest)}
    basis = _both(extents[hardest], extents[easiest])
    if not _apart(extents[hardest], extents[easiest]):
        both = (_slice(hardest), f" {values[hardest]} and ", _slice(easiest), f" {values[easiest]} could differ by chance")
        return Finding("Hardest slice", ("No clear one",), both, basis, told=False)
    alike = sum(not _apart(extents[hardest], extents[name]) for name in counted[1:])
    also = f" and {count(alike, 'slice')} that could be as hard" if alike else ""
    detail = (f"{values[hardest]} over all methods{also}; ", _slice(easiest), f" is easiest: {values[easiest]}")
    return Finding("Hardest slice", (_slice(hardest),), detail, basis)


def _slice(name: str) -> Tagged:
    return Tagged(slice_label(name), split_step(name)[1])


def _too_few(question: str, detail: str, basis: str) -> Finding:
    return Finding(question, (TOO_FEW,), (detail,), basis, told=False)


def _too_few_in_slices(question: str, extents: Sequence[Summary]) -> Finding:
    """A finding that there are too few sources, with the slice of most of them."""
    most = max(extents, key=lambda extent: (extent.n_clusters, extent.n))
    detail = f"a slice counts from {ENOUGH_SOURCES} sources: with fewer any difference could be chance"
    return _too_few(question, detail, f"at most {_rests_on(most.n, most.n_clusters)} in a slice")


class Change(NamedTuple):
    """Change of a method from a low slice to its high one."""

    share: float
    """Relative, positive for better."""
    method: str
    pair: Pair
    low: Summary
    high: Summary

    @property
    def told(self) -> bool:
        """True where the intervals do not meet."""
        return _apart(self.low, self.high)


def changes(results: Results, quantity: Quantity) -> list[Change]:
    """Changes of every method between every pair of slices that both have a mean of it."""
    return [
        Change(share, method, pair, *(results.summary(one, method, quantity) for one in (pair.low, pair.high)))
        for pair in pair_slices(results.slices)
        for method in results.contenders
        if (share := results.improvement(pair, method, quantity)) is not None
    ]


def strongest_change(results: Results, quantity: Quantity) -> Change | None:
    """The largest relative change of who is fit for comparison, for better or worse; of those beyond chance where some are."""
    counted = [change for change in changes(results, quantity) if not results.unfit_change(change.pair, change.method, quantity)]
    told = [change for change in counted if change.told]
    return max(told or counted, key=lambda change: abs(change.share), default=None)


def change_words(change: Change, quantity: Quantity) -> Sentence:
    """Who changes by how much: in the unit of a metric that has one, as a share of the low slice's mean otherwise."""
    better = change.share > 0
    if metric_leaf(quantity.metric).unit and change.low.mean is not None and change.high.mean is not None:
        amount = _rounded(abs(change.high.mean - change.low.mean), quantity.metric)
        if quantity.higher_is_better:
            return (Method(change.method), f" {'gains' if better else 'loses'} {amount}")
        return (Method(change.method), f" gets {amount} {'better' if better else 'worse'}")
    return (Method(change.method), f" gets {percent(abs(change.share))} {'better' if better else 'worse'}")


def _rounded(value: float, metric: str) -> str:
    """A difference with a decimal less than the values that it is of, since it is no surer than they are."""
    leaf = metric_leaf(metric)
    return f"{number(value, max(leaf.decimals - 1, 0))} {leaf.unit}"


def _most_sensitive(results: Results, quantity: Quantity) -> Finding | None:
    """``strongest_change`` as a card."""
    question = SENSITIVITY
    most = strongest_change(results, quantity)
    if most is None:
        extents = [summary for change in changes(results, quantity) for summary in (change.low, change.high)]
        return _too_few_in_slices(question, extents) if extents else None
    words = change_words(most, quantity)
    when = f"when {name_label(most.pair.attribute).lower()} goes from low to high"
    basis = _both(most.low, most.high)
    if not most.told:
        detail = ("the largest could be chance: ", *words, f" {when}")
        return Finding(question, ("No clear one",), detail, basis, told=False)
    return Finding(question, words, (when,), basis)


def _coverage(results: Results, quantity: Quantity) -> Finding:
    lost = {(failure.method, failure.item_id) for failure in results.failures() if quantity in failure.quantities}
    values = {(method, item): results.value(method, item, quantity) for method in results.methods for item in results.sources}
    # Where a protocol gives a missing prediction an infinite score, it is missing and nothing else.
    infinite = sum(value == math.inf for key, value in values.items() if key not in lost)
    missing = len(lost)
    gaps = Link("#failures", f"{count(missing, 'score')} missing") if missing else "none missing"
    detail = (f"{quantity_label(quantity)}: ", gaps, f", {infinite} infinite" if infinite else "")
    basis = _rests_on(len(results.sources), len(set(results.sources.values())))
    return Finding("Measured", (f"{len(values) - missing:,} of {len(values):,}",), detail, basis)


def with_unit(value: float | None, metric: str) -> str:
    """A value of ``metric`` as printed, with its unit."""
    leaf = metric_leaf(metric)
    words = number(value, leaf.decimals)
    return f"{words} {leaf.unit}" if leaf.unit and value is not None and math.isfinite(value) else words
