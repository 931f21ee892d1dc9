"""Small pieces of HTML of the gallery. Everything that comes from data is escaped here or by the caller."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_LONGEST_CHIP = 36
_LONGEST_WORDS = 76
"""Of a list of words or a record, which may run over lines."""
_LONGEST_TITLE = 600


def percent(share: float) -> str:
    """A share in per cent: ``14.3 %``, with two decimals below one."""
    value = share * 100
    decimals = 2 if 0 < value < 1 else 1
    return f"{value:.{decimals}f} %"


def percent_range(low: float, high: float) -> str:
    """Two shares in per cent: ``12.1 – 15.3 %``, or one where both are printed the same."""
    return percent(high) if percent(low) == percent(high) else f"{percent(low).removesuffix(' %')} – {percent(high)}"


def count(n: int, word: str) -> str:
    """``1 mask``, ``12 masks``."""
    return f"{n:,} {word if n == 1 else word + 's'}"


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
    if any(isinstance(one, list | tuple | Mapping) for one in values):
        return count(len(values), "value")
    words = ", ".join(value_text(one) for one in values)
    if all(isinstance(one, str) for one in values):
        return words if len(words) <= _LONGEST_WORDS else _first_words(values)
    return f"[{words}]" if len(words) + 2 <= _LONGEST_CHIP else count(len(values), "value")


def _first_words(words: list[str]) -> str:
    fitting = 0
    while len(", ".join(words[: fitting + 1])) <= _LONGEST_WORDS:
        fitting += 1
    return f"{', '.join(words[:fitting])} and {len(words) - fitting} more" if fitting else count(len(words), "value")


def _record_text(record: Mapping[str, Any]) -> str:
    words = ", ".join(f"{name} {value_text(value)}" for name, value in record.items())
    if len(words) <= _LONGEST_WORDS:
        return words or "none"
    return "1 entry" if len(record) == 1 else f"{len(record)} entries"


def spread(facts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Facts that a chip can say, and one more for each record in lists of named records, which a chip could only count."""
    lists = {name: value for name, value in facts.items() if _are_named(value)}
    plain = {name: value for name, value in facts.items() if name not in lists}
    records = [(f"{name}/{one['name']}", one) for name, values in lists.items() for one in values]
    return plain, {name: {key: value for key, value in one.items() if key != "name"} for name, one in records}


def _are_named(values: Any) -> bool:
    if not (isinstance(values, list | tuple) and values):
        return False
    names = [one.get("name") if isinstance(one, Mapping) else None for one in values]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def chips(values: Mapping[str, Any], *, label: str) -> str:
    """A list of ``name value`` chips; what a chip shortens is in its title."""
    if not values:
        return ""
    items = "".join(_chip(name, value) for name, value in values.items())
    return f'<ul class="chips" aria-label="{escape(label)}">{items}</ul>'


def folded_chips(values: Mapping[str, Any], *, label: str, most: int) -> str:
    """Chips of which those after the first ``most`` open on demand."""
    if len(values) <= most + 1:
        return chips(values, label=label)
    names = list(values)
    first, rest = ({name: values[name] for name in part} for part in (names[:most], names[most:]))
    more = f"<details><summary>{len(rest)} more</summary>{chips(rest, label=f'More: {label}')}</details>"
    return chips(first, label=label) + more


def _chip(name: str, value: Any) -> str:
    short = value_text(value)
    longest = _LONGEST_WORDS if isinstance(value, list | tuple | Mapping) else _LONGEST_CHIP
    words = short if len(short) <= longest else short[: longest - 1] + "…"
    full = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    title = f' title="{escape(f"{name} = {full}"[:_LONGEST_TITLE])}"'
    return f"<li{title}><span>{breakable(name)}</span> {escape(words)}</li>"


def breakable(name: str) -> str:
    """An escaped name that may break after underscores and slashes."""
    escaped = escape(name)
    for mark in "_/":
        escaped = escaped.replace(mark, f"{mark}<wbr>")
    return escaped


def data_uri(data: bytes, media_type: str) -> str:
    """``data`` inside an address."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def common(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all settings have in common."""
    first = settings[0]
    return {name: value for name, value in first.items() if all(name in one and one[name] == value for one in settings)}
