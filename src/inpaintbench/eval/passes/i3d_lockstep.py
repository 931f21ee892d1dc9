"""I3D over true frames and the composites of several methods at once.

A composite equals the truth outside its hole, so its features do outside the box that the hole can reach. Layer by layer only
that box is computed; what it needs from around is taken from the truth's features. This is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inpaintbench.eval.passes.changed_windows import Window, around_all
from inpaintbench.models import boxes
from inpaintbench.models.boxes import Box, Size, Span
from inpaintbench.models.i3d import Block, Source
from inpaintbench.models.i3d_stages import Tensor
from inpaintbench.models.torch_networks import torch

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pixels:
    """Way in which frames enter the network."""

    input_low: float
    input_high: float

    def tensor(self, frames: Tensor) -> Tensor:
        """``uint8[..., T, H, W, 3]`` as ``float32[..., 3, T, H, W]`` in the input range."""
        scaled = frames.to(torch().float32).mul_((self.input_high - self.input_low) / 255).add_(self.input_low)
        return scaled.movedim(-1, -4)


@dataclass(frozen=True)
class Features:
    """Output of one block of the network for N clips of the truth and for M methods' composites of each."""

    truth: Tensor
    """``[N, C, T, H, W]``."""
    touched: Box | None
    """Box in which a composite can differ from the truth; None where all are equal."""
    composites: Tensor
    """``[M N, C, t, h, w]`` in ``box``, all clips of the first method first; None without it."""
    few_shapes: bool = False
    """True when boxes are of the few sizes of ``boxes.LADDER``."""

    @property
    def size(self) -> Size:
        """Positions of the layer in time, height and width."""
        frames, height, width = self.truth.shape[2:]
        return frames, height, width

    @property
    def box(self) -> Box | None:
        """Return what is held of composites: ``touched``, or a larger box."""
        return self.touched and held_box(self.touched, self.size, few_shapes=self.few_shapes)

    @property
    def methods(self) -> int:
        """Number of them."""
        return 0 if self.box is None else len(self.composites) // len(self.truth)

    def of_truth(self, box: Box) -> Tensor:
        """A box of the truth's features."""
        return self.truth[(..., *(slice(*span) for span in box))]

    def of_composites(self, box: Box) -> Tensor:
        """A box of the composites' features, completed from those of the truth."""
        assert self.box is not None
        if any(own.begin > span.begin or own.end < span.end for own, span in zip(self.box, box, strict=True)):
            return self._completed(box)
        return self.composites[(..., *_within(box, self.box))]

    def _completed(self, box: Box) -> Tensor:
        assert self.box is not None
        laid = laid_out(self.of_truth(box), len(self.composites))
        laid.unflatten(0, (self.methods, -1))[:] = self.of_truth(box)
        first, second, third = (
            Span(max(own.begin, span.begin), min(own.end, span.end)) for own, span in zip(self.box, box, strict=True)
        )
        common = (first, second, third)
        if all(span.begin < span.end for span in common):
            laid[(..., *_within(common, box))] = self.composites[(..., *_within(common, self.box))]
        return laid


def _within(box: Box, frame: Box) -> tuple[slice, slice, slice]:
    first, second, third = (
        slice(span.begin - own.begin, span.end - own.begin) for span, own in zip(box, frame, strict=True)
    )  # fmt: skip
    return first, second, third


def laid_out(like: Tensor, count: int, size: Sequence[int] | None = None) -> Tensor:
    """Room for ``count`` clips of the channels, type and place of ``like``, channels last in memory."""
    package = torch()
    shape = (count, like.shape[1], *(size or like.shape[2:]))
    return package.empty(shape, dtype=like.dtype, device=like.device, memory_format=package.channels_last_3d)


def advanced(block: Block, before: Features) -> Features:
    """The features behind ``block``."""
    size = before.size
    after, few = boxes.output_size(block.reaches, size), before.few_shapes
    truth = block.run(before.of_truth, size, boxes.whole(after))
    if before.touched is None:
        return Features(truth, None, None)
    touched = boxes.reached(block.reaches, size, before.touched)
    box = held_box(touched, after, few_shapes=few)
    return Features(truth, touched, block.run(before.of_composites, size, box, few_shapes=few), few)


def held_box(touched: Box, size: Size, *, few_shapes: bool) -> Box:
    """Return the box that is computed where ``touched`` can differ, in a layer of ``size``."""
    return boxes.on_ladder(touched, size) if few_shapes else touched


def in_chunks(block: Block, source: Source, size: Size, box: Box, *, frames: int, few_shapes: bool) -> Tensor:
    """``block.run`` in pieces of ``frames`` output frames: the same numbers in less memory.

    With ``few_shapes`` the last piece is as long as the others, and some frames are computed twice.
    """
    whole = None
    for begin in range(box[0].begin, box[0].end, frames):
        span = Span(begin, min(begin + frames, box[0].end))
        if few_shapes:
            span = Span(max(span.end - frames, box[0].begin), span.end)
        piece = block.run(source, size, (span, box[1], box[2]), few_shapes=few_shapes)
        if span == box[0]:
            return piece
        if whole is None:
            whole = laid_out(piece, len(piece), [side.end - side.begin for side in box])
        whole[:, :, span.begin - box[0].begin : span.end - box[0].begin] = piece
    return whole


def distances(features: Features) -> Tensor:
    """Return how far composites are from the truth in one layer.

    Returns:
        ``float64[M, N]``: mean over positions of the sum over channels of squared differences of features that were divided by
        their length over channels + 1e-10, in float32 whatever the precision.
    """
    package = torch()
    assert features.box is not None
    truth = _unit(features.of_truth(features.box))
    positions = float(np.prod(features.size))
    distances = []
    for composite in features.composites.unflatten(0, (features.methods, -1)):
        squares = _unit(composite).sub_(truth).square_()
        distances.append(squares.sum(dim=1).sum(dim=(1, 2, 3), dtype=package.float64) / positions)
    return package.stack(distances)


def _unit(features: Tensor) -> Tensor:
    package = torch()
    features = features.to(package.float32)
    return features / (package.linalg.vector_norm(features, dim=1, keepdim=True) + 1e-10)


def vectors(features: Features, methods: int) -> tuple[Tensor, Tensor]:
    """Means over time, height and width: ``float64[M, N, C]`` of ``methods`` composites and ``float64[N, C]`` of the truth."""
    float64, positions = torch().float64, float(np.prod(features.size))
    truth = features.truth.sum(dim=(2, 3, 4), dtype=float64)
    if features.box is None:
        return (truth / positions).expand(methods, -1, -1), truth / positions
    inside = features.composites.sum(dim=(2, 3, 4), dtype=float64).unflatten(0, (methods, -1))
    change = inside - features.of_truth(features.box).sum(dim=(2, 3, 4), dtype=float64)
    return (truth + change) / positions, truth / positions


def united_changes(windows: Sequence[Sequence[Window | None]]) -> list[Box | None]:
    """For each frame the box around all that several composites change, given as ``changed_windows``; None without any."""
    united = [around_all(of_frame) for of_frame in zip(*windows, strict=True)]
    return [box and (Span(0, 1), Span(*box.rows), Span(*box.columns)) for box in united]
