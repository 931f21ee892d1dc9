"""What several commands read from options and write into tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from inpaintbench.catalogue import unknown_name
from inpaintbench.cli.exits import UsageError
from inpaintbench.errors import UnknownNameError

Value = TypeVar("Value")


def pick(kind: str, names: Sequence[str] | None, known: Mapping[str, Value]) -> list[Value]:
    """Those of ``known`` that are named, each once; all of them where none is.

    Raises:
        UnknownNameError: a name that is not among them.
    """
    for name in names or ():
        if name not in known:
            raise UnknownNameError(unknown_name(kind, name, known))
    return [known[name] for name in dict.fromkeys(names or known)]


def check_name(kind: str, name: str | None, known: Iterable[str]) -> None:
    """Raise ``UnknownNameError`` unless ``name`` is among ``known``, or None."""
    pick(kind, [] if name is None else [name], dict.fromkeys(known))


def pair(text: str, wanted: str) -> tuple[str, str]:
    """``NAME=VALUE`` -> both; ``UsageError`` with the sentence ``wanted`` where one is missing."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError(wanted)
    return name, value


def span(low: object | None, high: object | None, between: str = "-") -> str:
    """Two ends as ``2-4``, one where they are equal, nothing where one is missing."""
    return "" if low is None or high is None else str(low) if low == high else f"{low}{between}{high}"
