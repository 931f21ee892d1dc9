"""Which differences between methods are more than chance: a matrix for each metric and region."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from inpaintbench.eval.comparing import PairTest
from inpaintbench.eval.report.labels import method_colours, metric_title, region_label
from inpaintbench.eval.report.markup import breakable, count, method_name, number, only_for
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.tables import Results

LEVEL = 0.05
"""Below it a corrected p is called significant."""


def significance_section(results: Results) -> str:
    """The whole section; empty where there are no two methods to compare."""
    if len(results.methods) < 2:
        return ""
    blocks = "\n".join(_block(results, quantity) for quantity in results.quantities if quantity.ranked)
    return f"""<section id="significance">
  <h2>Which leads are more than chance</h2>
  <p class="lead">Paired permutation tests over all items; the signs of differences are flipped source by source. p is corrected
  for the number of pairs (Holm). A tick marks a row that beats its column at {LEVEL:g}.</p>
{blocks}
</section>"""


def _block(results: Results, quantity: Quantity) -> str:
    tests = results.pair_tests(quantity)
    if quantity.of_sets:
        body = (
            '<p class="note">One number for many items cannot be tested item by item. Where enough sources and little computing '
            "give it an interval, that is in the table above; where it says “no interval”, nothing tells a lead from chance.</p>"
        )
    elif all(test.p is None for test in tests):
        reasons = list(dict.fromkeys(str(test.reason) for test in tests))
        body = f'<p class="note">No test: {escape("; ".join(reasons))}.</p>'
    else:
        words = f"{_rests_on(tests)}{_settled(results, quantity, tests)}"
        body = _matrix(results, quantity, tests) + f'<p class="note">{escape(words)}</p>'
    heading = f"{metric_title(quantity.metric)} in the {region_label(quantity.region)}"
    return f'<div class="scroll" {only_for(quantity)}><h3>{escape(heading)}</h3>{body}</div>'


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


def _matrix(results: Results, quantity: Quantity, tests: Sequence[PairTest]) -> str:
    colours = method_colours(results.methods)
    names = {method: method_name(method, colours[method]) for method in results.methods}
    by_pair = {frozenset((test.one, test.other)): test for test in tests}
    heads = "".join(f'<th scope="col">{names[method]}</th>' for method in results.methods)
    rows = "\n".join(
        f'<tr style="--method:{colours[row]}"><th scope="row">{names[row]}</th>'
        + "".join(_cell(row, column, by_pair.get(frozenset((row, column))), quantity) for column in results.methods)
        + "</tr>"
        for row in results.methods
    )
    return f'<table class="pairs"><thead><tr><th scope="col">beats</th>{heads}</tr></thead><tbody>\n{rows}\n</tbody></table>'


def _cell(row: str, column: str, test: PairTest | None, quantity: Quantity) -> str:
    if test is None or test.p_holm is None or test.difference is None or test.one != row:
        return "<td></td>"
    leaf = metric_leaf(quantity.metric)
    difference = number(test.difference, decimals=leaf.decimals) + (f" {leaf.unit}" if leaf.unit else "")
    title = (
        f"{row} less {column}: {difference}; p {_p(test.p)} before the correction, {_p(test.p_holm)} after; "
        f"{count(test.n, 'item')} of {count(test.n_sources, 'source')}"
    )
    kind, mark = ("beats", "<b>✓</b> ") if test.p_holm < LEVEL else ("", "")
    return f'<td class="{kind}" title="{escape(title)}">{mark}p {breakable(_p(test.p_holm))}</td>'


def _p(p: float | None) -> str:
    """Two digits, or a bound where it is smaller than anyone cares."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
