"""Which differences between methods are more than chance: a matrix for each metric and region."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from inpaintbench.eval.comparing.permutation import PairTest
from inpaintbench.eval.comparing.statistics import LEVEL as LEVEL_OF_INTERVALS
from inpaintbench.eval.report.differences import difference
from inpaintbench.eval.report.labels import quantity_label
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.tables import Results
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import count, signed

# Below it a corrected p is called significant.
LEVEL = 0.05


class Leads(NamedTuple):
    """What the page says of one metric in one region."""

    quantity: Quantity
    matrix: Table | None
    note: str
    """What the matrix rests on, or why there is none."""


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
    """How many items and sources, and that nothing could have come out where that is so."""
    tested = [test for test in tests if test.p is not None]
    items, sources = ({getattr(test, name) for test in tested} for name in ("n", "n_sources"))
    words = f"{_range(items, 'item')} of {_range(sources, 'source')} with finite values of both methods."
    least = min(test.least_p for test in tested) * len(tested)
    if least > LEVEL:
        words += (
            f" So few sources cannot tell {count(len(tested), 'pair')} of methods apart: after the correction the smallest "
            f"possible p is {min(least, 1):.2g}."
        )
    untested = len(tests) - len(tested)
    return words + (f" {count(untested, 'pair')} could not be tested." if untested else "")


def _settled(results: Results, quantity: Quantity, tests: Sequence[PairTest]) -> str:
    """How items weigh and what became of infinite values, where that is not plain."""
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
                    *(_cell(results, row, column, by_pair.get(frozenset((row, column))), quantity) for column in order),
                ),
                key=row,
            )
            for row in order
        ),
        caption=f"Mean difference in {quantity_label(quantity)}{unit}, row less column, with its "
        f"{LEVEL_OF_INTERVALS:.0%} interval; {better} is better.",
        kind="pairs",
    )


def _cell(results: Results, row: str, column: str, test: PairTest | None, quantity: Quantity) -> Cell:
    if row == column:
        return Cell("·", title="the same method")
    apart = None if test is None else difference(results, test.one, test.other, quantity)
    if test is None or apart is None or test.difference is None:
        return Cell("no item of both")
    own = apart if test.one == row else apart.turned()
    leaf = metric_leaf(quantity.metric)
    mean = signed(own.mean, leaf.decimals)
    ends = "" if own.low is None or own.high is None else f"{signed(own.low, leaf.decimals)} to {signed(own.high, leaf.decimals)}"
    unit = f" {leaf.unit}" if leaf.unit else ""
    title = (
        f"{row} less {column}: {mean}{unit}; p {p_words(test.p)} before the correction, "
        f"{p_words(test.p_holm)} after; {count(test.n, 'item')} of {count(test.n_sources, 'source')}"
    )
    leads, verdict = _verdict(row, test)
    return Cell(mean, note=ends, below=verdict, title=title, strong=leads, method_colour=row)


def _verdict(row: str, test: PairTest) -> tuple[bool, str]:
    """Whether the method of a row leads, and the words for it."""
    if test.p_holm is None:
        return False, "not tested"
    p = f"p {p_words(test.p_holm)}"
    if test.p_holm >= LEVEL:
        return False, f"not told apart, {p}"
    return (True, f"▲ better, {p}") if test.one == row else (False, f"▼ worse, {p}")


def p_words(p: float | None) -> str:
    """Two digits, or a bound where it is smaller than anyone cares."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
