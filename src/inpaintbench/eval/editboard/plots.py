"""Two figures of a transcript as standalone SVG: a radar for each task, and execution against fidelity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from inpaintbench.eval.analysis import svg
from inpaintbench.eval.analysis.svg import line, text
from inpaintbench.eval.editboard.transcript import TASKS, Transcript
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.report.labels import method_colours, metric_arrow, metric_label
from inpaintbench.eval.report.markup import number

Point = tuple[float, float]
FIDELITY = ("ff_alpha", "ff_beta", "semantic_score")
EXECUTION = ("success_rate", "clip_similarity")
_MARGIN, _RADIUS, _AROUND, _HEAD = 20, 120, 160, 60
"""Pixels: round the picture, of a radar, space for the names of its axes, and above it."""
_INNER = 0.2
"""Of the radius, where the worst mean lies."""
_FEWEST_AXES = 3
_SIDE, _LEFT, _BELOW, _GAP = 260, 66, 62, 26
"""Pixels: side of a scatter plot, and space left of it, below it and above it."""
_KEY = 76
"""Pixels of a task's mark with its name."""
_SHAPES: Mapping[str, Sequence[Point]] = {
    "SE": ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
    "SOMA": ((0, -6), (5.6, 4.2), (-5.6, 4.2)),
    "MOA": ((0, -6.3), (6.3, 0), (0, 6.3), (-6.3, 0)),
}
"""Corners in pixels; other tasks are circles."""
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
        return number(value, decimals=METRICS.get(self.metric).decimals)


def axes_of(found: Transcript) -> list[Axis]:
    """Of every metric that has a finite mean somewhere."""
    made = []
    for metric in found.metrics:
        means = [cell.mean for (_, _, name), cell in found.cells.items() if name == metric and cell.mean is not None]
        if finite := [mean for mean in means if math.isfinite(mean)]:
            ends = (min(finite), max(finite))
            made.append(Axis(metric, *(ends if METRICS.get(metric).higher_is_better else ends[::-1])))
    return made


def radar_figure(found: Transcript) -> str | None:
    """A radar with a line for each model, for each task that has numbers of three metrics or more; None without such a task."""
    webs = {task: axes for task in found.tasks if len(axes := _axes_in(found, task)) >= _FEWEST_AXES}
    if not webs:
        return None
    panel = 2 * (_RADIUS + _AROUND)
    across = min(2, len(webs))
    width = 2 * _MARGIN + panel * across
    parts = [text(_MARGIN, _MARGIN + 14, "Means by task", size=17, bold=True)]
    told = (
        "Farther out is better on every axis: those marked ↓ are turned round. The rim is the best and the inner ring the worst "
        "mean of all models and tasks shown here, both written at the axis, so positions say nothing beyond this figure."
    )
    drawn, height = svg.sentence(told, x=_MARGIN, y=_MARGIN + 36, width=width - 2 * _MARGIN)
    parts += drawn
    top = _MARGIN + 42 + height
    colours = method_colours(found.models)
    drawn, height = svg.legend(list(colours.items()), x=_MARGIN, y=top, width=width - 2 * _MARGIN)
    parts, top = parts + drawn, top + height
    tall = 2 * _RADIUS + _HEAD * 2
    for place, (task, axes) in enumerate(webs.items()):
        centre = (_MARGIN + panel * (place % across + 0.5), top + tall * (place // across) + _HEAD + _RADIUS)
        parts.append(text(centre[0], centre[1] - _RADIUS - 44, _task_words(task), size=14, anchor="middle", bold=True))
        parts += _web(axes, centre)
        for model in found.models:
            values = {axis.metric: found.cell(model, task, axis.metric).mean for axis in axes}
            parts += _shape(model, colours[model], values, axes, centre)
    rows = -(-len(webs) // across)
    return svg.document(parts, width=width, height=top + tall * rows + _MARGIN, label="Means of every model by task and metric")


def _axes_in(found: Transcript, task: str) -> list[Axis]:
    """The axes of the metrics that some model has a number of in a task; not where all means are equal, which looks perfect."""
    return [
        axis
        for axis in axes_of(found)
        if axis.best != axis.worst and any(found.cell(model, task, axis.metric).mean is not None for model in found.models)
    ]


def _task_words(task: str) -> str:
    return f"{task}: {TASKS[task]}" if task in TASKS else task


def _on(place: int, count: int, share: float, centre: Point) -> Point:
    """Where an axis has that share of the way from the inner ring to the rim."""
    angle = math.radians(360 * place / count + _TURN_DEGREES)
    reach = _RADIUS * (_INNER + (1 - _INNER) * share)
    return centre[0] + reach * math.cos(angle), centre[1] + reach * math.sin(angle)


def _web(axes: Sequence[Axis], centre: Point) -> Iterator[str]:
    for share in (0.0, 0.5, 1.0):
        corners = " ".join(f"{x:.6g},{y:.6g}" for x, y in (_on(place, len(axes), share, centre) for place in range(len(axes))))
        yield f'<polygon points="{corners}" fill="none" stroke="{svg.BASE if share == 1 else svg.GRID}"/>'
    for place, axis in enumerate(axes):
        rim = _on(place, len(axes), 1.0, centre)
        yield line(*centre, *rim, colour=svg.GRID)
        x, y = _on(place, len(axes), 1.12, centre)
        side = rim[0] - centre[0]
        anchor = "middle" if abs(side) < 1 else "start" if side > 0 else "end"
        y += -10 if rim[1] < centre[1] - 1 else 8
        yield text(x, y, metric_arrow(axis.metric), size=11.5, anchor=anchor)
        yield text(x, y + 13, f"{axis.words(axis.worst)} → {axis.words(axis.best)}", size=10.5, colour=svg.SOFT, anchor=anchor)


def _shape(model: str, colour: str, values: Mapping[str, float | None], axes: Sequence[Axis], centre: Point) -> Iterator[str]:
    """Dots where there are numbers, and lines between those of neighbouring axes."""
    points: list[Point | None] = []
    for place, axis in enumerate(axes):
        value = values[axis.metric]
        known = value is not None and math.isfinite(value)
        points.append(_on(place, len(axes), axis.share(value or 0.0), centre) if known else None)
    if None not in points:
        corners = " ".join(f"{x:.6g},{y:.6g}" for x, y in filter(None, points))
        yield f'<polygon points="{corners}" fill="{colour}" fill-opacity="0.08"/>'
    for place, point in enumerate(points):
        following = points[(place + 1) % len(points)]
        if point and following:
            yield line(*point, *following, colour=colour, width=2)
        if point:
            axis = axes[place]
            words = f"{model}, {metric_label(axis.metric)}: {axis.words(values[axis.metric] or 0.0)}"
            yield svg.told(words, f'<circle cx="{point[0]:.6g}" cy="{point[1]:.6g}" r="3.6" fill="{colour}"/>')


def trade_off_figure(found: Transcript) -> str | None:
    """Every metric of execution against every one of fidelity, a dot for each model and task; None where either has no number."""
    known = {axis.metric for axis in axes_of(found)}
    down, across = ([name for name in names if name in known] for names in (FIDELITY, EXECUTION))
    pairs = [(x, y) for y in down for x in across if _dots(found, x, y)]
    if not pairs:
        return None
    columns = min(len(pairs), 2)
    width = 2 * _MARGIN + columns * (_LEFT + _SIDE + _GAP)
    parts = [text(_MARGIN, _MARGIN + 14, "Execution against fidelity", size=17, bold=True)]
    told = (
        "Right is better execution, up is better fidelity: its axes are turned round. A dot is the mean of a model in one task."
    )
    drawn, height = svg.sentence(told, x=_MARGIN, y=_MARGIN + 36, width=width - 2 * _MARGIN)
    parts, top = parts + drawn, _MARGIN + 42 + height
    colours = method_colours(found.models)
    drawn, height = svg.legend(list(colours.items()), x=_MARGIN, y=top, width=width - 2 * _MARGIN)
    parts, top = parts + drawn, top + height
    for place, task in enumerate(found.tasks):
        left = _MARGIN + 5 + _KEY * place
        parts += [_mark(task, (left, top), svg.SOFT), text(left + 12, top + 4, task, size=12.5)]
    top += 20
    for place, (x, y) in enumerate(pairs):
        left = _MARGIN + _LEFT + (place % columns) * (_LEFT + _SIDE + _GAP)
        parts += _scatter(found, x, y, left=left, top=top + _GAP + (place // columns) * (_SIDE + _BELOW + _GAP), colours=colours)
    rows = -(-len(pairs) // columns)
    height = top + rows * (_SIDE + _BELOW + _GAP) + _MARGIN
    return svg.document(parts, width=width, height=height, label="Execution against fidelity, a dot for each model and task")


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


def _scatter(found: Transcript, x: str, y: str, *, left: float, top: float, colours: Mapping[str, str]) -> Iterator[str]:
    dots = _dots(found, x, y)
    ticks = [svg.scale([dot[part] for dot in dots], from_zero=False) for part in (2, 3)]  # type: ignore[misc]
    bottom = top + _SIDE

    def across(value: float) -> float:
        return left + _SIDE * (value - ticks[0][0]) / (ticks[0][-1] - ticks[0][0])

    def down(value: float) -> float:  # fidelity: lower is better, and the best is on top
        return top + _SIDE * (value - ticks[1][0]) / (ticks[1][-1] - ticks[1][0])

    for tick, words in zip(ticks[0], svg.tick_words(ticks[0], percent=False), strict=True):
        yield line(across(tick), top, across(tick), bottom, colour=svg.GRID)
        yield text(across(tick), bottom + 16, words, size=11, colour=svg.SOFT, anchor="middle")
    for tick, words in zip(ticks[1], svg.tick_words(ticks[1], percent=False), strict=True):
        yield line(left, down(tick), left + _SIDE, down(tick), colour=svg.GRID)
        yield text(left - 8, down(tick) + 4, words, size=11, colour=svg.SOFT, anchor="end")
    yield text(left, top - 10, metric_arrow(y), size=12.5, bold=True)
    yield text(left + _SIDE, bottom + 36, metric_arrow(x), size=12.5, anchor="end", bold=True)
    for model, task, one, other in dots:
        told = f"{model}, {task}: {metric_label(x)} {one:.4g}, {metric_label(y)} {other:.4g}"
        place = across(one), down(other)
        yield svg.told(told, _mark(task, place, colours[model]))


def _mark(task: str, place: Point, colour: str) -> str:
    """A circle, or the shape of the task."""
    if task not in _SHAPES:
        return f'<circle cx="{place[0]:.6g}" cy="{place[1]:.6g}" r="5" fill="{colour}"/>'
    corners = " ".join(f"{place[0] + x:.6g},{place[1] + y:.6g}" for x, y in _SHAPES[task])
    return f'<polygon points="{corners}" fill="{colour}"/>'
