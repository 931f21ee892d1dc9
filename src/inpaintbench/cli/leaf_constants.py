"""The constants of leaves as people type them: which there are, and what is wrong with those that were given."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Mapping
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from inpaintbench.cli.exits import UsageError

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
    return {name: one.default for name, one in parameters.items() if one.default is not inspect.Parameter.empty}


def as_typed(constants: Mapping[str, Any]) -> str:
    """Constants as people would type them: ``length=90, pad=true``."""
    return ", ".join(f"{name}={_typed(given)}" for name, given in constants.items())


def _typed(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given, separators=(",", ":"))


def check_constants(leaf: type, constants: Mapping[str, Any], *, called: str) -> None:
    """Raise unless the leaf takes constants of these names and kinds.

    Raises:
        UsageError: it does not; the text begins with what the leaf is ``called``.
    """
    takes = inspect.signature(leaf).parameters
    hints = get_type_hints(leaf.__init__)  # type: ignore[misc]
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values())
    for name, given in constants.items():
        if name not in takes and not takes_any:
            raise UsageError(_unknown(name, leaf, called))
        words = _words(hints.get(name))
        if words and not _fits(given, hints[name]):
            optional = " or null" if _fits(None, hints[name]) else ""
            raise UsageError(f"{called}: {name} needs {words}{optional}, got {given!r}")


def _unknown(name: str, leaf: type, called: str) -> str:
    known = constants_of(leaf)
    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f", did you mean {nearest[0]!r}?" if nearest else "."
    return f"{called} has no constant {name!r}{hint} It takes {as_typed(known) or 'none'}"


def _words(kind: Any) -> str | None:
    text = kind.__name__ if isinstance(kind, type) and kind.__module__ == "builtins" else str(kind)
    return _KINDS.get(text.removesuffix(" | None"))


def _fits(given: Any, kind: Any) -> bool:
    try:
        TypeAdapter(kind).validate_python(given, strict=True)
    except ValidationError:
        return False
    return True
