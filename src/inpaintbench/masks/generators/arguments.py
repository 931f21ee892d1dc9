"""Checks of the numbers that mask generators are built with; all speak of the argument by its name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError

# (low, high), low <= high.
Interval = tuple[float, float]


def share(name: str, value: float, *, zero: bool = True) -> float:
    """``value`` as a share 0..1 (with ``zero=False``: above 0).

    Raises:
        InputError: it is no number, NaN, or outside.
    """
    number = _number(name, value)
    if not 0 <= number <= 1 or (number == 0 and not zero):
        raise InputError(f"{name} is {value}, give a share {'from' if zero else 'above'} 0 up to 1, e.g. 0.4 for 40 %")
    return number


def share_interval(name: str, value: float | Sequence[float], *, zero: bool = True) -> Interval:
    """A share, or ``[low, high]`` of shares, as (low, high).

    Raises:
        InputError: no share, or low > high.
    """
    if isinstance(value, int | float):
        number = share(name, value, zero=zero)
        return number, number
    low, high = _pair(name, value)
    return _in_order(name, share(name, low, zero=zero), share(name, high, zero=zero))


def interval(name: str, value: Sequence[float], *, least: float) -> Interval:
    """``[low, high]`` as (low, high) with ``least <= low <= high``.

    Raises:
        InputError: it is not.
    """
    low, high = (_number(name, number) for number in _pair(name, value))
    if low < least or not math.isfinite(high):
        raise InputError(f"{name} is [{low}, {high}], give [low, high] from {least} upwards")
    return _in_order(name, low, high)


def whole(name: str, value: int, *, least: int) -> int:
    """``value``, an integer not below ``least``.

    Raises:
        InputError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} is {value!r}, give a whole number from {least} upwards")
    return value


def choice(kind: str, value: str, known: Sequence[str] | Mapping[str, object]) -> str:
    """``value``, one of the names ``known``.

    Raises:
        UnknownNameError: it is none of them.
    """
    if value not in known:
        raise UnknownNameError(unknown_name(kind, value, list(known)))
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
