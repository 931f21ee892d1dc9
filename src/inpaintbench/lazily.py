"""Modules and names that are imported at their first use, for commands that do without them, and what numba does faster."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
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


class _Package(ModuleType):
    """A package whose names come from its modules. Where a module is called like one of them, the name stays that of the name."""

    module_of: Mapping[str, str]
    """Name -> module that has it."""

    def __getattr__(self, name: str) -> Any:
        if name not in self.module_of:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(self.module_of[name]), name)
        self.__dict__[name] = value  # the next use costs no more than that of a module
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing a module makes it an attribute of its package.
        if not (isinstance(value, ModuleType) and name in self.module_of):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.module_of})


def names_of_stub(package: str, file: str) -> list[str]:
    """Let a package have the names that the stub beside its file imports, each imported when it is asked for.

    Args:
        package: its ``__name__``.
        file: its ``__file__``; beside ``__init__.py`` lies ``__init__.pyi``, in which every line ``from .module import names``
            says where names come from, for type checkers too.

    Returns:
        The names, to be its ``__all__``.
    """
    lines = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body
    stated = [line for line in lines if isinstance(line, ast.ImportFrom) and line.level == 1]
    module = sys.modules[package]
    module.__class__ = _Package
    module.__dict__["module_of"] = {name.name: f"{package}.{line.module}" for line in stated for name in line.names}
    return sorted(module.module_of)


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
