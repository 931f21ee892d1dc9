"""Texts that people type, as several commands read them: names, pairs, and the constants of leaves."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Iterable, Mapping
from typing import Any, get_type_hints

from inpaintbench.catalogue import pick
from inpaintbench.errors import UsageError


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


# Annotation -> what people call it.
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a word",
    "collections.abc.Sequence[int]": "a list of whole numbers such as [1,2,3]",
}


def constants_of(leaf: type) -> dict[str, Any]:
    """The constants of a leaf that have defaults: name -> default."""
    parameters = inspect.signature(leaf).parameters
    return {name: parameter.default for name, parameter in parameters.items() if parameter.default is not inspect.Parameter.empty}


def as_typed(constants: Mapping[str, Any]) -> str:
    """Constants as people would type them: ``length=90, pad=true``."""
    compact = {name: json.dumps(given, separators=(",", ":")) for name, given in constants.items()}
    return ", ".join(f"{name}={given if isinstance(given, str) else compact[name]}" for name, given in constants.items())


def check_constants(leaf: type, constants: Mapping[str, Any], *, called: str) -> None:
    """Raise unless the leaf takes constants of these names and kinds.

    Raises:
        UsageError: it does not; the text begins with what the leaf is ``called``.
    """
    takes = inspect.signature(leaf).parameters
    hints = get_type_hints(leaf.__init__)  # type: ignore[misc]
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in takes.values())
    for name, given in constants.items():
        if name not in takes and not takes_any:
            known = constants_of(leaf)
            nearest = difflib.get_close_matches(name, known, n=1)
            hint = f", did you mean {nearest[0]!r}?" if nearest else "."
            raise UsageError(f"{called} has no constant {name!r}{hint} It takes {as_typed(known) or 'none'}")
        kind = hints.get(name)
        text = kind.__name__ if isinstance(kind, type) and kind.__module__ == "builtins" else str(kind)
        words = _KINDS.get(text.removesuffix(" | None"))
        if words and not _fits(given, hints[name]):
            optional = " or null" if _fits(None, hints[name]) else ""
            raise UsageError(f"{called}: {name} needs {words}{optional}, got {given!r}")


def _fits(given: Any, kind: Any) -> bool:
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(kind).validate_python(given, strict=True)
    except ValidationError:
        return False
    return True
