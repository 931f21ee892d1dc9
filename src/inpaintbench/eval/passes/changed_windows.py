"""Cells of a network's layers that can differ where only some pixels of a picture do.

A composite equals the truth outside the hole, so a chain of convolutions and poolings has to be run for each method only where
the changed pixels reach, on truth activations around them; the truth itself only where those are looked at. Windows are in cells
of a layer, counted from the top left cell of the whole frame. A step run on part of its input gives the cells of the whole frame
exactly when the part begins at a multiple of its stride and holds all that those cells look at within the frame: padding is then
met only at the frame's own edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Shared
from inpaintbench.lazily import lazily
from inpaintbench.models import boxes
from inpaintbench.types import Frames

cv2 = lazily("cv2")


class Span(NamedTuple):
    """Cells along one axis, ``stop`` not among them."""

    start: int
    stop: int

    def around(self, other: Span) -> Span:
        """The smallest span that holds both."""
        return Span(min(self.start, other.start), max(self.stop, other.stop))

    def slice_from(self, origin: int) -> slice:
        """Return where its cells lie in an array that begins at the cell ``origin``."""
        return slice(self.start - origin, self.stop - origin)


class Window(NamedTuple):
    """A box of cells."""

    rows: Span
    columns: Span

    def around(self, other: Window) -> Window:
        """The smallest box that holds both."""
        return Window(self.rows.around(other.rows), self.columns.around(other.columns))

    def overlap(self, other: Window) -> Window:
        """The cells of both, which overlap."""
        return Window(*(Span(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(self, other, strict=True)))

    def within(self, other: Window) -> tuple[slice, slice]:
        """Return where its cells lie in an array that holds those of ``other``."""
        return self.rows.slice_from(other.rows.start), self.columns.slice_from(other.columns.start)


class Step(NamedTuple):
    """Reach of a network's step into its input: a square kernel, or the one that a block of several amounts to."""

    kernel: int = 1
    stride: int = 1
    padding: int = 0
    ceil: bool = False
    """True when a kernel that the input ends within still gives a cell."""

    @property
    def is_pointwise(self) -> bool:
        """Return whether each cell depends on one cell alone, and lies where that lies."""
        return self.kernel == self.stride == 1

    def cells(self, length: int) -> int:
        """Cells of its output for an input of ``length``; none where the input is too short."""
        room = length + 2 * self.padding - self.kernel
        return max((room + (self.stride - 1 if self.ceil else 0)) // self.stride + 1, 0)

    def reached(self, changed: Span, length: int) -> Span:
        """Cells of the output that see one of ``changed``, at least one cell, for an input of ``length``."""
        start = -((self.kernel - 1 - changed.start - self.padding) // self.stride)
        start = min(max(start, 0), self.cells(length) - 1)
        stop = min((changed.stop - 1 + self.padding) // self.stride + 1, self.cells(length))
        return Span(start, max(stop, start + 1))

    def source(self, wanted: Span, length: int, *, few_shapes: bool = False) -> Span:
        """Cells of the input from which those ``wanted`` of the output are computed; begins at a multiple of the stride.

        With ``few_shapes`` so many that their number depends on that of ``wanted`` alone, not on its place.
        """
        start = (wanted.start * self.stride - self.padding) // self.stride * self.stride
        stop = (wanted.stop - 1) * self.stride - self.padding + self.kernel
        if few_shapes:
            count = stop - start + (length - stop + start) % self.stride  # so that the last one begins at a multiple, too
            start = min(max(start, 0), max(length - count, 0))
            stop = start + count
        return Span(max(start, 0), min(stop, length))

    def source_window(self, wanted: Window, size: tuple[int, int], *, few_shapes: bool = False) -> Window:
        """``source`` for rows and columns, of an input of ``size`` cells."""
        rows, columns = (
            self.source(span, length, few_shapes=few_shapes) for span, length in zip(wanted, size, strict=True)
        )  # fmt: skip
        return Window(rows, columns)

    def place(self, wanted: Window, source: Window) -> tuple[slice, slice]:
        """Return where the cells ``wanted`` lie in what the step gives for ``source``."""
        rows, columns = (span.start // self.stride for span in source)
        return wanted.rows.slice_from(rows), wanted.columns.slice_from(columns)


class Plan(NamedTuple):
    """Windows to compute, for the picture (first) and after each step."""

    sizes: tuple[tuple[int, int], ...]
    """Rows and columns of the whole frame."""
    changed: tuple[Window, ...]
    """Cells that can differ from the truth's, and with few shapes those around them."""
    looked_at: tuple[Window, ...]
    """Cells of the truth from which those are computed, and with which they are compared."""
    sources: tuple[Window, ...]
    """For each step, the cells of its input that the changed cells of its output are computed from."""
    few_shapes: bool = False


def sizes_of(steps: Sequence[Step], height: int, width: int) -> tuple[tuple[int, int], ...]:
    """Rows and columns of a frame and of the output of each step; 0 from where on it is too small."""
    sizes = [(height, width)]
    for step in steps:
        rows, columns = sizes[-1]
        sizes.append((step.cells(rows), step.cells(columns)) if rows and columns else (0, 0))
    return tuple(sizes)


def plan(steps: Sequence[Step], changed: Window, *, height: int, width: int, few_shapes: bool = False) -> Plan:
    """Return what to compute when the pixels of ``changed`` differ.

    Args:
        steps: of the network, in order.
        changed: holds all pixels that differ.
        height: of the frame, large enough for all steps.
        width: alike.
        few_shapes: grow what is computed to one of the few sizes of ``boxes.LADDER``.
    """
    sizes, reached = sizes_of(steps, height, width), [changed]
    for step, (rows, columns) in zip(steps, sizes, strict=False):
        before = reached[-1]
        reached.append(Window(step.reached(before.rows, rows), step.reached(before.columns, columns)))
    if few_shapes:
        reached = [_on_ladder(window, size) for window, size in zip(reached, sizes, strict=True)]
    looked_at = [reached[-1]]
    for step, size, before in zip(reversed(steps), sizes[-2::-1], reached[-2::-1], strict=True):
        window = before.around(step.source_window(looked_at[-1], size, few_shapes=few_shapes))
        looked_at.append(_on_ladder(window, size) if few_shapes else window)
    sources = [
        step.source_window(wanted, size, few_shapes=few_shapes)
        for step, wanted, size in zip(steps, reached[1:], sizes, strict=False)
    ]
    return Plan(sizes, tuple(reached), tuple(looked_at[::-1]), tuple(sources), few_shapes)


def _on_ladder(window: Window, size: tuple[int, int]) -> Window:
    _, rows, columns = boxes.on_ladder((boxes.Span(0, 1), boxes.Span(*window.rows), boxes.Span(*window.columns)), (1, *size))
    return Window(Span(*rows), Span(*columns))


def changed_windows(truth: Frames, composite: Frames, shared: Shared) -> list[Window | None]:
    """For each frame the smallest box around all pixels that differ, None without any; made once for all networks.

    Args:
        truth: ``uint8[T, H, W, 3]``.
        composite: alike.
        shared: of the item.
    """
    windows: list[Window | None] = shared.once_of(
        [truth, composite], ("changed windows",), lambda: [changed_box(*pair) for pair in zip(truth, composite, strict=True)]
    )
    return windows


def differs(truth: Frames, composite: Frames, shared: Shared) -> bool:
    """Return whether a composite is not the truth itself."""
    return any(changed_windows(truth, composite, shared))


def around_all(windows: Iterable[Window | None]) -> Window | None:
    """The smallest box that holds all; None where there is none."""
    there = [window for window in windows if window is not None]
    return reduce(Window.around, there) if there else None


def changed_box(truth: npt.NDArray[np.uint8], composite: npt.NDArray[np.uint8]) -> Window | None:
    """The smallest box around all pixels that differ between two pictures, ``uint8[H, W, 3]``; None where none does."""
    # Channels side by side in one plane: the box is then three times too wide, but no pass over the channels is needed.
    difference = cv2.absdiff(np.ascontiguousarray(truth), np.ascontiguousarray(composite)).reshape(len(truth), -1)
    left, top, width, height = cv2.boundingRect(difference)
    return Window(Span(top, top + height), Span(left // 3, -(-(left + width) // 3))) if width else None
