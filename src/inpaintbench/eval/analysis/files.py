"""The tables as CSV and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from inpaintbench.eval.analysis.means import (
    Means,
    Measure,
    Spread,
    best,
    difficulty,
    improvements,
    over_methods,
    over_slices,
    ranking,
    table_1,
    table_2,
)
from inpaintbench.eval.results.slices import split_level
from inpaintbench.pages.words import number, signed_percent
from inpaintbench.table_files import canonical_bytes, csv_bytes

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
