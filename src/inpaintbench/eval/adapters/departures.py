"""Where the task that a program gets in a run is not the one that it was published with, in plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.adapters.exchange import Fit
from inpaintbench.eval.adapters.fitting import Divisor, Padding
from inpaintbench.eval.adapters.layouts import Layout, Task
from inpaintbench.pages.words import count


class Shape(NamedTuple):
    """What decides how an item is handed over."""

    width: int
    height: int
    frames: int
    blanked: bool
    """The hole holds the dataset's filling, where no picture is."""


def departures(layout: Layout, shapes: Iterable[Shape], *, task: Task, divisor: Divisor) -> list[str]:
    """Sentences on a run: another task, what is under the hole, sizes and numbers of frames that were changed, its own ways.

    Args:
        layout: of the program.
        shapes: of the run's items.
        task: of the dataset.
        divisor: multiples that the sides are padded to.
    """
    counted = Counter(shapes)
    return [*_task(layout, counted, task), *_sizes(layout, counted, divisor), *_frames(layout, counted), *_own_ways(layout)]


def _task(layout: Layout, shapes: Counter[Shape], task: Task) -> Iterator[str]:
    if task not in layout.task:
        yield f"Made for {' and '.join(layout.task)}, and run here on {task}."
    if layout.hole_fill is not None:
        yield f"Finds the colour {layout.hole_fill} under the hole, as it wants it, and not what other methods find there."
    if layout.looks_into and any(shape.blanked for shape in shapes):
        yield f"{layout.looks_into}: here it finds the filling of the hole, since no method sees the truth."
    if task != "editing" and any("{prompt}" in text for text in (*layout.started, *layout.files.values())):
        yield "Takes a prompt, and gets an empty one."


def _sizes(layout: Layout, shapes: Counter[Shape], divisor: Divisor) -> Iterator[str]:
    resized: Counter[tuple[int, int]] = Counter()
    for shape, items in shapes.items():
        padding = Padding.of(shape.height, shape.width, divisor)
        width, height = shape.width + padding.left + padding.right, shape.height + padding.top + padding.bottom
        scaled = Fit.of(layout, width=width, height=height).scaled
        if scaled != (width, height):
            resized[scaled] += items
    if resized:
        sizes = ", ".join(f"{width}x{height}" for width, height in sorted(resized)[:3])
        more = f" and {len(resized) - 3} more sizes" if len(resized) > 3 else ""
        yield f"Works at {sizes}{more}: {_are(resized.total())} resized to that, and the results back."


def _frames(layout: Layout, shapes: Counter[Shape]) -> Iterator[str]:
    rule = layout.frames_rule
    longer: Counter[tuple[int, int]] = Counter()
    cut = 0
    for shape, items in shapes.items():
        try:
            windows = rule.windows(shape.frames)
        except NotMeasurable:  # told as the failure that it is
            continue
        cut += items if len(windows) > 1 else 0
        lengths = {end - start for start, end in windows}
        longer.update({(length, rule.count(length)): items for length in lengths if rule.count(length) != length})
    if longer:
        (before, after), _ = longer.most_common(1)[0]
        yield f"Takes other numbers of frames: some are repeated ({before} become {after}) and cut off again."
    if cut:
        yield f"{_are(cut)} longer than it takes: it fills windows that share {rule.overlap} frames."


def _own_ways(layout: Layout) -> Iterator[str]:
    if layout.dilates != "none":
        yield f"Grows the hole by itself ({layout.dilates}), so it is shown less than other methods."
    if layout.composites == "no":
        yield "Gives whole frames of its own; known pixels are not the input's."
    elif layout.composites == "blurred":
        yield "Blends its result into known pixels around the hole."
    if not layout.seeded:
        yield "Two runs differ: it takes no seed."


def _are(items: int) -> str:
    return f"{count(items, 'item')} {'is' if items == 1 else 'are'}"
