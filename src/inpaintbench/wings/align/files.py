"""The numbers as CSV, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from inpaintbench.table_files import FORMULA, csv_bytes, json_bytes
from inpaintbench.wings.align.align import COMPARISON_COLUMNS, DEFINITION, Alignment, Dimension, Line
from inpaintbench.wings.align.bootstrap import Estimate, correlation_words, rate_words, share
from inpaintbench.wings.align.win_ratios import KINDS, by_method

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
        "dimensions": [_dimension(dimension) for dimension in found.dimensions],
    }
    return json_bytes(plain)


def as_markdown(found: Alignment) -> bytes:
    """The tables for reading, with the definitions."""
    lines = [f"# {_cell(found.title)}", "", *(line for note in found.notes for line in (_cell(note), ""))]
    for dimension in found.dimensions:
        lines += [f"## {_cell(dimension.name)}", "", dimension.asked + ".", ""]
        if dimension.lines:
            lines += ["| metric | matching rate | preferences alone | Pearson | Spearman | Kendall | n | tie threshold |"]
            lines += ["|---|---|---|---|---|---|---|---|", *map(_markdown_line, dimension.lines), ""]
        if dimension.ceiling:
            against = rate_words(dimension.ceiling.rater_against_others)
            lines += [f"A rater against the others: {against}; attainable {share(dimension.ceiling.attainable)}.", ""]
        lines += [f"- {_cell(verdict.slice)}: {_cell(verdict.sentence())}" for verdict in dimension.verdicts]
        lines.append("")
        if of := dimension.selection:
            lines += [f"| method | people | {' | '.join(map(_cell, of.metrics))} |", "|---" * (2 + len(of.metrics)) + "|"]
            for method in of.methods:
                shares = (share(column.shares.get(method)) for column in of.columns.values())
                lines.append(f"| {_cell(method)} | {' | '.join(shares)} |")
            lines.append("")
        lines += [f"- {_cell(name)} is not measured: {_cell(reason)}" for name, reason in dimension.unmeasured.items()]
    lines += [f"- {_cell(name)} is not measured: {_cell(reason)}" for name, reason in found.unmeasured.items()]
    lines += [f"- left out: {number:,} {why}" for why, number in found.left_out.items()]
    lines += ["", "## Definitions", "", *(f"- {sentence}" for sentence in DEFINITION)]
    return ("\n".join(lines) + "\n").encode()


def _markdown_line(line: Line) -> str:
    correlations = [correlation_words(line.correlations[kind]) for kind in KINDS]
    cells = [_cell(line.metric), rate_words(line.matched.rate), rate_words(line.matched.decided), *correlations]
    return f"| {' | '.join(cells)} | {line.matched.rate.n} | {line.threshold.value:.4g} |"


def _cell(words: str) -> str:
    return " ".join(words.replace("|", "\\|").split())


def _dimension(of: Dimension) -> dict[str, Any]:
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
