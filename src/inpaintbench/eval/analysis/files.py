"""The tables as CSV and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from inpaintbench.eval.analysis.means import (
    Means,
    Measure,
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


_SIZES = ("n", "n_vectors", "dimension")
_TABLE_1 = (
    "slice", "attribute", "setting", "method", *_MEASURE, "mean", "standard_error", *_SIZES, "place", "like_best", "doubtful",
    "reason", "warning",
)  # fmt: skip


def table_1_csv(means: Means) -> bytes:
    """One row for each slice, metric and method; None is an empty cell, infinity is ``inf``."""
    return csv_bytes(_TABLE_1, _table_1(means))


def analysis_json(means: Means) -> bytes:
    """Table 1 as JSON with what its numbers are of; infinity is the text ``inf``."""
    rows = [dict(zip(_TABLE_1, row, strict=True)) for row in _table_1(means)]
    regions = {measure.key: measure.region for measure in means.measures}
    whole = {"title": means.title, "origin": means.origin, "regions": regions, "notes": list(means.notes), "table_1": rows}
    return canonical_bytes(whole)


def _table_1(means: Means) -> list[list[Any]]:
    return [
        [one.slice, *split_level(one.slice), one.method, *_told(one.measure), one.cell.mean, one.cell.standard_error, one.cell.n,
         one.cell.n_vectors, one.cell.dimension, one.place, one.method in best(means, one.slice, one.measure),
         one.cell.doubtful, one.cell.reason, one.cell.warning]
        for one in table_1(means)
    ]  # fmt: skip


def table_2_csv(means: Means) -> bytes:
    """One row for each metric, slice and method, from best to worst; those without a place, which is empty then, are last."""
    columns = (*_MEASURE, "slice", "attribute", "setting", "place", "method", "doubtful")
    rows = [
        [*_told(one.measure), one.slice, *split_level(one.slice), place, method, one.doubtful]
        for one in table_2(means)
        for method, place in one.places
    ]
    return csv_bytes(columns, rows)


def figure_3_csv(means: Means) -> bytes:
    """One row for each metric and method: its mean over slices."""
    columns = (*_MEASURE, "method", "mean", "standard_error", "n_slices", "doubtful", "reason")
    rows = [
        [*_told(measure), method, one.mean, one.standard_error, one.n, one.doubtful, one.reason]
        for measure in means.measures
        for method, one in over_slices(means, measure).items()
    ]
    return csv_bytes(columns, rows)


def figure_4_csv(means: Means) -> bytes:
    """One row for each metric and slice: its mean over methods."""
    columns = (*_MEASURE, "slice", "mean", "standard_error", "n_methods", "doubtful", "reason")
    rows = [
        [*_told(measure), name, one.mean, one.standard_error, one.n, one.doubtful, one.reason]
        for measure in means.measures
        for name, one in difficulty(means, measure).items()
    ]
    return csv_bytes(columns, rows)


def improvement_csv(means: Means) -> bytes:
    """One row for each attribute, metric and method: the relative improvement as a share."""
    columns = ("attribute", *_MEASURE, "method", "improvement", "doubtful", "reason")
    rows = [
        [
            improvement.attribute,
            *_told(improvement.measure),
            improvement.method,
            improvement.share,
            improvement.doubtful,
            improvement.reason,
        ]
        for improvement in improvements(means)
    ]
    return csv_bytes(columns, rows)


def table_1_markdown(means: Means) -> bytes:
    """A table for each slice: methods x metrics, in bold what cannot be told from the best, the mean over methods below.

    ``*`` leads to what is left out.
    """
    parts = ["# Table 1", *_opening(means)]
    for name in means.slices:
        heads = ["Method", *(measure.title + means.marks([name], measure) for measure in means.measures)]
        of = {
            method: [means.named(method), *(_cell(means, name, method, measure) for measure in means.measures)]
            for method in means.methods
        }
        lines = [of[method] for method in means.contenders]
        lines.append(["*Mean*", *(mean_words(means, name, measure) for measure in means.measures)])
        lines += [of[method] for method in means.references]
        lines.append([means.foot, *[""] * len(means.measures)])
        parts += [f"## {escaped(means.slice_label(name))}", _markdown(heads, lines), *map(escaped, means.sizes(name))]
        parts += [f"\\* {escaped(reason)}" for reason in _reasons(means, name)]
    return ("\n\n".join(parts) + "\n").encode()


def _reasons(means: Means, name: str) -> Iterator[str]:
    """Why numbers of a slice are missing or leave something out, a sentence for each method and reason."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for method in means.methods:
        for measure in means.measures:
            if reason := means.cell(name, method, measure).reason:
                lacking.setdefault((means.named(method), reason), []).append(measure.label)
    for (method, reason), labels in lacking.items():
        yield f"{method}, {', '.join(labels)}: {reason}"


def table_2_markdown(means: Means) -> bytes:
    """A table for each metric: slices x places."""
    parts = ["# Table 2", *_opening(means)]
    for measure in means.ranked_measures:
        heads = ["", *(means.slice_label(name) + means.marks([name], measure) for name in means.slices)]
        parts += [f"## {measure.title}", _markdown(heads, ranked_rows(means, measure))]
    return ("\n\n".join(parts) + "\n").encode()


def improvement_markdown(means: Means) -> bytes:
    """A table for each attribute: methods x metrics, in per cent; positive is better on the high slice."""
    parts = ["# Relative improvement from low to high", *_opening(means)]
    shares = {
        (improvement.attribute, improvement.method, improvement.measure): improvement.share for improvement in improvements(means)
    }
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
    orders = [ranking(means, name, measure).places for name in means.slices]
    rows = zip(*([_placed(means, name, measure, order) for name, order in zip(means.slices, orders, strict=True)]), strict=True)
    return [(str(at + 1) if any(order[at][1] is not None for order in orders) else "", *row) for at, row in enumerate(rows)]


def _placed(means: Means, name: str, measure: Measure, order: Sequence[tuple[str, int | None]]) -> list[str]:
    held = [place for _, place in order]
    return [
        f"{method}\u00a0{number(means.cell(name, method, measure).mean, measure.decimals)}"
        if place is None
        else f"{method}\u00a0="
        if held.count(place) > 1
        else method
        for method, place in order
    ]


def _cell(means: Means, name: str, method: str, measure: Measure) -> str:
    cell = means.cell(name, method, measure)
    words = number(cell.mean, measure.decimals)
    words = f"**{words}**" if method in best(means, name, measure) else words
    return words + r" \*" * (cell.reason is not None) + " ‡" * (cell.warning is not None)


def _opening(means: Means) -> list[str]:
    return [means.origin, *map(escaped, means.notes)]


def _told(measure: Measure) -> tuple[Any, ...]:
    return measure.key, measure.region, measure.label, measure.unit, measure.higher_is_better, measure.standing


def _markdown(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)], *lines]
    return "\n".join(f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows)


def escaped(words: str) -> str:
    """Words of a cell or line of Markdown, where a bar would end the cell and a bracket begin a tag."""
    return words.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
