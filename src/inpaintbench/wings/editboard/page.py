"""The folder of a transcript: tables, figures, and one HTML page with both, which opens from disk and asks for nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inpaintbench.errors import InputError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.results.quantity import metric_arrow, metric_label
from inpaintbench.files import replacing
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Column, Link, Row, Table, figure, method_styles, page, save_chart
from inpaintbench.pages.words import DASH, count, number
from inpaintbench.table_files import csv_bytes, json_bytes
from inpaintbench.types import Plain, Score
from inpaintbench.wings.editboard import plots
from inpaintbench.wings.editboard.transcript import FOOT, TASKS, Gap, Transcript, details_of
from inpaintbench.wings.editboard.transcript import Cell as Mean

if TYPE_CHECKING:
    import altair
else:
    altair = lazily("altair")  # takes a quarter of a second, and most commands draw nothing
# Fields of a cell in CSV, in this order.
CELL = ("mean", "n", "total", "low", "high", "applies", "applies_mean", "reason")


def as_csv(found: Transcript) -> bytes:
    """One line for each model, task and metric; None is an empty cell."""
    rows = (
        [
            model,
            task,
            metric,
            METRICS.get(metric).higher_is_better,
            *(getattr(cell, name) for name in CELL),
            model in found.best[task, metric],
        ]
        for (model, task, metric), cell in found.cells.items()
    )
    return csv_bytes(("model", "task", "metric", "higher_is_better", *CELL, "like_best"), rows)


def as_json(found: Transcript) -> bytes:
    """Model -> task -> metric -> number, with everything that the numbers depend on."""
    cells: dict[str, dict[str, dict[str, Any]]] = {}
    for (model, task, metric), cell in found.cells.items():
        own = {**cell._asdict(), "like_best": model in found.best[task, metric]}
        cells.setdefault(model, {}).setdefault(task, {})[metric] = own
    missing = [gap._asdict() for gap in found.missing]
    return json_bytes({
        "title": found.title, "protocol": found.protocol.name, "fingerprint": found.fingerprint, "settings": dict(found.settings),
        "references": list(found.references), "notes": list(found.notes), "transcript": cells, "missing": missing,
    })  # fmt: skip


def as_markdown(found: Transcript) -> bytes:
    """A table for each model: tasks down, metrics across."""
    lines = [f"# {_cell_text(found.title)}", "", f"Protocol {found.protocol.name}, fingerprint {found.fingerprint}.", ""]
    lines += [f"- {_cell_text(note)}" for note in found.notes]
    for model in found.models:
        lines += ["", f"## {_cell_text(found.named(model))}", ""]
        lines.append("| task | " + " | ".join(map(metric_arrow, found.metrics)) + " |")
        lines.append("|---" * (1 + len(found.metrics)) + "|")
        for task in found.tasks:
            texts = {metric: words(found.cell(model, task, metric), metric) for metric in found.metrics}
            cells = [f"**{text}**" if model in found.best[task, metric] else text for metric, text in texts.items()]
            lines.append(f"| {task} | " + " | ".join(cells) + " |")
        lines.append(f"| {FOOT} |" + " |" * len(found.metrics))
    lines.append("")
    if found.missing:
        lines += ["## Without a value", ""]
        for gap in found.missing:
            lost = f"{count(len(gap.edits), 'edit')} without {', '.join(gap.metrics)}"
            lines.append(f"- {_cell_text(gap.model)}: {lost}: {_cell_text(gap.reason)}")
        lines.append("")
    lines += [f"{name}: {told}." for name, told in TASKS.items() if name in found.tasks]
    return ("\n".join(lines) + "\n").encode()


def words(cell: Mean, metric: str) -> str:
    """A mean, and of how many edits where these are not all: ``7.27 (8 of 10)``."""
    if cell.mean is None:
        return "–"
    value = number(cell.mean, METRICS.get(metric).decimals)
    return value if cell.n == cell.total else f"{value} ({cell.n} of {cell.total})"


def edits_csv(edits: Sequence[Plain], scores: Sequence[Score], metrics: Sequence[str]) -> bytes:
    """One line for each edit: the columns of the list, and its value in every metric; the valid share of its original."""
    values, lines = _by_edit(scores), []
    for edit in edits:
        rows = values[edit["model"], edit["id"]]
        shares = next((row.details for row in rows.values() if "valid_share" in row.details), {})
        own = [rows[name].value if name in rows else None for name in metrics]
        lines.append([*edit.values(), *own, shares.get("valid_share"), shares.get("applies")])
    return csv_bytes([*edits[0], *metrics, "valid_share", "applies"], lines)


def edits_json(edits: Sequence[Plain], scores: Sequence[Score], settings: Plain) -> bytes:
    """The edits in EditBoard's form, each with its values under ``dimension``, their details and the reasons of those without."""
    values = _by_edit(scores)
    told = []
    for edit in edits:
        rows = values[edit["model"], edit["id"]]
        own = {"dimension": {name: row.value for name, row in rows.items()}}
        told.append({**edit, **own, "details": {name: details_of(row) for name, row in rows.items()}})
    return json_bytes({"settings": dict(settings), "edits": told})


def _by_edit(scores: Sequence[Score]) -> dict[tuple[str, str], dict[str, Score]]:
    found: dict[tuple[str, str], dict[str, Score]] = {}
    for row in scores:
        found.setdefault((row.method, row.item_id), {})[row.metric] = row
    return found


def _cell_text(told: str) -> str:
    return " ".join(told.replace("|", "\\|").replace("<", "&lt;").split())


# Every name that a folder of a transcript may hold; a folder with another is somebody's own and never replaced.
PAGE = "transcript.html"
DATA = ("transcript.csv", "transcript.md", "transcript.json", "edits.csv", "edits.json")
_FIGURES = ("radar.svg", "radar.pdf", "execution_fidelity.svg", "execution_fidelity.pdf")
_OURS = {PAGE, *DATA, *_FIGURES}
_LINKS = (
    Link("#transcript", "Transcript"), Link("#figures", "Figures"), Link("#missing", "What is missing"),
    Link("#settings", "How it was measured"),
)  # fmt: skip
_LABELS = {
    "radar": "Means of every model by task and metric",
    "execution_fidelity": "Execution against fidelity, a dot for each model and task",
}


def write_transcript(folder: Path, found: Transcript, *, more: Mapping[str, bytes] | None = None) -> Path:
    """Write the transcript as a page, Markdown, CSV and JSON, and its figures as SVG and PDF.

    Equal input gives equal bytes. An earlier transcript in the folder is replaced as a whole.

    Args:
        folder: made where it is not there.
        found: the transcript.
        more: further files by name, of those in ``DATA``.

    Returns:
        The path of the page.

    Raises:
        InputError: the folder holds something else than a transcript.
    """
    if folder.exists() and not (folder.is_dir() and {path.name for path in folder.iterdir()} <= _OURS):
        raise InputError(f"{str(folder)!r} holds something else than a transcript; choose another folder")
    tables = {
        "transcript.csv": as_csv(found), "transcript.md": as_markdown(found),
        "transcript.json": as_json(found), **(more or {}),
    }  # fmt: skip
    drawn = {"radar": plots.radar_figure(found), "execution_fidelity": plots.trade_off_figure(found)}
    figures = {name: chart for name, chart in drawn.items() if chart is not None}
    text = render(found, figures, list(tables))
    with replacing(folder, what="transcript ") as made:
        (made / PAGE).write_text(text, encoding="utf-8")
        for name, data in tables.items():
            (made / name).write_bytes(data)
        for name, chart in figures.items():
            for kind in ("svg", "pdf"):
                save_chart(chart, made / f"{name}.{kind}")
    return folder / PAGE


def render(found: Transcript, figures: Mapping[str, altair.ConcatChart], names: Sequence[str]) -> str:
    """The page as text.

    Args:
        found: the transcript.
        figures: charts by the names of their files without an ending.
        names: of the files with data.
    """
    tasks = [f"{name} is {told}" for name, told in TASKS.items() if name in found.tasks]
    styles = method_styles(found.models, found.references)
    return page(
        "wings/editboard/page.html",
        title=f"Transcript: {found.title}",
        links=_LINKS,
        styles=styles,
        data={"styles": {name: look._asdict() for name, look in styles.items()}},
        found=found,
        tasks="; ".join(tasks) + "." if tasks else "",
        tables=[_table(found, model) for model in found.models],
        figures=[
            figure(chart, label=_LABELS[name], files=[f"{name}.{kind}" for kind in ("svg", "pdf")])
            for name, chart in figures.items()
        ],
        missing=_missing(found),
        settings=Table(
            (Column("Setting"), Column("Value", wide=True)),
            tuple(Row((Cell(name.replace("_", " ")), Cell(_plain(value)))) for name, value in found.settings.items()),
            label="How it was measured",
        ),
        files=names,
    )


def _table(found: Transcript, model: str) -> Table:
    columns = [
        Column("Task", sorts=True, falling=False),
        *(
            # The arrow never stands alone on a line, and no hyphen ends one.
            Column(
                "\u00a0".join(metric_arrow(metric).rsplit(" ", 1)).replace("-", "\u2011"),
                numeric=True,
                sorts=True,
                falling=METRICS.get(metric).higher_is_better,
            )
            for metric in found.metrics
        ),
    ]
    rows = [Row((Cell(task, task), *(_cell(found, model, task, metric) for metric in found.metrics))) for task in found.tasks]
    return Table(tuple(columns), tuple(rows), label=model, foot=FOOT)


def _cell(found: Transcript, model: str, task: str, metric: str) -> Cell:
    cell = found.cell(model, task, metric)
    if cell.mean is None:
        return Cell(DASH, title=cell.reason or "")
    return Cell(
        number(cell.mean, METRICS.get(metric).decimals),
        cell.mean,
        below=f"{cell.n} of {cell.total}" if cell.n != cell.total else f"n {cell.n}",
        title=". ".join(_told(cell, metric)),
        strong=model in found.best[task, metric],
    )


def _told(cell: Mean, metric: str) -> list[str]:
    decimals = METRICS.get(metric).decimals
    told = [words(cell, metric)]
    if cell.low is not None:
        told.append(f"95 % interval over originals {number(cell.low, decimals)} to {number(cell.high, decimals)}")
    if cell.applies is not None:
        own = f", mean {number(cell.applies_mean, decimals)}" if metric == "ff_beta" and cell.applies_mean is not None else ""
        told.append(f"It is meant for {cell.applies} of {count(cell.total, 'edit')}{own}")
    return told + ([cell.reason] if cell.reason else [])


def _missing(found: Transcript) -> Table:
    alike: dict[tuple[str, tuple[str, ...]], list[Gap]] = {}
    for gap in found.missing:
        alike.setdefault((gap.reason, gap.metrics), []).append(gap)
    rows = [
        Row((
            Cell(", ".join(gap.model for gap in gaps)), Cell(sum(len(gap.edits) for gap in gaps)),
            Cell(", ".join(map(metric_label, metrics))), Cell(reason),
        ))
        for (reason, metrics), gaps in alike.items()
    ]  # fmt: skip
    columns = (Column("Models"), Column("Edits", numeric=True), Column("Without", wide=True), Column("Reason", wide=True))
    return Table(columns, tuple(rows), label="What is missing")


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_plain(part)}" for name, part in value.items())
    return value if isinstance(value, str) else json.dumps(value)
