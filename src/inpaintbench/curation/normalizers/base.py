"""The base class of normalizer leaves, which bring any frame to the benchmark's geometry."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Leaf


class Normalizer(Leaf, ABC):
    """Brings upright frames of any size to the benchmark's geometry, with square pixels."""

    @abstractmethod
    def apply(self, frame: npt.NDArray[np.uint8], *, pixel_aspect: float) -> npt.NDArray[np.uint8]:
        """``uint8[h, w, 3]`` RGB with pixels ``pixel_aspect`` times as wide as high -> ``uint8[H, W, 3]``.

        Raises:
            Rejected: the frame does not allow it; the text names its size.
        """

    @abstractmethod
    def describe(self) -> str:
        """Short description for a row of a table: ``cover 832x480, bicubic``."""
