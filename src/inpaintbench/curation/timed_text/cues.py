"""SubRip and WebVTT: finding the blocks, their times and their text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from inpaintbench.curation.timed_text.markup import to_ass_tags
from inpaintbench.curation.timed_text.records import Skipped, checked_event, checked_stamp, shown
from inpaintbench.types import TextEvent

_STAMP = r"(?:(\d{1,4})[:.])?(\d{1,3}):(\d{1,2})(?:[.,:](\d{1,9}))?"
# Signs and spaces are bounded, so that a line of ten million characters costs one look at its first few.
_TIMING = re.compile(rf"\s{{0,99}}(-?){_STAMP}\s{{0,99}}--?>\s{{0,99}}(-?){_STAMP}(?![\d:])")
_NO_ARROW = re.compile(rf"\s{{0,99}}{_STAMP}\s{{0,99}}(?:[-=>]{{1,9}}\s{{0,99}}|\s){_STAMP}\s{{0,99}}$")
_NUMBER = re.compile(r"\s*\d{1,18}\s*$")
_WEB_BLOCKS = ("NOTE", "STYLE", "REGION", "WEBVTT")
_LONGEST_TIMING = 1000


def read(lines: Sequence[str], *, web: bool) -> tuple[list[TextEvent], list[Skipped], tuple[str, ...]]:
    """The events of a SubRip file, or of a WebVTT file (``web``), what could not be used, and what was assumed."""
    events: list[TextEvent] = []
    skipped: list[Skipped] = []
    blocks, notes = _blocks(lines, web=web)
    for start, end in blocks:
        timing, *body = lines[start:end]
        if not is_timing(timing):
            skipped += _stray(lines[start:end], line=start + 1, web=web)
            continue
        text, left = _text(body, web=web)
        found = _event(timing, text)
        if isinstance(found, TextEvent):
            events.append(found)
        else:
            skipped.append(Skipped(start + 1, found))
        skipped += _stray(body[left:], line=start + 2 + left, web=web)
    return events, skipped, notes


def is_timing(line: str) -> bool:
    """Whether a line is meant to give the times of a block, well or badly written."""
    if len(line) > _LONGEST_TIMING:
        return False
    return ("-->" in line and "<!--" not in line) or _TIMING.match(line) is not None or _NO_ARROW.match(line) is not None


def _blocks(lines: Sequence[str], *, web: bool) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    """Ranges of lines: what comes before the first timing line, then each timing line with what follows it.

    The number of the next block, or its WebVTT name, is in neither.
    """
    starts = [index for index, line in enumerate(lines) if is_timing(line)]
    ends, notes = _ends(lines, starts, web=web)
    head_end, *ends = [*ends, len(lines)]
    blocks = list(zip(starts, ends, strict=True))
    return ([(0, head_end)] if head_end else []) + blocks, notes


def _ends(lines: Sequence[str], starts: Sequence[int], *, web: bool) -> tuple[list[int], tuple[str, ...]]:
    """Where the text before each timing line ends, and a note on numbers that stand directly below a text.

    Below a text only the number that comes next in the file counts as one: "1984" is the last line of the text.
    """
    ends: list[int] = []
    close: list[int] = []
    count = 0
    for start, last in zip(starts, [-1, *starts], strict=False):
        before = lines[start - 1] if start - 1 > last else ""
        apart = start < 2 or not lines[start - 2].strip()
        number = int(before) if _NUMBER.match(before) else None
        taken = number is not None and (apart or (not web and number == count + 1))
        web_name = web and apart and start > 1 and before.strip() != ""
        close += [start] if taken and not apart else []
        count = number if taken and number is not None else count + 1
        ends.append(start - 1 if taken or web_name else start)
    if not close:
        return ends, ()
    return ends, (f"numbers directly below a text are taken for those of blocks: {len(close)}, the first in line {close[0]}",)


def _text(body: Sequence[str], *, web: bool) -> tuple[list[str], int]:
    """The text lines of a block and how many lines of ``body`` they take.

    WebVTT text ends at an empty line. SubRip text may go on after one, unless what follows looks like a block that lost its
    times: a number alone, then text.
    """
    taken: list[str] = []
    for index, line in enumerate(body):
        empty_before = index > 0 and not body[index - 1].strip()
        if web and not line.strip():
            return taken, index
        if empty_before and _NUMBER.match(line) and index + 1 < len(body) and body[index + 1].strip():
            return _trimmed(taken), index
        taken.append(line)
    return _trimmed(taken), len(body)


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines.pop()
    return [line for line in lines if line.strip()]


def _stray(lines: Sequence[str], *, line: int, web: bool) -> list[Skipped]:
    """A row for each paragraph without times, and none for WebVTT's comments and style sheets."""
    rows: list[Skipped] = []
    inside = False
    for offset, text in enumerate(lines):
        starts, inside = bool(text.strip()) and not inside, bool(text.strip())
        if starts and not (web and text.startswith(_WEB_BLOCKS)):
            rows.append(Skipped(line + offset, f"text without times: {shown(text.strip())}"))
    return rows


def _event(timing: str, text: list[str]) -> TextEvent | str:
    """The event of a block, or the reason why there is none. Coordinates and WebVTT settings after the times are ignored."""
    match = _TIMING.match(timing)
    if match is None:
        return f"times cannot be read: {shown(timing.strip())}"
    wrong = checked_stamp(match[3], match[4]) or checked_stamp(match[8], match[9])
    if wrong:
        return f"{wrong}: {shown(timing.strip())}"
    start, end = _seconds(match.groups()[:5]), _seconds(match.groups()[5:])
    return checked_event(TextEvent(start, end, to_ass_tags("\n".join(line.strip() for line in text))))


def _seconds(stamp: Sequence[str | None]) -> float:
    sign, hours, minutes, seconds, fraction = stamp
    whole = 3600 * int(hours or 0) + 60 * int(minutes or 0) + int(seconds or 0)
    value = round(whole + (int(fraction) / 10 ** len(fraction) if fraction else 0), 3)
    return -value if sign else value
