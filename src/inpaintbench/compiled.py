"""Loops that numba compiles where it is installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeVar

Loop = TypeVar("Loop", bound=Callable[..., Any])


@cache
def has_numba() -> bool:
    """Return whether numba is installed; asking does not import it."""
    return find_spec("numba") is not None


def compiled(loop: Loop, **options: Any) -> Loop:
    """Return ``loop`` compiled to machine code at its first call, which other threads run beside.

    The code is kept in a folder beside the module where that can be written, else it is compiled in every process.

    Args:
        loop: of numbers and arrays alone.
        options: further ones of ``numba.njit``.
    """
    njit = importlib.import_module("numba").njit
    try:
        machine_code: Loop = njit(cache=True, nogil=True, **options)(loop)
    except RuntimeError:  # no folder that numba may keep the compiled code in
        machine_code = njit(nogil=True, **options)(loop)
    return machine_code
