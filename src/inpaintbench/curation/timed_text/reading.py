"""Reading subtitle files of any quality: what can be read is read, and everything else gets a line number and a reason."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from inpaintbench.curation.timed_text import ass, cues
from inpaintbench.curation.timed_text.records import Skipped, TimedText
from inpaintbench.errors import InputError

__all__ = ["Skipped", "TimedText", "parse_timed_text", "read_timed_text"]

MOST_BYTES = 100_000_000
"""Of a subtitle file; a longer file is something else."""

_REPLACED = "\N{REPLACEMENT CHARACTER}"
_NEWLINE = re.compile("\r\n|\r|\n")
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def read_timed_text(path: Path | str) -> TimedText:
    """The events of a SubRip (.srt), WebVTT (.vtt) or Sub Station Alpha (.ass, .ssa) file, told apart by their content.

    UTF-8 and UTF-16 with a byte-order mark are read as such, UTF-8 also with a few wrong bytes, which become U+FFFD; other bytes
    as Windows-1252. A note says what was done.

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
    text, notes = decoded(content)
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


def decoded(content: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of ``content``, and notes on how it was decoded where that was not plain UTF-8."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, errors="replace"), (f"read as {encoding}",)
    try:
        return content.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        where = f"byte {error.start} is not UTF-8"
    mended = content.decode("utf-8-sig", errors="replace")
    wrong = mended.count(_REPLACED) - content.count(_REPLACED.encode())
    right = sum(letter > "\x7f" for letter in mended) - wrong
    # In other encodings letters beyond ASCII hardly ever happen to be UTF-8.
    if right > wrong or content.startswith(codecs.BOM_UTF8):
        return mended, (f"read as UTF-8, wrong places replaced by U+FFFD: {wrong}; {where}",)
    try:
        return content.decode("cp1252"), (f"read as Windows-1252: {where}",)
    except UnicodeDecodeError:
        return content.decode("latin-1"), (f"read as Latin-1: {where}",)
