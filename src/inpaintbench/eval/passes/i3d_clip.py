"""I3D over whole clips, true frames and the composites of several methods at once: one vector for each.

A composite equals the truth outside its hole, so its features do outside the box that the hole can reach. Layer by layer only
that box is computed; what it needs from around is taken from the truth's features. This is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.passes.changed_windows import Window, around_all, changed_windows, differs
from inpaintbench.models import boxes
from inpaintbench.models.boxes import Box, Size, Span
from inpaintbench.models.i3d import LENGTH, BatchNorm, Block, I3d, Source, Tensor, i3d
from inpaintbench.models.torch_networks import batch_bytes, few_shapes, resident, running, torch
from inpaintbench.types import Frames


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
        if all(own.begin <= span.begin and span.end <= own.end for own, span in zip(self.box, box, strict=True)):
            return self.composites[(..., *_within(box, self.box))]
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


# Of the vectors; kept ones of another version are made again.
VERSION = "1"
Array = npt.NDArray[np.float32]

# Behind a pooling wherever there is one: what is kept of a whole clip between two blocks is small there.
_ENDS = ("Conv3d_2b_1x1", "MaxPool3d_3a_3x3", "Mixed_3b", "MaxPool3d_4a_3x3", "Mixed_4b", "Mixed_4c", "Mixed_4d", "Mixed_4e",
         "Mixed_4f", "MaxPool3d_5a_2x2", "Mixed_5b", "Mixed_5c")  # fmt: skip

# Of what is kept of one whole clip at the widest place, in and out of `Mixed_3b`, a hundred and twenty-eighth of its area.
_BYTES_A_PIXEL = 14


@dataclass(frozen=True)
class Constants:
    """Constants that the numbers of a pass over whole clips depend on."""

    input_low: float
    input_high: float
    batch_norm: BatchNorm


class Clip(NamedTuple):
    """Vectors of an item."""

    composites: Array
    """``[methods, 1024]``."""
    truth: Array
    """``[1024]``."""


def i3d_clip(
    frames: Frames, composites: Sequence[Frames], constants: Constants, shared: Shared, *, truth: Array | None = None
) -> Clip:
    """The vectors of a clip and of the composites of several methods.

    Args:
        frames: the true ones, ``uint8[T, H, W, 3]``.
        composites: of each method, likewise.
        constants: of the protocol.
        shared: of the item; says how the network runs, and keeps the frames on its device.
        truth: the truth's vector, ``float32[1024]``, where it is known. A composite is seen beside the true frames all the same,
            unless they are equal: its numbers must not depend on what was known.

    Raises:
        NotMeasurable, MissingExtraError: as ``models.i3d.i3d``.
    """
    compute = shared.compute
    network = i3d(compute, batch_norm=constants.batch_norm)
    pixels = Pixels(constants.input_low, constants.input_high)
    unlike = [index for index, composite in enumerate(composites) if differs(frames, composite, shared)]
    chosen = [composites[index] for index in unlike]
    with running(compute):
        if truth is not None and not chosen:
            clip = Clip(np.zeros((0, LENGTH), np.float32), truth)
        elif network.batch_norm == "train":
            # With statistics of the clip itself a hole reaches everywhere, and no part can be computed alone.
            found = [_whole(network, resident(video, shared, network.device), pixels) for video in chosen]
            of_truth = _whole(network, resident(frames, shared, network.device), pixels) if truth is None else truth
            clip = Clip(np.array(found, np.float32).reshape(-1, LENGTH), of_truth)
        else:
            most = max(1, batch_bytes(compute) // (_BYTES_A_PIXEL * frames[..., 0].size))
            groups = [chosen[begin : begin + most] for begin in range(0, max(len(chosen), 1), most)]
            parts = [_lockstep(network, frames, group, pixels, shared) for group in groups]
            # The known vector, not the one made beside the composites: a perfect copy has exactly what it is compared with.
            of_truth = parts[0].truth if truth is None else truth
            clip = Clip(np.concatenate([part.composites for part in parts]), of_truth)
    every = np.repeat(clip.truth[None], len(composites), axis=0)
    every[unlike] = clip.composites
    return Clip(every, clip.truth)


def _whole(network: I3d, video: Tensor, pixels: Pixels) -> Array:
    """The vector of a whole video, ``float32[1024]``."""
    x = pixels.tensor(video)[None]
    for stage in network.stages.values():
        block = Block("", (stage,))
        size: Size = tuple(x.shape[2:])
        x = block.run(lambda _, x=x: x, size, boxes.whole(boxes.output_size(block.reaches, size)))  # type: ignore[misc]
    return _vectors(Features(x, None, None), 0).truth


def _lockstep(network: I3d, truth: Frames, composites: Sequence[Frames], pixels: Pixels, shared: Shared) -> Clip:
    first, *others = network.blocks(_ENDS)
    touched = [
        (Span(index, index + 1), box[1], box[2])
        for index, box in enumerate(united_changes([changed_windows(truth, composite, shared) for composite in composites]))
        if box is not None
    ]
    clip, *changed = (resident(video, shared, network.device) for video in (truth, *composites))

    def of_truth(box: Box) -> Tensor:
        return pixels.tensor(clip[tuple(slice(*span) for span in box)][None])

    def of_composites(box: Box) -> Tensor:
        return pixels.tensor(torch().stack([video[tuple(slice(*span) for span in box)] for video in changed]))

    size: Size = (len(truth), truth.shape[1], truth.shape[2])
    around = boxes.united(touched) if touched else None
    features = _computed(first, of_truth, of_composites, size, around, (3, len(composites)), shared.compute)
    for block in others:
        counts = features.truth.shape[1], features.methods
        features = _computed(
            block, features.of_truth, features.of_composites, features.size, features.touched, counts, shared.compute
        )
    return _vectors(features, len(composites))


def _computed(
    block: Block, of_truth: Source, of_composites: Source, size: Size, touched: Box | None, counts: tuple[int, int],
    compute: Compute,
) -> Features:  # fmt: skip
    """The features behind ``block`` of what is ``touched`` in its input, with ``counts`` of channels and composites."""
    after, few = boxes.output_size(block.reaches, size), few_shapes(compute)
    chunk = _chunk(block, size, boxes.whole(size), counts[0], 1, compute)
    truth = in_chunks(block, of_truth, size, boxes.whole(after), frames=chunk, few_shapes=few)
    if touched is None:
        return Features(truth, None, None)
    chunk = _chunk(block, size, held_box(touched, size, few_shapes=few), *counts, compute)
    touched = boxes.reached(block.reaches, size, touched)
    box = held_box(touched, after, few_shapes=few)
    return Features(truth, touched, in_chunks(block, of_composites, size, box, frames=chunk, few_shapes=few), few)


def _chunk(block: Block, size: Size, box: Box, channels: int, videos: int, compute: Compute) -> int:
    """Return how many output frames fit into an eighth of a batch's bytes, in float32, with a copy of each layer for its
    padding.
    """
    total, frames_an_output = 0, int(np.prod([reach.stride[0] for reach in block.reaches]))
    for count, stage in enumerate(block.stages):
        inside = boxes.reached(block.reaches[:count], size, box)
        # The kernels' copies of a layer's input: side by side in time for the first, padded for the others.
        area = (inside[1].end - inside[1].begin) * (inside[2].end - inside[2].begin)
        total += 2 * max(channels, 3 * stage.reach.kernel[0]) * area * frames_an_output
        channels = stage.channels or channels
        frames_an_output //= stage.reach.stride[0]
    return max(1, batch_bytes(compute) // 8 // (4 * videos * total))


def _vectors(features: Features, methods: int) -> Clip:
    predictions, truth = vectors(features, methods)
    return Clip(predictions[:, 0].cpu().numpy().astype(np.float32), truth[0].cpu().numpy().astype(np.float32))
