"""Items with holes of all sizes and places, and what convolutions are given; for tests and a bench."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import cv2
import numpy as np
from torch.overrides import TorchFunctionMode

from inpaintbench.compute import Compute, Shared
from inpaintbench.types import Hole
from inpaintbench.view import ItemView


class Convolutions(TorchFunctionMode):
    """Remembers the size, but for channels and batches, of what every convolution is given."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: set[tuple[int, ...]] = set()
        self.plans: set[object] = set()
        """With channels, batches and the shape of the weights."""
        self.calls = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in ("conv2d", "conv3d", "mkldnn_convolution"):
            self.sizes.add(tuple(args[0].shape[2:]))
            self.plans.add((tuple(args[0].shape), tuple(args[1].shape)))
            self.calls += 1
        return func(*args, **(kwargs or {}))


def wandering_hole(number: int, *, frames: int, height: int, width: int) -> Hole:
    """``bool[T, H, W]``: an ellipse of any size that begins anywhere; for most numbers the last frames have none."""
    rng = np.random.default_rng(number)
    hole = np.zeros((frames, height, width), np.uint8)
    row, column, radius = rng.uniform(0, height), rng.uniform(0, width), rng.uniform(0.02, 0.4) * height
    for frame in hole[: frames - number % min(8, frames)]:
        row, column = np.array([row, column]) + rng.uniform(-0.05, 0.05, 2) * height
        cv2.ellipse(frame, (int(column), int(row)), (int(1 + 1.3 * radius), int(1 + radius)), 0, 0, 360, 1, -1)
    return hole.view(np.bool_)


def views(
    compute: Compute, *, count: int, methods: int = 1, frames: int = 10, height: int = 64, width: int = 104
) -> Iterator[list[ItemView]]:
    """Items of noise, each with another ``wandering_hole``, and a view for each method."""
    rng = np.random.default_rng(0)
    for number in range(count):
        truth, *predictions = rng.integers(0, 256, (1 + methods, frames, height, width, 3), dtype=np.uint8)
        hole, shared = wandering_hole(number, frames=frames, height=height, width=width), Shared(compute=compute)
        truth.flags.writeable = False  # as decoded ones are
        yield [ItemView.of_arrays(truth=truth, hole=hole, prediction=one, shared=shared) for one in predictions]


def as_on_card() -> AbstractContextManager[Any]:
    """Let volumes be convolved on the processor by what a card takes, which is counted as that."""
    return mock.patch("torch.backends.mkldnn.is_available", return_value=False)
