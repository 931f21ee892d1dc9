"""The folder of an alignment: tables, figures, and one HTML page with everything, which opens from disk and asks for nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inpaintbench.claims import too_few
from inpaintbench.errors import InputError
from inpaintbench.files import replacing
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Column, Link, Row, Table, figure, page, save_chart
from inpaintbench.pages.words import DASH, count, number
from inpaintbench.wings.align import files, plots
from inpaintbench.wings.align.align import DEFINITION, Alignment, Dimension
from inpaintbench.wings.align.bootstrap import Estimate, interval_words, rate_words, share
from inpaintbench.wings.align.plots import label_of
from inpaintbench.wings.align.win_ratios import KINDS, Selection

if TYPE_CHECKING:
    import altair
else:
    altair = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

# Every name that a folder of an alignment may hold; a folder with another is somebody's own and never replaced.
PAGE = "alignment.html"
_TABLES = "matching|correlations|win_ratios|raters|slices|comparisons|selection"
_OURS = re.compile(rf"alignment\.(html|json|md)|({_TABLES})\.csv|(rates|scatter)-\d+-[A-Za-z0-9_.-]*\.(svg|pdf)")
_HEADS = ("Matching rate", "Preferences alone", *(kind.capitalize() for kind in KINDS), "Tie threshold", "Left out")


def write_alignment(folder: Path, found: Alignment) -> Path:
    """Write a page, tables as CSV, all of it as JSON and Markdown, and figures as SVG and PDF.

    Equal input gives equal bytes. An earlier alignment in the folder is replaced as a whole.

    Returns:
        The path of the page.

    Raises:
        InputError: the folder holds something else than an alignment.
    """
    ours = folder.is_dir() and all(path.is_file() and _OURS.fullmatch(path.name) for path in folder.iterdir())
    if folder.exists() and not ours:
        raise InputError(f"{str(folder)!r} holds something else than an alignment; choose another folder")
    data = {**files.tables(found), "alignment.json": files.as_json(found), "alignment.md": files.as_markdown(found)}
    figures: dict[str, dict[str, altair.TopLevelMixin]] = {}
    for place, dimension in enumerate(found.dimensions, start=1):
        charts = figures.setdefault(dimension.name, {})
        name = f"{place}-{re.sub(r'[^A-Za-z0-9_.-]', '_', dimension.name)[:80]}"
        if dimension.lines:
            charts[f"rates-{name}"] = plots.rates_figure(dimension)
        if any(line.points for line in dimension.lines):
            charts[f"scatter-{name}"] = plots.scatter_figure(dimension)
    text = render(found, figures, list(data))
    with replacing(folder, what="alignment ") as made:
        (made / PAGE).write_text(text, encoding="utf-8")
        for name, content in data.items():
            (made / name).write_bytes(content)
        for charts in figures.values():
            for name, chart in charts.items():
                for kind in ("svg", "pdf"):
                    save_chart(chart, made / f"{name}.{kind}")
    return folder / PAGE


def render(found: Alignment, figures: Mapping[str, Mapping[str, altair.TopLevelMixin]], names: Sequence[str]) -> str:
    """The page as text.

    Args:
        found: everything.
        figures: dimension -> charts by the names of their files without an ending.
        names: of the files with data.
    """
    return page(
        "wings/align/page.html",
        title=found.title,
        links=[
            Link("#overview", "Overview"),
            *(Link(f"#d{place}", one.name) for place, one in enumerate(found.dimensions)),
            Link("#definitions", "Definitions"),
        ],
        overview=_overview(found),
        notes=found.notes,
        files=names,
        dimensions=[_dimension(dimension, figures.get(dimension.name, {})) for dimension in found.dimensions],
        definition=DEFINITION,
        gaps=[
            *(f"{label_of(name)} is not measured: {reason}." for name, reason in found.unmeasured.items()),
            *(f"Left out: {n:,} {why}." for why, n in found.left_out.items()),
        ],
    )


def _overview(found: Alignment) -> Table | None:
    metrics = list(dict.fromkeys(line.metric for dimension in found.dimensions for line in dimension.lines))
    rows = []
    for dimension in found.dimensions:
        if not dimension.lines:
            continue
        rates = {line.metric: line.matched.rate for line in dimension.lines}
        better = dimension.verdicts[0].better
        cells = [_rate(rates.get(metric), told=metric in better) for metric in metrics]
        against = dimension.ceiling.rater_against_others if dimension.ceiling else None
        rows.append(Row((Cell(dimension.name), *cells, _rate(against))))
    heads = [*map(label_of, metrics), "A rater against the others"]
    return _table("Matching rates", ["Asked"], heads, rows) if metrics else None


def _dimension(of: Dimension, figures: Mapping[str, altair.TopLevelMixin]) -> dict[str, object]:
    """Fields of the template for one dimension."""
    better, agreement = of.verdicts[0].better if of.lines else (), ""
    if of.ceiling:
        against, two = of.ceiling.rater_against_others, of.ceiling.two_raters
        agreement = (
            f"Ceiling: a rater says what most of the others say in {rate_words(against)} of the answers, and the same as one "
            f"other rater in {rate_words(two)}. No metric could match more than {share(of.ceiling.attainable)} of them. "
            f"{share(of.ceiling.ties)} are ties."
        )
        if against.value is None:
            agreement = f"No ceiling: {against.reason or ''}."
    drawn = [
        figure(chart, label=f"{kind} under {of.name}", files=[f"{name}.{ending}" for ending in ("svg", "pdf")])
        for (name, chart), kind in zip(figures.items(), ("Matching rates", "Win ratios"), strict=False)
    ]
    rows = []
    for line in of.lines:
        rates = [_rate(line.matched.rate, told=line.metric in better), _rate(line.matched.decided)]
        estimates = [line.correlations[kind] for kind in KINDS if kind in line.correlations]
        correlations = [_cell(number(estimate.value, 2), estimate, percent=False) for estimate in estimates]
        threshold = Cell(f"{line.threshold.value:.4g}", below=line.threshold.origin.partition(" of ")[0])
        left_out = Cell(f"{line.matched.not_compared:,}" if line.matched.not_compared else DASH)
        rows.append(Row((Cell(label_of(line.metric)), *rates, *correlations, threshold, left_out)))
    return {
        "name": of.name,
        "asked": of.asked,
        "verdict": of.verdicts[0].sentence(label_of) if of.verdicts else "",
        "agreement": agreement,
        "lines": _table("Metrics", ["Metric"], _HEADS, rows) if rows else None,
        "figures": drawn,
        "slices": _slices(of) if len(of.verdicts) > 1 else None,
        "selection": _selection(of.selection) if of.selection else None,
        "unmeasured": [f"{label_of(name)} has no number here: {reason}." for name, reason in of.unmeasured.items()],
    }


def _rate(estimate: Estimate | None, *, told: bool = False) -> Cell:
    """A rate in per cent; ``told``: a test told the metric from another, so it may stand out."""
    return Cell(DASH) if estimate is None else _cell(share(estimate.value), estimate, percent=True, strong=told)


def _cell(words: str, estimate: Estimate, *, percent: bool, strong: bool = False) -> Cell:
    title = f"n {estimate.n:,}, {count(estimate.n_sources, 'source')}" + (f"; {estimate.reason}" if estimate.reason else "")
    return Cell(words, below=interval_words(estimate, percent=percent).strip(), title=title, strong=strong)


def _slices(of: Dimension) -> Table:
    metrics = [line.metric for line in of.lines]
    rows = []
    for verdict in of.verdicts:
        cells = [_rate(verdict.rates.get(metric), told=metric in verdict.better) for metric in metrics]
        n = max((rate.n for rate in verdict.rates.values()), default=0)
        rows.append(Row((Cell(verdict.slice), Cell(f"{n:,}"), *cells, Cell(verdict.sentence(label_of)))))
    return _table("Which metric to trust where", ["Slice"], ["Answers", *map(label_of, metrics)], rows, ["Verdict"])


def _selection(of: Selection) -> Table:
    columns = of.columns.values()
    rows = []
    for method in of.methods:
        cells = [Cell(method)]
        for column in columns:
            value = column.shares.get(method)
            best = value is not None and value == max(column.shares.values()) and not too_few(column.n_sources)
            cells.append(Cell(share(value), strong=best))
        rows.append(Row(tuple(cells)))
    rows.append(Row((Cell("Answers that choose the metric's best"), *(_rate(column.rate) for column in columns))))
    counts = []
    for column in columns:
        lost = ", ".join(f"{n} {what}" for n, what in ((column.left_out, "left out"), (column.tied, "tied")) if n)
        counts.append(Cell(column.rows, below=lost))
    rows.append(Row((Cell("Rows of results"), *counts)))
    title = "Selection frequencies: the best of a row"
    return _table(title, ["Method"], ["People", *map(label_of, of.metrics)], rows)


def _table(label: str, first: Sequence[str], numbers: Sequence[str], rows: Sequence[Row], last: Sequence[str] = ()) -> Table:
    columns = [
        *map(Column, first),
        *(Column(head, numeric=True) for head in numbers),
        *(Column(head, wide=True) for head in last),
    ]
    return Table(tuple(columns), tuple(rows), label=label)
