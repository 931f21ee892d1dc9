"""The transcript and the scores behind it as Markdown, CSV and JSON; equal input gives equal bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inpaintbench.eval.data_files import csv_bytes, json_bytes
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.results.quantity import metric_arrow
from inpaintbench.pages.words import count, number
from inpaintbench.types import Plain, Score
from inpaintbench.wings.editboard.transcript import FOOT, TASKS, Cell, Transcript, details_of

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
    lines += ["", *_missing_lines(found), *(f"{name}: {told}." for name, told in TASKS.items() if name in found.tasks)]
    return ("\n".join(lines) + "\n").encode()


def _missing_lines(found: Transcript) -> list[str]:
    if not found.missing:
        return []
    told = [
        f"- {_cell_text(gap.model)}: {count(len(gap.edits), 'edit')} without {', '.join(gap.metrics)}: {_cell_text(gap.reason)}"
        for gap in found.missing
    ]
    return ["## Without a value", "", *told, ""]


def words(cell: Cell, metric: str) -> str:
    """A mean, and of how many edits where these are not all: ``7.27 (8 of 10)``."""
    if cell.mean is None:
        return "–"
    value = number(cell.mean, METRICS.get(metric).decimals)
    return value if cell.n == cell.total else f"{value} ({cell.n} of {cell.total})"


def edits_csv(edits: Sequence[Plain], scores: Sequence[Score], metrics: Sequence[str]) -> bytes:
    """One line for each edit: the columns of the list, and its value in every metric; the valid share of its original."""
    values = _by_edit(scores)
    heads = [*edits[0], *metrics, "valid_share", "applies"]
    return csv_bytes(heads, (_edit_line(edit, values[edit["model"], edit["id"]], metrics) for edit in edits))


def _edit_line(edit: Plain, rows: Mapping[str, Score], metrics: Sequence[str]) -> list[Any]:
    shares = next((row.details for row in rows.values() if "valid_share" in row.details), {})
    own = [rows[name].value if name in rows else None for name in metrics]
    return [*edit.values(), *own, shares.get("valid_share"), shares.get("applies")]


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
