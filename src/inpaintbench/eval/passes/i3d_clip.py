"""I3D over whole clips: one vector for each composite and one for the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.passes.changed_windows import changed_windows, differs
from inpaintbench.eval.passes.i3d_lockstep import Features, Pixels, held_box, in_chunks, united_changes, vectors
from inpaintbench.models import boxes
from inpaintbench.models.boxes import Box, Size, Span
from inpaintbench.models.i3d import LENGTH, BatchNorm, Block, I3d, Source, i3d
from inpaintbench.models.i3d_stages import Tensor
from inpaintbench.models.torch_networks import batch_bytes, few_shapes, resident, running, torch
from inpaintbench.types import Frames

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
    with running(compute):
        # With statistics of the clip itself a hole reaches everywhere, and no part can be computed alone.
        unlike = [index for index, composite in enumerate(composites) if differs(frames, composite, shared)]
        chosen = [composites[index] for index in unlike]
        if truth is not None and (not chosen or network.batch_norm == "train"):
            clip = Clip(_alone(network, chosen, pixels, shared), truth)
        elif network.batch_norm == "train":
            of_truth, *others = _alone(network, [frames, *chosen], pixels, shared)
            clip = Clip(np.array(others, np.float32).reshape(-1, LENGTH), of_truth)
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


def _alone(network: I3d, videos: Sequence[Frames], pixels: Pixels, shared: Shared) -> Array:
    """The vectors of whole videos one by one, ``float32[videos, 1024]``."""
    if network.batch_norm == "train":
        vectors = [_vectors(_whole(network, resident(video, shared, network.device), pixels), 0)[1][0] for video in videos]
    else:
        vectors = [_lockstep(network, video, [], pixels, shared).truth for video in videos]
    return np.array(vectors, np.float32).reshape(-1, LENGTH)


def _whole(network: I3d, video: Tensor, pixels: Pixels) -> Features:
    x = pixels.tensor(video)[None]
    for stage in network.stages.values():
        block = Block("", (stage,))
        size: Size = tuple(x.shape[2:])
        x = block.run(lambda _, x=x: x, size, boxes.whole(boxes.output_size(block.reaches, size)))  # type: ignore[misc]
    return Features(x, None, None)


def _lockstep(network: I3d, truth: Frames, composites: Sequence[Frames], pixels: Pixels, shared: Shared) -> Clip:
    first, *others = network.blocks(_ENDS)
    touched = [
        (Span(index, index + 1), box[1], box[2])
        for index, box in enumerate(united_changes([changed_windows(truth, composite, shared) for composite in composites]))
        if box is not None
    ]
    clip, *changed = (resident(video, shared, network.device) for video in (truth, *composites))
    features = _stem(first, clip, changed, boxes.united(touched) if touched else None, pixels, shared.compute)
    for block in others:
        counts = features.truth.shape[1], features.methods
        features = _computed(
            block, features.of_truth, features.of_composites, features.size, features.touched, counts, shared.compute
        )
    vectors, of_truth = _vectors(features, len(composites))
    return Clip(vectors, of_truth[0])


def _stem(
    block: Block, truth: Tensor, composites: Sequence[Tensor], touched: Box | None, pixels: Pixels, compute: Compute
) -> Features:
    """The features behind the first block, of videos ``uint8[T, H, W, 3]`` that differ in ``touched`` alone."""
    size: Size = (len(truth), truth.shape[1], truth.shape[2])

    def of_truth(box: Box) -> Tensor:
        return pixels.tensor(_cut(truth, box)[None])

    def of_composites(box: Box) -> Tensor:
        return pixels.tensor(torch().stack([_cut(video, box) for video in composites]))

    return _computed(block, of_truth, of_composites, size, touched, (3, len(composites)), compute)


def _cut(video: Tensor, box: Box) -> Tensor:
    frames, rows, columns = (slice(*span) for span in box)
    return video[frames, rows, columns]


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


def _vectors(features: Features, methods: int) -> tuple[Array, Array]:
    """``float32[M, 1024]`` and ``float32[1, 1024]``."""
    predictions, truth = vectors(features, methods)
    return predictions[:, 0].cpu().numpy().astype(np.float32), truth.cpu().numpy().astype(np.float32)
