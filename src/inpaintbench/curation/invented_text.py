"""Timed text for clips without any, from old books, worded as speech recognition writes it."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.types import TextEvent

# Reading speed; the range that broadcasters' guidelines give for adults.
CHARACTERS_PER_SECOND = (15.0, 20.0)
CHARACTERS_PER_LINE = (14, 30)
GAP_SECONDS = (0.0, 0.8)
LEAST_SECONDS = 0.8
LINE_ODDS = (0.3, 0.4, 0.2, 0.1)


def invented_timed_text(
    duration_seconds: float, rng: np.random.Generator, *, overlap_odds: float = 0.1, text: str = ""
) -> tuple[TextEvent, ...]:
    """Events from 0 to ``duration_seconds`` of 1-4 lines each, in lower case without punctuation.

    They are read at 15-20 characters a second and have gaps of up to 0.8 s. With ``overlap_odds`` an event starts while the
    one before it is still on screen. Words come, in order, from a random place of ``text``, or of the bundled old books.

    Raises:
        InputError: a duration of at most 0 s, odds outside 0..1, or a ``text`` without words.
    """
    if not 0 < duration_seconds < float("inf"):
        raise InputError(f"timed text of {duration_seconds} s cannot be invented: the duration must be above 0 s")
    if not 0 <= overlap_odds <= 1:
        raise InputError(f"overlap_odds is {overlap_odds}, it must lie within 0..1")
    words = spoken_words(text) if text else bundled_words()
    if not words:
        raise InputError(f"the text {text[:40]!r} has no words to show")
    position = int(rng.integers(len(words)))
    events: list[TextEvent] = []
    # Events may begin before the clip, as they do when a film is cut into clips.
    start = -float(rng.uniform(0, 1.5))
    while start < duration_seconds:
        shown, used = _lines(words, position, rng)
        position += used
        end = start + max(LEAST_SECONDS, len(shown) / float(rng.uniform(*CHARACTERS_PER_SECOND)))
        if end > 0:
            events.append(TextEvent(round(max(start, 0.0), 3), round(min(end, float(duration_seconds)), 3), shown))
        overlaps = rng.random() < overlap_odds
        start = end - float(rng.uniform(0.3, 0.6)) * (end - start) if overlaps else end + float(rng.uniform(*GAP_SECONDS))
    return tuple(event for event in events if event.end_seconds > event.start_seconds)


def _lines(words: tuple[str, ...], position: int, rng: np.random.Generator) -> tuple[str, int]:
    """The text of one event, and how many words it takes."""
    lines: list[str] = []
    used = 0
    width = int(rng.integers(CHARACTERS_PER_LINE[0], CHARACTERS_PER_LINE[1] + 1))
    for _ in range(1 + int(rng.choice(len(LINE_ODDS), p=LINE_ODDS))):
        line = words[(position + used) % len(words)]
        used += 1
        while len(line) + 1 + len(words[(position + used) % len(words)]) <= width:
            line += " " + words[(position + used) % len(words)]
            used += 1
        lines.append(line)
    return "\n".join(lines), used


def spoken_words(text: str) -> tuple[str, ...]:
    """The words of ``text`` in lower case, without punctuation but for apostrophes and hyphens inside them."""
    plain = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("--", " ").lower()
    kept = "".join(letter if letter.isalnum() or letter in "'-" else " " for letter in plain)
    return tuple(word for word in (piece.strip("'-") for piece in kept.split()) if word)


@lru_cache(maxsize=1)
def bundled_words() -> tuple[str, ...]:
    """The words of the bundled books; lines that begin with ``#`` tell where a text is from."""
    folder = resources.files("inpaintbench.curation") / "texts"
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".txt")), key=lambda entry: entry.name)
    lines = [line for entry in files for line in entry.read_text(encoding="utf-8").splitlines()]
    return spoken_words("\n".join(line for line in lines if not line.startswith("#")))
