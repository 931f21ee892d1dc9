"""Contract of mask generators: one corruption for one clip, with facts about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from inpaintbench.catalogue import Leaf
from inpaintbench.types import Alpha, Frames, Hole
from inpaintbench.view import ItemView


@dataclass(frozen=True)
class Drawn:
    """Result of a generator.

    A generator that removes pixels returns a hole alone. One that paints over them returns ``alpha`` and ``colour`` too; its hole
    is then ``alpha > 0``, and the input is the truth under that overlay (``inpaintbench.masks.overlays.raster``). One that
    degrades the whole picture returns ``input`` and no hole: every pixel is to be recovered.
    """

    hole: Hole | None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Facts for tables and slices: name, with its unit -> number, text, or JSON-able list."""
    alpha: Alpha | None = None
    colour: Frames | None = None
    """``uint8[T, H, W, 3]`` RGB, not premultiplied; anything where ``alpha`` is 0."""
    input: Frames | None = None
    """``uint8[T, H, W, 3]`` RGB, of a generator that degrades everything."""


class Generator(Leaf, ABC):
    """Mask generator; its parameters are keyword-only constructor arguments."""

    needs: tuple[str, ...]
    """Parts of the view that it reads, e.g. ``joints``, ``timed_text`` or ``undistorted``; may be empty."""
    same_draw: tuple[str, ...] = ()
    """Parameters that do not key the random stream: with other values of them the same random numbers are drawn."""

    @abstractmethod
    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw a corruption of ``view.frames`` frames of ``view.height`` by ``view.width``; equal arguments give equal results.

        Raises:
            Rejected: there is none for this clip; the text is the reason.
        """
