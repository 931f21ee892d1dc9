"""What a mask generator gives: one hole track for one clip."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from inpaintbench.types import Hole
from inpaintbench.view import ItemView


class GeneratorLeaf(Protocol):
    """A way to make holes; its parameters are keyword-only constructor arguments."""

    name: str
    version: str
    needs: tuple[str, ...]

    def generate(self, view: ItemView, rng: np.random.Generator) -> Hole:
        """A hole ``bool[view.frames, view.height, view.width]``, the same for the same arguments.

        Raises:
            Rejected: no hole for this clip; the text says why.
        """
        ...
