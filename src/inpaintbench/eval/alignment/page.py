"""One HTML page with everything; it opens from disk and asks for nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template

from inpaintbench.claims import too_few
from inpaintbench.eval.alignment.align import DEFINITION, Alignment, Dimension, Line
from inpaintbench.eval.alignment.bootstrap import Estimate
from inpaintbench.eval.alignment.plots import label_of
from inpaintbench.eval.alignment.selection import Column, Selection
from inpaintbench.eval.alignment.win_ratios import KINDS
from inpaintbench.eval.alignment.words import asked, correlation_interval, rate_interval, rate_words, share
from inpaintbench.eval.report.markup import count, number


def render(found: Alignment, figures: Mapping[str, Mapping[str, str]], files: Sequence[str]) -> str:
    """The page as text.

    Args:
        found: everything.
        figures: dimension -> SVGs by file name.
        files: names of the files with data.
    """
    parts = {
        "title": escape(found.title),
        "links": "".join(f'<a href="#d{place}">{escape(one.name)}</a>' for place, one in enumerate(found.dimensions)),
        "overview": _overview(found),
        "files": ", ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in files),
        "dimensions": "".join(_dimension(one, place, figures.get(one.name, {})) for place, one in enumerate(found.dimensions)),
        "definition": "".join(f"<li>{escape(sentence)}</li>" for sentence in DEFINITION),
        "gaps": _gaps(found),
    }
    page = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return Template(page).substitute(parts)


def _overview(found: Alignment) -> str:
    metrics = list(dict.fromkeys(one.metric for dimension in found.dimensions for one in dimension.lines))
    if not metrics:
        return "<p>Nobody compared pairs; see the selection frequencies below.</p>"
    rows = []
    for dimension in found.dimensions:
        if not dimension.lines:
            continue
        rates = {one.metric: one.matched.rate for one in dimension.lines}
        better = dimension.verdicts[0].better
        cells = [_rate(rates.get(metric), told=metric in better) for metric in metrics]
        against = dimension.ceiling.rater_against_others if dimension.ceiling else None
        rows.append(_row(dimension.name, [*cells, _rate(against)]))
    return _table("", ["Asked", *map(label_of, metrics), "A rater against the others"], rows)


def _dimension(of: Dimension, place: int, figures: Mapping[str, str]) -> str:
    parts = [f'<h2 id="d{place}">{escape(of.name)}</h2><p>{escape(asked(of))}.{_verdict(of)}</p>']
    if of.ceiling:
        parts.append(f"<p>{_agreement(of)}</p>")
    if of.lines:
        heads = [
            "Metric",
            "Matching rate",
            "Preferences alone",
            *(kind.capitalize() for kind in KINDS),
            "Tie threshold",
            "Left out",
        ]
        better = of.verdicts[0].better
        parts.append(_table("", heads, [_line(one, told=one.metric in better) for one in of.lines]))
    drawn = (
        f'<figure>{svg}<figcaption><a href="{escape(name)}">{escape(name)}</a></figcaption></figure>'
        for name, svg in figures.items()
    )
    parts.append(f'<div class="figures">{"".join(drawn)}</div>')
    if len(of.verdicts) > 1:
        parts.append(_slices(of))
    if of.selection:
        parts.append(_selection(of.selection))
    parts += [f"<p>{escape(label_of(name))} has no number here: {escape(reason)}.</p>" for name, reason in of.unmeasured.items()]
    return "".join(parts)


def _verdict(of: Dimension) -> str:
    return f" <strong>{escape(of.verdicts[0].sentence(label_of))}</strong>" if of.verdicts else ""


def _agreement(of: Dimension) -> str:
    assert of.ceiling is not None
    against, two = of.ceiling.rater_against_others, of.ceiling.two_raters
    if against.value is None:
        return f"No ceiling: {escape(against.reason or '')}."
    return escape(
        f"Ceiling: a rater says what most of the others say in {rate_words(against)} of the answers, and the same as one other "
        f"rater in {rate_words(two)}. No metric could match more than {share(of.ceiling.attainable)} of them. "
        f"{share(of.ceiling.ties)} are ties."
    )


def _line(one: Line, *, told: bool) -> str:
    rates = [_rate(one.matched.rate, told=told), _rate(one.matched.decided)]
    correlations = [_correlation(one.correlations[kind]) for kind in KINDS]
    threshold = f"<td>{one.threshold.value:.4g}<small>{escape(one.threshold.origin.partition(' of ')[0])}</small></td>"
    left_out = f"<td>{one.matched.not_compared:,}</td>" if one.matched.not_compared else "<td>–</td>"
    return _row(label_of(one.metric), [*rates, *correlations, threshold, left_out])


def _rate(one: Estimate | None, *, told: bool = False) -> str:
    """``told``: a test told the metric from another, so it may stand out."""
    if one is None:
        return "<td>–</td>"
    return _cell(share(one.value), rate_interval(one), one, best=told)


def _correlation(one: Estimate) -> str:
    return _cell(number(one.value, decimals=2), correlation_interval(one), one, best=False)


def _cell(words: str, interval: str, one: Estimate, *, best: bool) -> str:
    told = f"n {one.n:,}, {count(one.n_sources, 'source')}" + (f"; {one.reason}" if one.reason else "")
    kind = ' class="best"' if best else ""
    shown = f"<b>{escape(words)}</b>" if best else escape(words)
    return f'<td{kind} title="{escape(told)}">{shown}<small>{escape(interval.strip()) or "&nbsp;"}</small></td>'


def _slices(of: Dimension) -> str:
    metrics = [one.metric for one in of.lines]
    rows = []
    for verdict in of.verdicts:
        cells = [_rate(verdict.rates.get(metric), told=metric in verdict.better) for metric in metrics]
        n = max((one.n for one in verdict.rates.values()), default=0)
        rows.append(
            _row(verdict.slice, [f"<td>{n:,}</td>", *cells, f'<td class="words">{escape(verdict.sentence(label_of))}</td>'])
        )
    return _table("Which metric to trust where", ["Slice", "Answers", *map(label_of, metrics), "Verdict"], rows)


def _selection(of: Selection) -> str:
    columns = [of.people, *of.metrics.values()]
    rows = []
    for method in of.methods:
        rows.append(_row(method, [_share(column, method) for column in columns]))
    rates = [_rate(column.rate) for column in of.metrics.values()]
    rows.append(_row("Answers that choose the metric's best", ["<td>–</td>", *rates]))
    told = [f"<td>{column.rows}<small>{_lost(column.left_out, column.tied)}</small></td>" for column in columns]
    rows.append(_row("Rows of results", told))
    return _table("Selection frequencies: the best of a row", ["Method", "People", *map(label_of, of.metrics)], rows)


def _share(column: Column, method: str) -> str:
    value = column.shares.get(method)
    best = value is not None and value == max(column.shares.values()) and not too_few(column.n_sources)
    return f'<td class="best"><b>{share(value)}</b></td>' if best else f"<td>{share(value)}</td>"


def _lost(left_out: int, tied: int) -> str:
    parts = [f"{left_out} left out"] * bool(left_out) + [f"{tied} tied"] * bool(tied)
    return ", ".join(parts) or "&nbsp;"


def _table(caption: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{escape(words)}</th>' for words in heads)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _row(head: str, cells: Sequence[str]) -> str:
    return f'<tr><th scope="row">{escape(head)}</th>{"".join(cells)}</tr>'


def _gaps(found: Alignment) -> str:
    gaps = [f"{label_of(name)} is not measured: {reason}." for name, reason in found.unmeasured.items()]
    gaps += [f"Left out: {number:,} {why}." for why, number in found.left_out.items()]
    return f"<h2>What is missing</h2><ul>{''.join(f'<li>{escape(gap)}</li>' for gap in gaps)}</ul>" if gaps else ""
