"""What a mask generator gives: one hole track for one clip, and what it says of what it drew."""

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
    """A corruption as a generator made it.

    A generator that removes pixels gives a hole alone. One that paints over them gives ``alpha`` and ``colour`` too; its hole
    is then ``alpha > 0``, and the input is the truth under that overlay (``inpaintbench.masks.overlays.blend``). One that
    degrades the whole picture gives ``input`` and no hole: every pixel is to be recovered.
    """

    hole: Hole | None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was drawn, for tables and slices: name -> number, text, or JSON-able list. Units in the names."""
    alpha: Alpha | None = None
    colour: Frames | None = None
    """``uint8[T, H, W, 3]`` RGB, not premultiplied; anything where ``alpha`` is 0."""
    input: Frames | None = None
    """``uint8[T, H, W, 3]`` RGB, of a generator that degrades everything."""


class Generator(Leaf, ABC):
    """A way to make holes; its parameters are keyword-only constructor arguments."""

    needs: tuple[str, ...]
    """Parts of the view that it reads, such as ``joints``, ``timed_text`` or ``undistorted``, or nothing at all."""
    same_draw: tuple[str, ...] = ()
    """Constants that may change while the random numbers stay: they say what is made of them."""

    @abstractmethod
    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """A corruption of ``view.frames`` frames of ``view.height`` by ``view.width``, the same for the same arguments.

        Raises:
            Rejected: none for this clip; the text says why.
        """
