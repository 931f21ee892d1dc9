"""Reading subtitle files of any quality: what can be read is read, and everything else gets a line number and a reason."""

from __future__ import annotations

import re
from pathlib import Path

from inpaintbench.curation.timed_text import ass, cues
from inpaintbench.curation.timed_text.encodings import decoded
from inpaintbench.curation.timed_text.records import Skipped, TimedText
from inpaintbench.errors import InputError

__all__ = ["Skipped", "TimedText", "parse_timed_text", "read_timed_text"]

# Of a subtitle file; a longer file is something else.
MOST_BYTES = 100_000_000

_NEWLINE = re.compile("\r\n|\r|\n")


def read_timed_text(path: Path | str) -> TimedText:
    """The events of a SubRip (.srt), WebVTT (.vtt) or Sub Station Alpha (.ass, .ssa) file, told apart by their content.

    UTF-8, UTF-16 and UTF-32 are read with a byte-order mark and without, UTF-8 also with a few wrong bytes, which become U+FFFD.
    Other bytes are Windows-1252 where they can be Western European text; else the file has no events. A note says what was done,
    and why there are no events.

    Raises:
        InputError: the file cannot be opened, or is larger than 100 MB.
        MissingExtraError: an ASS file, and pysubs2 is not installed.
    """
    try:
        size = Path(path).stat().st_size
        if size > MOST_BYTES:
            raise InputError(f"{Path(path).name} has {size} bytes; a subtitle file has at most {MOST_BYTES}")
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the subtitles {path}: {error.strerror or error}") from error
    return parse_timed_text(content)


def parse_timed_text(content: bytes) -> TimedText:
    """The events in the bytes of a subtitle file; see ``read_timed_text``."""
    try:
        text, notes = decoded(content)
    except InputError as error:
        return TimedText((), (), (str(error),))
    lines = _NEWLINE.split(text)
    if ass.is_ass(lines):
        events, skipped = ass.read(lines)
    else:
        events, skipped, assumed = cues.read(lines, web=lines[0].lstrip().startswith("WEBVTT"))
        notes = (*notes, *assumed)
    if not events and not skipped:
        notes = (*notes, "the file holds no events")
    ordered = sorted(events, key=lambda event: event.start_seconds)
    return TimedText(tuple(ordered), tuple(sorted(skipped, key=lambda row: row.line)), notes)
