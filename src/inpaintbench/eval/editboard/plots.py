"""Two figures of a transcript: a radar for each task, and execution against fidelity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import lazy_loader

from inpaintbench.eval.analysis.chart import looks, scale, titled
from inpaintbench.eval.editboard.transcript import TASKS, Transcript
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.report.labels import metric_arrow, metric_label
from inpaintbench.pages import MethodStyle, method_styles
from inpaintbench.pages.words import number

if TYPE_CHECKING:
    import altair
else:
    altair = lazy_loader.load("altair")  # takes a quarter of a second, and most commands draw nothing

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
    """The worst and the best mean of a metric, of all models and tasks."""

    metric: str
    worst: float
    best: float

    def share(self, value: float) -> float:
        """0 at the worst, 1 at the best; 1 where they are the same."""
        return 1.0 if self.best == self.worst else (value - self.worst) / (self.best - self.worst)

    def words(self, value: float) -> str:
        """A mean as the table prints it."""
        return number(value, METRICS.get(self.metric).decimals)


def axes_of(found: Transcript) -> list[Axis]:
    """Axes of the metrics that have a finite mean somewhere."""
    made = []
    for metric in found.metrics:
        means = [cell.mean for (_, _, name), cell in found.cells.items() if name == metric and cell.mean is not None]
        if finite := [mean for mean in means if math.isfinite(mean)]:
            ends = (min(finite), max(finite))
            made.append(Axis(metric, *(ends if METRICS.get(metric).higher_is_better else ends[::-1])))
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
    styles = method_styles(found.models)
    drawn = [_radar(found, task, axes, styles) for task, axes in webs.items()]
    across = min(2, len(drawn))
    title = titled("Means by task", [told], width=across * 2 * (_RADIUS + _AROUND))
    return altair.concat(*drawn, columns=across, title=title)


def _axes_in(found: Transcript, task: str) -> list[Axis]:
    """The axes of the metrics that some model has a number of in a task; not where all means are equal, which looks perfect."""
    return [
        axis
        for axis in axes_of(found)
        if axis.best != axis.worst and any(found.cell(model, task, axis.metric).mean is not None for model in found.models)
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
        ends = f"{axis.words(axis.worst)} → {axis.words(axis.best)}"
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
        told = f"{model}, {metric_label(axis.metric)}: {axis.words(value)}"
        points.append({**_on(place, len(axes), axis.share(value)), "place": place, "name": model, "told": told})
    known = [point for point in points if point]
    if len(known) == len(axes):
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
    dots = _plot(known).mark_point(filled=True, size=50, opacity=1)
    yield dots.encode(x, y, colour, shape, description="told:N")


def trade_off_figure(found: Transcript) -> altair.ConcatChart | None:
    """Every metric of execution against every one of fidelity, a dot for each model and task; None where either has no number."""
    known = {axis.metric for axis in axes_of(found)}
    down, across = ([name for name in names if name in known] for names in (FIDELITY, EXECUTION))
    pairs = [(x, y) for y in down for x in across if _dots(found, x, y)]
    if not pairs:
        return None
    told = "Right is better execution, up is better fidelity: its axes are turned round. A dot: a model's mean in a task."
    columns = min(len(pairs), 2)
    title = titled("Execution against fidelity", [told], width=columns * (_SIDE + 80))
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
    data = [
        {"name": model, "task": task, "x": one, "y": other,
         "told": f"{model}, {task}: {metric_label(across)} {one:.4g}, {metric_label(up)} {other:.4g}"}
        for model, task, one, other in dots
    ]  # fmt: skip
    ticks = [scale(values, from_zero=False) for values in ([dot[2] for dot in dots], [dot[3] for dot in dots])]
    # Fidelity: lower is better, and the best is on top.
    ends = (
        altair.Scale(domain=[places[0], places[-1]], nice=False, reverse=turned)
        for places, turned in zip(ticks, (False, True), strict=True)
    )
    axes = (
        altair.Axis(values=places, format=",.6~g", labelFlush=False, grid=True, ticks=False, domain=False) for places in ticks
    )
    x = altair.X("x:Q", title=metric_arrow(across), scale=next(ends), axis=next(axes))
    y = altair.Y("y:Q", title=metric_arrow(up), scale=next(ends), axis=next(axes))
    colour, shape = looks(method_styles(found.models))
    points = _plot(data).mark_point(filled=True, size=80, opacity=1).encode(x, y, colour, shape, description="told:N")
    tasks = _plot(data).mark_text(align="left", dx=8, fontSize=10, color="var(--soft)", aria=False)
    drawn: altair.LayerChart | altair.FacetChart = altair.layer(points, tasks.encode(x, y, text="task:N")).properties(
        width=_SIDE, height=_SIDE
    )
    return drawn
