"""One HTML page with everything; it opens from disk and asks for nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair

from inpaintbench.claims import too_few
from inpaintbench.eval.alignment import selection
from inpaintbench.eval.alignment.align import DEFINITION, Alignment, Dimension, Line
from inpaintbench.eval.alignment.bootstrap import Estimate
from inpaintbench.eval.alignment.plots import label_of
from inpaintbench.eval.alignment.win_ratios import KINDS
from inpaintbench.eval.alignment.words import asked, correlation_interval, rate_interval, rate_words, share
from inpaintbench.pages import Cell, Column, Link, Row, Table, figure, page
from inpaintbench.pages.words import DASH, count, number

_HEADS = ("Matching rate", "Preferences alone", *(kind.capitalize() for kind in KINDS), "Tie threshold", "Left out")


def render(found: Alignment, figures: Mapping[str, Mapping[str, altair.TopLevelMixin]], files: Sequence[str]) -> str:
    """The page as text.

    Args:
        found: everything.
        figures: dimension -> charts by the names of their files without an ending.
        files: names of the files with data.
    """
    of = [_dimension(one, figures.get(one.name, {})) for one in found.dimensions]
    return page(
        "eval/alignment/page.html",
        title=found.title,
        links=[
            Link("#overview", "Overview"),
            *(Link(f"#d{place}", one.name) for place, one in enumerate(found.dimensions)),
            Link("#definitions", "Definitions"),
        ],
        overview=_overview(found),
        files=files,
        dimensions=of,
        definition=DEFINITION,
        gaps=[
            *(f"{label_of(name)} is not measured: {reason}." for name, reason in found.unmeasured.items()),
            *(f"Left out: {n:,} {why}." for why, n in found.left_out.items()),
        ],
    )


def _overview(found: Alignment) -> Table | None:
    metrics = list(dict.fromkeys(one.metric for dimension in found.dimensions for one in dimension.lines))
    rows = []
    for dimension in found.dimensions:
        if not dimension.lines:
            continue
        rates = {one.metric: one.matched.rate for one in dimension.lines}
        better = dimension.verdicts[0].better
        cells = [_rate(rates.get(metric), told=metric in better) for metric in metrics]
        against = dimension.ceiling.rater_against_others if dimension.ceiling else None
        rows.append(Row((Cell(dimension.name), *cells, _rate(against))))
    heads = [*map(label_of, metrics), "A rater against the others"]
    return _table("Matching rates", ["Asked"], heads, rows) if metrics else None


def _dimension(of: Dimension, figures: Mapping[str, altair.TopLevelMixin]) -> dict[str, object]:
    """What the template shows of one dimension."""
    better = of.verdicts[0].better if of.lines else ()
    drawn = [
        figure(chart, label=f"{kind} under {of.name}", files=[f"{name}.{ending}" for ending in ("svg", "pdf")])
        for (name, chart), kind in zip(figures.items(), ("Matching rates", "Win ratios"), strict=False)
    ]
    lines = _table("Metrics", ["Metric"], _HEADS, [_line(one, told=one.metric in better) for one in of.lines])
    return {
        "name": of.name,
        "asked": asked(of),
        "verdict": of.verdicts[0].sentence(label_of) if of.verdicts else "",
        "agreement": _agreement(of) if of.ceiling else "",
        "lines": lines if of.lines else None,
        "figures": drawn,
        "slices": _slices(of) if len(of.verdicts) > 1 else None,
        "selection": _selection(of.selection) if of.selection else None,
        "unmeasured": [f"{label_of(name)} has no number here: {reason}." for name, reason in of.unmeasured.items()],
    }


def _agreement(of: Dimension) -> str:
    assert of.ceiling is not None
    against, two = of.ceiling.rater_against_others, of.ceiling.two_raters
    if against.value is None:
        return f"No ceiling: {against.reason or ''}."
    return (
        f"Ceiling: a rater says what most of the others say in {rate_words(against)} of the answers, and the same as one other "
        f"rater in {rate_words(two)}. No metric could match more than {share(of.ceiling.attainable)} of them. "
        f"{share(of.ceiling.ties)} are ties."
    )


def _line(one: Line, *, told: bool) -> Row:
    rates = [_rate(one.matched.rate, told=told), _rate(one.matched.decided)]
    correlations = [_correlation(one.correlations[kind]) for kind in KINDS]
    threshold = Cell(f"{one.threshold.value:.4g}", below=one.threshold.origin.partition(" of ")[0])
    left_out = Cell(f"{one.matched.not_compared:,}" if one.matched.not_compared else DASH)
    return Row((Cell(label_of(one.metric)), *rates, *correlations, threshold, left_out))


def _rate(one: Estimate | None, *, told: bool = False) -> Cell:
    """``told``: a test told the metric from another, so it may stand out."""
    return Cell(DASH) if one is None else _cell(share(one.value), rate_interval(one), one, best=told)


def _correlation(one: Estimate) -> Cell:
    return _cell(number(one.value, 2), correlation_interval(one), one, best=False)


def _cell(words: str, interval: str, one: Estimate, *, best: bool) -> Cell:
    told = f"n {one.n:,}, {count(one.n_sources, 'source')}" + (f"; {one.reason}" if one.reason else "")
    return Cell(words, below=interval.strip(), title=told, strong=best)


def _slices(of: Dimension) -> Table:
    metrics = [one.metric for one in of.lines]
    rows = []
    for verdict in of.verdicts:
        cells = [_rate(verdict.rates.get(metric), told=metric in verdict.better) for metric in metrics]
        n = max((one.n for one in verdict.rates.values()), default=0)
        rows.append(Row((Cell(verdict.slice), Cell(f"{n:,}"), *cells, Cell(verdict.sentence(label_of)))))
    return _table("Which metric to trust where", ["Slice"], ["Answers", *map(label_of, metrics)], rows, ["Verdict"])


def _selection(of: selection.Selection) -> Table:
    columns = [of.people, *of.metrics.values()]
    rows = [Row((Cell(method), *(_share(column, method) for column in columns))) for method in of.methods]
    rates = [_rate(column.rate) for column in of.metrics.values()]
    rows.append(Row((Cell("Answers that choose the metric's best"), Cell(DASH), *rates)))
    told = [Cell(column.rows, below=_lost(column.left_out, column.tied)) for column in columns]
    rows.append(Row((Cell("Rows of results"), *told)))
    title = "Selection frequencies: the best of a row"
    return _table(title, ["Method"], ["People", *map(label_of, of.metrics)], rows)


def _share(column: selection.Column, method: str) -> Cell:
    value = column.shares.get(method)
    best = value is not None and value == max(column.shares.values()) and not too_few(column.n_sources)
    return Cell(share(value), strong=best)


def _lost(left_out: int, tied: int) -> str:
    parts = [f"{left_out} left out"] * bool(left_out) + [f"{tied} tied"] * bool(tied)
    return ", ".join(parts)


def _table(label: str, first: Sequence[str], numbers: Sequence[str], rows: Sequence[Row], last: Sequence[str] = ()) -> Table:
    columns = [
        *map(Column, first),
        *(Column(head, numeric=True) for head in numbers),
        *(Column(head, wide=True) for head in last),
    ]
    return Table(tuple(columns), tuple(rows), label=label)
