"""The cards on top of the page: a finding is stated only where the items can tell it, else that they cannot."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.eval.comparing.looked_at import Effect, Kind, looked_at
from inpaintbench.eval.diagnosis import moved_words, size_words, when_words
from inpaintbench.eval.results.quantity import Quantity, metric_leaf, name_label, quantity_label, slice_label
from inpaintbench.eval.results.slices import split_step
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.values.permutation import PairTest
from inpaintbench.pages import Cell, Column, Link, Method, Row, Sentence, Table, Tagged
from inpaintbench.pages.words import count, p_words, signed
from inpaintbench.types import Slice

# Leads of methods over each other that are more than chance: a matrix for each metric and region.


class Leads(NamedTuple):
    """Tests of one metric in one region."""

    quantity: Quantity
    matrix: Table | None
    note: str
    """Items and sources behind the matrix, or the reason why there is none."""


def leads(results: Results) -> list[Leads]:
    """For each quantity that ranks a matrix of differences; empty where there are no two methods to compare."""
    if len(results.contenders) < 2:
        return []
    found = []
    for quantity in (quantity for quantity in results.quantities if quantity.ranked):
        tests = results.pair_tests(quantity)
        if quantity.of_sets:
            note = (
                "One number for many items cannot be tested item by item. Where enough sources and little computing give it an "
                "interval, that is in the table above; where there is no interval, nothing tells a lead from chance."
            )
            found.append(Leads(quantity, None, note))
        elif any(test.p is not None for test in tests):
            found.append(Leads(quantity, _matrix(results, quantity, tests), _tested_on(results, quantity, tests)))
        else:
            # Pairs that differ in what they lack would otherwise contradict one another in one sentence.
            reasons = Counter(str(test.reason) for test in tests)
            texts = [reason if len(reasons) == 1 else f"{reason} ({count(pairs, 'pair')})" for reason, pairs in reasons.items()]
            found.append(Leads(quantity, None, f"No test: {'; '.join(texts)}."))
    return found


def _tested_on(results: Results, quantity: Quantity, tests: Sequence[PairTest]) -> str:
    """Numbers of items and sources, their weights and infinite values where either differs from the plain mean."""

    def range_of(values: set[int], word: str) -> str:
        low, high = min(values), max(values)
        return count(low, word) if low == high else f"{low:,} to {count(high, word)}"

    tested, left_out = [test for test in tests if test.p is not None], {test.n_infinite for test in tests}
    items, sources = range_of({test.n for test in tested}, "item"), range_of({test.n_sources for test in tested}, "source")
    words = f"{items} of {sources} with finite values of both methods."
    if untested := len(tests) - len(tested):
        words += f" {count(untested, 'pair')} could not be tested."
    if results.protocol.averaging == "all_frames":
        words += " Items weigh by their frames, as in the means."
    if results.protocol.infinite_rule(quantity.metric) == "largest_finite":
        words += " Infinite values count as the largest finite one of their method, as in the means."
    if any(left_out):
        words += f" {range_of(left_out, 'item')} of a pair left out for an infinite value."
    return words


def _matrix(results: Results, quantity: Quantity, tests: Sequence[PairTest]) -> Table:
    """The mean difference of each row from each column, in the order of the ranking."""
    by_pair = {frozenset((test.one, test.other)): test for test in tests}
    found = leads_of(results, quantity)
    order = [method for method, _ in results.ranking(results.everything, quantity)]
    leaf = metric_leaf(quantity.metric)

    def cell(row: str, column: str) -> Cell:
        test, lead = by_pair.get(frozenset((row, column))), found.get((row, column))
        if row == column:
            return Cell("·", title="the same method")
        if test is None or test.difference is None:
            return Cell("no item of both")
        mean = signed(test.difference if test.one == row else -test.difference, leaf.decimals)
        if lead is None:
            return Cell(mean, below="not tested", title=test.reason or "", method_colour=row)
        size = f"{mean} {leaf.unit}".strip()
        title = f"{row} less {column}: {size}; p {p_words(lead.p)}; {_rests_on(test.n, test.n_sources)}"
        ends = f"{signed(lead.low, leaf.decimals)} to {signed(lead.high, leaf.decimals)}"
        verdict = "not told apart" if not lead.told else "▲ better" if lead.better else "▼ worse"
        strong = lead.told and lead.better and not results.barred(results.everything, row, column, quantity)
        below = f"{verdict}, p {p_words(lead.p)}"
        return Cell(mean, note=ends, below=below, title=title, strong=strong, method_colour=row)

    unit = f" ({leaf.unit})" if leaf.unit else ""
    return Table(
        (Column("row less column"), *(Column(method, method=method, key=method) for method in order)),
        tuple(Row((Cell(row, method=row), *(cell(row, column) for column in order)), key=row) for row in order),
        caption=f"Mean difference in {quantity_label(quantity)}{unit}, row less column, with the interval that holds beside all "
        f"others; {'higher' if quantity.higher_is_better else 'lower'} is better.",
        kind="pairs",
    )


def leads_of(results: Results, quantity: Quantity) -> dict[tuple[str, str], Effect]:
    """(method, other) -> the one less the other over all items, of either order; without pairs of too few sources."""
    found = [effect for effect in looked_at(results) if effect.kind == "lead" and effect.quantity == quantity]
    return {(own.one, own.other): own for effect in found for own in (effect, effect.turned())}


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

    All are told by one correction for everything that the page compares: see ``looked_at``.
    """
    asked = (_best(results, quantity), _hardest(results, quantity), _most_sensitive(results, quantity))
    return [*(finding for finding in asked if finding is not None), _coverage(results, quantity)]


def standing_note(results: Results, quantity: Quantity) -> str:
    """Sentence on what p of a quantity's findings is corrected for."""
    primary = Quantity(*results.protocol.primary)
    compared = sum(effect.quantity == quantity for effect in looked_at(results))
    if quantity == primary:
        return (
            f"{quantity_label(primary)} is the protocol’s primary quantity, named before anything was scored. Its intervals and "
            f"p hold for all {count(compared, 'comparison')} by it together, of methods, slices and attributes."
        )
    gate = "; while the primary one tells nothing, p has to be a fifth as large" if primary in results.quantities else ""
    return (
        f"Exploratory: the protocol’s primary quantity is {quantity_label(primary)}. Intervals and p hold for all "
        f"{count(len(looked_at(results)), 'comparison')} by any quantity together{gate}."
    )


def _rests_on(items: int, sources: int, *, noun: str = "item") -> str:
    return f"{count(items, noun)} of {count(sources, 'source')}"


def effects(results: Results, quantity: Quantity, kind: Kind) -> list[Effect]:
    """Effects of one kind by one quantity, those of the largest size that is sure first, then the least explained by chance."""
    return _surest_first(effect for effect in looked_at(results) if effect.quantity == quantity and effect.kind == kind)


def _surest_first(found: Iterable[Effect]) -> list[Effect]:
    return sorted(found, key=lambda one: (not one.told, -one.surely if one.told else one.p, one.one, one.other))


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
        needs = f"telling anything from chance needs at least {ENOUGH_SOURCES} sources"
        return Finding(question, (TOO_FEW,), (needs,), basis, told=False)
    first, *others = placed
    basis = _rests_on(*_extent(results, everything, first, quantity))
    if not others:
        alone: Sentence = (Method(first), " alone has a value for every item that any method has one for")
        return Finding(question, ("Nobody to compare with",), alone, basis, told=False)
    if quantity.of_sets:
        untested = (Method(first), " has the best number; one number for many items cannot be tested source by source")
        return Finding(question, ("Not tested",), untested, basis, told=False)
    leads = leads_of(results, quantity)
    over = {other: leads.get((first, other)) for other in others}
    open_ones = [other for other, lead in over.items() if lead is None or not (lead.told and lead.better)]
    if open_ones:
        alike = [first, *open_ones][:_MOST_NAMES]
        answer: list[str | Method] = [part for method in alike for part in (" ≈ ", Method(method))][1:]
        answer += [" …"] if len(open_ones) >= _MOST_NAMES else []
        more = f" and {len(open_ones) - 1} more" if len(open_ones) > 1 else ""
        lead = over[open_ones[0]]
        why = "they were not tested" if lead is None else f"p {p_words(lead.p)} after correction"
        words = (Method(first), " has the best mean; its lead over ", Method(open_ones[0]), f"{more} could be chance: {why}")
        return Finding(question, tuple(answer), words, basis)
    told = [lead for lead in over.values() if lead is not None]
    least, largest = min(told, key=lambda lead: lead.surely), p_words(max(lead.p for lead in told))
    rest = f" and by more than chance of all others, p {largest} or less" if len(others) > 1 else f", p {largest}"
    return Finding(question, (Method(first),), (f"ahead by {size_words(least)} of ", Method(least.other), rest), basis)


def _extent(results: Results, one: Slice, method: str, quantity: Quantity) -> tuple[int, int]:
    """Items of a slice that a method has a number of, infinite ones too, and their sources."""
    if quantity.of_sets:
        summary = results.summary(one, method, quantity)
        return summary.n, summary.n_clusters
    measured = results.measured(one, method, quantity)
    return len(measured), len({results.sources[item_id] for item_id in measured})


def _hardest(results: Results, quantity: Quantity) -> Finding | None:
    """The slice that is surest to be worse than the other items, by the mean over methods."""
    question = "Hardest slice"
    known = [part for part in results.slices if quantity.ranked and results.difficulty(part, quantity).mean is not None]
    if len(known) < 2 or quantity.of_sets:
        return None
    found = effects(results, quantity, "slice")
    if not found:
        return _too_few_in_slices(question, results, quantity, known)
    harder = [effect for effect in found if not effect.better] or found
    hardest = harder[0]
    rest, own = (_rests_on(*side) for side in zip(hardest.n, hardest.n_sources, strict=True))
    tag, basis = slice_tag(hardest.one), f"{own}, against {rest}"
    if hardest.better or not hardest.told:
        words = ("that a slice is harder than the items outside of it could be chance; surest of ", tag)
        return Finding(question, ("No clear one",), (*words, f", p {p_words(hardest.p)}"), basis, told=False)
    more = sum(effect.told for effect in harder[1:])
    also = f"; so {'is' if more == 1 else 'are'} {count(more, 'more slice')}" if more else ""
    detail = f"{size_words(hardest)} worse than the items outside of it, mean over methods, p {p_words(hardest.p)}{also}"
    return Finding(question, (tag,), (detail,), basis)


def slice_tag(name: str) -> Tagged:
    """A slice in a sentence, with its level."""
    return Tagged(slice_label(name), split_step(name)[1])


def _too_few_in_slices(question: str, results: Results, quantity: Quantity, slices: Sequence[Slice]) -> Finding:
    """A finding that there are too few sources, with the slice of most of them."""
    extents = [_extent(results, part, method, quantity) for part in slices for method in results.contenders]
    most = max(extents, key=lambda extent: extent[::-1])
    detail = f"a slice counts from {ENOUGH_SOURCES} sources: with fewer any difference could be chance"
    return Finding(question, (TOO_FEW,), (detail,), f"at most {_rests_on(*most)} in a slice", told=False)


def change_words(change: Effect) -> Sentence:
    """Who changes by how much."""
    return (Method(change.one), f" {moved_words(change)}")


def step_words(change: Effect) -> str:
    """The attribute of a change from low to high, or the step of an axis."""
    if change.kind == "factor":
        return when_words(change).replace("_", " ")
    return f"when {name_label(change.other).lower()} goes from low to high"


def _most_sensitive(results: Results, quantity: Quantity) -> Finding | None:
    """The change of who is fit for comparison that is largest by what its interval leaves, of those beyond chance: between
    slices, and of an axis within its pairs."""
    found = _surest_first(
        effect
        for effect in looked_at(results)
        if effect.quantity == quantity and (effect.kind == "change" or (effect.factor.kind == "paired" and not effect.other))
    )
    if not found:
        pairs = [
            part
            for pair in results.pairs
            if quantity.ranked and any(results.improvement(pair, method, quantity) is not None for method in results.contenders)
            for part in (pair.low, pair.high)
        ]
        return _too_few_in_slices(SENSITIVITY, results, quantity, pairs) if pairs and not quantity.of_sets else None
    most = found[0]
    paired = most.kind == "factor"
    low, high = (_rests_on(*side, noun="pair" if paired else "item") for side in zip(most.n, most.n_sources, strict=True))
    basis = low if paired else f"{low}, against {high}"
    if not most.told:
        detail = ("the surest could be chance: ", *change_words(most), f" {step_words(most)}, p {p_words(most.p)}")
        return Finding(SENSITIVITY, ("No clear one",), detail, basis, told=False)
    return Finding(SENSITIVITY, change_words(most), (f"{step_words(most)}, p {p_words(most.p)}",), basis)


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
