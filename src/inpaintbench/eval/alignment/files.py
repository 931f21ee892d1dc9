"""The numbers as CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from inpaintbench.eval.alignment.align import DEFINITION, Alignment, Dimension, Line
from inpaintbench.eval.alignment.bootstrap import Estimate
from inpaintbench.eval.alignment.selection import Selection
from inpaintbench.eval.alignment.win_ratios import KINDS, by_method
from inpaintbench.eval.alignment.words import asked, correlation_words, rate_words, share

_MATCHING = ("dimension", "metric", "answers", "rate")
_TEST = ("one", "other", "difference", "p", "p_holm", "n", "n_sources", "reason", "least_p")
_ESTIMATE = ("low", "high", "n", "n_sources", "n_raters", "reason")


def tables(found: Alignment) -> dict[str, bytes]:
    """Name -> CSV; None is an empty cell, shares are 0..1."""
    own = [(dimension, one) for dimension in found.dimensions for one in dimension.lines]
    made = {
        "matching.csv": _csv((*_MATCHING, *_ESTIMATE, "not_compared", "tie_eps", "tie_eps_from"), _matching(own)),
        "correlations.csv": _csv(("dimension", "metric", "kind", "value", *_ESTIMATE), _correlations(own)),
        "win_ratios.csv": _csv(("dimension", "metric", "method", "item", "people", "metric_ratio", "answers"), _win_ratios(own)),
        "raters.csv": _csv(("dimension", "what", "value", *_ESTIMATE), _raters(found)),
        "slices.csv": _csv(("dimension", "slice", "metric", "rate", *_ESTIMATE), _slices(found)),
        "comparisons.csv": _csv(("dimension", "slice", *_TEST, "least_p_holm", "could_tell", "told_apart"), _comparisons(found)),
    }  # fmt: skip
    if any(dimension.selection for dimension in found.dimensions):
        made["selection.csv"] = _csv(("dimension", "by", "method", "share", "rows", "left_out", "tied"), _selections(found))
    return made


def as_json(found: Alignment) -> bytes:
    """Everything, with the definitions."""
    plain = {
        "title": found.title,
        "definition": list(DEFINITION),
        "bootstrap": found.bootstrap._asdict(),
        "baseline": found.family.baseline,
        "compared": [list(pair) for pair in found.family.pairs],
        "left_out": dict(found.left_out),
        "unmeasured": dict(found.unmeasured),
        "dimensions": [_dimension(dimension) for dimension in found.dimensions],
    }
    return (json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def as_markdown(found: Alignment) -> bytes:
    """The tables for reading, with the definitions."""
    lines = [f"# {_cell(found.title)}", ""]
    for dimension in found.dimensions:
        lines += [f"## {_cell(dimension.name)}", "", asked(dimension) + ".", ""]
        lines += [f"{row}" for row in _markdown_lines(dimension)]
        if dimension.ceiling:
            against = rate_words(dimension.ceiling.rater_against_others)
            lines += [f"A rater against the others: {against}; attainable {share(dimension.ceiling.attainable)}.", ""]
        lines += [f"- {_cell(one.slice)}: {_cell(one.sentence())}" for one in dimension.verdicts]
        lines += ["", *_markdown_selection(dimension.selection)] if dimension.selection else [""]
        lines += [f"- {_cell(name)} is not measured: {_cell(reason)}" for name, reason in dimension.unmeasured.items()]
    lines += [f"- {_cell(name)} is not measured: {_cell(reason)}" for name, reason in found.unmeasured.items()]
    lines += [f"- left out: {number:,} {why}" for why, number in found.left_out.items()]
    lines += ["", "## Definitions", "", *(f"- {sentence}" for sentence in DEFINITION)]
    return ("\n".join(lines) + "\n").encode()


def _markdown_lines(dimension: Dimension) -> Iterator[str]:
    if not dimension.lines:
        return
    yield "| metric | matching rate | preferences alone | Pearson | Spearman | Kendall | n | tie threshold |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in dimension.lines:
        correlations = [correlation_words(one.correlations[kind]) for kind in KINDS]
        cells = [_cell(one.metric), rate_words(one.matched.rate), rate_words(one.matched.decided), *correlations]
        yield f"| {' | '.join(cells)} | {one.matched.rate.n} | {one.threshold.value:.4g} |"
    yield ""


def _markdown_selection(found: Selection) -> Iterator[str]:
    yield f"| method | people | {' | '.join(_cell(metric) for metric in found.metrics)} |"
    yield "|---" * (2 + len(found.metrics)) + "|"
    columns = [found.people, *found.metrics.values()]
    for method in found.methods:
        yield f"| {_cell(method)} | {' | '.join(share(column.shares.get(method)) for column in columns)} |"
    yield ""


def _cell(words: str) -> str:
    return " ".join(words.replace("|", "\\|").split())


def _estimate(one: Estimate) -> list[Any]:
    return [one.value, *(getattr(one, name) for name in _ESTIMATE)]


def _matching(own: Sequence[tuple[Dimension, Line]]) -> Iterator[list[Any]]:
    for dimension, one in own:
        for which, estimate in (("all", one.matched.rate), ("preferences", one.matched.decided)):
            threshold = [one.threshold.value, one.threshold.origin] if which == "all" else [None, None]
            yield [dimension.name, one.metric, which, *_estimate(estimate), one.matched.not_compared, *threshold]


def _correlations(own: Sequence[tuple[Dimension, Line]]) -> Iterator[list[Any]]:
    for dimension, one in own:
        for kind, estimate in one.correlations.items():
            yield [dimension.name, one.metric, kind, *_estimate(estimate)]


def _win_ratios(own: Sequence[tuple[Dimension, Line]]) -> Iterator[list[Any]]:
    for dimension, one in own:
        for point in [*one.points, *by_method(one.points)]:
            yield [dimension.name, one.metric, point.method, point.item, point.people, point.metric, point.answers]


def _raters(found: Alignment) -> Iterator[list[Any]]:
    for dimension in found.dimensions:
        of = dimension.ceiling
        if of:
            yield [dimension.name, "rater_against_others", *_estimate(of.rater_against_others)]
            yield [dimension.name, "preferences_against_others", *_estimate(of.decided_against_others)]
            yield [dimension.name, "two_raters", *_estimate(of.two_raters)]
            for name, value in (("attainable", of.attainable), ("ties", of.ties)):
                yield [dimension.name, name, value, *[None] * len(_ESTIMATE)]


def _slices(found: Alignment) -> Iterator[list[Any]]:
    for dimension in found.dimensions:
        for verdict in dimension.verdicts:
            for metric, one in verdict.rates.items():
                yield [dimension.name, verdict.slice, metric, *_estimate(one)]


def _comparisons(found: Alignment) -> Iterator[list[Any]]:
    for dimension in found.dimensions:
        for verdict in dimension.verdicts:
            for one in verdict.comparisons:
                own = [one.least_p_holm, one.could_tell, one.told_apart if one.could_tell else None]
                yield [dimension.name, verdict.slice, *(getattr(one.test, name) for name in _TEST), *own]


def _selections(found: Alignment) -> Iterator[list[Any]]:
    for dimension in found.dimensions:
        if dimension.selection:
            for by, column in (("people", dimension.selection.people), *dimension.selection.metrics.items()):
                for method in dimension.selection.methods:
                    own = [column.shares.get(method), column.rows, column.left_out, column.tied]
                    yield [dimension.name, by, method, *own]


def _dimension(of: Dimension) -> dict[str, Any]:
    rated = of.ceiling
    return {
        "name": of.name, "answers": of.answers, "pairs": of.n_pairs, "sources": of.n_sources, "raters": of.n_raters,
        "ceiling": rated and {
            "rater_against_others": rated.rater_against_others._asdict(), "two_raters": rated.two_raters._asdict(),
            "preferences_against_others": rated.decided_against_others._asdict(),
            "attainable": rated.attainable, "ties": rated.ties,
        },
        "metrics": [_metric(one) for one in of.lines],
        "slices": [
            {
                "slice": one.slice, "verdict": one.sentence(), "could_tell": one.could_tell,
                "least_p": one.least_p, "least_p_holm": one.least_p_holm,
                "rates": {metric: rate._asdict() for metric, rate in one.rates.items()},
                "comparisons": [
                    {**{name: getattr(each.test, name) for name in _TEST}, "least_p_holm": each.least_p_holm,
                     "could_tell": each.could_tell, "told_apart": each.told_apart if each.could_tell else None}
                    for each in one.comparisons
                ],
            }
            for one in of.verdicts
        ],
        "selection": of.selection and _selection(of.selection),
        "unmeasured": dict(of.unmeasured),
    }  # fmt: skip


def _metric(one: Line) -> dict[str, Any]:
    return {
        "metric": one.metric, "tie_eps": one.threshold.value, "tie_eps_from": one.threshold.origin,
        "rate": one.matched.rate._asdict(), "preferences": one.matched.decided._asdict(),
        "not_compared": one.matched.not_compared,
        **{kind: estimate._asdict() for kind, estimate in one.correlations.items()},
        "methods": [
            {"method": point.method, "people": point.people, "metric": point.metric} for point in by_method(one.points)
        ],
    }  # fmt: skip


def _selection(of: Selection) -> dict[str, Any]:
    columns = {"people": of.people, **of.metrics}
    return {
        by: {"shares": dict(column.shares), "rows": column.rows, "left_out": column.left_out, "tied": column.tied,
             "rate": column.rate and column.rate._asdict()}
        for by, column in columns.items()
    }  # fmt: skip


def _csv(columns: Sequence[str], rows: Iterator[list[Any]]) -> bytes:
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_spelt(value) for value in row])
    return sink.getvalue().encode()


def _spelt(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"  # a spreadsheet would run it
    return str(value).lower() if isinstance(value, bool) else value
