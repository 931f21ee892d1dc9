"""Which texts every database can keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def is_storable(text: str) -> bool:
    """Whether a text holds neither NUL nor half of a surrogate pair: PostgreSQL keeps neither, so SQLite must not take them."""
    return "\x00" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def texts_of(value: object) -> Iterator[str]:
    """Every text in plain data, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts_of(key)
            yield from texts_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_of(inner)
