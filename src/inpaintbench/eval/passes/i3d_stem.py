"""The first layers of I3D for windows that overlap, without computing anything twice.

The first convolution looks at seven frames. For a window it is a sum over those taps that fall into the window, so windows that
share frames share partial sums: seven taps a new frame are computed instead of about six for each of five output frames. Pooling
and the 1x1 convolution that follow look at one frame and are shared as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from inpaintbench.eval.passes.i3d_lockstep import Features, Pixels, laid_out
from inpaintbench.models import boxes
from inpaintbench.models.boxes import Box, Plan, Size, Span
from inpaintbench.models.i3d import Block
from inpaintbench.models.i3d_stages import Tensor, as_pictures, padded
from inpaintbench.models.torch_networks import torch
from inpaintbench.types import Frames

# Which taps of the first convolution fall into a window.
Taps = Span
_FLAT = Span(0, 1)


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
    """

    def __init__(
        self,
        block: Block,
        *,
        truth: Frames,
        composites: Sequence[Frames],
        changed: Sequence[Box | None],
        starts: Sequence[int],
        frames: int,
        pixels: Pixels,
    ) -> None:
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
        """Of a batch of windows; earlier ones than the first of them can no longer be asked for."""
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

    def _pasted(self, truth: Tensor, parts: Any, box: Box) -> Features:
        """The composites' features in ``box``: the truth's, and over them each frame's own box."""
        methods = len(self._composites)
        inside = truth[(..., *(slice(*span) for span in box))]
        composites = laid_out(inside, methods * len(inside))
        by_method = composites.unflatten(0, (methods, -1))
        by_method[:] = inside
        for window, row in enumerate(parts):
            for index, ((_, maps, own), taps) in enumerate(row):
                if own is not None:
                    rows, columns = (slice(a.begin - b.begin, a.end - b.begin) for a, b in zip(own[1:], box[1:], strict=True))
                    by_method[:, window, :, index, rows, columns] = maps[taps][:, :, 0]
        return Features(truth, box, composites)

    def _maps(self, first: int) -> tuple[dict[Taps, Tensor], dict[Taps, Tensor], Box | None]:
        """Output frames whose first tap lies on the frame ``first``: by the taps that some window has there."""
        if first not in self._made:
            wanted = list(dict.fromkeys(taps for offset, taps in self._places if first - offset in self._starts))
            everything = boxes.whole(boxes.output_size(self._flat, self._size))
            truth = self._computed([self._truth], first, wanted, everything)
            seen = range(first + min(taps.begin for taps in wanted), first + max(taps.end for taps in wanted))
            touched = [box for box in (self._changed[index] for index in seen) if box is not None]
            box = boxes.reached(self._flat, self._size, boxes.united(touched)) if touched else None
            composites = {} if box is None else self._computed(self._composites, first, wanted, box)
            self._made[first] = truth, composites, box
        return self._made[first]

    def _computed(self, videos: Sequence[Frames], first: int, wanted: Sequence[Taps], box: Box) -> dict[Taps, Tensor]:
        plan = boxes.plan(self._flat, self._size, box)
        groups = [
            Taps(*ends) for ends in pairwise(self._cuts) if any(taps.begin <= ends[0] and ends[1] <= taps.end for taps in wanted)
        ]
        parts = {group: self._partial(videos, first, group, plan) for group in groups}
        return {
            taps: self._finished([part for group, part in parts.items() if taps.begin <= group.begin < taps.end], plan)
            for taps in wanted
        }

    def _partial(self, videos: Sequence[Frames], first: int, taps: Taps, plan: Plan) -> Tensor:
        """The sum over some taps of the first convolution, ``[videos, C, h, w]``."""
        _, rows, columns = plan.region
        frames = slice(first + taps.begin, first + taps.end)
        crop = np.stack([video[frames, rows.begin : rows.end, columns.begin : columns.end] for video in videos])
        x = padded(self._pixels.tensor(crop), ((0, 0), *plan.zeros[0][1:]))  # [videos, 3, taps, h, w]
        weight = self._first.weight[:, :, taps.begin : taps.end].flatten(1, 2)
        pictures = as_pictures(x.flatten(1, 2)[:, :, None])
        return torch().nn.functional.conv2d(pictures, weight, stride=self._first.reach.stride[1:])

    def _finished(self, parts: Sequence[Tensor], plan: Plan) -> Tensor:
        """What follows the convolution, ``[videos, C, 1, h, w]``."""
        total = parts[0] + self._first.bias[:, None, None]
        for part in parts[1:]:
            total += part
        x = torch().relu_(total)[:, :, None]
        for stage, zeros in zip(self._block.stages[1:], plan.zeros[1:], strict=True):
            x = stage(x, ((0, 0), *zeros[1:]))
        return x
