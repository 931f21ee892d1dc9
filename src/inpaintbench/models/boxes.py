"""Receptive fields: the output box that an input box affects, and the input box that an output box needs, through many layers.

Boxes are half-open integer ranges along time, height and width. Layers are padded with zeros as TensorFlow's "SAME": their output
has ``ceil(size / stride)`` positions along each axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """Positions ``begin <= x < end`` along one axis."""

    begin: int
    end: int


Box = tuple[Span, Span, Span]
Size = tuple[int, int, int]
# Number of zeros before and behind the input along each axis.
Zeros = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]


class Reach(NamedTuple):
    """Kernel and stride of one layer along time, height and width."""

    kernel: Size
    stride: Size


class Plan(NamedTuple):
    """Plan of computing a box of the output of a chain of layers."""

    region: Box
    """Needed box of the input."""
    zeros: list[Zeros]
    """Padding of each layer; not zero only where the box touches the border of the frame or clip."""


def same_padding(size: int, *, kernel: int, stride: int) -> tuple[int, int]:
    """Padding before and behind an axis of ``size`` positions, as TensorFlow's "SAME"; the odd zero goes behind."""
    total = max(kernel - (size % stride or stride), 0)
    return total // 2, total - total // 2


def output_size(reaches: Sequence[Reach], size: Size) -> Size:
    """Size of the output of a chain of layers for an input of ``size``."""
    for reach in reaches:
        first, second, third = (-(-length // step) for length, step in zip(size, reach.stride, strict=True))
        size = first, second, third
    return size


def whole(size: Size) -> Box:
    """Box of all positions of an array of ``size``."""
    return Span(0, size[0]), Span(0, size[1]), Span(0, size[2])


def united(boxes: Sequence[Box]) -> Box:
    """Bounding box of at least one box."""
    first, second, third = (
        Span(min(span.begin for span in axis), max(span.end for span in axis)) for axis in zip(*boxes, strict=True)
    )
    return first, second, third


def reached(reaches: Sequence[Reach], size: Size, box: Box) -> Box:
    """Box of the output that depends on ``box`` of the input, of ``size``."""
    for reach in reaches:
        first, second, third = (
            _reached(span, length, kernel, stride)
            for span, length, kernel, stride in zip(box, size, reach.kernel, reach.stride, strict=True)
        )
        box, size = (first, second, third), output_size([reach], size)
    return box


def _reached(span: Span, size: int, kernel: int, stride: int) -> Span:
    before, _ = same_padding(size, kernel=kernel, stride=stride)
    first = -((kernel - 1 - before - span.begin) // stride)
    last = (span.end - 1 + before) // stride
    return Span(max(first, 0), min(last + 1, -(-size // stride)))


def plan(reaches: Sequence[Reach], size: Size, box: Box) -> Plan:
    """Plan of computing ``box`` of the output from the smallest box of the input, of ``size``."""
    sizes = [output_size(reaches[:count], size) for count in range(len(reaches))]
    zeros: list[Zeros] = []
    for reach, length in zip(reversed(reaches), reversed(sizes), strict=True):
        needed = [
            _needed(*axis) for axis in zip(box, length, reach.kernel, reach.stride, strict=True)
        ]  # fmt: skip
        box = needed[0][0], needed[1][0], needed[2][0]
        zeros.append((needed[0][1], needed[1][1], needed[2][1]))
    return Plan(box, zeros[::-1])


def _needed(span: Span, size: int, kernel: int, stride: int) -> tuple[Span, tuple[int, int]]:
    before, _ = same_padding(size, kernel=kernel, stride=stride)
    begin, end = span.begin * stride - before, (span.end - 1) * stride - before + kernel
    inside = Span(max(begin, 0), min(end, size))
    return inside, (inside.begin - begin, end - inside.end)
