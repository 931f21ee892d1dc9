"""The folder of an alignment: tables, figures, and one HTML page with everything, which opens from disk by itself.

Figures are of one dimension: matching rates with their ceiling, and win ratios of people and metrics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inpaintbench.claims import too_few
from inpaintbench.errors import InputError
from inpaintbench.eval.results.quantity import Quantity, metric_label, quantity_label
from inpaintbench.files import replacing
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Column, Link, Row, Table, figure, method_styles, page, save_chart
from inpaintbench.pages.chart import looks, titled
from inpaintbench.pages.words import DASH, count, number
from inpaintbench.table_files import FORMULA, csv_bytes, json_bytes
from inpaintbench.wings.align.align import COMPARISON_COLUMNS, DEFINITION, Alignment, Dimension, Line
from inpaintbench.wings.align.bootstrap import Estimate, correlation_words, interval_words, rate_words, share
from inpaintbench.wings.align.win_ratios import KINDS, Selection, by_method

if TYPE_CHECKING:
    import altair
else:
    altair = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

_ESTIMATE = Estimate._fields[1:]  # behind the value, whose head says what it is
_WIN_RATIOS = ("dimension", "metric", "method", "item", "people", "metric_ratio", "answers")


def tables(found: Alignment) -> dict[str, bytes]:
    """Name -> CSV; None is an empty cell, shares are 0..1."""
    lines = [((dimension.name, line.metric), line) for dimension in found.dimensions for line in dimension.lines]
    verdicts = [((dimension.name, verdict.slice), verdict) for dimension in found.dimensions for verdict in dimension.verdicts]
    matching = (
        (*of, which, *estimate, line.matched.not_compared, *threshold)
        for of, line in lines
        for which, estimate, threshold in (
            ("all", line.matched.rate, line.threshold),
            ("preferences", line.matched.decided, (None, None)),  # no threshold plays a part
        )
    )
    correlations = ((*of, kind, *estimate) for of, line in lines for kind, estimate in line.correlations.items())
    win_ratios = (
        (*of, point.method, point.item, point.people, point.metric, point.answers)
        for of, line in lines
        for point in (*line.points, *by_method(line.points))
    )
    rates = ((*of, metric, *estimate) for of, verdict in verdicts for metric, estimate in verdict.rates.items())
    comparisons = ((*of, *comparison.plain().values()) for of, verdict in verdicts for comparison in verdict.comparisons)
    raters: list[tuple[Any, ...]] = []
    for dimension in found.dimensions:
        if of := dimension.ceiling:
            raters += [
                (dimension.name, "rater_against_others", *of.rater_against_others),
                (dimension.name, "preferences_against_others", *of.decided_against_others),
                (dimension.name, "two_raters", *of.two_raters),
                (dimension.name, "attainable", of.attainable, *[None] * len(_ESTIMATE)),
                (dimension.name, "ties", of.ties, *[None] * len(_ESTIMATE)),
            ]
    made = {
        "matching.csv": _csv(
            ("dimension", "metric", "answers", "rate", *_ESTIMATE, "not_compared", "tie_eps", "tie_eps_from"), matching
        ),
        "correlations.csv": _csv(("dimension", "metric", "kind", "value", *_ESTIMATE), correlations),
        "win_ratios.csv": _csv(_WIN_RATIOS, win_ratios),
        "raters.csv": _csv(("dimension", "what", "value", *_ESTIMATE), raters),
        "slices.csv": _csv(("dimension", "slice", "metric", "rate", *_ESTIMATE), rates),
        "comparisons.csv": _csv(("dimension", "slice", *COMPARISON_COLUMNS), comparisons),
    }
    if selections := [dimension.selection for dimension in found.dimensions if dimension.selection]:
        shares = (
            (selection.dimension, by, method, column.shares.get(method), column.rows, column.left_out, column.tied)
            for selection in selections
            for by, column in selection.columns.items()
            for method in selection.methods
        )
        made["selection.csv"] = _csv(("dimension", "by", "method", "share", "rows", "left_out", "tied"), shares)
    return made


def as_json(found: Alignment) -> bytes:
    """All numbers and definitions as JSON."""
    plain = {
        "title": found.title,
        "fingerprint": found.fingerprint,
        "digests": {name: dict(of) for name, of in found.digests.items()},
        "definition": list(DEFINITION),
        "bootstrap": found.bootstrap._asdict(),
        "baseline": found.family.baseline,
        "compared": [list(pair) for pair in found.family.pairs],
        "notes": list(found.notes),
        "left_out": dict(found.left_out),
        "unmeasured": dict(found.unmeasured),
        "dimensions": [_dimension_text(dimension) for dimension in found.dimensions],
    }
    return json_bytes(plain)


def as_markdown(found: Alignment) -> bytes:
    """The tables for reading, with the definitions."""
    lines = [f"# {_text_cell(found.title)}", "", *(line for note in found.notes for line in (_text_cell(note), ""))]
    for dimension in found.dimensions:
        lines += [f"## {_text_cell(dimension.name)}", "", dimension.asked + ".", ""]
        if dimension.lines:
            lines += ["| metric | matching rate | preferences alone | Pearson | Spearman | Kendall | n | tie threshold |"]
            lines += ["|---|---|---|---|---|---|---|---|", *map(_markdown_line, dimension.lines), ""]
        if dimension.ceiling:
            against = rate_words(dimension.ceiling.rater_against_others)
            lines += [f"A rater against the others: {against}; attainable {share(dimension.ceiling.attainable)}.", ""]
        lines += [f"- {_text_cell(verdict.slice)}: {_text_cell(verdict.sentence())}" for verdict in dimension.verdicts]
        lines.append("")
        if of := dimension.selection:
            lines += [f"| method | people | {' | '.join(map(_text_cell, of.metrics))} |", "|---" * (2 + len(of.metrics)) + "|"]
            for method in of.methods:
                shares = (share(column.shares.get(method)) for column in of.columns.values())
                lines.append(f"| {_text_cell(method)} | {' | '.join(shares)} |")
            lines.append("")
        lines += [f"- {_text_cell(name)} is not measured: {_text_cell(reason)}" for name, reason in dimension.unmeasured.items()]
    lines += [f"- {_text_cell(name)} is not measured: {_text_cell(reason)}" for name, reason in found.unmeasured.items()]
    lines += [f"- left out: {number:,} {why}" for why, number in found.left_out.items()]
    lines += ["", "## Definitions", "", *(f"- {sentence}" for sentence in DEFINITION)]
    return ("\n".join(lines) + "\n").encode()


def _markdown_line(line: Line) -> str:
    correlations = [correlation_words(line.correlations[kind]) for kind in KINDS]
    cells = [_text_cell(line.metric), rate_words(line.matched.rate), rate_words(line.matched.decided), *correlations]
    return f"| {' | '.join(cells)} | {line.matched.rate.n} | {line.threshold.value:.4g} |"


def _text_cell(words: str) -> str:
    return " ".join(words.replace("|", "\\|").split())


def _dimension_text(of: Dimension) -> dict[str, Any]:
    rated = of.ceiling
    return {
        "name": of.name, "answers": of.answers, "pairs": of.n_pairs, "sources": of.n_sources, "raters": of.n_raters,
        "ceiling": rated and {
            "rater_against_others": rated.rater_against_others._asdict(), "two_raters": rated.two_raters._asdict(),
            "preferences_against_others": rated.decided_against_others._asdict(),
            "attainable": rated.attainable, "ties": rated.ties,
        },
        "metrics": [
            {
                "metric": line.metric, "tie_eps": line.threshold.value, "tie_eps_from": line.threshold.origin,
                "rate": line.matched.rate._asdict(), "preferences": line.matched.decided._asdict(),
                "not_compared": line.matched.not_compared,
                **{kind: estimate._asdict() for kind, estimate in line.correlations.items()},
                "methods": [
                    {"method": point.method, "people": point.people, "metric": point.metric} for point in by_method(line.points)
                ],
            }
            for line in of.lines
        ],
        "slices": [
            {
                "slice": verdict.slice, "verdict": verdict.sentence(), "could_tell": verdict.could_tell,
                "least_p": verdict.least_p, "least_p_holm": verdict.least_p_holm,
                "rates": {metric: rate._asdict() for metric, rate in verdict.rates.items()},
                "comparisons": [comparison.plain() for comparison in verdict.comparisons],
            }
            for verdict in of.verdicts
        ],
        "selection": of.selection and {
            by: {"shares": dict(column.shares), "rows": column.rows, "left_out": column.left_out, "tied": column.tied,
                 "rate": column.rate and column.rate._asdict()}
            for by, column in of.selection.columns.items()
        },
        "unmeasured": dict(of.unmeasured),
    }  # fmt: skip


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    def spelt(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(FORMULA):
            return f"'{value}"  # a spreadsheet would run it
        return str(value).lower() if isinstance(value, bool) else value

    return csv_bytes(columns, ([spelt(value) for value in row] for row in rows))


# Pixels: height of a row, width of its plot, side of a scatter plot; and how many of these stand side by side.
_ROW, _PLOT, _SIDE, _ACROSS = 40, 340, 210, 4
# Ratios between the sides of a scatter plot and 0 or 1.
_INSET = 0.08
# Most ratios that the points of neighbouring methods are apart.
_ASIDE = 0.045
# What is counted, its colour, and its pixels below the middle of its row.
_KINDS = (("all answers", "#0072B2", -6), ("preferences alone", "#E69F00", 7))


def label_of(metric: str) -> str:
    """``PSNR in the hole`` for ``psnr/hole``; the name alone where a table states no region."""
    name, _, region = metric.partition("/")
    return quantity_label(Quantity(name, region)) if region else metric_label(name)


def rates_figure(dimension: Dimension) -> altair.LayerChart | altair.FacetChart:
    """Matching rate of each metric with its interval, over all answers and over preferences alone, beside the ceilings."""
    lines = _ranked(dimension.lines)
    labels = [label_of(line.metric) for line in lines]
    data: list[dict[str, object]] = []
    for line, label in zip(lines, labels, strict=True):
        all_of_them, decided = line.matched.rate, line.matched.decided
        words, n = f"all answers {rate_words(all_of_them)}, preferences alone {rate_words(decided)}", all_of_them.n
        for (name, _, _), one in zip(_KINDS, (all_of_them, decided), strict=True):
            if one.value is not None:
                rates = {"rate": one.value, "low": one.low, "high": one.high, "few": one.few}
                data.append({"metric": label, "name": name, "told": f"{label}: {words}, n {n}", **rates})
    data += [{"metric": label_of(line.metric), "words": rate_words(line.matched.rate)} for line in lines]
    ceilings: list[dict[str, object]] = []
    if of_raters := dimension.ceiling:
        for (name, _, _), one in zip(_KINDS, (of_raters.rater_against_others, of_raters.decided_against_others), strict=True):
            told_of = f"a rater against the others: {rate_words(one)}"
            ceilings += [{"ceiling": True, "name": name, "rate": one.value, "told": told_of}] if one.value is not None else []
    axis = altair.Axis(format="%", tickCount=5, labelFlush=False, grid=True, ticks=False, domain=False)
    x = altair.X("rate:Q", title=None, scale=altair.Scale(domain=[0, 1]), axis=axis)
    names = altair.Axis(ticks=False, domain=False, labelColor="var(--ink)")
    y = altair.Y("metric:N", title=None, scale=altair.Scale(domain=labels), axis=names)
    kinds = altair.Scale(domain=[name for name, _, _ in _KINDS], range=[of for _, of, _ in _KINDS])
    colour = altair.Color("name:N", scale=kinds, legend=altair.Legend(title=None, orient="top", symbolOpacity=1))
    told = altair.Description("told:N")
    layers: list[altair.Chart] = []
    for name, _, down in _KINDS:
        of = altair.Chart().transform_filter(f"datum.name == '{name}' && !datum.ceiling")
        whisker = of.mark_rule(strokeWidth=2.2, yOffset=down, aria=False)
        layers.append(whisker.encode(altair.X("low:Q"), y, colour, x2="high:Q"))
        for filled, when in ((True, "!datum.few"), (False, "datum.few")):
            dot = of.transform_filter(when).mark_point(size=80, filled=filled, strokeWidth=2, opacity=1, yOffset=down)
            layers.append(dot.encode(x, y, colour, description=told))
    dashed = altair.Chart().transform_filter("datum.ceiling").mark_rule(strokeDash=[4, 3], strokeWidth=1.6)
    texts = altair.Chart().transform_filter("datum.words").mark_text(align="left", color="var(--soft)", aria=False)
    layers += [dashed.encode(x, colour, description=told), texts.encode(y, x=altair.value(_PLOT + 14), text="words:N")]
    told_of_lines = ["Dashed lines: how often a rater says what most of the others say."] if ceilings else []
    title = titled(f"Matching rates: {dimension.name}", told_of_lines, width=_PLOT + 300)
    whole = altair.layer(*layers, data=altair.InlineData(values=[*data, *ceilings]), title=title)
    return whole.properties(width=_PLOT, height=_ROW * len(lines))


def _ranked(lines: Sequence[Line]) -> list[Line]:
    return sorted(lines, key=lambda one: (one.matched.rate.value is None, -(one.matched.rate.value or 0.0), one.metric))


def scatter_figure(dimension: Dimension) -> altair.ConcatChart:
    """Win ratio of every method on every item, by the metric across and by people upwards; a plot for each metric."""
    lines = [one for one in _ranked(dimension.lines) if one.points]
    methods = sorted({point.method for one in lines for point in one.points})
    # Points of each method a little to the right of those before it, so that equal ratios of several stay apart.
    step, data = min(_ASIDE, 0.13 / max(1, len(methods))), []
    for one in lines:
        for point in one.points:
            aside = (methods.index(point.method) - (len(methods) - 1) / 2) * step
            told = f"people {point.people:.2f}, metric {point.metric:.2f}, {count(point.answers, 'answer')}"
            told = f"{point.method} on {point.item}: {told}"
            across = point.metric + aside
            data.append({"metric": one.metric, "name": point.method, "told": told, "people": point.people, "across": across})
    scale = altair.Scale(domain=[-_INSET, 1 + _INSET], nice=False)
    axis = altair.Axis(values=[0, 0.5, 1], grid=True, ticks=False, domain=False)
    colour, shape = looks(method_styles(methods))
    plots = []
    for one in lines:
        line = altair.Chart(altair.InlineData(values=[{"across": 0, "people": 0}, {"across": 1, "people": 1}]))
        points = altair.Chart().transform_filter(altair.FieldEqualPredicate(field="metric", equal=one.metric))
        heading = altair.TitleParams(
            label_of(one.metric), subtitle=f"Spearman {correlation_words(one.correlations['spearman'])}", fontSize=13, offset=8
        )
        x, y = altair.X("across:Q", title=None, scale=scale, axis=axis), altair.Y("people:Q", title=None, scale=scale, axis=axis)
        drawn = (
            line.mark_line(color="var(--strong-line)", strokeWidth=1, aria=False).encode(x, y),
            points.mark_point(filled=True, size=60, opacity=0.8).encode(x, y, colour, shape, description="told:N"),
        )
        plots.append(altair.layer(*drawn, title=heading).properties(width=_SIDE, height=_SIDE))
    across = min(_ACROSS, len(plots))
    title = titled(
        f"Win ratios: {dimension.name}",
        ["A dot for each method and item, those of each method moved a little aside. Across: the metric. Upwards: people."],
        width=across * (_SIDE + 40),
    )
    return altair.concat(*plots, data=altair.InlineData(values=data), columns=across, title=title)


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
    data = {**tables(found), "alignment.json": as_json(found), "alignment.md": as_markdown(found)}
    figures: dict[str, dict[str, altair.TopLevelMixin]] = {}
    for place, dimension in enumerate(found.dimensions, start=1):
        charts = figures.setdefault(dimension.name, {})
        name = f"{place}-{re.sub(r'[^A-Za-z0-9_.-]', '_', dimension.name)[:80]}"
        if dimension.lines:
            charts[f"rates-{name}"] = rates_figure(dimension)
        if any(line.points for line in dimension.lines):
            charts[f"scatter-{name}"] = scatter_figure(dimension)
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
