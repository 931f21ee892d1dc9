"""Timed text of sources and of their clips: read from a file beside the video, or invented where there is none."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.curation.footage import data_attribute
from inpaintbench.curation.sources.base import Footage, unquoted_path
from inpaintbench.curation.timed_text import ass, cues
from inpaintbench.curation.timed_text.events import TimedText, clip_events, from_data, letters_on_screen, script_of, to_data
from inpaintbench.curation.timed_text.invented import invented_timed_text
from inpaintbench.errors import InputError, Rejected
from inpaintbench.executors.base import Executor, Outcome, Rejection, Step, Task
from inpaintbench.files import MARKS, wide_encoding
from inpaintbench.types import Attribute, Clip, Plain, Source, TextEvent, item_rng
from inpaintbench.workspace import Blobs, Workspace

# Reading subtitle files of any quality: what can be read is read, and everything else gets a line number and a reason.

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
        name=NAME,
        version=VERSION,
        table="attributes",
        record=Attribute,
        function="inpaintbench.curation.captions:read_one",
        parameters={"seed": seed},
    )
    tasks = []
    for row in sources:
        where = payloads.get(row.uri, {})
        names = {name: where.get(f"{NAME}_{name}", []) for name in ("doubles", "near")}
        given = {"source_id": row.source_id, "path": where.get(NAME), "duration_seconds": durations[row.source_id], **names}
        tasks.append(Task(row.source_id, f"{row.sha256} {where.get(f'{NAME}_state', '')}", given, row.uri))
    outcome = executor.run(step, tasks)
    # A reason names the file of text, which lies beside the film under the same name.
    names = {row.source_id: _text_name(row.uri, payloads.get(row.uri, {})) for row in sources}
    for part, under in ((f"{NAME}.skipped", f"{NAME}.events"), (f"{NAME}.noted", f"{NAME}.notes")):
        rows = [
            Rejection(row.subject_id, under, names[row.subject_id], str(row.reason))
            for row in outcome.records
            if row.name == part
        ]
        executor.workspace.write_table("rejected", under, rows, Rejection)
    return outcome


def _text_name(uri: str, where: Plain) -> str:
    path = where.get(NAME)
    return uri.rpartition(".")[0] + Path(path).suffix if path else uri


def read_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """A row with the events and where they come from, and one row without a value for each skipped event and each note.

    Raises:
        Rejected: the file of text holds none, or there are several files.
        InputError: it cannot be read.
    """
    source_id = payload["source_id"]
    if payload["path"] is None:
        rng = item_rng(parameters["seed"], NAME, source_id)
        events = invented_timed_text(payload["duration_seconds"], rng)
        skipped: list[str] = []
        notes = [
            f"is not the text of the film, which is invented: name it like the film to use it ({name})"
            for name in payload["near"]
        ]
        origin = "invented"
    else:
        events, skipped, notes = _from_file(payload)
        origin = "file"
    rows = [
        data_attribute(blobs, source_id, NAME, to_data(events), producer=NAME),
        Attribute(source_id, f"{NAME}.origin", origin, None, NAME, VERSION),
    ]
    reasons = [*((f"{NAME}.skipped", reason) for reason in skipped), *((f"{NAME}.noted", reason) for reason in notes)]
    return [*rows, *(Attribute(source_id, name, None, reason, NAME, VERSION) for name, reason in reasons)]


def _from_file(payload: Plain) -> tuple[tuple[TextEvent, ...], list[str], list[str]]:
    if payload["doubles"]:
        raise Rejected(f"has {len(payload['doubles'])} files of text, {' and '.join(payload['doubles'])}: keep one")
    path = Path(unquoted_path(payload["path"]))
    text = read_timed_text(path)
    skipped = [f"line {row.line}: {row.reason}" for row in text.skipped]
    if not text.events:
        # How the file was read explains the lines that could not be used, so it comes first.
        raise Rejected(f"its text {path.name!r} shows nothing: {'; '.join([*text.notes, *skipped[:1]])}")
    return text.events, skipped, list(text.notes)


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
        events = from_data(_json(blobs.proved(blob_of[clip.source_id])))
        shown = clip_events(events, clip.start_frame / clip.fps, clip.end_frame / clip.fps)
        texts_of_clips.append(data_attribute(blobs, clip.clip_id, NAME, to_data(shown), producer=NAME))
        mean = letters_on_screen(shown, (clip.end_frame - clip.start_frame) / clip.fps)
        if script := script_of(shown):
            scripts[clip.clip_id] = script
        letters.append(Attribute(clip.clip_id, LETTERS, mean, None, NAME, LETTERS_VERSION))
    workspace.write_table("attributes", f"{NAME}.clips", [*texts_of_clips, *letters], Attribute)
    return Texts({row.subject_id: str(row.blob) for row in texts_of_clips}, letters, scripts)


def _json(path: Path) -> list[Plain]:
    rows: list[Plain] = json.loads(path.read_bytes())
    return rows
