"""The cards on top of the page: a finding is stated only where the items can tell it, else that they cannot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.comparing import PairTest
from inpaintbench.eval.report.labels import method_colours, name_label, quantity_label
from inpaintbench.eval.report.markup import count, method_name, only_for, percent, slice_name, with_unit
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.significance import LEVEL, p_words
from inpaintbench.eval.report.standouts import finite_values
from inpaintbench.eval.report.tables import Pair, Results, pair_slices
from inpaintbench.eval.statistics import Summary, summarise
from inpaintbench.types import Slice

TOO_FEW = "Too few sources to tell"
_MOST_NAMES = 3


class Finding(NamedTuple):
    """One card: what was asked, the answer, why, and the items it rests on (HTML)."""

    question: str
    answer: str
    detail: str
    basis: str
    told: bool = True
    """Whether the answer is one, and not that there is none."""


def findings(results: Results, quantity: Quantity) -> list[Finding]:
    """Best method, hardest slice, strongest sensitivity: those that can be asked of the scores of ``quantity``.

    A slice counts with enough sources for a claim. Methods are compared by the paired test, slices, which have other items, by
    their intervals.
    """
    found = (_best(results, quantity), _hardest(results, quantity), _most_sensitive(results, quantity))
    return [finding for finding in found if finding is not None]


def finding_cards(results: Results, *, default: Quantity) -> str:
    """The cards of all quantities; those of ``default`` are visible without scripts."""
    return "\n".join(
        f'<div class="cards" {only_for(quantity)}{"" if quantity == default else " hidden"}>'
        + "".join(_card(finding) for finding in [*findings(results, quantity), _coverage(results, quantity)])
        + "</div>"
        for quantity in results.quantities
    )


def _card(finding: Finding) -> str:
    answer = f'<p class="answer{"" if finding.told else " untold"}">{finding.answer}</p>'
    return (
        f'<div class="card"><h3>{finding.question}</h3>{answer}<p>{finding.detail}</p><p class="basis">{finding.basis}</p></div>'
    )


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
        return _too_few(question, max(extents, key=lambda extent: extent[::-1]))
    first, *others = placed
    colours = method_colours(results.methods)
    names = {method: method_name(method, colours[method]) for method in placed}
    items, sources = _extent(results, everything, first, quantity)
    basis = _rests_on(items, sources)
    lead = f"{names[first]} has the best mean"
    if not others:
        detail = f"{names[first]} alone has values for nearly all items"
        return Finding(question, "Nobody to compare with", detail, basis, told=False)
    open_ones = [other for other in others if not _leads(results, first, other, quantity)]
    if open_ones:
        answer = " ≈ ".join(names[method] for method in [first, *open_ones][:_MOST_NAMES])
        answer += " …" if len(open_ones) >= _MOST_NAMES else ""
        whom = names[open_ones[0]] + (f" and {len(open_ones) - 1} more" if len(open_ones) > 1 else "")
        why = _why_open(results, first, open_ones[0], quantity)
        return Finding(question, answer, f"{lead}; its lead over {whom} could be chance: {why}", basis)
    return Finding(
        question, names[first], f"best mean, by more than chance: {_why_told(results, first, others, quantity)}", basis
    )


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
    """Whether a method is better by more than chance: by the test, or by the intervals where a number is one of a whole set."""
    if quantity.of_sets:
        return _apart(*(results.summary(results.everything, method, quantity) for method in (first, other)))
    test = _test_of(results, first, other, quantity)
    return test is not None and test.one == first and test.p_holm is not None and test.p_holm < LEVEL


def _why_open(results: Results, first: str, other: str, quantity: Quantity) -> str:
    if quantity.of_sets:
        return "there are no two intervals that are apart"
    test = _test_of(results, first, other, quantity)
    if test is None or test.p_holm is None:
        return escape(test.reason or "not tested") if test else "not tested"
    tested = sum(one.p is not None for one in results.pair_tests(quantity))
    if test.least_p * tested > LEVEL:
        return f"{count(test.n_sources, 'source')} cannot tell {count(tested, 'pair')} of methods apart"
    return f"p {escape(p_words(test.p_holm))} after correction"


def _why_told(results: Results, first: str, others: Sequence[str], quantity: Quantity) -> str:
    if quantity.of_sets:
        return "its interval is apart from all others"
    tests = [_test_of(results, first, other, quantity) for other in others]
    largest = max(test.p_holm for test in tests if test is not None and test.p_holm is not None)
    return f"p {escape(p_words(largest))} after correction" + (", or less" if len(others) > 1 else "")


def _apart(one: Summary, other: Summary) -> bool:
    """Whether both have intervals that do not meet."""
    ends = (one.interval_low, one.interval_high, other.interval_low, other.interval_high)
    if any(end is None for end in ends):
        return False
    low, high, other_low, other_high = (float(end or 0) for end in ends)
    return high < other_low or other_high < low


def _over_methods(results: Results, one: Slice, quantity: Quantity) -> Summary:
    """Mean and interval of the items' means over methods, of items that all methods with a mean have a finite value of."""
    if quantity.of_sets:
        sources = {results.sources[item_id] for item_id in one.item_ids}
        return Summary(None, len(one.item_ids), 0, 0, len(sources), None, None, None, None)
    needed = sum(results.summary(one, method, quantity).mean is not None for method in results.contenders)
    values = [finite_values(results, item_id, quantity) for item_id in one.item_ids]
    return summarise(
        [math.fsum(found) / len(found) if found and len(found) >= needed else None for found in values],
        clusters=[results.sources[item_id] for item_id in one.item_ids],
    )


def _hardest(results: Results, quantity: Quantity) -> Finding | None:
    means = {one.name: results.difficulty(one, quantity).mean for one in results.slices if quantity.ranked}
    known = {name: mean for name, mean in means.items() if mean is not None}
    if len(known) < 2:
        return None
    extents = {one.name: _over_methods(results, one, quantity) for one in results.slices if one.name in known}
    order = sorted(known, key=lambda name: (known[name], name), reverse=not quantity.higher_is_better)
    counted = [name for name in order if not too_few(extents[name].n_clusters)]
    if len(counted) < 2:
        return _too_few_in_slices("Hardest slice", list(extents.values()))
    hardest, easiest = counted[0], counted[-1]
    values = {name: with_unit(known[name], quantity.metric) for name in (hardest, easiest)}
    basis = _both(extents[hardest], extents[easiest])
    if not _apart(extents[hardest], extents[easiest]):
        detail = f"{slice_name(hardest)} {values[hardest]} and {slice_name(easiest)} {values[easiest]} could differ by chance"
        return Finding("Hardest slice", "None can be told", detail, basis, told=False)
    alike = sum(not _apart(extents[hardest], extents[name]) for name in counted[1:])
    also = f" and {count(alike, 'slice')} that could be as hard" if alike else ""
    detail = f"{values[hardest]} over all methods{also}; {slice_name(easiest)} is easiest: {values[easiest]}"
    return Finding("Hardest slice", slice_name(hardest), detail, basis)


def _too_few(question: str, extent: tuple[int, int]) -> Finding:
    """Says so, and of how many items and sources."""
    detail = f"telling anything from chance needs at least {ENOUGH_SOURCES} sources"
    return Finding(question, TOO_FEW, detail, _rests_on(*extent), told=False)


def _too_few_in_slices(question: str, extents: Sequence[Summary]) -> Finding:
    """Says so, with the slice of most sources."""
    most = max(extents, key=lambda one: (one.n_clusters, one.n))
    detail = f"a slice counts from {ENOUGH_SOURCES} sources: with fewer any difference could be chance"
    return Finding(question, TOO_FEW, detail, f"at most {_rests_on(most.n, most.n_clusters)} in a slice", told=False)


class _Change(NamedTuple):
    share: float
    method: str
    pair: Pair
    low: Summary
    high: Summary


def _most_sensitive(results: Results, quantity: Quantity) -> Finding | None:
    """The largest relative change, for better or worse, from a low slice to its high one, of those beyond chance."""
    question = "Strongest sensitivity"
    changes = [
        _Change(share, method, pair, *(results.summary(one, method, quantity) for one in (pair.low, pair.high)))
        for pair in pair_slices(results.slices)
        for method in results.contenders
        if (share := results.improvement(pair, method, quantity)) is not None
    ]
    if not changes:
        return None
    counted = [one for one in changes if not too_few(min(one.low.n_clusters, one.high.n_clusters))]
    if not counted:
        return _too_few_in_slices(question, [summary for one in changes for summary in (one.low, one.high)])
    told = [one for one in counted if _apart(one.low, one.high)]
    most = max(told or counted, key=lambda one: abs(one.share))
    name = method_name(most.method, method_colours(results.methods)[most.method])
    verb = "better" if most.share > 0 else "worse"
    change = f"{name} gets {percent(abs(most.share)).lstrip('+')} {verb}"
    when = f"when {escape(name_label(most.pair.attribute).lower())} goes from low to high"
    basis = _both(most.low, most.high)
    if not told:
        return Finding(question, "None can be told", f"the largest could be chance: {change} {when}", basis, told=False)
    return Finding(question, change, when, basis)


def _coverage(results: Results, quantity: Quantity) -> Finding:
    lost = {(failure.method, failure.item_id) for failure in results.failures() if quantity in failure.quantities}
    values = {(method, item): results.value(method, item, quantity) for method in results.methods for item in results.sources}
    # Where a protocol gives a missing prediction an infinite score, it is missing and nothing else.
    infinite = sum(value == math.inf for key, value in values.items() if key not in lost)
    missing = len(lost)
    gaps = f'<a href="#failures">{count(missing, "score")} missing</a>' if missing else "none missing"
    what = escape(quantity_label(quantity))
    detail = f"{what}: {gaps}" + (f", {infinite} infinite" if infinite else "")
    basis = _rests_on(len(results.sources), len(set(results.sources.values())))
    return Finding("Measured", f"{len(values) - missing:,} of {len(values):,}", detail, basis)
