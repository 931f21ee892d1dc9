"""Tests of the differences between methods: a matrix for each metric and region."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from inpaintbench.eval.comparing.permutation import PairTest
from inpaintbench.eval.comparing.statistics import LEVEL as LEVEL_OF_INTERVALS
from inpaintbench.eval.comparing.statistics import Summary, summarise
from inpaintbench.eval.report.labels import quantity_label
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.tables import Results
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import count, signed

# Below it a corrected p is called significant.
LEVEL = 0.05


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
    """Numbers of items and sources, with a warning where so few cannot give a significant p."""
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
    """Return whether the method of a row leads, and the words for that."""
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


class Difference(NamedTuple):
    """The mean of one method less that of another, over the same items."""

    mean: float
    low: float | None
    """Lower end of the interval over sources; None with too few of them."""
    high: float | None

    def turned(self) -> Difference:
        """The other method less the one."""
        low = None if self.high is None else -self.high
        return Difference(-self.mean, low, None if self.low is None else -self.low)


# The page and the JSON beside it ask for the same ones.
_FOUND: WeakKeyDictionary[Results, dict[tuple[str, str, Quantity], Difference | None]] = WeakKeyDictionary()


def difference(results: Results, one: str, other: str, quantity: Quantity) -> Difference | None:
    """``one`` less ``other``, item by item, as the paired test takes them; None where no item has a finite value of both."""
    known = _FOUND.setdefault(results, {})
    key = (one, other, quantity)
    if key not in known:
        known[key] = _difference(results, one, other, quantity)
    return known[key]


def _difference(results: Results, one: str, other: str, quantity: Quantity) -> Difference | None:
    left, right = (_column(results, method, quantity) for method in (one, other))
    apart = [a - b if a is not None and b is not None else None for a, b in zip(left, right, strict=True)]
    shares = None
    if results.protocol.averaging == "all_frames":
        shares = [
            (results.weight(one, item_id, quantity) + results.weight(other, item_id, quantity)) / 2 for item_id in results.sources
        ]
    found: Summary = summarise(apart, clusters=list(results.sources.values()), weights=shares)
    return None if found.mean is None else Difference(found.mean, found.interval_low, found.interval_high)


def _column(results: Results, method: str, quantity: Quantity) -> Sequence[float | None]:
    """A method's finite values; infinite ones as the protocol counts them in means."""
    values = [results.value(method, item_id, quantity) for item_id in results.sources]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if results.infinite_rule(quantity.metric) == "largest_finite" and finite:
        values = [None if value is None else min(value, max(finite)) for value in values]
    return [value if value is not None and math.isfinite(value) else None for value in values]
