"""One HTML page with the transcript and its figures; it opens from disk and asks for nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template

from inpaintbench.eval.editboard.files import words
from inpaintbench.eval.editboard.transcript import TASKS, Cell, Gap, Transcript
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.report.labels import metric_arrow, metric_label
from inpaintbench.eval.report.markup import count, number


def render(found: Transcript, figures: Mapping[str, str], files: Sequence[str]) -> str:
    """The page as text.

    Args:
        found: the transcript.
        figures: SVGs by file name.
        files: names of the files with data.
    """
    tasks = [f"{name} is {told}" for name, told in TASKS.items() if name in found.tasks]
    parts = {
        "title": escape(found.title),
        "protocol": escape(found.protocol.name),
        "fingerprint": escape(found.fingerprint),
        "notes": "".join(f"<li>{escape(note)}</li>" for note in found.notes),
        "tasks": escape("; ".join(tasks) + "." if tasks else ""),
        "tables": "".join(_table(found, model) for model in found.models),
        "figures": "".join(map(_figure, figures, figures.values())) or "<p>There are too few numbers to draw.</p>",
        "missing": _missing(found),
        "settings": _settings(found),
        "files": ", ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in files),
    }
    page = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return Template(page).substitute(parts)


def _figure(name: str, drawn: str) -> str:
    return f'<figure>{drawn}<figcaption><a href="{escape(name)}">{escape(name)}</a></figcaption></figure>'


def _table(found: Transcript, model: str) -> str:
    heads = "".join(f'<th scope="col">{_arrow(metric)}</th>' for metric in found.metrics)
    rows = "".join(
        f'<tr><th scope="row">{escape(task)}</th>{"".join(_cell(found, model, task, metric) for metric in found.metrics)}</tr>'
        for task in found.tasks
    )
    return (
        f'<div class="scroll"><table><caption>{escape(model)}</caption><thead><tr><th scope="col">Task</th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _arrow(metric: str) -> str:
    """A metric whose arrow never stands alone on a line, and whose hyphen never ends one."""
    return "&nbsp;".join(escape(metric_arrow(metric)).rsplit(" ", 1)).replace("-", "&#8209;")


def _cell(found: Transcript, model: str, task: str, metric: str) -> str:
    cell = found.cell(model, task, metric)
    if cell.mean is None:
        return f'<td title="{escape(cell.reason or "")}">–</td>'
    best = ' class="best"' if cell.mean == found.best(task, metric) else ""
    value = number(cell.mean, decimals=METRICS.get(metric).decimals)
    told = escape(". ".join(_told(cell, metric)))
    below = f"<small>{cell.n} of {cell.total}</small>" if cell.n != cell.total else f"<small>n {cell.n}</small>"
    return f'<td{best} title="{told}"><b>{value}</b>{below}</td>'


def _told(cell: Cell, metric: str) -> list[str]:
    decimals = METRICS.get(metric).decimals
    told = [words(cell, metric)]
    if cell.low is not None:
        told.append(
            f"95 % interval over originals {number(cell.low, decimals=decimals)} to {number(cell.high, decimals=decimals)}"
        )
    if cell.applies is not None:
        own = (
            f", mean {number(cell.applies_mean, decimals=decimals)}"
            if metric == "ff_beta" and cell.applies_mean is not None
            else ""
        )
        told.append(f"It is meant for {cell.applies} of {count(cell.total, 'edit')}{own}")
    return told + ([cell.reason] if cell.reason else [])


def _missing(found: Transcript) -> str:
    if not found.missing:
        return "<p>Every number is there.</p>"
    alike: dict[tuple[str, tuple[str, ...]], list[Gap]] = {}
    for gap in found.missing:
        alike.setdefault((gap.reason, gap.metrics), []).append(gap)
    rows = "".join(
        f'<tr><th scope="row">{escape(", ".join(gap.model for gap in gaps))}</th><td>{sum(len(gap.edits) for gap in gaps)}</td>'
        f'<td class="words">{escape(", ".join(map(metric_label, metrics)))}</td><td class="words">{escape(reason)}</td></tr>'
        for (reason, metrics), gaps in alike.items()
    )
    heads = '<th scope="col">Models</th><th scope="col">Edits</th><th scope="col">Without</th><th scope="col">Reason</th>'
    return f'<div class="scroll"><table class="reasons"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'


def _settings(found: Transcript) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name.replace("_", " "))}</th><td class="words">{escape(_plain(value))}</td></tr>'
        for name, value in found.settings.items()
    )
    return f'<div class="scroll"><table class="reasons"><tbody>{rows}</tbody></table></div>' if rows else ""


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_plain(part)}" for name, part in value.items())
    return value if isinstance(value, str) else json.dumps(value)
