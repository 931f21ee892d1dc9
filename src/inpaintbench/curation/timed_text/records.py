"""What reading a subtitle file gives."""

from __future__ import annotations

from dataclasses import dataclass

from inpaintbench.types import TextEvent

_MOST_SIXTIETHS = 59


@dataclass(frozen=True)
class Skipped:
    """Something in a subtitle file that could not be used."""

    line: int
    """Of the file, counted from 1."""
    reason: str


@dataclass(frozen=True)
class TimedText:
    """A subtitle file as read: every event is either in ``events`` or has a row in ``skipped``."""

    events: tuple[TextEvent, ...]
    """In order of their start, then of the file."""
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    """What was assumed of the file as a whole, such as its encoding: sentences of one line."""


def checked_stamp(minutes: str, seconds: str) -> str | None:
    """Why a time of day cannot be meant, or None."""
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
