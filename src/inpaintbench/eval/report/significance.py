"""Leads of methods over each other that are more than chance: a matrix for each metric and region."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from inpaintbench.eval.comparing.looked_at import Effect, looked_at
from inpaintbench.eval.results.labels import quantity_label
from inpaintbench.eval.results.quantity import Quantity, metric_leaf
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.values.permutation import PairTest
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import count, signed


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
    return [_leads(results, quantity) for quantity in results.quantities if quantity.ranked]


def _leads(results: Results, quantity: Quantity) -> Leads:
    tests = results.pair_tests(quantity)
    if quantity.of_sets:
        note = (
            "One number for many items cannot be tested item by item. Where enough sources and little computing give it an "
            "interval, that is in the table above; where there is no interval, nothing tells a lead from chance."
        )
        return Leads(quantity, None, note)
    if all(test.p is None for test in tests):
        reasons = Counter(str(test.reason) for test in tests)
        # Pairs that differ in what they lack would otherwise contradict one another in one sentence.
        texts = [reason if len(reasons) == 1 else f"{reason} ({count(pairs, 'pair')})" for reason, pairs in reasons.items()]
        return Leads(quantity, None, f"No test: {'; '.join(texts)}.")
    return Leads(quantity, _matrix(results, quantity, tests), f"{_rests_on(tests)}{_settled(results, quantity, tests)}")


def _rests_on(tests: Sequence[PairTest]) -> str:
    """Numbers of items and sources."""
    tested = [test for test in tests if test.p is not None]
    items, sources = ({getattr(test, name) for test in tested} for name in ("n", "n_sources"))
    words = f"{_range(items, 'item')} of {_range(sources, 'source')} with finite values of both methods."
    untested = len(tests) - len(tested)
    return words + (f" {count(untested, 'pair')} could not be tested." if untested else "")


def _settled(results: Results, quantity: Quantity, tests: Sequence[PairTest]) -> str:
    """Sentences on weights of items and on infinite values, where either differs from the plain mean."""
    words = ""
    if results.protocol.averaging == "all_frames":
        words += " Items weigh by their frames, as in the means."
    if results.infinite_rule(quantity.metric) == "largest_finite":
        words += " Infinite values count as the largest finite one of their method, as in the means."
    left_out = {test.n_infinite for test in tests}
    if any(left_out):
        words += f" {_range(left_out, 'item')} of a pair left out for an infinite value."
    return words


def _range(values: set[int], word: str) -> str:
    low, high = min(values), max(values)
    return count(low, word) if low == high else f"{low:,} to {count(high, word)}"


def _matrix(results: Results, quantity: Quantity, tests: Sequence[PairTest]) -> Table:
    by_pair = {frozenset((test.one, test.other)): test for test in tests}
    found = leads_of(results, quantity)
    order = [method for method, _ in results.ranking(results.everything, quantity)]
    leaf = metric_leaf(quantity.metric)
    unit = f" ({leaf.unit})" if leaf.unit else ""
    better = "higher" if quantity.higher_is_better else "lower"
    return Table(
        columns=(Column("row less column"), *(Column(method, method=method, key=method) for method in order)),
        rows=tuple(
            Row(
                (
                    Cell(row, method=row),
                    *(
                        _cell(results, row, column, by_pair.get(frozenset((row, column))), found.get((row, column)), quantity)
                        for column in order
                    ),
                ),
                key=row,
            )
            for row in order
        ),
        caption=f"Mean difference in {quantity_label(quantity)}{unit}, row less column, with the interval that holds beside all "
        f"others; {better} is better.",
        kind="pairs",
    )


def leads_of(results: Results, quantity: Quantity) -> dict[tuple[str, str], Effect]:
    """(method, other) -> the one less the other over all items, of either order; without pairs of too few sources."""
    found = [effect for effect in looked_at(results) if effect.kind == "lead" and effect.quantity == quantity]
    return {(own.one, own.other): own for effect in found for own in (effect, effect.turned())}


def _cell(results: Results, row: str, column: str, test: PairTest | None, lead: Effect | None, quantity: Quantity) -> Cell:
    if row == column:
        return Cell("·", title="the same method")
    if test is None or test.difference is None:
        return Cell("no item of both")
    leaf = metric_leaf(quantity.metric)
    mean = signed(test.difference if test.one == row else -test.difference, leaf.decimals)
    if lead is None:
        return Cell(mean, below="not tested", title=test.reason or "", method_colour=row)
    unit = f" {leaf.unit}" if leaf.unit else ""
    title = (
        f"{row} less {column}: {mean}{unit}; p {p_words(lead.p)}; {count(test.n, 'item')} of {count(test.n_sources, 'source')}"
    )
    ends = f"{signed(lead.low, leaf.decimals)} to {signed(lead.high, leaf.decimals)}"
    verdict = "not told apart" if not lead.told else "▲ better" if lead.better else "▼ worse"
    below = f"{verdict}, p {p_words(lead.p)}"
    barred = results.gated(quantity) and results.worse(results.everything, row, column)
    return Cell(mean, note=ends, below=below, title=title, strong=lead.told and lead.better and not barred, method_colour=row)


def p_words(p: float | None) -> str:
    """Two digits, or a bound where it is smaller than anyone cares."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
