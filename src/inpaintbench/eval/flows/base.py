"""What a flow leaf gives."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from inpaintbench.sharing import Compute
from inpaintbench.types import Frames

Motion = npt.NDArray[np.float32]
"""``float32[N, H, W, 2]``, in pixels: right and down."""


class Flow(Protocol):
    """A way to estimate optical flow, built without arguments: a protocol names it, and its name stands for all its constants."""

    name: str
    version: str
    """Changes whenever the same frames could give another flow; the versions of the metrics that use it change with it."""
    weights: str | None
    """Its entry in ``weights.toml``; None without parameters."""

    def flow(self, one: Frames, other: Frames, compute: Compute) -> Motion:
        """How far each pixel of ``one`` has moved in ``other``; the same for each pair whatever stands beside it.

        Args:
            one: ``uint8[N, H, W, 3]`` RGB.
            other: as ``one``, pair by pair.
            compute: how networks are run.

        Raises:
            NotMeasurable: the weights are missing or damaged, or the frames are too small.
        """
        ...
