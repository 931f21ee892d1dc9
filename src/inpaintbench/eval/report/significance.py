"""Which differences between methods are more than chance: a matrix for each metric and region."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from inpaintbench.eval.comparing import PairTest
from inpaintbench.eval.report.differences import Difference, difference
from inpaintbench.eval.report.labels import method_colours, quantity_label, quantity_title
from inpaintbench.eval.report.markup import SCROLLS, breakable, count, method_name, only_for, signed
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.tables import Results
from inpaintbench.eval.statistics import LEVEL as LEVEL_OF_INTERVALS

LEVEL = 0.05
"""Below it a corrected p is called significant."""


def significance_section(results: Results) -> str:
    """The whole section; empty where there are no two methods to compare."""
    if len(results.contenders) < 2:
        return ""
    blocks = "\n".join(_block(results, quantity) for quantity in results.quantities if quantity.ranked)
    return f"""<section id="significance" aria-labelledby="significance-title">
  <h2 id="significance-title">Which leads are more than chance</h2>
  <p class="lead">Paired permutation tests over all items; the signs of differences are flipped source by source. p is corrected
  for the number of pairs (Holm). ▲ marks a row that is better than its column at {LEVEL:g}, ▼ one that is worse; other pairs
  could as well differ by chance. Intervals are of one pair each, without the correction.</p>
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
        reasons = Counter(str(test.reason) for test in tests)
        # Pairs that differ in what they lack would otherwise contradict one another in one sentence.
        told = [reason if len(reasons) == 1 else f"{reason} ({count(pairs, 'pair')})" for reason, pairs in reasons.items()]
        body = f'<p class="note">No test: {escape("; ".join(told))}.</p>'
    else:
        words = f"{_rests_on(tests)}{_settled(results, quantity, tests)}"
        body = _matrix(results, quantity, tests) + f'<p class="note">{escape(words)}</p>'
    heading = quantity_title(quantity)
    return f'<div class="scroll" {only_for(quantity)}{SCROLLS}><h3>{escape(heading)}</h3>{body}</div>'


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
    names = {method: method_name(method, colours[method]) for method in results.contenders}
    by_pair = {frozenset((test.one, test.other)): test for test in tests}
    apart = {frozenset((test.one, test.other)): difference(results, test.one, test.other, quantity) for test in tests}
    heads = "".join(f'<th scope="col">{names[method]}</th>' for method in results.contenders)
    rows = "\n".join(
        f'<tr style="--method:{colours[row]}"><th scope="row">{names[row]}</th>'
        + "".join(
            _cell(row, column, by_pair.get(pair), apart.get(pair), quantity) for column, pair in _pairs(row, results.contenders)
        )
        + "</tr>"
        for row in results.contenders
    )
    leaf = metric_leaf(quantity.metric)
    unit = f" ({leaf.unit})" if leaf.unit else ""
    better = "higher" if quantity.higher_is_better else "lower"
    caption = escape(
        f"Mean difference in {quantity_label(quantity)}{unit}, row less column, with its "
        f"{LEVEL_OF_INTERVALS:.0%} interval; {better} is better."
    )
    corner = '<th scope="col">row less column</th>'
    head = f"<caption>{caption}</caption><thead><tr>{corner}{heads}</tr></thead>"
    return f'<table class="pairs">{head}<tbody>\n{rows}\n</tbody></table>'


def _pairs(row: str, methods: Sequence[str]) -> list[tuple[str, frozenset[str]]]:
    return [(column, frozenset((row, column))) for column in methods]


def _cell(row: str, column: str, test: PairTest | None, apart: Difference | None, quantity: Quantity) -> str:
    if row == column:
        return '<td class="same"><span aria-label="the same method">·</span></td>'
    if test is None or apart is None or test.difference is None:
        return '<td class="none">no item of both</td>'
    own = apart if test.one == row else apart.turned()
    leaf = metric_leaf(quantity.metric)
    tag = "span" if test.p is None else "b"
    values = f"<{tag} class='apart'>{signed(own.mean, decimals=leaf.decimals)}</{tag}>" + (
        ""
        if own.low is None or own.high is None
        else f"<small>{signed(own.low, decimals=leaf.decimals)} to {signed(own.high, decimals=leaf.decimals)}</small>"
    )
    kind, verdict = _verdict(row, test)
    unit = f" {leaf.unit}" if leaf.unit else ""
    title = (
        f"{row} less {column}: {signed(own.mean, decimals=leaf.decimals)}{unit}; p {p_words(test.p)} before the correction, "
        f"{p_words(test.p_holm)} after; {count(test.n, 'item')} of {count(test.n_sources, 'source')}"
    )
    return f'<td class="{kind}" title="{escape(title)}">{values}<span class="verdict">{verdict}</span></td>'


def _verdict(row: str, test: PairTest) -> tuple[str, str]:
    """Class and words of a cell: who leads, or that nobody can be told to."""
    if test.p_holm is None:
        return "open", "not tested"
    p = f"p {breakable(p_words(test.p_holm))}"
    if test.p_holm >= LEVEL:
        return "open", f"not told apart, {p}"
    return ("beats", f"▲ better, {p}") if test.one == row else ("beaten", f"▼ worse, {p}")


def p_words(p: float | None) -> str:
    """Two digits, or a bound where it is smaller than anyone cares."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
