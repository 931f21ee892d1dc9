"""Base class of optical flows."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Leaf
from inpaintbench.compute import Compute
from inpaintbench.types import Frames

# `float32[N, H, W, 2]`, in pixels: right and down.
Motion = npt.NDArray[np.float32]


class Flow(Leaf, ABC):
    """A way to estimate optical flow, built without arguments: a protocol names it, and its name stands for all its constants."""

    weights: str | None
    """Its entry in ``weights.toml``; None without parameters."""

    @abstractmethod
    def flow(self, one: Frames, other: Frames, compute: Compute) -> Motion:
        """Motion of each pixel of ``one`` to ``other``, ``float32[N, H, W, 2]``; pairs do not affect each other.

        Args:
            one: ``uint8[N, H, W, 3]`` RGB.
            other: as ``one``, pair by pair.
            compute: how networks are run.

        Raises:
            NotMeasurable: the weights are missing or damaged, or the frames are too small.
        """
