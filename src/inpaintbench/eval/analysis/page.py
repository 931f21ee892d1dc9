"""One HTML page with the tables and figures of an analysis; it opens from disk and asks for nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from string import Template

from inpaintbench.eval.analysis.files import mean_words, ranked_words
from inpaintbench.eval.analysis.means import Means, Measure
from inpaintbench.eval.analysis.tables import improvements, ranking, table_1
from inpaintbench.eval.report.markup import number

_NAMES_PIXELS, _COLUMN_PIXELS = 140, 84
"""Least widths of the columns of Table 1."""


def render(means: Means, figures: Mapping[str, str]) -> str:
    """The page as text; ``figures`` are SVGs by file name, in the order of the page."""
    parts = {
        "title": escape(means.title),
        "origin": escape(means.origin),
        "notes": "".join(f"<li>{escape(note)}</li>" for note in means.notes),
        "table_width": f"{_NAMES_PIXELS + _COLUMN_PIXELS * len(means.measures)}px",
        "table_1": "".join(_slice_table(means, name) for name in means.slices),
        "table_2": "".join(_ranking_table(means, measure) for measure in means.ranked_measures),
        "figures": "".join(_figure(name, drawn) for name, drawn in figures.items()),
        "gaps": _gaps(means),
    }
    page = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return Template(page).substitute(parts)


def _figure(name: str, drawn: str) -> str:
    return f'<figure>{drawn}<figcaption><a href="{escape(name)}">{escape(name)}</a></figcaption></figure>'


def _slice_table(means: Means, name: str) -> str:
    heads = [escape(measure.title) + _marks(means, name, measure) for measure in means.measures]
    of = {
        method: _row(escape(means.named(method)), [_cell(means, name, method, measure) for measure in means.measures])
        for method in means.methods
    }
    rows = [of[method] for method in means.contenders]
    mean = [f"<td>{escape(mean_words(means, name, measure))}</td>" for measure in means.measures]
    rows.append(_row("Mean of methods", mean, kind="mean"))
    rows += [of[method] for method in means.references]
    table = _table(escape(means.slice_label(name)), ["", *heads], rows)
    sizes = " ".join(means.sizes(name))
    return f'<div>{table}<p class="sizes">{escape(sizes)}</p></div>' if sizes else table


def _marks(means: Means, name: str, measure: Measure) -> str:
    return means.marks([name], measure).replace(" ", "\u00a0")


def _cell(means: Means, name: str, method: str, measure: Measure) -> str:
    cell = means.cell(name, method, measure)
    best = dict(ranking(means, name, measure).places).get(method) == 1 and len(means.contenders) > 1
    words = escape(number(cell.mean, decimals=measure.decimals))
    error = "" if cell.standard_error is None else f"± {number(cell.standard_error, decimals=measure.decimals)}"
    told = " · ".join(part for part in (error, cell.reason, cell.warning) if part)
    title = f' title="{escape(told)}"' if told else ""
    marks = "*" * (cell.reason is not None) + "\u00a0‡" * (cell.warning is not None)
    return f"<td{title}>{f'<b>{words}</b>' if best else words}{marks}</td>"


def _ranking_table(means: Means, measure: Measure) -> str:
    heads = [escape(means.slice_label(name)) + _marks(means, name, measure) for name in means.slices]
    orders = [ranked_words(means, name, measure) for name in means.slices]
    rows = [
        _row(str(place), [f"<td>{escape(method)}</td>" for method in methods])
        for place, methods in enumerate(zip(*orders, strict=True), start=1)
    ]
    return _table(escape(measure.title), ["", *heads], rows, kind="ranking")


def _table(caption: str, heads: Sequence[str], rows: Sequence[str], *, kind: str = "numbers") -> str:
    head = "".join(f'<th scope="col">{words}</th>' for words in heads)
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="scroll"><table class="{kind}"><caption>{caption}</caption>{body}</table></div>'


def _row(head: str, cells: Sequence[str], *, kind: str = "") -> str:
    return f'<tr class="{kind}"><th scope="row">{head}</th>{"".join(cells)}</tr>'


def _gaps(means: Means) -> str:
    """Every number that is not there or leaves something out, by method and reason."""
    gaps: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for where, measure, method, reason in _reasons(means):
        metrics, places = gaps.setdefault((method, reason), ({}, {}))
        metrics[measure] = places[where] = None
    if not gaps:
        return "<p>Every number is there.</p>"
    rows = [
        _row(escape(method), [f"<td>{escape(part)}</td>" for part in (", ".join(metrics), _where(means, places), reason)])
        for (method, reason), (metrics, places) in gaps.items()
    ]
    return _table("What is missing or left out", ["Method", "Metric", "Where", "Reason"], rows, kind="ranking")


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
