"""Write the folder of an analysis: tables as CSV and Markdown, figures, and one HTML page that holds them all."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.errors import InputError
from inpaintbench.eval.analysis.means import (
    Means,
    Measure,
    Pair,
    Spread,
    best,
    difficulty,
    improvement,
    improvements,
    over_methods,
    over_slices,
    places,
    ranking,
    table_1,
    table_2,
)
from inpaintbench.eval.results.slices import split_level
from inpaintbench.files import replacing
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Column, Link, Row, Table, figure, method_styles, page, save_chart
from inpaintbench.pages.chart import Mark, Panel, Reference, chart
from inpaintbench.pages.plots import specification
from inpaintbench.pages.tables import simple
from inpaintbench.pages.words import count, number, signed_percent
from inpaintbench.table_files import canonical_bytes, csv_bytes

if TYPE_CHECKING:
    import altair
else:
    altair = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

_MEASURE = ("metric", "region", "measure", "unit", "higher_is_better", "standing")
_TABLE_1 = (
    "slice", "attribute", "setting", "method", *_MEASURE, "mean", "standard_error", "n", "n_vectors", "dimension", "place",
    "like_best", "doubtful", "reason", "warning",
)  # fmt: skip


def table_files(means: Means) -> dict[str, bytes]:
    """Name -> bytes: in CSV a row for each number, None an empty cell and infinity ``inf``; tables for people in Markdown."""
    rows = [dict(zip(_TABLE_1, row, strict=True)) for row in _table_1(means)]
    regions = {measure.key: measure.region for measure in means.measures}
    whole = {"title": means.title, "origin": means.origin, "regions": regions, "notes": list(means.notes), "table_1": rows}
    # From best to worst; those without a place are last.
    ranks = [
        [*_told(one.measure), one.slice, *split_level(one.slice), place, method, one.doubtful]
        for one in table_2(means)
        for method, place in one.places
    ]
    slices = [
        [*_told(measure), method, *_numbers(one)]
        for measure in means.measures
        for method, one in over_slices(means, measure).items()
    ]
    methods = [
        [*_told(measure), name, *_numbers(one)] for measure in means.measures for name, one in difficulty(means, measure).items()
    ]
    shares = [
        [one.attribute, *_told(one.measure), one.method, one.share, one.doubtful, one.reason] for one in improvements(means)
    ]
    spread = ("mean", "standard_error")
    return {
        "analysis.json": canonical_bytes(whole),
        "table_1.csv": table_1_csv(means),
        "table_1.md": table_1_markdown(means),
        "table_2.csv": csv_bytes((*_MEASURE, "slice", "attribute", "setting", "place", "method", "doubtful"), ranks),
        "table_2.md": _table_2_markdown(means),
        "figure_3.csv": csv_bytes((*_MEASURE, "method", *spread, "n_slices", "doubtful", "reason"), slices),
        "figure_4.csv": csv_bytes((*_MEASURE, "slice", *spread, "n_methods", "doubtful", "reason"), methods),
        "improvement.csv": csv_bytes(("attribute", *_MEASURE, "method", "improvement", "doubtful", "reason"), shares),
        "improvement.md": _improvement_markdown(means),
    }


def table_1_csv(means: Means) -> bytes:
    """One row for each slice, metric and method."""
    return csv_bytes(_TABLE_1, _table_1(means))


def _table_1(means: Means) -> list[list[Any]]:
    return [
        [one.slice, *split_level(one.slice), one.method, *_told(one.measure), one.cell.mean, one.cell.standard_error, one.cell.n,
         one.cell.n_vectors, one.cell.dimension, one.place, one.method in best(means, one.slice, one.measure),
         one.cell.doubtful, one.cell.reason, one.cell.warning]
        for one in table_1(means)
    ]  # fmt: skip


def _told(measure: Measure) -> tuple[Any, ...]:
    """The columns ``_MEASURE``."""
    return measure.key, measure.region, measure.label, measure.unit, measure.higher_is_better, measure.standing


def _numbers(one: Spread) -> tuple[Any, ...]:
    return one.mean, one.standard_error, one.n, one.doubtful, one.reason


def table_1_markdown(means: Means) -> bytes:
    """A table for each slice: methods x metrics, in bold what cannot be told from the best, the mean over methods below.

    ``*`` leads to what is left out.
    """
    parts = ["# Table 1", means.origin, *map(escaped, means.notes)]
    for name in means.slices:
        heads = ["Method", *(measure.title + means.marks([name], measure) for measure in means.measures)]
        lines: dict[str, list[str]] = {}
        lacking: dict[tuple[str, str], list[str]] = {}  # the method and a reason -> the metrics
        for method in means.methods:
            lines[method] = [means.named(method)]
            for measure in means.measures:
                cell = means.cell(name, method, measure)
                words = number(cell.mean, measure.decimals)
                words = f"**{words}**" if method in best(means, name, measure) else words
                words += r" \*" * (cell.reason is not None) + " ‡" * (cell.warning is not None)
                lines[method].append(words)
                if cell.reason:
                    lacking.setdefault((means.named(method), cell.reason), []).append(measure.label)
        mean = ["*Mean*", *(mean_words(means, name, measure) for measure in means.measures)]
        rows = [*(lines[method] for method in means.contenders), mean, *(lines[method] for method in means.references)]
        rows.append([means.foot, *[""] * len(means.measures)])
        parts += [f"## {escaped(means.slice_label(name))}", _markdown(heads, rows), *map(escaped, means.sizes(name))]
        for (method, reason), labels in lacking.items():
            parts.append(r"\* " + escaped(f"{method}, {', '.join(labels)}: {reason}"))
    return ("\n\n".join(parts) + "\n").encode()


def _table_2_markdown(means: Means) -> bytes:
    """A table for each metric: slices x places."""
    parts = ["# Table 2", means.origin, *map(escaped, means.notes)]
    for measure in means.ranked_measures:
        heads = ["", *(means.slice_label(name) + means.marks([name], measure) for name in means.slices)]
        parts += [f"## {measure.title}", _markdown(heads, ranked_rows(means, measure))]
    return ("\n\n".join(parts) + "\n").encode()


def _improvement_markdown(means: Means) -> bytes:
    """A table for each attribute: methods x metrics, in per cent; positive is better on the high slice."""
    parts = ["# Relative improvement from low to high", means.origin, *map(escaped, means.notes)]
    shares = {(one.attribute, one.method, one.measure): one.share for one in improvements(means)}
    for pair in means.pairs:
        heads = ["Method", *(one.label + one.mark + means.marks([pair.low, pair.high], one) for one in means.ranked_measures)]
        lines = [
            [means.named(method), *(signed_percent(shares[pair.attribute, method, measure]) for measure in means.ranked_measures)]
            for method in means.methods
        ]
        parts += [f"## {escaped(means.attribute_label(pair.attribute))}", _markdown(heads, lines)]
    return ("\n\n".join(parts) + "\n").encode()


def mean_words(means: Means, name: str, measure: Measure) -> str:
    """The mean over methods of a slice as printed."""
    return number(over_methods(means, name, measure).mean, measure.decimals)


def ranked_rows(means: Means, measure: Measure) -> list[tuple[str, ...]]:
    """Rows of Table 2: a place, empty where no slice has one, and the method that holds it in each slice.

    Ties are marked ``=``. A method without a place, for too few sources, stands last with its value; one without a value with a
    dash.
    """
    columns, placed = [], [False] * len(means.contenders)
    for name in means.slices:
        order = ranking(means, name, measure).places
        held, texts = [place for _, place in order], []
        for at, (method, place) in enumerate(order):
            value = number(means.cell(name, method, measure).mean, measure.decimals)
            mark = f"\u00a0{value}" if place is None else "\u00a0=" if held.count(place) > 1 else ""
            texts.append(method + mark)
            placed[at] = placed[at] or place is not None
        columns.append(texts)
    return [(str(at + 1) if placed[at] else "", *row) for at, row in enumerate(zip(*columns, strict=True))]


def _markdown(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)], *lines]
    return "\n".join(f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows)


def escaped(words: str) -> str:
    """Words of a cell or line of Markdown, where a bar would end the cell and a bracket begin a tag."""
    return words.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


PAGE = "analysis.html"
# What an analysis writes: a folder that holds anything else is never replaced.
_OURS = re.compile(r"(table_[12]|figure_[34]|improvement(-[a-z]+-.+)?)\.(csv|md|svg|pdf)|analysis\.(json|html)", re.DOTALL)


@dataclass(frozen=True)
class AnalysisFiles:
    """Paths of the parts of an analysis."""

    page: Path
    """One HTML file that needs no network."""
    tables: tuple[Path, ...]
    """CSV and Markdown."""
    figures: tuple[Path, ...]
    """SVG; each is there as PDF too."""


def write_analysis(folder: Path, means: Means) -> AnalysisFiles:
    """Write tables as CSV and Markdown, figures as SVG and PDF, and a page that holds them all.

    Equal input gives equal bytes.

    An earlier analysis in the folder is replaced as a whole.

    Raises:
        InputError: there is nothing to analyse, or the folder holds something else than an analysis.
    """
    if not (means.methods and means.slices and means.measures):
        raise InputError("there is nothing to analyse: no slice has a score")
    ours = folder.is_dir() and all(path.is_file() and _OURS.fullmatch(path.name) for path in folder.iterdir())
    if folder.exists() and not ours:
        raise InputError(f"{str(folder)!r} holds something else than an analysis; choose another folder")
    # All is drawn before the old folder goes away.
    tables, charts = table_files(means), figure_charts(means)
    text = render(means, charts)
    with replacing(folder, what="analysis ") as made:
        (made / PAGE).write_text(text, encoding="utf-8")
        for name, data in tables.items():
            (made / name).write_bytes(data)
        for name, chart in charts.items():
            for kind in ("svg", "pdf"):
                save_chart(chart, made / f"{name}.{kind}")
    return AnalysisFiles(folder / PAGE, tuple(folder / name for name in tables), tuple(folder / f"{name}.svg" for name in charts))


def figure_charts(means: Means) -> dict[str, dict[str, Any]]:
    """Name -> chart as Vega-Lite, in the order of the paper; figures of improvement only where an attribute has both slices."""
    drawn = {"figure_3": methods_figure(means), "figure_4": difficulty_figure(means)}
    unsafe = r"[^A-Za-z0-9_.-]"  # in the name of a file
    drawn |= {
        f"improvement-attribute-{re.sub(unsafe, '_', pair.attribute)}": attribute_figure(means, pair) for pair in means.pairs
    }
    measures = means.ranked_measures if means.pairs else ()
    drawn |= {f"improvement-metric-{measure.key}": metric_figure(means, measure) for measure in measures}
    return {name: specification(chart) for name, chart in drawn.items()}


# Least widths of the columns of Table 1.
_NAMES_PIXELS, _COLUMN_PIXELS = 160, 128
_LINKS = (
    Link("#table-1", "Table 1"), Link("#table-2", "Table 2"), Link("#figures", "Figures"), Link("#notes", "Notes"),
    Link("#gaps", "What is missing"),
)  # fmt: skip


def render(means: Means, figures: Mapping[str, Mapping[str, Any]]) -> str:
    """The page as text; ``figures`` are charts by the names of their files without an ending, in the order of the page."""
    styles = method_styles(means.methods, means.references)
    return page(
        "eval/analysis/page.html",
        title=f"Analysis: {means.title}",
        links=_LINKS,
        styles=styles,
        data={"styles": {name: look._asdict() for name, look in styles.items()}, "references": list(means.references)},
        means=means,
        least=_NAMES_PIXELS + _COLUMN_PIXELS * len(means.measures),
        table_1=[(_slice_table(means, name), " ".join(means.sizes(name))) for name in means.slices],
        table_2=[_ranking_table(means, measure) for measure in means.ranked_measures],
        figures=[
            figure(chart, label=chart["title"]["text"], files=[f"{name}.{kind}" for kind in ("svg", "pdf")])
            for name, chart in figures.items()
        ],
        gaps=_gaps(means),
    )


def _slice_table(means: Means, name: str) -> Table:
    """Methods by the mean of their places in a slice, those without one last, then the mean over them and the references."""
    placed: dict[str, list[int]] = {method: [] for method in means.contenders}
    # By what damage can better nobody is put before others.
    for measure in (measure for measure in means.measures if not measure.gated):
        for method, place in places(means, name, measure).items():
            if place is not None:
                placed[method].append(place)
    mean_place = {method: fmean(held) if held else math.inf for method, held in placed.items()}
    rows = {}
    for method in means.methods:
        cells = [Cell(method, method, method=method, reference=means.references.get(method) == "reference")]
        for measure in means.measures:
            cell = means.cell(name, method, measure)
            error = "" if cell.standard_error is None else f"± {number(cell.standard_error, measure.decimals)}"
            marks = "*" * (cell.reason is not None) + "\u00a0‡" * (cell.warning is not None)
            told = " · ".join(filter(None, (error, cell.reason, cell.warning)))
            text, strong = number(cell.mean, measure.decimals) + marks, method in best(means, name, measure)
            cells.append(Cell(text, cell.mean, title=told, strong=strong))
        rows[method] = Row(tuple(cells))
    over = Row((Cell("Mean of methods"), *(Cell(mean_words(means, name, one)) for one in means.measures)), kind="mean total")
    order = sorted(means.contenders, key=lambda method: (mean_place[method], method))
    columns = [Column("Method", sorts=True, falling=False)]
    for measure in means.measures:
        head = measure.title + _marks(means, name, measure)
        columns.append(Column(head, numeric=True, sorts=True, falling=measure.higher_is_better))
    shown = (*(rows[method] for method in order), over, *(rows[method] for method in means.references))
    return Table(tuple(columns), shown, label=means.slice_label(name), foot=means.foot)


def _marks(means: Means, name: str, measure: Measure) -> str:
    return means.marks([name], measure).replace(" ", "\u00a0")


def _ranking_table(means: Means, measure: Measure) -> Table:
    heads = [means.slice_label(name) + _marks(means, name, measure) for name in means.slices]
    rows = tuple(Row(tuple(map(Cell, cells))) for cells in ranked_rows(means, measure))
    return Table((Column("Place"), *map(Column, heads)), rows, label=measure.title)


def _gaps(means: Means) -> Table:
    """Every number that is not there or leaves something out, by method and reason.

    An improvement without a value is one where its slices have theirs.
    """
    found = [
        (means.slice_label(one.slice), one.measure.label, one.method, one.cell.reason)
        for one in table_1(means)
        if one.cell.reason is not None
    ]
    pairs = {pair.attribute: (pair.low, pair.high) for pair in means.pairs}
    for one in improvements(means):
        cells = [means.cell(name, one.method, one.measure) for name in pairs[one.attribute]]
        if one.reason is not None and None not in [cell.mean for cell in cells]:
            found.append((f"{means.attribute_label(one.attribute)}, improvement", one.measure.label, one.method, one.reason))
    for attribute, level in means.half_pairs:
        found.append((f"{means.attribute_label(attribute)}, improvement", "all", "all", f"there is no {level} slice"))
    gaps: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for where, measure, method, reason in found:
        metrics, wheres = gaps.setdefault((method, reason), ({}, {}))
        metrics[measure] = wheres[where] = None
    everywhere, rows = set(map(means.slice_label, means.slices)), list[list[object]]()
    for (method, reason), (metrics, wheres) in gaps.items():
        where = "every slice" if set(wheres) == everywhere else "; ".join(wheres)
        rows.append([Cell(text, text) for text in (method, ", ".join(metrics), where, reason)])
    return simple(("Method", "Metric", "Where", "Reason"), rows, label="What is missing or left out", sorts=True)


# Slices are no methods, whose colours tell who they are.
_LEVEL = "#8a949f"
# Opacity of the bars of slices by their level; seen on a light page and on a dark one.
_OPACITIES = {"low": 0.4, "high": 0.8, None: 0.6}
_DOUBTFUL = "† Holds numbers of columns that contradict the mean printed for them."
_DASHED = "Dashed: made from numbers of columns that contradict the mean printed for them."


def methods_figure(means: Means) -> altair.ConcatChart:
    """Mean over slices of each method with its standard error, a panel for each metric (Figure 3)."""
    styles = method_styles(means.methods, means.references)
    panels = []
    for measure in means.measures:
        spreads, marks, lines = over_slices(means, measure), [], []
        for method, spread in spreads.items():
            value, words, colour = _drawable(spread.mean), _words(measure, spread), styles[method].colour
            if method in means.references:
                n = len(means.contenders)
                lines.append(Reference(method, (value,) * n, (words,) * n, colour))
                continue
            few = means.unfit(means.slices, method, measure) is not None and spread.mean is not None
            marks.append(Mark(value, words, colour, spread.standard_error, told=_told_of(method, measure, spread), few=few))
        heading = measure.label + measure.mark + " †" * any(spread.doubtful for spread in spreads.values())
        panels.append(Panel(heading, _axis(measure), tuple(marks), bars=False, references=tuple(lines)))
    doubtful = any(means.doubtful(name, measure) for name in means.slices for measure in means.measures)
    lead = f"Dots: mean over {count(len(means.slices), 'slice')}. Whiskers: standard error. The axes need not begin at 0."
    sentences = _sentences(lead, panels, means.measures, _DOUBTFUL if doubtful else "")
    return chart(title="Methods over all slices (Figure 3)", sentences=sentences, rows=means.contenders, panels=panels)


def difficulty_figure(means: Means) -> altair.ConcatChart:
    """Mean over methods of each slice with its standard error and a dot for each method, a panel for each metric (Figure 4)."""
    styles = method_styles(means.methods, means.references)
    panels, measured = [], set()
    for measure in means.measures:
        marks = []
        for name, spread in difficulty(means, measure).items():
            values = {method: means.cell(name, method, measure).mean for method in means.contenders}
            measured |= {method for method, value in values.items() if value is not None}
            dots = tuple((value, method) for method, value in values.items() if value is not None and math.isfinite(value))
            few = means.few(name, measure)
            told = _told_of(means.slice_label(name), measure, spread) + (f"; {few}" if few else "")
            marks.append(
                Mark(
                    _drawable(spread.mean), _words(measure, spread) + " †" * spread.doubtful, _LEVEL, spread.standard_error, dots,
                    told, spread.doubtful, few is not None, opacity=_OPACITIES[split_level(name)[1]],
                )
            )  # fmt: skip
        lines = []
        for method in means.references:
            cells = [means.cell(name, method, measure) for name in means.slices]
            printed = tuple(number(cell.mean, measure.decimals) for cell in cells)
            lines.append(Reference(method, tuple(_drawable(cell.mean) for cell in cells), printed, styles[method].colour))
        panels.append(Panel(measure.label + measure.mark, _axis(measure), tuple(marks), references=tuple(lines)))
    doubtful = any(mark.doubtful for panel in panels for mark in panel.marks)
    lead = f"Bars: mean over {count(len(measured), 'method')}. Whiskers: standard error. Dots: the methods."
    return chart(
        title="Difficulty of the slices (Figure 4)",
        sentences=_sentences(lead, panels, means.measures, f"{_DOUBTFUL} Dashed." if doubtful else ""),
        rows=[means.slice_label(name) for name in means.slices],
        panels=panels,
        legend={method: styles[method] for method in means.contenders if method in measured},
        across=2 if len(panels) < 5 else 3,
    )


def attribute_figure(means: Means, pair: Pair) -> altair.ConcatChart:
    """Relative improvement from low to high of one attribute, a panel for each metric (Figures 5 and 7)."""
    panels = [_improvement_panel(means, pair, measure, measure.label + measure.mark) for measure in means.ranked_measures]
    label = means.attribute_label(pair.attribute)
    like = {"camera_motion": " (Figure 5)", "bg_scene_motion": " (Figure 7)"}.get(pair.attribute, "")
    return _improvement_chart(means, f"{label}, from low to high{like}", panels, means.ranked_measures)


def metric_figure(means: Means, measure: Measure) -> altair.ConcatChart:
    """Relative improvement from low to high under one metric, a panel for each attribute (Figure 9)."""
    panels = [_improvement_panel(means, pair, measure, means.attribute_label(pair.attribute)) for pair in means.pairs]
    like = " (Figure 9)" if measure.key == "pvcs" else ""
    return _improvement_chart(means, f"{measure.label}{measure.mark}, from low to high{like}", panels, [measure])


def _improvement_chart(means: Means, title: str, panels: Sequence[Panel], measures: Sequence[Measure]) -> altair.ConcatChart:
    doubtful = any(mark.doubtful for panel in panels for mark in panel.marks)
    lead = "Relative improvement of each method. Right of 0: better on the high slice, whatever the metric's direction."
    sentences = _sentences(lead, panels, measures, _DASHED if doubtful else "")
    return chart(title=title, sentences=sentences, rows=means.contenders, panels=panels)


def _improvement_panel(means: Means, pair: Pair, measure: Measure, heading: str) -> Panel:
    styles = method_styles(means.methods, means.references)
    marks, lines = [], []
    for one in improvement(means, pair, measure):
        words, colour, n = signed_percent(one.share), styles[one.method].colour, len(means.contenders)
        if one.method in means.references:
            lines.append(Reference(one.method, (one.share,) * n, (words,) * n, colour))
            continue
        unfit, there = means.unfit((pair.low, pair.high), one.method, measure), one.share is not None
        told = f"{one.method}, {measure.label}: {one.reason or words}{f'; {unfit}' if unfit else ''}"
        few, doubtful = unfit is not None and there, one.doubtful and there
        marks.append(Mark(one.share, words, colour, doubtful=doubtful, told=told, few=few))
    return Panel(heading, "improvement  (worse ← 0 → better)", tuple(marks), percent=True, references=tuple(lines))


def _told_of(name: str, measure: Measure, spread: Spread) -> str:
    value = number(spread.mean, measure.decimals)
    error = "" if spread.standard_error is None else f" ± {number(spread.standard_error, measure.decimals + 1)}"
    return f"{name}, {measure.label}: {value}{error}, n {spread.n}" + (f"; {spread.reason}" if spread.reason else "")


def _words(measure: Measure, spread: Spread) -> str:
    return number(spread.mean, measure.decimals) + (" *" if spread.reason and spread.mean is not None else "")


def _sentences(lead: str, panels: Sequence[Panel], measures: Sequence[Measure], doubtful: str) -> list[str]:
    """Sentences on how to read a figure, and the notes that its marks and measures need."""
    marks = [mark for panel in panels for mark in panel.marks]
    hollow = f" Hollow: fewer than {ENOUGH_SOURCES} sources, or fewer items than others have: no more than points."
    starred = "* Leaves out numbers that are missing or infinite; the list of what is missing tells why."
    cautions = [f"{measure.label}: {measure.caution}." for measure in measures if measure.caution]
    sentences = [lead + hollow * any(mark.few for mark in marks), *cautions, doubtful]
    return [*filter(None, sentences), *([starred] if any("*" in mark.words for mark in marks) else [])]


def _axis(measure: Measure) -> str:
    unit = f" in {measure.unit}" if measure.unit else ""
    if not measure.ranked:
        return f"{measure.label}{unit}"
    return f"{measure.label}{unit}  ({'right is better →' if measure.higher_is_better else '← left is better'})"


def _drawable(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
