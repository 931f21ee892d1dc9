"""I3D over all windows of a clip, once for all metrics and methods: distances of composites from the truth, and vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.passes.changed_windows import changed_windows, differs
from inpaintbench.eval.passes.i3d_clip import (
    Features,
    Pixels,
    advanced,
    distances,
    held_box,
    laid_out,
    united_changes,
    vectors,
)
from inpaintbench.models import boxes
from inpaintbench.models.boxes import Box, Plan, Size, Span
from inpaintbench.models.i3d import BatchNorm, Block, I3d, Tensor, i3d, padded
from inpaintbench.models.torch_networks import batch_bytes, few_shapes, resident, running, torch
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# Of distances and vectors; kept ones of another version are made again.
VERSION = "1"
# Where distances are taken. DEVIL, CVPR 2022, section 5.2.
LAYERS = ("Conv3d_2c_3x3", "Mixed_3c", "Mixed_4f", "Mixed_5c")
_ENDS = ("Conv3d_2b_1x1", *LAYERS[:1], "Mixed_3b", "Mixed_3c", "Mixed_4b", "Mixed_4c", "Mixed_4d", "Mixed_4e", "Mixed_4f",
         "Mixed_5b", "Mixed_5c")  # fmt: skip
# Of activations for one clip, at the widest place: in and out of `Conv3d_2c_3x3` and its normalised copies, in float32.
_BYTES_A_PIXEL = 112


@dataclass(frozen=True)
class Constants:
    """Constants that the numbers of a pass over windows depend on."""

    window_frames: int
    stride_frames: int
    input_low: float
    input_high: float
    batch_norm: BatchNorm


Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Windows:
    """Distances and vectors of one method's composite."""

    distances: npt.NDArray[np.float64]
    """``[layers, windows]`` in the order of ``LAYERS``."""
    vectors: Vectors
    """``[windows, 1024]``."""
    truth_vectors: Vectors
    """``[windows, 1024]``, the same for all methods."""


def i3d_windows(views: Sequence[ItemView], constants: Constants) -> list[Windows]:
    """One result for each of ``views``, which are of one item; made at the first asking.

    A clip shorter than a window repeats its last frame, the composite its own and the truth its own.

    Raises:
        NotMeasurable, MissingExtraError: as ``models.i3d.i3d``.
    """
    truth, composites, shared = views[0].truth, [view.composite for view in views], views[0].shared

    def made() -> list[Windows]:
        unlike = [index for index, composite in enumerate(composites) if differs(truth, composite, shared)]
        results = _found(truth, [composites[index] for index in unlike], constants, shared)
        return [results[unlike.index(index) if index in unlike else -1] for index in range(len(composites))]

    windows: list[Windows] = shared.once_of(composites, ("i3d windows", constants), made)
    return windows


def i3d_distances(views: Sequence[ItemView], constants: Constants) -> list[npt.NDArray[np.float64]]:
    """The distances alone of ``i3d_windows``, for which no network is run when no composite differs from the truth."""
    truth = views[0].truth
    if any(differs(truth, view.composite, view.shared) for view in views):
        return [windows.distances for windows in i3d_windows(views, constants)]
    return [np.zeros((len(LAYERS), len(_starts(len(truth), constants)))) for _ in views]


def i3d_vectors(views: Sequence[ItemView], constants: Constants, *, key: str) -> tuple[list[Vectors], Vectors]:
    """The vectors of each composite and those of the truth, which are kept under ``key``; all ``float32[windows, 1024]``.

    A composite that equals the truth has the truth's own; where all do and the truth's are kept, no network is run.

    Raises:
        NotMeasurable, MissingExtraError: as ``models.i3d.i3d``.
    """
    unlike = [index for index, view in enumerate(views) if differs(views[0].truth, view.composite, view.shared)]
    truth = views[0].shared.stored(views[0].truth, key, lambda: i3d_windows(views, constants)[0].truth_vectors)
    results = i3d_windows(views, constants) if unlike else []
    return [results[index].vectors if index in unlike else truth for index in range(len(views))], truth


def _starts(frames: int, constants: Constants) -> range:
    return range(0, max(1, frames - constants.window_frames + 1), constants.stride_frames)


def _found(truth: Frames, composites: Sequence[Frames], constants: Constants, shared: Shared) -> list[Windows]:
    """One result for each of ``composites``, and one for the truth itself behind them."""
    starts, compute = _starts(len(truth), constants), shared.compute
    network = i3d(compute, batch_norm=constants.batch_norm)
    boxes_changed = united_changes([changed_windows(truth, composite, shared) for composite in composites]) or [None] * len(truth)
    boxes_changed += boxes_changed[-1:] * (constants.window_frames - len(truth))
    with running(compute):
        clip, *others = (resident(video, shared, network.device) for video in (truth, *composites))
        if (missing := constants.window_frames - len(truth)) > 0:
            clip, *others = (torch().cat([video, video[-1:].expand(missing, -1, -1, -1)]) for video in (clip, *others))
        batches = []
        for features in _inputs(network, clip, others, boxes_changed, constants, starts, compute):
            shape = (len(composites), len(features.truth))
            nothing = torch().zeros(shape, dtype=torch().float64, device=network.device)
            squares = []
            for block in network.blocks(_ENDS)[1:]:
                features = advanced(block, features)
                if block.name in LAYERS:
                    squares.append(nothing if features.box is None else distances(features))
            batches.append((torch().stack(squares), *vectors(features, len(composites))))
        layers = torch().cat([batch[0] for batch in batches], dim=2).cpu().numpy()
        of_composites = torch().cat([batch[1] for batch in batches], dim=1).float().cpu().numpy()
        of_truth = torch().cat([batch[2] for batch in batches]).float().cpu().numpy()
    results = [Windows(layers[:, index], of_composites[index], of_truth) for index in range(len(composites))]
    return [*results, Windows(np.zeros((len(LAYERS), len(starts))), of_truth, of_truth)]


def _inputs(
    network: I3d, truth: Tensor, composites: Sequence[Tensor], changed: Sequence[Box | None], constants: Constants,
    starts: Sequence[int], compute: Compute,
) -> Iterator[Features]:  # fmt: skip
    """The features behind the first block, in batches of windows, of videos ``uint8[T, H, W, 3]``."""
    pixels = Pixels(constants.input_low, constants.input_high)
    bytes_a_window = _BYTES_A_PIXEL * constants.window_frames * truth.shape[1] * truth.shape[2] // 2 * (1 + len(composites))
    count = max(1, batch_bytes(compute) // bytes_a_window)
    batches = [starts[begin : begin + count] for begin in range(0, len(starts), count)]
    if network.batch_norm == "train":
        # Every window on its own and wholly: with statistics of its own nothing is shared, and a hole reaches everywhere.
        block, size = network.blocks(_ENDS)[0], (constants.window_frames, truth.shape[1], truth.shape[2])
        after = boxes.whole(boxes.output_size(block.reaches, size))
        for batch in batches:
            windows = [video[start : start + constants.window_frames] for video in (truth, *composites) for start in batch]
            given = torch().stack([pixels.tensor(window) for window in windows])
            x = block.run(lambda _, given=given: given, size, after)  # type: ignore[misc]
            yield Features(x[: len(batch)], after, x[len(batch) :])
        return
    stem = WindowStem(
        network.blocks(_ENDS)[0], truth=truth, composites=composites, changed=changed, starts=starts,
        frames=constants.window_frames, pixels=pixels, few_shapes=few_shapes(compute),
    )  # fmt: skip
    yield from (stem.features(batch) for batch in batches)


# The first layers

# Which taps of the first convolution fall into a window.
Taps = Span


class WindowStem:
    """``Conv3d_1a_7x7`` to ``Conv3d_2b_1x1`` for windows in rising order.

    Args:
        block: those three stages, with a folded batch norm.
        truth: ``uint8[T, H, W, 3]``.
        composites: of each method, likewise.
        changed: for each frame where composites differ from the truth.
        starts: the first frame of every window.
        frames: of a window.
        pixels: how frames enter the network.
        few_shapes: boxes are of the few sizes of ``boxes.LADDER``.
    """

    def __init__(
        self,
        block: Block,
        *,
        truth: Tensor,
        composites: Sequence[Tensor],
        changed: Sequence[Box | None],
        starts: Sequence[int],
        frames: int,
        pixels: Pixels,
        few_shapes: bool,
    ) -> None:
        self._few_shapes = few_shapes
        self._block, self._truth, self._composites, self._changed = block, truth, list(composites), changed
        self._pixels, self._starts = pixels, set(starts)
        self._size: Size = (1, truth.shape[1], truth.shape[2])
        self._first: Any = block.stages[0]
        kernel, stride = block.reaches[0].kernel[0], block.reaches[0].stride[0]
        before, _ = boxes.same_padding(frames, kernel=kernel, stride=stride)
        # For each output frame of a window: where its first tap lies, counted from the start, and which taps are inside.
        self._places = [
            (stride * index - before, Taps(max(0, before - stride * index), min(kernel, frames + before - stride * index)))
            for index in range(-(-frames // stride))
        ]
        self._cuts = sorted({end for _, taps in self._places for end in taps})
        self._flat = [boxes.Reach((1, *reach.kernel[1:]), (1, *reach.stride[1:])) for reach in block.reaches]
        self._made: dict[int, tuple[dict[Taps, Tensor], dict[Taps, Tensor], Box | None]] = {}

    def features(self, starts: Sequence[int]) -> Features:
        """Return the inputs of a batch of windows; earlier ones than the first of them can no longer be asked for."""
        for first in [first for first in self._made if first < starts[0] + self._places[0][0]]:
            del self._made[first]
        parts = [[(self._maps(start + offset), taps) for offset, taps in self._places] for start in starts]
        some = parts[0][0][0][0][parts[0][0][1]]
        size = boxes.output_size(self._flat, self._size)
        truth = laid_out(some, len(starts), (len(self._places), *size[1:]))
        for window, row in enumerate(parts):
            for index, ((maps, _, _), taps) in enumerate(row):
                truth[window, :, index] = maps[taps][0, :, 0]
        reached = [box for row in parts for (_, _, box), _ in row if box is not None]
        if not reached:
            return Features(truth, None, None)
        _, rows, columns = boxes.united(reached)
        return self._pasted(truth, parts, (Span(0, len(self._places)), rows, columns))

    def _pasted(self, truth: Tensor, parts: Any, touched: Box) -> Features:
        """The composites' features around ``touched``: the truth's, and over them each frame's own box."""
        methods, few = len(self._composites), self._few_shapes
        box = held_box(touched, (touched[0].end, truth.shape[3], truth.shape[4]), few_shapes=few)
        inside = truth[(..., *(slice(*span) for span in box))]
        composites = laid_out(inside, methods * len(inside))
        by_method = composites.unflatten(0, (methods, -1))
        by_method[:] = inside
        for window, row in enumerate(parts):
            for index, ((_, maps, own), taps) in enumerate(row):
                if own is not None:
                    # On the ladder a frame's own box may reach beyond the one around all: what is there is the truth's.
                    both = [Span(max(a.begin, b.begin), min(a.end, b.end)) for a, b in zip(own[1:], box[1:], strict=True)]
                    rows, columns = (slice(a.begin - b.begin, a.end - b.begin) for a, b in zip(both, box[1:], strict=True))
                    down, across = (slice(a.begin - b.begin, a.end - b.begin) for a, b in zip(both, own[1:], strict=True))
                    by_method[:, window, :, index, rows, columns] = maps[taps][:, :, 0, down, across]
        return Features(truth, touched, composites, few)

    def _maps(self, first: int) -> tuple[dict[Taps, Tensor], dict[Taps, Tensor], Box | None]:
        """Output frames whose first tap lies on the frame ``first``: by the taps that some window has there."""
        if first not in self._made:
            wanted = list(dict.fromkeys(taps for offset, taps in self._places if first - offset in self._starts))
            everything = boxes.whole(boxes.output_size(self._flat, self._size))
            truth = self._computed([self._truth], first, wanted, everything)
            seen = range(first + min(taps.begin for taps in wanted), first + max(taps.end for taps in wanted))
            touched = [box for box in (self._changed[index] for index in seen) if box is not None]
            box = boxes.reached(self._flat, self._size, boxes.united(touched)) if touched else None
            if box is not None:
                box = held_box(box, boxes.output_size(self._flat, self._size), few_shapes=self._few_shapes)
            composites = {} if box is None else self._computed(self._composites, first, wanted, box)
            self._made[first] = truth, composites, box
        return self._made[first]

    def _computed(self, videos: Sequence[Tensor], first: int, wanted: Sequence[Taps], box: Box) -> dict[Taps, Tensor]:
        plan = boxes.plan(self._flat, self._size, box, few_shapes=self._few_shapes)
        groups = [
            Taps(*ends) for ends in pairwise(self._cuts) if any(taps.begin <= ends[0] and ends[1] <= taps.end for taps in wanted)
        ]
        parts = {group: self._partial(videos, first, group, plan) for group in groups}
        return {
            taps: self._finished([part for group, part in parts.items() if taps.begin <= group.begin < taps.end], plan)
            for taps in wanted
        }

    def _partial(self, videos: Sequence[Tensor], first: int, taps: Taps, plan: Plan) -> Tensor:
        """The sum over some taps of the first convolution, ``[videos, C, h, w]``."""
        _, rows, columns = plan.region
        frames = slice(first + taps.begin, first + taps.end)
        crop = torch().stack([video[frames, rows.begin : rows.end, columns.begin : columns.end] for video in videos])
        x = padded(self._pixels.tensor(crop), ((0, 0), *plan.border[1:]))
        x = padded(x, ((0, 0), *plan.zeros[0][1:]))  # [videos, 3, taps, h, w]; each axis has one or the other
        weight = self._first.weight[:, :, taps.begin : taps.end]
        return torch().nn.functional.conv3d(x, weight, stride=self._first.reach.stride)[:, :, 0]

    def _finished(self, parts: Sequence[Tensor], plan: Plan) -> Tensor:
        """Return what follows the convolution, ``[videos, C, 1, h, w]``."""
        total = parts[0] + self._first.bias[:, None, None]
        for part in parts[1:]:
            total += part
        x = torch().relu_(total)[:, :, None]
        for stage, zeros, outside in zip(self._block.stages[1:], plan.zeros[1:], plan.outside[1:], strict=True):
            x = stage(x, ((0, 0), *zeros[1:]), ((0, 0), *outside[1:]))
        return x
