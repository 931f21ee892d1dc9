"""Modules that are imported at their first use, for commands that do without them, and what numba does faster."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeVar

from inpaintbench.errors import InputError, MissingExtraError


class _Module:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)  # the next use costs no more than that of a module
        return value


def lazily(name: str) -> Any:
    """Return a stand-in for a module, which imports it when the first of its names is asked for.

    Unlike modules of ``importlib.util.LazyLoader``, which before Python 3.12.3 are half empty for a second thread, it may be used
    by several threads from the beginning: the first import holds the others up.
    """
    return _Module(name)


Loop = TypeVar("Loop", bound=Callable[..., Any])


@cache
def has_numba() -> bool:
    """Return whether numba is installed; asking does not import it."""
    return find_spec("numba") is not None


def select_backend(backend: str, known: Sequence[str], *, kind: str, task: str) -> str:
    """The backend behind ``auto``: numba where it is installed, else numpy; any other is as it is given.

    Args:
        backend: one of ``known``.
        known: names of backends.
        kind: what they are called in errors, such as ``growth``.
        task: what numba would do, in errors.

    Raises:
        InputError: there is no such backend.
        MissingExtraError: numba was asked for and is not installed.
    """
    if backend not in known:
        raise InputError(f"there is no {kind} backend {backend!r}: choose one of {', '.join(known)}")
    if backend == "auto":
        return "numba" if has_numba() else "numpy"
    if backend == "numba" and not has_numba():
        raise MissingExtraError(f"{task} with numba", "masks")
    return backend


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
