"""One HTML page with the tables and figures of an analysis; it opens from disk and asks for nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import altair

from inpaintbench.eval.analysis.files import mean_words, ranked_words
from inpaintbench.eval.analysis.means import Means, Measure
from inpaintbench.eval.analysis.tables import improvements, ranking, table_1
from inpaintbench.pages import Cell, Column, Link, Row, Table, figure, page
from inpaintbench.pages.tables import simple
from inpaintbench.pages.words import number

# Least widths of the columns of Table 1.
_NAMES_PIXELS, _COLUMN_PIXELS = 160, 128
_LINKS = (
    Link("#table-1", "Table 1"), Link("#table-2", "Table 2"), Link("#figures", "Figures"), Link("#gaps", "What is missing")
)  # fmt: skip


def render(means: Means, figures: Mapping[str, altair.ConcatChart]) -> str:
    """The page as text; ``figures`` are charts by the names of their files without an ending, in the order of the page."""
    return page(
        "eval/analysis/page.html",
        title=f"Analysis: {means.title}",
        links=_LINKS,
        means=means,
        least=_NAMES_PIXELS + _COLUMN_PIXELS * len(means.measures),
        table_1=[(_slice_table(means, name), " ".join(means.sizes(name))) for name in means.slices],
        table_2=[_ranking_table(means, measure) for measure in means.ranked_measures],
        figures=[
            figure(chart, label=chart.title.text, files=[f"{name}.{kind}" for kind in ("svg", "pdf")])
            for name, chart in figures.items()
        ],
        gaps=_gaps(means),
    )


def _slice_table(means: Means, name: str) -> Table:
    heads = [measure.title + _marks(means, name, measure) for measure in means.measures]
    columns = (Column("Method"), *(Column(head, numeric=True) for head in heads))
    of = {
        method: Row((Cell(means.named(method)), *(_cell(means, name, method, measure) for measure in means.measures)))
        for method in means.methods
    }
    mean = Row((Cell("Mean of methods"), *(Cell(mean_words(means, name, measure)) for measure in means.measures)), kind="total")
    rows = [*(of[method] for method in means.contenders), mean, *(of[method] for method in means.references)]
    return Table(columns, tuple(rows), label=means.slice_label(name))


def _marks(means: Means, name: str, measure: Measure) -> str:
    return means.marks([name], measure).replace(" ", "\u00a0")


def _cell(means: Means, name: str, method: str, measure: Measure) -> Cell:
    cell = means.cell(name, method, measure)
    best = dict(ranking(means, name, measure).places).get(method) == 1 and len(means.contenders) > 1
    error = "" if cell.standard_error is None else f"± {number(cell.standard_error, measure.decimals)}"
    marks = "*" * (cell.reason is not None) + "\u00a0‡" * (cell.warning is not None)
    told = " · ".join(part for part in (error, cell.reason, cell.warning) if part)
    return Cell(number(cell.mean, measure.decimals) + marks, title=told, strong=best)


def _ranking_table(means: Means, measure: Measure) -> Table:
    heads = [means.slice_label(name) + _marks(means, name, measure) for name in means.slices]
    orders = [ranked_words(means, name, measure) for name in means.slices]
    rows = [Row((Cell(place), *map(Cell, methods))) for place, methods in enumerate(zip(*orders, strict=True), start=1)]
    return Table((Column("Place"), *map(Column, heads)), tuple(rows), label=measure.title)


def _gaps(means: Means) -> Table:
    """Every number that is not there or leaves something out, by method and reason."""
    gaps: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for where, measure, method, reason in _reasons(means):
        metrics, places = gaps.setdefault((method, reason), ({}, {}))
        metrics[measure] = places[where] = None
    rows: list[list[object]] = [
        [method, ", ".join(metrics), _where(means, places), reason] for (method, reason), (metrics, places) in gaps.items()
    ]
    return simple(["Method", "Metric", "Where", "Reason"], rows, label="What is missing or left out")


def _reasons(means: Means) -> Iterator[tuple[str, str, str, str]]:
    """Where, metric, method and reason of each gap; an improvement without a value is one where its slices have theirs."""
    for one in table_1(means):
        if one.cell.reason is not None:
            yield means.slice_label(one.slice), one.measure.label, one.method, one.cell.reason
    for lacking in improvements(means):
        pair = next(pair for pair in means.pairs if pair.attribute == lacking.attribute)
        cells = [means.cell(name, lacking.method, lacking.measure) for name in (pair.low, pair.high)]
        if lacking.reason is not None and None not in [cell.mean for cell in cells]:
            where = f"{means.attribute_label(lacking.attribute)}, improvement"
            yield where, lacking.measure.label, lacking.method, lacking.reason
    for attribute, level in means.half_pairs:
        yield f"{means.attribute_label(attribute)}, improvement", "all", "all", f"there is no {level} slice"


def _where(means: Means, places: Collection[str]) -> str:
    return "every slice" if set(places) == set(map(means.slice_label, means.slices)) else "; ".join(places)
