"""Short texts of a page of masks: numbers, parameters, facts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inpaintbench.pages import words
from inpaintbench.pages.words import count

_LONGEST_CHIP = 36
# Of a list of words or a record, which may run over lines.
_LONGEST_WORDS = 76
_LONGEST_TITLE = 600


def percent(share: float) -> str:
    """A share in per cent: ``14.3 %``, with two decimals below one: a fingerprint's ridge is less than that."""
    return words.percent(share, 2 if 0 < share < 0.01 else 1)


def percent_range(low: float, high: float) -> str:
    """Two shares in per cent: ``12.1 – 15.3 %``, or one where both are printed the same."""
    return percent(high) if percent(low) == percent(high) else f"{percent(low).removesuffix(' %')} – {percent(high)}"


def bounds_text(low: float, high: float) -> str:
    """A bin in per cent: ``20 – 40 %``."""
    return f"{low * 100:.4g} – {high * 100:.4g} %"


def value_text(value: Any) -> str:
    """A parameter or fact as short text: numbers with at most 4 digits, words as many as fit, other lists by their length."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, list | tuple):
        return _list_text(list(value))
    if isinstance(value, Mapping):
        return _record_text(value)
    return str(value)


def _list_text(values: list[Any]) -> str:
    if not values:
        return "none"
    if any(isinstance(value, list | tuple | Mapping) for value in values):
        return count(len(values), "value")
    text = ", ".join(value_text(value) for value in values)
    if all(isinstance(value, str) for value in values):
        return text if len(text) <= _LONGEST_WORDS else _first_words(values)
    return f"[{text}]" if len(text) + 2 <= _LONGEST_CHIP else count(len(values), "value")


def _first_words(values: list[str]) -> str:
    fitting = 0
    while len(", ".join(values[: fitting + 1])) <= _LONGEST_WORDS:
        fitting += 1
    return f"{', '.join(values[:fitting])} and {len(values) - fitting} more" if fitting else count(len(values), "value")


def _record_text(record: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name} {value_text(value)}" for name, value in record.items())
    return (text or "none") if len(text) <= _LONGEST_WORDS else count(len(record), "entry")


def spread(facts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Facts that a chip can say, and one more for each record in lists of named records, which a chip could only count."""
    lists = {name: value for name, value in facts.items() if _are_named(value)}
    plain = {name: value for name, value in facts.items() if name not in lists}
    records = [(f"{name}/{one['name']}", one) for name, values in lists.items() for one in values]
    return plain, {name: {key: value for key, value in one.items() if key != "name"} for name, one in records}


def _are_named(values: Any) -> bool:
    if not (isinstance(values, list | tuple) and values):
        return False
    names = [value.get("name") if isinstance(value, Mapping) else None for value in values]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


@dataclass(frozen=True)
class Chip:
    """A parameter or fact as a page shows it."""

    name: str
    text: str
    title: str
    """Full text that the text shortens."""


def chips(values: Mapping[str, Any]) -> list[Chip]:
    """Parameters or facts with short values."""
    return [_chip(name, value) for name, value in values.items()]


def _chip(name: str, value: Any) -> Chip:
    short = value_text(value)
    longest = _LONGEST_WORDS if isinstance(value, list | tuple | Mapping) else _LONGEST_CHIP
    full = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return Chip(name, short if len(short) <= longest else short[: longest - 1] + "…", f"{name} = {full}"[:_LONGEST_TITLE])


def common(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Parameters that all settings have in common."""
    first = settings[0]
    return {
        name: value for name, value in first.items() if all(name in setting and setting[name] == value for setting in settings)
    }
