"""Layers that put an object into a picture, with what it does to the picture around it: shadow, reflection, light.

Every layer is drawn over what lies below it, on noise-free levels 0..255 in float64, and changes nothing outside its own piece
of the frame. A picture with its layers and the same picture without them are therefore equal wherever none of them reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

# `float64[h, w]`, 0..1.
Cover = npt.NDArray[np.float64]
# `float64[h, w, 3]` RGB, 0..255.
Colour = npt.NDArray[np.float64]
Canvas = npt.NDArray[np.float64]


class Layer(Protocol):
    """A change of some pixels of a frame."""

    def draw(self, canvas: Canvas) -> None:
        """Change ``canvas``, ``float64[H, W, 3]``, in place."""


@dataclass(frozen=True)
class Piece:
    """A piece of a frame: its first row and column, and how much of each of its pixels is covered."""

    top: int
    left: int
    cover: Cover

    def of(self, frame: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The piece of a frame, a view."""
        height, width = self.cover.shape
        return frame[self.top : self.top + height, self.left : self.left + width]


@dataclass(frozen=True)
class Shadow:
    """``F (1 - s P)``: light is lost where the shadow falls."""

    piece: Piece
    strength: float

    def draw(self, canvas: Canvas) -> None:
        """Darken the piece."""
        self.piece.of(canvas)[...] *= (1 - self.strength * self.piece.cover)[..., None]


@dataclass(frozen=True)
class Reflection:
    """``(1 - r Q) F + r Q R``: the object's image in a floor or a mirror."""

    piece: Piece
    colour: Colour
    strength: float

    def draw(self, canvas: Canvas) -> None:
        """Mix the mirror image into the piece."""
        _mix(canvas, self.piece, self.colour, self.strength)


@dataclass(frozen=True)
class Glow:
    """``F + g L G``: light that the object gives."""

    piece: Piece
    colour: tuple[float, float, float]
    strength: float

    def draw(self, canvas: Canvas) -> None:
        """Add light to the piece."""
        self.piece.of(canvas)[...] += (self.strength * self.piece.cover)[..., None] * np.array(self.colour)


@dataclass(frozen=True)
class Exposure:
    """``F (1 + g)``: the light of the whole scene, which comes with the object."""

    strength: float

    def draw(self, canvas: Canvas) -> None:
        """Brighten or, for a negative strength, darken the frame."""
        canvas *= 1 + self.strength


@dataclass(frozen=True)
class Solid:
    """``(1 - a A) F + a A C``: the object itself, solid for a = 1, else of glass."""

    piece: Piece
    colour: Colour
    strength: float = 1.0

    def draw(self, canvas: Canvas) -> None:
        """Paint the object over the piece."""
        _mix(canvas, self.piece, self.colour, self.strength)


def _mix(canvas: Canvas, piece: Piece, colour: Colour, strength: float) -> None:
    under = piece.of(canvas)
    share = (strength * piece.cover)[..., None]
    under[...] = (1 - share) * under + share * colour


def layered(frame: npt.NDArray[Any], layers: Sequence[Layer], *, noise: npt.NDArray[np.int16]) -> npt.NDArray[np.uint8]:
    """A frame with ``layers`` over it: drawn on whole levels without noise, rounded, then the noise added, ``uint8[H, W, 3]``.

    Without layers it is the frame with the noise: where no layer changes a level both are equal to the byte.

    Args:
        frame: ``[H, W, 3]``, noise-free.
        layers: the lowest first.
        noise: whole levels, ``int16[H, W, 3]``.
    """
    if not layers:
        return _noisy(np.asarray(frame, np.int16), noise)
    canvas = np.array(frame, np.float64)
    for layer in layers:
        layer.draw(canvas)
    # Light may be brighter than the sensor takes: levels far above stay inside of int16.
    return _noisy(np.clip(np.rint(canvas), -1024, 4096).astype(np.int16), noise)


def _noisy(levels: npt.NDArray[np.int16], noise: npt.NDArray[np.int16]) -> npt.NDArray[np.uint8]:
    return np.asarray(np.clip(levels + noise, 0, 255), np.uint8)
