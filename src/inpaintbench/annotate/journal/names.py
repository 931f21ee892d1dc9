"""What people are called: one spelling to show, and one by which two names are the same."""

from __future__ import annotations

import unicodedata

from inpaintbench.errors import InputError

_NAME_LIMIT = 80


def clean_name(name: str) -> str:
    """A name as it is stored and shown.

    Raises:
        InputError: empty, longer than 80 characters, or with characters that cannot be printed.
    """
    cleaned = unicodedata.normalize("NFC", name).strip()
    if not 0 < len(cleaned) <= _NAME_LIMIT or not cleaned.isprintable():
        raise InputError(f"a name must be 1 to {_NAME_LIMIT} printable characters, not {name[: _NAME_LIMIT + 1]!r}")
    return cleaned


def name_key(name: str) -> str:
    """What two names share that people would take for the same."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
