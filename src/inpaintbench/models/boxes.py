"""Receptive fields: the output box that an input box affects, and the input box that an output box needs, through many layers.

Boxes are half-open integer ranges along time, height and width. Layers are padded with zeros as TensorFlow's "SAME": their output
has ``ceil(size / stride)`` positions along each axis.
"""

from __future__ import annotations

import math
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
NO_ZEROS: Zeros = ((0, 0), (0, 0), (0, 0))
# Sizes of boxes as shares of a layer's height and width, smallest area first; larger boxes are whole layers. So few, since every
# size is a plan of its own to the library of a graphics card, and a hole in its memory. Of all choices of two from multiples of
# a quarter, a third and a fifth these add least to holes of 5 to 45 % of a frame's width.
LADDER = ((1 / 2, 2 / 5), (3 / 4, 3 / 5))


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
    border: Zeros = NO_ZEROS
    """Padding of the input before the first layer, of axes along which only the size of the box may matter."""
    outside: tuple[Zeros, ...] = ()
    """Along those axes, how many positions of each layer's input lie outside the frame and have to be zero."""


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


def on_ladder(box: Box, size: Size) -> Box:
    """The box of a size of ``LADDER`` around ``box``, within a layer of ``size``, for all its frames."""
    for shares in LADDER:
        height, width = (min(math.ceil(share * length), length) for share, length in zip(shares, size[1:], strict=True))
        if box[1].end - box[1].begin <= height and box[2].end - box[2].begin <= width:
            return Span(0, size[0]), _widened(box[1], height, size[1]), _widened(box[2], width, size[2])
    return whole(size)


def _widened(span: Span, length: int, most: int) -> Span:
    begin = min(max(span.begin - (length - span.end + span.begin) // 2, 0), most - length)
    return Span(begin, begin + length)


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


def plan(reaches: Sequence[Reach], size: Size, box: Box, *, few_shapes: bool = False) -> Plan:
    """Plan of computing ``box`` of the output from the smallest box of the input, of ``size``.

    With ``few_shapes`` the sizes of all layers' inputs depend on the size of ``box`` alone, not on its place: along axes of which
    it is a part, positions outside the frame are computed, too, and set to zero.
    """
    sizes = [output_size(reaches[:count], size) for count in range(len(reaches))]
    is_part = [few_shapes and span != (0, length) for span, length in zip(box, output_size(reaches, size), strict=True)]
    zeros: list[Zeros] = []
    outside: list[Zeros] = []
    for reach, length in zip(reversed(reaches), reversed(sizes), strict=True):
        (first, *_), (second, *_), (third, *_) = needed = [
            _needed(*axis) for axis in zip(box, length, reach.kernel, reach.stride, is_part, strict=True)
        ]
        box = first, second, third
        zeros.append((needed[0][1], needed[1][1], needed[2][1]))
        outside.append((needed[0][2], needed[1][2], needed[2][2]))
    border = outside[-1] if outside else NO_ZEROS
    inside = [Span(max(span.begin, 0), min(span.end, length)) for span, length in zip(box, size, strict=True)]
    return Plan((inside[0], inside[1], inside[2]), zeros[::-1], border, tuple(outside[::-1]))


def _needed(span: Span, size: int, kernel: int, stride: int, is_part: bool) -> tuple[Span, tuple[int, int], tuple[int, int]]:
    """The needed span, the zeros beside it, and how many of its positions are outside; zeros or these are none."""
    before, _ = same_padding(size, kernel=kernel, stride=stride)
    begin, end = span.begin * stride - before, (span.end - 1) * stride - before + kernel
    inside = Span(max(begin, 0), min(end, size))
    missing = inside.begin - begin, end - inside.end
    return (Span(begin, end), (0, 0), missing) if is_part else (inside, missing, (0, 0))
