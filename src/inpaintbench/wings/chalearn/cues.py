"""SubRip and WebVTT: blocks, their times, and their text with HTML-like tags as ASS override tags."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from PIL import ImageColor

from inpaintbench.types import TextEvent

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
    starts = [index for index, line in enumerate(lines) if is_timing(line)]
    ends, close = _ends(lines, starts, web=web)
    head, *ends = [*ends, len(lines)]
    skipped += _stray(lines[:head], line=1, web=web)
    for start, end in zip(starts, ends, strict=True):
        timing, *body = lines[start:end]
        text, left = _text(body, web=web)
        # Coordinates and WebVTT settings after the times are ignored.
        match = _TIMING.match(timing)
        fault: str | None = "times cannot be read"
        if match is not None:
            fault = checked_stamp(match[3], match[4]) or checked_stamp(match[8], match[9])
        event: TextEvent | str = f"{fault}: {shown(timing.strip())}"
        if match is not None and fault is None:
            first, last = _seconds(match.groups()[:5]), _seconds(match.groups()[5:])
            event = checked_event(TextEvent(first, last, to_ass_tags("\n".join(line.strip() for line in text))))
        if isinstance(event, TextEvent):
            events.append(event)
        else:
            skipped.append(Skipped(start + 1, event))
        skipped += _stray(body[left:], line=start + 2 + left, web=web)
    below = "numbers directly below a text are taken for those of blocks"
    return events, skipped, (f"{below}: {len(close)}, the first in line {close[0]}",) if close else ()


def is_timing(line: str) -> bool:
    """Return whether a line is meant to give the times of a block, well or badly written."""
    if len(line) > _LONGEST_TIMING:
        return False
    return ("-->" in line and "<!--" not in line) or _TIMING.match(line) is not None or _NO_ARROW.match(line) is not None


def _ends(lines: Sequence[str], starts: Sequence[int], *, web: bool) -> tuple[list[int], list[int]]:
    """Return where the text before each timing line ends, and the lines, counted from 1, of numbers directly below a text.

    The number of the next block, or its WebVTT name, belongs to no text. Below a text only the number that comes next in the file
    counts as one: "1984" is the last line of the text.
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
    return ends, close


def _text(body: Sequence[str], *, web: bool) -> tuple[list[str], int]:
    """The text lines of a block and how many lines of ``body`` they take.

    WebVTT text ends at an empty line. SubRip text may go on after one, unless what follows looks like a block that lost its
    times: a number alone, then text.
    """
    end = len(body)
    for index, line in enumerate(body):
        lost_its_times = (
            index and not body[index - 1].strip() and _NUMBER.match(line) and "".join(body[index + 1 : index + 2]).strip()
        )
        if lost_its_times or (web and not line.strip()):
            end = index
            break
    return [line for line in body[:end] if line.strip()], end


def _stray(lines: Sequence[str], *, line: int, web: bool) -> list[Skipped]:
    """A row for each paragraph without times, and none for WebVTT's comments and style sheets."""
    rows: list[Skipped] = []
    inside = False
    for offset, text in enumerate(lines):
        starts, inside = bool(text.strip()) and not inside, bool(text.strip())
        if starts and not (web and text.startswith(_WEB_BLOCKS)):
            rows.append(Skipped(line + offset, f"text without times: {shown(text.strip())}"))
    return rows


def _seconds(stamp: Sequence[str | None]) -> float:
    sign, hours, minutes, seconds, fraction = stamp
    whole = 3600 * int(hours or 0) + 60 * int(minutes or 0) + int(seconds or 0)
    value = round(whole + (int(fraction) / 10 ** len(fraction) if fraction else 0), 3)
    return -value if sign else value


_PIECE = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9:-]{0,30})(?P<rest>(?:[\s/.][^<>]{0,400})?)>"
    r"|<!(?:--)?[^<>]{0,400}>"  # comments and document types
    r"|<\d[\d:.]{3,20}>"  # WebVTT's karaoke times
    r"|\{\\(?P<override>[^{}\n]{1,200})\}"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|(?P<brace>[{}])"
)
_ATTRIBUTE = re.compile(r"(color|size|face)\s{0,9}=\s{0,9}(?:\"([^\"]{0,99})\"|'([^']{0,99})'|([^\s\"'>]{1,99}))", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style)(?:\s[^<>]{0,400})?>", re.IGNORECASE)
_HIDDEN_END = {name: re.compile(rf"</{name}\s{{0,99}}>", re.IGNORECASE) for name in ("script", "style")}
_CLOSED = re.compile(r"</([A-Za-z][A-Za-z0-9:-]{0,30})\s{0,99}>")
_MOST_NESTED = 8
_SWITCHES = {"b": "b", "i": "i", "u": "u", "s": "s", "strong": "b", "em": "i"}
_BREAKS = frozenset({"br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "blockquote", "pre"})
# Elements of HTML and WebVTT, but for those that are words which stand in angle brackets for what is heard.
_KNOWN = frozenset({
    "a", "abbr", "address", "article", "aside", "audio", "b", "big", "body", "button", "c", "canvas", "center", "cite", "code",
    "dd", "del", "dl", "dt", "em", "font", "footer", "form", "frame", "frameset", "head", "header", "html", "i", "iframe", "img",
    "input", "ins", "kbd", "label", "lang", "link", "main", "mark", "meta", "nav", "nobr", "noscript", "object", "ol", "option",
    "rb", "rp", "rt", "ruby", "s", "script", "section", "select", "small", "span", "strike", "strong", "style", "sub", "sup",
    "svg", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tt", "u", "ul", "v", "var", "video", "wbr",
})  # fmt: skip
_SAFE_OVERRIDE = re.compile(r"(?:an[1-9]|a\d{1,2}|[bius][01]|b\d00|c&H[0-9A-Fa-f]{1,8}&?|fn[^\\]{1,60}|fs\d{1,3})")
_OVERRIDES = re.compile(r"(?:\{\\[^{}]{0,200}\})+")


def to_ass_tags(text: str) -> str:
    """``text`` with ``<b> <i> <u> <s> <font>`` as override tags; other tags are dropped, literal braces escaped.

    ``<br>`` and ``<p>`` begin lines, scripts and style sheets are dropped with what is in them, entities are the characters they
    stand for. ``<sigh>`` stays: a name that HTML does not know counts as a tag only with attributes or when it is closed.
    Overrides that the file itself holds stay where they say alignment or a face (``{\\an8}``) and are dropped otherwise.
    """
    fonts: list[str] = []
    plain, start = "", 0
    while opening := _HIDDEN.search(text, start):
        plain += text[start : opening.start()]
        closing = _HIDDEN_END[opening[1].lower()].search(text, opening.end())
        start = closing.end() if closing else len(text)  # a script that never ends takes all that follows
    text = plain + text[start:]
    closed = {name.lower() for name in _CLOSED.findall(text)}

    def replaced(match: re.Match[str]) -> str:
        if match["brace"]:
            return "\\" + match["brace"]
        if match["entity"]:
            letters = html.unescape(match["entity"]).replace("\0", "").replace("\r", " ").replace("\n", " ")
            return re.sub("([{}])", r"\\\1", letters)
        if match["override"]:
            return "".join(f"{{\\{tag}}}" for tag in match["override"].split("\\") if _SAFE_OVERRIDE.fullmatch(tag))
        return _tag(match, fonts, closed) if match["name"] else ""

    # Lines that show something; override tags that stand alone move to the next of them.
    lines, waiting = [], ""
    for line in _PIECE.sub(replaced, text).split("\n"):
        stripped = (waiting + line.strip()).strip()
        waiting = stripped if not _OVERRIDES.sub("", stripped).strip() else ""
        lines += [] if waiting or not stripped else [stripped]
    return "\n".join(lines)


def _tag(match: re.Match[str], fonts: list[str], closed: Collection[str]) -> str:
    name, closes = match["name"].lower(), bool(match["close"])
    if name in _SWITCHES:
        return f"{{\\{_SWITCHES[name]}{0 if closes else 1}}}"
    if name == "font":
        return _font(match["rest"], closes=closes, fonts=fonts)
    if name in _BREAKS:
        return "\n"
    # An unknown name in angle brackets may be what somebody said: <sigh> is text, <x-note id=3> is not.
    is_tag = closes or name in _KNOWN or name in closed or "=" in match["rest"] or match["rest"].endswith("/")
    return "" if is_tag else match[0]


def _font(attributes: str, *, closes: bool, fonts: list[str]) -> str:
    """Override tags for ``<font>``; where it ends, what held before it: the tags of those still open."""
    if closes:
        if not fonts:
            return ""
        fonts.pop()
        # An empty colour, name or size means that of the style.
        return "{\\c}{\\fn}{\\fs}" + "".join(fonts[-_MOST_NESTED:])
    tags = ""
    for name, *values in _ATTRIBUTE.findall(attributes):
        value = next((value for value in values if value), "").strip()
        if name.lower() == "face":
            tags += f"{{\\fn{value}}}" if value and not set(value) & set("{}\\") else ""
        elif name.lower() == "size":
            tags += f"{{\\fs{value}}}" if value.isdecimal() and value.isascii() and len(value) < 4 else ""
        else:
            with suppress(ValueError):  # what is no colour changes none
                red, green, blue = ImageColor.getrgb(value)[:3]
                tags += f"{{\\c&H{blue:02X}{green:02X}{red:02X}&}}"
    fonts.append(tags)
    return tags
