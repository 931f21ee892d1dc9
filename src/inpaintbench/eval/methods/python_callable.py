"""Any Python callable as a method."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.fitting import Divisor, value_range_of
from inpaintbench.eval.methods.base import Method
from inpaintbench.types import Frames, canonical_json
from inpaintbench.view import ItemView


class PythonCallable(Method):
    """Calls ``MODULE:NAME`` of yours with frames ``uint8[T, H, W, 3]`` and hole ``bool[T, H, W]`` (True = hole), for frames of
    that shape.

    The module may lie in the current folder. A class is made once in each worker, with the further arguments, and its
    instance is called: what it loads in ``__init__`` stays loaded. Hole is None where a benchmark hides it or has none. Of an
    edit a callable is also given what it has parameters for: ``source_prompt`` (None where nobody knows it),
    ``target_prompt`` and ``object_mask`` (``bool[T, H, W]``, None where there is none). A callable may say what sides have to
    be multiples of in its attribute ``divisor``, and that it keeps nothing of an item: ``stateless = True``. Other callables
    are called by several processes, none of which sees two items of one clip. The method's identity holds name, size and time
    of the module's own file, not of what it imports.

    Floats are taken where the callable states their range: in an attribute ``value_range`` ("0..1", "-1..1", "0..255"), or by the
    argument of that name, which it is not given.

    Args:
        address: ``MODULE:NAME``.
        arguments: further keyword arguments.
        value_range: range of the floats that it gives.

    Raises:
        InputError: no such module, or nothing callable of that name in it; an unknown range.
    """

    name = "python_callable"
    version = "1"
    needs = ("input",)
    uses = ("hole", "object_mask", "prompts")

    def __init__(self, *, address: str, arguments: Mapping[str, Any] | None = None, value_range: Any = None) -> None:
        function, self._address = _found(address), address
        self._value_range = None if value_range is None else value_range_of(value_range)
        self._arguments = dict(arguments or {})
        source = getattr(sys.modules[address.partition(":")[0]], "__file__", None)
        self._source = None if source is None else Path(source)
        if inspect.isclass(function):
            _check_class(function, self._arguments)
        self._found, self._is_class = function, inspect.isclass(function)
        self.stateless, self.unwatched = (bool(getattr(function, name, False)) for name in ("stateless", "unwatched"))
        self.heading = f"{address}({', '.join(f'{name}={value!r}' for name, value in self._arguments.items())})"

    @cached_property
    def _function(self) -> Callable[..., Any]:
        """What is called; a class is made here, which only workers come to."""
        given: Any = self._found
        if self._is_class:
            arguments, self._arguments = self._arguments, {}
            given = _made(given, canonical_json(arguments))
        function: Callable[..., Any] = given
        return function

    @property
    def divisor(self) -> Divisor:  # type: ignore[override]
        """What the callable says that sides have to be multiples of."""
        divisor: Divisor = getattr(self._function, "divisor", 1)
        return divisor

    @property
    def value_range(self) -> str | None:  # type: ignore[override]
        """Range of floats that was asked for, or that the callable states."""
        stated = getattr(self._function, "value_range", None)
        return self._value_range or (None if stated is None else value_range_of(stated))

    def inpaint(self, view: ItemView) -> Frames:
        """Frames that the callable gave for copies of frames and hole.

        Raises:
            InputError: it gave nothing that is an array of numbers.
        """
        function, hole = self._function, view.hole.copy() if view.has("hole") else None
        self.given = view.input.copy()
        found = np.asarray(function(self.given, hole, **{**self._of_edit(view), **self._arguments}))
        if found.dtype == object:
            given = "None" if found.shape == () and found.item() is None else "no array of numbers"
            raise InputError(f"{self._address} gave {given}, wanted uint8{view.input.shape}")
        return found

    def _of_edit(self, view: ItemView) -> dict[str, Any]:
        """Edit that is asked for, as far as the callable has parameters for it; nothing for other items."""
        if not view.has("prompts"):
            return {}
        known = {
            "source_prompt": view.prompts.source,
            "target_prompt": view.prompts.target,
            "object_mask": view.object_mask.copy() if view.has("object_mask") else None,
        }
        try:
            taken = inspect.signature(self._function).parameters
        except (TypeError, ValueError):  # some built-in callables tell nothing
            return {}
        if any(one.kind is one.VAR_KEYWORD for one in taken.values()):
            return known
        return {name: value for name, value in known.items() if name in taken}

    def content(self, item_id: str) -> str:  # noqa: ARG002 - the callable is the same for all items
        """Changes whenever the file of the module does."""
        if self._source is None:
            return ""
        status = self._source.stat()
        return repr((self._source.name, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=2)
def _made(kind: Any, arguments: str) -> Callable[..., Any]:
    """An instance of a class, made at its first item; two at most are held, since each may hold a network."""
    try:
        instance = kind(**json.loads(arguments))
    except Exception as error:  # whatever it does when it is made
        raise InputError(f"{kind.__module__}:{kind.__qualname__} cannot be made: {type(error).__name__}: {error}") from error
    made: Callable[..., Any] = instance
    return made


def _check_class(kind: type, arguments: Mapping[str, Any]) -> None:
    """Raise ``InputError`` for what can be told of a class before it is made, which may take minutes and a card."""
    name = f"{kind.__module__}:{kind.__qualname__}"
    if not any("__call__" in vars(base) for base in kind.__mro__):
        raise InputError(f"{name} has no __call__ that takes frames and hole")
    try:
        inspect.signature(kind).bind(**arguments)
    except ValueError:  # some tell no signature
        return
    except TypeError as error:
        raise InputError(f"{name} cannot be made: {error}") from error


def _found(address: str) -> Callable[..., Any]:
    module_name, _, name = address.partition(":")
    # Worker processes are started without the current folder on their path.
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    try:
        function = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever it does when it is imported
        what = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        raise InputError(f"the module of method {address!r} cannot be imported: {what}") from error
    for part in name.split("."):
        function = getattr(function, part, None)  # type: ignore[assignment]
    if not callable(function):
        raise InputError(f"module {module_name!r} holds nothing callable named {name!r}; a method is MODULE:NAME")
    return function
