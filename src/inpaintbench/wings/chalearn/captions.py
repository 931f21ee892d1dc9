"""Timed text of sources and of their clips: read from a file beside the video, or invented where there is none.

Files may be of any quality: what can be read is read, and everything else gets a line number and a reason.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inpaintbench.curation.footage import data_attribute
from inpaintbench.curation.invented_text import invented_timed_text
from inpaintbench.curation.sources.base import Footage, local_file, unquoted_path
from inpaintbench.errors import InputError, MissingExtraError, Rejected
from inpaintbench.executors.base import Executor, Outcome, Rejection, Step, Task
from inpaintbench.files import MARKS, wide_encoding
from inpaintbench.types import Attribute, Clip, Plain, Source, TextEvent, item_rng
from inpaintbench.wings.chalearn import cues
from inpaintbench.wings.chalearn.cues import Skipped, TimedText, checked_event, checked_stamp, shown
from inpaintbench.workspace import Blobs, Workspace

if TYPE_CHECKING:
    from pysubs2 import SSAStyle


VERSION = "3"
NAME = "timed_text"
# Attribute: letters on screen, averaged over the clip's time; how much text its source brings, whatever it is drawn like.
LETTERS = f"{NAME}.letters_on_screen"
LETTERS_VERSION = "1"


def read(
    executor: Executor, sources: Sequence[Source], footage: Sequence[Footage], durations: Mapping[str, float], *, seed: int
) -> Outcome:
    """The timed text of every source to ``attributes``; what was skipped in a file, with its line, and notes to ``rejected``.

    A source whose file gives no text is refused with the reason: invented text in its place would be another film's.

    Args:
        executor: who does the work.
        sources: whose text.
        footage: where the files lie.
        durations: source id -> seconds, for sources without a file of text.
        seed: of invented texts.
    """
    payloads = {piece.uri: piece.payload for piece in footage}
    step = Step(
        name=NAME, version=VERSION, table="attributes", record=Attribute,
        function="inpaintbench.wings.chalearn.captions:read_one", parameters={"seed": seed},
    )  # fmt: skip
    tasks = []
    for row in sources:
        where = payloads.get(row.uri, {})
        names = {name: where.get(f"{NAME}_{name}", []) for name in ("doubles", "near")}
        given = {"source_id": row.source_id, "path": where.get(NAME), "duration_seconds": durations[row.source_id], **names}
        given["state"] = where.get(f"{NAME}_object")
        tasks.append(Task(row.source_id, f"{row.sha256} {where.get(f'{NAME}_state', '')}", given, row.uri))
    outcome = executor.run(step, tasks)
    # A reason names the file of text, which lies beside the film under the same name.
    texts = {row.source_id: payloads.get(row.uri, {}).get(NAME) for row in sources}
    names = {
        row.source_id: row.uri.rpartition(".")[0] + Path(text).suffix if (text := texts[row.source_id]) else row.uri
        for row in sources
    }
    for part, under in ((f"{NAME}.skipped", f"{NAME}.events"), (f"{NAME}.noted", f"{NAME}.notes")):
        told = [row for row in outcome.records if row.name == part]
        rows = [Rejection(row.subject_id, under, names[row.subject_id], str(row.reason)) for row in told]
        executor.workspace.write_table("rejected", under, rows, Rejection)
    return outcome


def read_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """A row with the events and where they come from, and one row without a value for each skipped event and each note.

    Raises:
        Rejected: the file of text holds none, or there are several files.
        InputError: it cannot be read. NetworkError: it cannot be brought for now.
    """
    source_id, skipped = payload["source_id"], []
    if payload["path"] is None:
        origin, events = (
            "invented",
            invented_timed_text(payload["duration_seconds"], item_rng(parameters["seed"], NAME, source_id)),
        )
        not_used = "is not the text of the film, which is invented: name it like the film to use it"
        notes = [f"{not_used} ({name})" for name in payload["near"]]
    elif payload["doubles"]:
        raise Rejected(f"has {len(payload['doubles'])} files of text, {' and '.join(payload['doubles'])}: keep one")
    else:
        name = Path(unquoted_path(payload["path"])).name
        text = read_timed_text(local_file(payload["path"], state=payload["state"]))
        origin, events, notes = "file", text.events, list(text.notes)
        skipped = [f"line {row.line}: {row.reason}" for row in text.skipped]
        if not events:
            # How the file was read explains the lines that could not be used, so it comes first.
            raise Rejected(f"its text {name!r} shows nothing: {'; '.join([*notes, *skipped[:1]])}")
    rows = [
        data_attribute(blobs, source_id, NAME, to_data(events), producer=NAME),
        Attribute(source_id, f"{NAME}.origin", origin, None, NAME, VERSION),
    ]
    reasons = [*((f"{NAME}.skipped", reason) for reason in skipped), *((f"{NAME}.noted", reason) for reason in notes)]
    return [*rows, *(Attribute(source_id, name, None, reason, NAME, VERSION) for name, reason in reasons)]


@dataclass(frozen=True)
class Texts:
    """Timed text of clips."""

    blobs: Mapping[str, str]
    """Clip id -> name of the blob with its events."""
    letters: Sequence[Attribute]
    """A row ``LETTERS`` for each clip."""
    scripts: Mapping[str, str]
    """Clip id -> writing system of its text, for clips that show letters."""


def of_clips(workspace: Workspace, clips: Sequence[Clip], texts: Sequence[Attribute]) -> Texts:
    """The part of its source's text that each clip shows, times counted from its start; written to ``attributes``.

    Clips of sources whose text was refused show none and have no rows.
    """
    blobs = workspace.blobs
    blob_of = {row.subject_id: row.blob for row in texts if row.name == NAME and row.blob}
    texts_of_clips, letters, scripts = [], [], {}
    for clip in (clip for clip in clips if clip.source_id in blob_of):
        events = from_data(json.loads(blobs.proved(blob_of[clip.source_id]).read_bytes()))
        shown = clip_events(events, clip.start_frame / clip.fps, clip.end_frame / clip.fps)
        texts_of_clips.append(data_attribute(blobs, clip.clip_id, NAME, to_data(shown), producer=NAME))
        mean = letters_on_screen(shown, (clip.end_frame - clip.start_frame) / clip.fps)
        if script := script_of(shown):
            scripts[clip.clip_id] = script
        letters.append(Attribute(clip.clip_id, LETTERS, mean, None, NAME, LETTERS_VERSION))
    workspace.write_table("attributes", f"{NAME}.clips", [*texts_of_clips, *letters], Attribute)
    return Texts({row.subject_id: str(row.blob) for row in texts_of_clips}, letters, scripts)


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
    events = []
    for index, row in enumerate(data):
        try:
            start, end, text, style = float(row["start_seconds"]), float(row["end_seconds"]), row["text"], row.get("style")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"event {index} of the timed text has no usable {error}: it is {row!r:.200}") from error
        if not isinstance(text, str) or not (style is None or isinstance(style, dict)):
            raise InputError(f"event {index} of the timed text needs a text and a style or none, it is {row!r:.200}")
        if not (math.isfinite(start) and math.isfinite(end)):
            raise InputError(f"event {index} of the timed text lasts from {start} to {end} s: times must be finite")
        events.append(TextEvent(start, end, text, style))
    return tuple(events)


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
    # The first line that says anything in an ASS file heads a section.
    first = next((line for line in lines if line.strip() and not line.startswith(";")), "")
    section = _SECTION.match(first[:200])
    if section is not None and section[1].strip().lower() in ("script info", "v4+ styles", "v4 styles", "events"):
        events, skipped = read_ass(lines)
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


# Sub Station Alpha (ASS and SSA): the events line by line, the styles through pysubs2.
EVENT_FIELDS = ("layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text")
# Width and height that sizes and margins of a file refer to when it states none.
PLAY_RES = (384, 288)

_TIME = re.compile(r"\s{0,9}(\d{1,4}):(\d{1,2}):(\d{1,2})(?:[.,:](\d{1,6}))?\s{0,9}")
_SECTION = re.compile(r"\s{0,9}\[([^\]]{1,60})\]\s*$")
_BREAK = re.compile(r"\\[Nn]")


def read_ass(lines: Sequence[str]) -> tuple[list[TextEvent], list[Skipped]]:
    """The events of an ASS file, each with the fields of its style, and what could not be used."""
    sections: dict[str, list[tuple[int, str]]] = {}
    current: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        heading = _SECTION.match(line) if line.lstrip()[:1] == "[" and len(line) < 200 else None
        if heading:
            current = sections.setdefault(heading[1].strip().lower(), [])
        elif not line.startswith((";", "!:")):
            current.append((number, line))
    skipped: list[Skipped] = []
    styles = _styles(sections, skipped)
    resolution = _resolution(sections.get("script info", ()))
    resolved = {name: fields | resolution for name, fields in styles.items()}
    events: list[TextEvent] = []
    fields: Sequence[str] = EVENT_FIELDS
    for number, line in sections.get("events", ()):
        kind, _, rest = line.partition(":")
        if kind.strip().lower() == "format":
            fields = [field.strip().lower() for field in rest[:2000].split(",")]
        elif kind.strip().lower() == "dialogue":
            parsed = _event(rest, fields, resolved)
            if isinstance(parsed, TextEvent):
                events.append(parsed)
            else:
                skipped.append(Skipped(number, parsed))
        elif line.strip() and kind.strip().lower() not in ("comment", "picture", "sound", "movie", "command"):
            skipped.append(Skipped(number, f"not an event: {shown(line.strip())}"))
    return events, skipped


def _resolution(info: Sequence[tuple[int, str]]) -> dict[str, int]:
    """``PlayResX`` and ``PlayResY``; one that is not stated follows from the other at 4:3."""
    stated = {}
    for _, line in info:
        key, _, value = line.partition(":")
        digits = value.strip()
        if key.strip() in ("PlayResX", "PlayResY") and digits.isdecimal() and len(digits) < 6 and int(digits) > 0:
            stated[key.strip()] = int(digits)
    width, height = stated.get("PlayResX"), stated.get("PlayResY")
    if height is None:
        height = PLAY_RES[1] if width is None else max(1, width * 3 // 4)
    return {"PlayResX": width or max(1, height * 4 // 3), "PlayResY": height}


def _styles(sections: Mapping[str, list[tuple[int, str]]], skipped: list[Skipped]) -> dict[str, dict[str, Any]]:
    """Style name in lower case -> fields. pysubs2 gets each style alone, so that one broken style costs one style."""
    try:
        from pysubs2 import SSAFile, SSAStyle
    except ImportError as error:
        raise MissingExtraError("reading ASS subtitles", "curation") from error
    fields_of = {"default": _fields(SSAStyle())}
    for section, kind in (("v4 styles", "ssa"), ("v4+ styles", "ass")):
        heading = "[V4 Styles]" if kind == "ssa" else "[V4+ Styles]"
        for number, line in sections.get(section, ()):
            if not line.lstrip().lower().startswith("style:"):
                continue
            try:
                parsed = SSAFile.from_string(f"[Script Info]\n\n{heading}\n{line.strip()}\n", format_=kind).styles
                fields_of |= {name.strip().lstrip("*").lower(): _fields(style) for name, style in parsed.items()}
            except Exception as error:  # pysubs2 raises whatever its parsing trips over
                skipped.append(Skipped(number, f"style cannot be read ({error or type(error).__name__}): {shown(line.strip())}"))
    return fields_of


def _fields(style: SSAStyle) -> dict[str, Any]:
    """The fields that drawing knows, under their names in ASS files."""
    colours = {"PrimaryColour": style.primarycolor, "OutlineColour": style.outlinecolor, "BackColour": style.backcolor}
    hexadecimal = {name: f"&H{colour.a:02X}{colour.b:02X}{colour.g:02X}{colour.r:02X}" for name, colour in colours.items()}
    switches = {"Bold": style.bold, "Italic": style.italic, "Underline": style.underline, "StrikeOut": style.strikeout}
    numbers = {"Fontsize": style.fontsize, "Outline": style.outline, "Shadow": style.shadow}
    whole = {"BorderStyle": style.borderstyle, "Alignment": style.alignment}
    margins = {"MarginL": style.marginl, "MarginR": style.marginr, "MarginV": style.marginv}
    return {
        "Fontname": style.fontname,
        **hexadecimal,
        **{name: bool(value) for name, value in switches.items()},
        **{name: float(value) for name, value in numbers.items()},
        **{name: int(value) for name, value in (whole | margins).items()},
    }


def _event(rest: str, fields: Sequence[str], styles: Mapping[str, Plain]) -> TextEvent | str:
    """The event of one ``Dialogue:`` line, or the reason why there is none."""
    values = rest.split(",", len(fields) - 1)
    if len(values) < len(fields) or not {"start", "end", "text"} <= set(fields):
        return f"{len(values)} of {len(fields)} fields: {shown(rest.strip())}"
    by_name = dict(zip(fields, values, strict=True))
    times = [_TIME.fullmatch(by_name[name]) for name in ("start", "end")]
    if times[0] is None or times[1] is None:
        return f"times cannot be read: {shown(by_name['start'] + ', ' + by_name['end'])}"
    wrong = checked_stamp(*times[0].group(2, 3)) or checked_stamp(*times[1].group(2, 3))
    if wrong:
        return f"{wrong}: {shown(by_name['start'] + ', ' + by_name['end'])}"
    text = _BREAK.sub("\n", by_name["text"]).replace("\\h", "\N{NO-BREAK SPACE}")
    start, end = _seconds(times[0]), _seconds(times[1])
    # The style an event names, or the default one, with the margins that the event states for itself.
    style = dict(styles.get(by_name.get("style", "").strip().lstrip("*").lower(), styles["default"]))
    for name in ("MarginL", "MarginR", "MarginV"):
        own = by_name.get(name.lower(), "").strip()
        if own.isdecimal() and len(own) < 6 and int(own) > 0:
            style[name] = int(own)
    return checked_event(TextEvent(start, end, text.strip(), style))


def _seconds(match: re.Match[str]) -> float:
    hours, minutes, seconds, fraction = match.groups()
    whole = 3600 * int(hours) + 60 * int(minutes) + int(seconds)
    return round(whole + (int(fraction) / 10 ** len(fraction) if fraction else 0), 3)
