"""Timed text as data, cut to a clip, and what reading a subtitle file gives."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from inpaintbench.errors import InputError
from inpaintbench.types import Plain, TextEvent

# Override tags, written line ends and hard spaces, and the backslash before a brace that is meant as one.
_TAGS = re.compile(r"\{\\[^{}]*\}|\\[Nnh]|\\(?=[{}])")

# First words of names in Unicode that are not how the writing system is called.
_SCRIPTS = {"cjk": "han", "hiragana": "kana", "katakana": "kana", "fullwidth": "latin"}


def clip_events(events: Iterable[TextEvent], start_seconds: float, end_seconds: float) -> tuple[TextEvent, ...]:
    """The events on screen within ``[start_seconds, end_seconds)``, cut to it, with times counted from its start.

    Raises:
        InputError: the span is empty.
    """
    if not start_seconds < end_seconds:
        raise InputError(f"the span {start_seconds:g}-{end_seconds:g} s is empty: its end must lie after its start")
    return tuple(
        replace(
            event,
            start_seconds=round(max(event.start_seconds, start_seconds) - start_seconds, 6),
            end_seconds=round(min(event.end_seconds, end_seconds) - start_seconds, 6),
        )
        for event in events
        if event.start_seconds < end_seconds and event.end_seconds > start_seconds
    )


def letters_on_screen(events: Iterable[TextEvent], seconds: float) -> float:
    """Return how many letters are on screen, averaged over a clip of ``seconds``; spaces and override tags are none.

    Raises:
        InputError: the clip does not last.
    """
    if not seconds > 0:
        raise InputError(f"a clip of {seconds:g} s shows no letters: it must last longer than 0 s")
    lasting = (len("".join(_TAGS.sub("", event.text).split())) * (event.end_seconds - event.start_seconds) for event in events)
    return math.fsum(lasting) / seconds


def script_of(events: Iterable[TextEvent]) -> str | None:
    """Writing system of most letters, such as ``latin`` or ``cyrillic``; None without a letter.

    The first word of a letter's name in Unicode; Chinese, Japanese and Korean letters are ``han``, ``kana`` and ``hangul``.
    """
    letters = (letter for event in events for letter in _TAGS.sub("", event.text) if letter.isalpha())
    words = (unicodedata.name(letter, "unknown").partition(" ")[0].lower() for letter in letters)
    found = Counter(_SCRIPTS.get(word, word) for word in words)
    return max(sorted(found), key=found.__getitem__) if found else None


def to_data(events: Iterable[TextEvent]) -> list[dict[str, Any]]:
    """The events as JSON-able data, one mapping an event."""
    return [asdict(event) for event in events]


def from_data(data: Sequence[Plain]) -> tuple[TextEvent, ...]:
    """The events of ``to_data``.

    Raises:
        InputError: the data are something else; the text says which event and why.
    """
    return tuple(_event(index, row) for index, row in enumerate(data))


def _event(index: int, row: Plain) -> TextEvent:
    try:
        start, end, text, style = float(row["start_seconds"]), float(row["end_seconds"]), row["text"], row.get("style")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"event {index} of the timed text has no usable {error}: it is {row!r:.200}") from error
    if not isinstance(text, str) or not (style is None or isinstance(style, dict)):
        raise InputError(f"event {index} of the timed text needs a text and a style or none, it is {row!r:.200}")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise InputError(f"event {index} of the timed text lasts from {start} to {end} s: times must be finite")
    return TextEvent(start, end, text, style)


_MOST_SIXTIETHS = 59


@dataclass(frozen=True)
class Skipped:
    """Something in a subtitle file that could not be used."""

    line: int
    """Line of the file, counted from 1."""
    reason: str


@dataclass(frozen=True)
class TimedText:
    """A subtitle file as read: every event is either in ``events`` or has a row in ``skipped``."""

    events: tuple[TextEvent, ...]
    """In order of their start, then of the file."""
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    """Assumptions about the file as a whole, such as its encoding: sentences of one line."""


def checked_stamp(minutes: str, seconds: str) -> str | None:
    """Return why a time of day cannot be meant, or None."""
    over = {name: value for name, value in (("minutes", minutes), ("seconds", seconds)) if int(value) > _MOST_SIXTIETHS}
    return ", ".join(f"{name} are {value}, above {_MOST_SIXTIETHS}" for name, value in over.items()) or None


def checked_event(event: TextEvent) -> TextEvent | str:
    """``event``, or the reason why it cannot be shown."""
    if event.end_seconds < event.start_seconds:
        return f"ends at {event.end_seconds:g} s, before it starts at {event.start_seconds:g} s"
    if event.end_seconds == event.start_seconds:
        return f"lasts 0 s, at {event.start_seconds:g} s"
    if not event.text.strip():
        return "no text"
    return event


def shown(text: str, *, most: int = 40) -> str:
    """``text`` quoted, cut to ``most`` characters."""
    return repr(text if len(text) <= most else text[:most] + "...")
