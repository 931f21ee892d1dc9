"""Timed text: reading SubRip, WebVTT and ASS files, cutting them to clips, and inventing text where there is none."""

from inpaintbench.curation.timed_text.events import clip_events, from_data, letters_on_screen, to_data
from inpaintbench.curation.timed_text.invented import invented_timed_text
from inpaintbench.curation.timed_text.reading import Skipped, TimedText, read_timed_text

__all__ = [
    "Skipped",
    "TimedText",
    "clip_events",
    "from_data",
    "invented_timed_text",
    "letters_on_screen",
    "read_timed_text",
    "to_data",
]
