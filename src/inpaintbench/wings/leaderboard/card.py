"""Method card, written by submitters: a TOML file of plain texts, and the checks that let it stand on a public page."""

from __future__ import annotations

import tomllib
import unicodedata
from dataclasses import dataclass
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError

MOST_BYTES = 64_000
# Letters of one text.
MOST_LETTERS = 4000
MOST_NAME_LETTERS = 80
MOST_AUTHORS = 100
REQUIRED = ("title", "summary", "model", "preprocessing", "training_data", "loss")
OPTIONAL = ("authors", "parameters", "pretrained", "postprocessing", "compute", "licence", "citation", "links")
LINKS = ("paper", "code", "weights", "project")
# A spreadsheet runs a cell that begins so.
_FORMULA = ("=", "+", "-", "@")


@dataclass(frozen=True)
class Card:
    """A method as its submitters describe it."""

    title: str
    authors: tuple[str, ...]
    """As they write themselves; may be empty."""
    texts: dict[str, str]
    """Field -> what was written; fields left empty are not there."""
    links: dict[str, str]
    """``paper``, ``code``, ``weights`` or ``project`` -> an address of http or https."""


def template() -> bytes:
    """A card to fill in, with a comment on every field."""
    return resources.files(__package__).joinpath("card.toml").read_bytes()


def read_card(data: bytes) -> Card:
    """The card in a TOML file.

    Raises:
        InputError: not TOML, too long, a field that is missing, unknown or of another kind, hidden characters, or a link that is
            not a plain address of http or https.
    """
    if len(data) > MOST_BYTES:
        raise InputError(f"the method card has {len(data):,} bytes; {MOST_BYTES:,} are the most")
    try:
        fields: dict[str, Any] = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"the method card is not TOML: {error}") from error
    for name in fields:
        if name not in REQUIRED + OPTIONAL:
            raise UnknownNameError(unknown_name("field of the method card", name, [*REQUIRED, *OPTIONAL]))
    names = [name for name in REQUIRED + OPTIONAL if name not in ("authors", "links")]
    texts = {name: checked_text(fields.get(name, ""), f"{name!r} of the method card").strip() for name in names}
    empty = [name for name in REQUIRED if not texts[name]]
    if empty:
        raise InputError(f"the method card says nothing of {', '.join(empty)}; fill that in, with “none” where there is none")
    title = checked_name(texts.pop("title"), "title of the method card")
    return Card(title, _authors(fields.get("authors", [])), {name: text for name, text in texts.items() if text}, _links(fields))


def _authors(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or len(given) > MOST_AUTHORS:
        raise InputError(f"'authors' of the method card is not a list of at most {MOST_AUTHORS} names, such as [\"A. Name\"]")
    return tuple(checked_name(name, "author on the method card", most=200) for name in given)


def _links(fields: dict[str, Any]) -> dict[str, str]:
    given = fields.get("links", {})
    if not isinstance(given, dict):
        raise InputError("'links' of the method card is not a table, such as [links] with a line paper = \"https://...\"")
    for name in given:
        if name not in LINKS:
            raise UnknownNameError(unknown_name("link of the method card", name, list(LINKS)))
    return {name: checked_link(link) for name, link in given.items() if link != ""}


def checked_link(link: Any) -> str:
    """``link`` when it is a plain address of http or https.

    Raises:
        InputError: it is not, or it holds a password, spaces or hidden characters.
    """
    plain = (
        isinstance(link, str) and len(link) <= 2000 and link.isascii() and link.isprintable() and not set(link) & set(" \"'<>\\`")
    )
    try:
        parts = urlsplit(link) if plain else None
        good = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        good = False
    if not good:
        raise InputError(f"link {str(link)[:80]!r} of the method card is not a plain address of http or https")
    return str(link)


def checked_name(name: Any, what: str, *, most: int = MOST_NAME_LETTERS) -> str:
    """A name of one line that no spreadsheet takes for a formula.

    Raises:
        InputError: it is another thing.
    """
    text = checked_text(name, what, most=most)
    if not text.strip() or text != text.strip() or "\n" in text or "\t" in text or text.startswith(_FORMULA):
        raise InputError(
            f"{what} {text!r} is not a name: one line, no spaces at its ends, not beginning with {' '.join(_FORMULA)}"
        )
    return text


def checked_text(text: Any, what: str, *, most: int = MOST_LETTERS) -> str:
    """A text that shows all it holds: no control characters, nothing that turns the direction of letters.

    Raises:
        InputError: it is another thing, or longer than ``most`` letters.
    """
    if not isinstance(text, str):
        raise InputError(f"{what} is {str(text)[:80]!r}, not a text")
    if len(text) > most:
        raise InputError(f"{what} has {len(text):,} letters; {most:,} are the most")
    hidden = next(
        (letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co") and letter not in "\n\t"), ""
    )
    if hidden:
        raise InputError(f"{what} holds the hidden character U+{ord(hidden):04X}; take it out")
    return text
