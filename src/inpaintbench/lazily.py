"""Modules that are imported at their first use, for commands that do without them."""

from __future__ import annotations

import importlib
from typing import Any


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
