"""The folder of a transcript: tables, two figures, and one HTML page with both, which opens from disk by itself.

The figures are a radar for each task, and execution against fidelity.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from inpaintbench.errors import InputError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.results.quantity import Quantity, metric_arrow, metric_label, place_label, quantity_arrow, quantity_label
from inpaintbench.files import replacing
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Column, Link, MethodStyle, Row, Table, figure, method_styles, page, save_chart
from inpaintbench.pages.chart import looks, scale, titled
from inpaintbench.pages.words import DASH, count, number
from inpaintbench.table_files import csv_bytes, json_bytes
from inpaintbench.types import Plain, Score
from inpaintbench.wings.editboard.transcript import FOOT, TASKS, Gap, Transcript, details_of
from inpaintbench.wings.editboard.transcript import Cell as Mean

if TYPE_CHECKING:
    import altair
else:
    altair = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

# Metrics of both sides of the trade-off, as the paper groups them.
FIDELITY = ("ff_alpha", "ff_beta", "semantic_score")
EXECUTION = ("success_rate", "clip_similarity")
# Pixels: of a radar, space for the names of its axes at its sides, and above and below it.
_RADIUS, _AROUND, _HEAD = 120, 160, 48
# Of the radius, where the worst mean lies.
_INNER = 0.2
# Fewer axes span no area.
_FEWEST_AXES = 3
# Pixels: side of a scatter plot.
_SIDE = 260
# The first axis points up, the others follow clockwise.
_TURN_DEGREES = -90


class Axis(NamedTuple):
    """The worst and the best mean of a metric, of all contenders and tasks."""

    metric: str
    region: str
    worst: float
    best: float

    def share(self, value: float) -> float:
        """0 at the worst, 1 at the best and for a reference beyond them; 1 where they are the same."""
        return 1.0 if self.best == self.worst else min(max((value - self.worst) / (self.best - self.worst), 0.0), 1.0)

    def words(self, value: float) -> str:
        """A mean as the table prints it."""
        return number(value, METRICS.get(self.metric).decimals)


def axes_of(found: Transcript) -> list[Axis]:
    """Axes of the metrics of which a contender has a finite mean somewhere."""
    made = []
    for metric in found.metrics:
        cells = [found.cell(model, task, metric) for model in found.contenders for task in found.tasks]
        if finite := [cell.mean for cell in cells if cell.mean is not None and math.isfinite(cell.mean)]:
            ends = (min(finite), max(finite))
            made.append(Axis(metric, found.regions[metric], *(ends if METRICS.get(metric).higher_is_better else ends[::-1])))
    return made


def radar_figure(found: Transcript) -> altair.ConcatChart | None:
    """A radar with a line for each model, for each task that has numbers of three metrics or more; None without such a task."""
    webs = {task: axes for task in found.tasks if len(axes := _axes_in(found, task)) >= _FEWEST_AXES}
    if not webs:
        return None
    told = (
        "Farther out is better on every axis: those marked ↓ are turned round. The rim is the best and the inner ring the worst "
        "mean of all models and tasks shown here, both written at the axis, so positions say nothing beyond this figure."
    )
    styles = method_styles(found.models, found.references)
    drawn = [_radar(found, task, axes, styles) for task, axes in webs.items()]
    across = min(2, len(drawn))
    title = titled("Means by task", [told, *_reference_words(found)], width=across * 2 * (_RADIUS + _AROUND))
    return altair.concat(*drawn, columns=across, title=title)


def _reference_words(found: Transcript) -> list[str]:
    names = " and ".join(found.references)
    return [f"{names}: reference, at the edge where it lies beyond all others."] if names else []


def _axes_in(found: Transcript, task: str) -> list[Axis]:
    """The axes of the metrics that some model has a number of in a task; not where all means are equal, which looks perfect."""
    return [
        axis
        for axis in axes_of(found)
        if axis.best != axis.worst and any(found.cell(model, task, axis.metric).mean is not None for model in found.contenders)
    ]


def _on(place: int, count: int, share: float) -> dict[str, float]:
    """Pixels from the centre, to the right and down, where an axis has that share of the way from the inner ring to the rim."""
    angle = math.radians(360 * place / count + _TURN_DEGREES)
    reach = _RADIUS * (_INNER + (1 - _INNER) * share)
    return {"x": reach * math.cos(angle), "y": reach * math.sin(angle)}


def _radar(
    found: Transcript, task: str, axes: Sequence[Axis], styles: Mapping[str, MethodStyle]
) -> altair.LayerChart | altair.FacetChart:
    width, height = _RADIUS + _AROUND, _RADIUS + _HEAD
    x = altair.X("x:Q", axis=None, scale=altair.Scale(domain=[-width, width], nice=False))
    y = altair.Y("y:Q", axis=None, scale=altair.Scale(domain=[height, -height], nice=False))
    rings = [
        {**_on(place, len(axes), share), "ring": share, "place": place}
        for share in (0.0, 0.5, 1.0)
        for place in range(len(axes) + 1)
    ]
    spokes = [{"x": 0, "y": 0, **_ends(_on(place, len(axes), 1.0))} for place in range(len(axes))]
    web = _plot(rings).mark_line(strokeWidth=1, aria=False)
    ring_colour = altair.condition("datum.ring == 1", altair.value("var(--strong-line)"), altair.value("var(--line)"))
    layers = [
        web.encode(x, y, altair.Order("place:Q"), detail="ring:N", color=ring_colour),
        _plot(spokes).mark_rule(color="var(--line)", aria=False).encode(x, y, x2="x2:Q", y2="y2:Q"),
    ]
    for align in ("left", "center", "right"):
        names = [row for row in _names(axes) if row["align"] == align]
        for field, down, ink, size in (("name", 0, "var(--ink)", 11.5), ("ends", 13, "var(--soft)", 10.5)):
            text = _plot(names).mark_text(align=align, dy=down, color=ink, fontSize=size, aria=False)
            layers.append(text.encode(x, y, text=f"{field}:N"))
    for model in found.models:
        layers += _shape(found, model, task, axes, x, y, styles)
    title = altair.TitleParams(f"{task}: {TASKS[task]}" if task in TASKS else task, fontSize=14, anchor="middle")
    return altair.layer(*layers, title=title).properties(width=2 * width, height=2 * height)


def _plot(rows: Sequence[Mapping[str, Any]]) -> altair.Chart:
    return altair.Chart(altair.InlineData(values=list(rows)))


def _ends(point: Mapping[str, float]) -> dict[str, float]:
    """Coordinates of the end of a line."""
    return {f"{name}2": value for name, value in point.items()}


def _names(axes: Sequence[Axis]) -> Iterator[dict[str, Any]]:
    """Each axis with its ends, outside the rim."""
    for place, axis in enumerate(axes):
        point, rim = _on(place, len(axes), 1.12), _on(place, len(axes), 1.0)
        align = "center" if abs(rim["x"]) < 1 else "left" if rim["x"] > 0 else "right"
        ends = f"{place_label(axis.region)}, {axis.words(axis.worst)} → {axis.words(axis.best)}"
        down = -10 if rim["y"] < -1 else 8
        yield {"x": point["x"], "y": point["y"] + down, "align": align, "name": metric_arrow(axis.metric), "ends": ends}


def _shape(
    found: Transcript,
    model: str,
    task: str,
    axes: Sequence[Axis],
    x: altair.X,
    y: altair.Y,
    styles: Mapping[str, MethodStyle],
) -> Iterator[altair.Chart]:
    """Dots where there are numbers, and lines between those of neighbouring axes."""
    colour, shape = looks(styles)
    points: list[dict[str, Any] | None] = []
    for place, axis in enumerate(axes):
        value = found.cell(model, task, axis.metric).mean
        if value is None or not math.isfinite(value):
            points.append(None)
            continue
        told = f"{found.named(model)}, {quantity_label(Quantity(axis.metric, axis.region))}: {axis.words(value)}"
        points.append({**_on(place, len(axes), axis.share(value)), "place": place, "name": model, "told": told})
    known = [point for point in points if point]
    if len(known) == len(axes) and model in found.contenders:
        area = _plot(known).mark_line(strokeWidth=0, filled=True, fillOpacity=0.08, aria=False)
        yield area.encode(x, y, altair.Order("place:Q"), colour)
    lines = [
        {**one, **_ends({"x": other["x"], "y": other["y"]})}
        for one, other in zip(points, [*points[1:], points[0]], strict=True)
        if one and other
    ]
    yield (
        _plot(lines)
        .mark_rule(strokeWidth=2, strokeDash=styles[model].dash, aria=False)
        .encode(x, y, colour, x2="x2:Q", y2="y2:Q")
    )
    dots = _plot(known).mark_point(filled=model in found.contenders, size=50, opacity=1)
    yield dots.encode(x, y, colour, shape, description="told:N")


def trade_off_figure(found: Transcript) -> altair.ConcatChart | None:
    """Every metric of execution against every one of fidelity, a dot for each model and task; None where either has no number."""
    known = {axis.metric for axis in axes_of(found)}
    down, across = ([name for name in names if name in known] for names in (FIDELITY, EXECUTION))
    pairs = [(x, y) for y in down for x in across if any(dot[0] in found.contenders for dot in _dots(found, x, y))]
    if not pairs:
        return None
    told = "Right is better execution, up is better fidelity: its axes are turned round. A dot: a model's mean in a task."
    columns = min(len(pairs), 2)
    title = titled("Execution against fidelity", [told, *_reference_words(found)], width=columns * (_SIDE + 80))
    return altair.concat(*(_scatter(found, x, y) for x, y in pairs), columns=columns, title=title)


def _dots(found: Transcript, x: str, y: str) -> list[tuple[str, str, float, float]]:
    """Model, task and both means, where both are there."""
    cells = [
        (model, task, found.cell(model, task, x).mean, found.cell(model, task, y).mean)
        for model in found.models
        for task in found.tasks
    ]
    return [
        (model, task, one, other)
        for model, task, one, other in cells
        if one is not None and other is not None and math.isfinite(one) and math.isfinite(other)
    ]


def _scatter(found: Transcript, across: str, up: str) -> altair.LayerChart | altair.FacetChart:
    dots = _dots(found, across, up)
    own = [(one, other) for model, _, one, other in dots if model in found.contenders]
    ticks = [scale(values, from_zero=False) for values in zip(*own, strict=True)]
    quantities = [Quantity(metric, found.regions[metric]) for metric in (across, up)]
    # A reference beyond the scale stands at its edge.
    data = [
        {
            "name": model, "competes": model in found.contenders,
            "task": task if model in found.contenders else model,
            **{name: min(max(mean, places[0]), places[-1]) for name, mean, places in zip("xy", means, ticks, strict=True)},
            "told": f"{found.named(model)}, {task}: " + ", ".join(
                f"{quantity_label(quantity)} {mean:.4g}" for quantity, mean in zip(quantities, means, strict=True)
            ),
        }
        for model, task, *means in dots
    ]  # fmt: skip
    # Fidelity: lower is better, and the best is on top.
    ends = (
        altair.Scale(domain=[places[0], places[-1]], nice=False, reverse=turned)
        for places, turned in zip(ticks, (False, True), strict=True)
    )
    axes = (
        altair.Axis(values=places, format=",.6~g", labelFlush=False, grid=True, ticks=False, domain=False) for places in ticks
    )
    x = altair.X("x:Q", title=quantity_arrow(quantities[0]), scale=next(ends), axis=next(axes))
    y = altair.Y("y:Q", title=quantity_arrow(quantities[1]), scale=next(ends), axis=next(axes))
    colour, shape = looks(method_styles(found.models, found.references))
    points = [
        _plot([row for row in data if row["competes"] == competes])
        .mark_point(filled=competes, size=80, opacity=1)
        .encode(x, y, colour, shape, description="told:N")
        for competes in ((True, False) if found.references else (True,))
    ]
    tasks = _plot(data).mark_text(align="left", dx=8, fontSize=10, color="var(--soft)", aria=False)
    drawn: altair.LayerChart | altair.FacetChart = altair.layer(*points, tasks.encode(x, y, text="task:N")).properties(
        width=_SIDE, height=_SIDE
    )
    return drawn


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
    drawn = {"radar": radar_figure(found), "execution_fidelity": trade_off_figure(found)}
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
    decimals = METRICS.get(metric).decimals
    told = [words(cell, metric)]
    if cell.low is not None:
        told.append(f"95 % interval over originals {number(cell.low, decimals)} to {number(cell.high, decimals)}")
    if cell.applies is not None:
        own = f", mean {number(cell.applies_mean, decimals)}" if metric == "ff_beta" and cell.applies_mean is not None else ""
        told.append(f"It is meant for {cell.applies} of {count(cell.total, 'edit')}{own}")
    if cell.reason:
        told.append(cell.reason)
    return Cell(
        number(cell.mean, decimals),
        cell.mean,
        below=f"{cell.n} of {cell.total}" if cell.n != cell.total else f"n {cell.n}",
        title=". ".join(told),
        strong=model in found.best[task, metric],
    )


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
