"""Parts of a sentence that a page draws in a way of their own; all other parts are plain text."""

from __future__ import annotations

from typing import NamedTuple


class Method(NamedTuple):
    """The name of a method, drawn behind a dot of its colour."""

    name: str


class Tagged(NamedTuple):
    """A text with a small tag behind it, such as an attribute with its level."""

    text: str
    tag: str | None


class Link(NamedTuple):
    """A way to a part of the page, or to another page."""

    href: str
    text: str


# Drawn by the macro `say`, without spaces between its parts.
Sentence = tuple["str | Method | Tagged | Link", ...]


def plain(sentence: Sentence) -> str:
    """The sentence as plain text."""
    return "".join(_plain(part) for part in sentence)


def _plain(part: str | Method | Tagged | Link) -> str:
    if isinstance(part, Tagged):
        return f"{part.text} {part.tag}" if part.tag else part.text
    return part if isinstance(part, str) else part.name if isinstance(part, Method) else part.text
