"""Timed text of sources and of their clips: read from a file beside the video, or invented where there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.curation.footage import data_attribute
from inpaintbench.curation.sources.base import Footage, unquoted_path
from inpaintbench.curation.timed_text.events import clip_events, from_data, letters_on_screen, script_of, to_data
from inpaintbench.curation.timed_text.invented import invented_timed_text
from inpaintbench.curation.timed_text.reading import read_timed_text
from inpaintbench.errors import Rejected
from inpaintbench.executors.base import Executor, Outcome, Rejection, Step, Task
from inpaintbench.types import Attribute, Clip, Plain, Source, TextEvent, item_rng
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
