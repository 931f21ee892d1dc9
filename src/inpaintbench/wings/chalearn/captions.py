"""Timed text of sources and of their clips: read from a file beside the video, or invented where there is none."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from inpaintbench.curation.footage import data_attribute
from inpaintbench.curation.invented_text import invented_timed_text
from inpaintbench.curation.sources.base import Footage, unquoted_path
from inpaintbench.errors import InputError, Rejected
from inpaintbench.executors.base import Executor, Outcome, Rejection, Step, Task
from inpaintbench.types import Attribute, Clip, Plain, Source, TextEvent, item_rng
from inpaintbench.wings.chalearn.subtitle_files import read_timed_text
from inpaintbench.workspace import Blobs, Workspace

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
        InputError: it cannot be read.
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
        path = Path(unquoted_path(payload["path"]))
        text = read_timed_text(path)
        origin, events, notes = "file", text.events, list(text.notes)
        skipped = [f"line {row.line}: {row.reason}" for row in text.skipped]
        if not events:
            # How the file was read explains the lines that could not be used, so it comes first.
            raise Rejected(f"its text {path.name!r} shows nothing: {'; '.join([*notes, *skipped[:1]])}")
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
