"""Reading subtitle files of any quality: what can be read is read, and everything else gets a line number and a reason."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from inpaintbench.curation.timed_text import ass, cues
from inpaintbench.curation.timed_text.events import TimedText
from inpaintbench.errors import InputError
from inpaintbench.files import MARKS, wide_encoding

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


_REPLACED = "\N{REPLACEMENT CHARACTER}"
_BEYOND = re.compile(rb"[\x80-\xff]+")
# Share of the bytes beyond ASCII that stand side by side: few accents do, and nearly all letters of other scripts.
_MOST_ADJACENT = 0.5
# Bytes beyond ASCII from which that share tells anything.
_FEWEST_TOLD = 20


def decoded(content: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of ``content``, and notes on how it was decoded where that was not plain UTF-8.

    Raises:
        InputError: nobody can tell the encoding.
    """
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return _wide(content[len(mark) :], encoding, "")
    if guess := wide_encoding(content):
        return _wide(content, guess, ", which it looks like without a byte-order mark")
    zeros = (f"zero bytes, which no text has: {count}; the file is damaged or no text",) if (count := content.count(0)) else ()
    text, notes = _narrow(content)
    return text, (*zeros, *notes)


def _wide(content: bytes, encoding: str, why: str) -> tuple[str, tuple[str, ...]]:
    text = content.decode(encoding, errors="replace")
    wrong = f", wrong places replaced by U+FFFD: {text.count(_REPLACED)}" if _REPLACED in text else ""
    return text, (f"read as {encoding}{why}{wrong}",)


def _narrow(content: bytes) -> tuple[str, tuple[str, ...]]:
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
    if share := _side_by_side(content):
        why = f"{share:.0%} of its bytes beyond ASCII stand side by side, unlike accents in Windows-1252"
        raise InputError(f"its encoding cannot be told: {where}, and {why}; save it as UTF-8")
    try:
        return content.decode("cp1252"), (f"read as Windows-1252: {where}",)
    except UnicodeDecodeError:
        return content.decode("latin-1"), (f"read as Latin-1: {where}",)


def _side_by_side(content: bytes) -> float | None:
    """Share of the bytes beyond ASCII that stand side by side, where it is too high for Western European text."""
    lengths = [match.end() - match.start() for match in _BEYOND.finditer(content)]
    share = sum(length for length in lengths if length > 1) / sum(lengths)
    return share if sum(lengths) >= _FEWEST_TOLD and share > _MOST_ADJACENT else None
