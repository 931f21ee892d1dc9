"""Contract of mask generators: one corruption for one clip, with facts about it; and the validation of their parameters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from inpaintbench.catalogue import Leaf
from inpaintbench.errors import InputError
from inpaintbench.types import Alpha, Frames, Hole
from inpaintbench.view import ItemView

# (low, high), low <= high.
Interval = tuple[float, float]


def share(name: str, value: float, *, zero: bool = True) -> float:
    """Validate a share 0..1 (above 0 with ``zero=False``) and return it as float.

    Raises:
        InputError: not a number, NaN, or out of range.
    """
    number = _number(name, value)
    if not 0 <= number <= 1 or (number == 0 and not zero):
        raise InputError(f"{name} is {value}, give a share {'from' if zero else 'above'} 0 up to 1, e.g. 0.4 for 40 %")
    return number


def share_interval(name: str, value: float | Sequence[float], *, zero: bool = True) -> Interval:
    """Validate a share, or ``[low, high]`` of shares, and return (low, high).

    Raises:
        InputError: not a share, or low > high.
    """
    if isinstance(value, int | float):
        number = share(name, value, zero=zero)
        return number, number
    low, high = _pair(name, value)
    return _in_order(name, share(name, low, zero=zero), share(name, high, zero=zero))


def interval(name: str, value: Sequence[float], *, least: float) -> Interval:
    """Validate ``[low, high]`` with ``least <= low <= high`` and return (low, high).

    Raises:
        InputError: the condition fails, or a number is not finite.
    """
    low, high = (_number(name, number) for number in _pair(name, value))
    if low < least or not math.isfinite(high):
        raise InputError(f"{name} is [{low}, {high}], give [low, high] from {least} upwards")
    return _in_order(name, low, high)


def whole(name: str, value: int, *, least: int) -> int:
    """Validate an integer not below ``least`` and return it.

    Raises:
        InputError: not an integer, or too small.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} is {value!r}, give a whole number from {least} upwards")
    return value


def _pair(name: str, value: Sequence[float]) -> Interval:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InputError(f"{name} is {value!r}, give two numbers [low, high]")
    return value[0], value[1]


def _in_order(name: str, low: float, high: float) -> Interval:
    if low > high:
        raise InputError(f"{name} is [{low}, {high}], which is empty: give [low, high] with low <= high")
    return low, high


def _number(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise InputError(f"{name} is {value!r}, give a number")
    return float(value)


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
