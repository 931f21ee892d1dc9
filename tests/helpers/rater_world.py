"""Studies, a journal in memory, a clock that is set by hand, and raters that answer what they are shown."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from typing import Any

from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.records import Event, Kind
from inpaintbench.annotate.study import Proxy, Study, StudyFile, StudyTask, Tile, study_id, task_id
from inpaintbench.types import content_id

METHODS = ("alpha", "beta", "gamma", "delta")


class Clock:
    """Shows what it is set to."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class MemoryJournal:
    """The journal's interface over a list; events go through JSON, and what a transaction wrote is lost when it fails."""

    def __init__(self) -> None:
        self.stored: list[Event] = []
        self._lock = threading.Lock()

    def register(self, study_id: str, *, title: str) -> None:
        pass

    def events(self, study_id: str, *, after: int = 0, most: int | None = None) -> list[Event]:
        return [event for event in self.stored[after:] if event.seq > after][:most]

    def snapshot(self, study_id: str) -> None:
        return None

    @contextmanager
    def writing(self, study_id: str) -> Iterator[MemoryWriter]:
        with self._lock:
            writer = MemoryWriter(self.stored)
            yield writer
            self.stored = [*self.stored, *writer.added] if len(self.stored) < 2000 else self._extended(writer.added)

    def _extended(self, added: list[Event]) -> list[Event]:
        self.stored.extend(added)
        return self.stored


class MemoryWriter:
    def __init__(self, stored: list[Event]) -> None:
        self._stored = stored
        self.added: list[Event] = []

    def events(self, *, after: int = 0) -> list[Event]:
        return [*self._stored[after:], *self.added]

    def append(self, kind: Kind, rater_id: str, body: Mapping[str, Any], *, at: float) -> Event:
        event = Event(len(self._stored) + len(self.added) + 1, at, kind, rater_id, json.loads(json.dumps(body, allow_nan=False)))
        self.added.append(event)
        return event

    def put(self, kind: Kind, rater_id: str, body: Mapping[str, Any], *, at: float, seq: int) -> Event:
        event = self.append(kind, rater_id, body, at=at)
        assert event.seq == seq
        return event


def pairwise(**changes: Any) -> dict[str, Any]:
    return {"leaf": "pairwise", "must_watch": False, **changes}


def make_study(
    questions: Sequence[Mapping[str, Any]],
    *,
    subjects: int = 4,
    methods: Sequence[str] = METHODS,
    golds: int = 0,
    frames: int = 1,
    **changes: Any,
) -> Study:
    """A prepared study of made-up items; the first ``golds`` tasks of each question also exist as gold tasks."""
    fields = {"title": "T", "welcome": "W", "subjects": {"dataset": "d", "runs": ["r"]}, "questions": list(questions), **changes}
    file = StudyFile.model_validate(fields)
    tasks: list[StudyTask] = []
    proxies: dict[str, Proxy] = {}
    draft = Study("", file, (), {})
    for spec in file.questions:
        subject = draft.question_of[spec.label].subject
        for number in range(subjects + golds):
            for candidates in sets_of(subject, methods):
                name = f"item{number}"
                gold = gold_of(spec.leaf, candidates) if number >= subjects else ()
                proxy = proxy_of(name, candidates, frames=frames)
                proxies[proxy.name] = proxy
                made = task_id(spec.label, name, candidates)
                told = {"caption": "c", "prompt": f"Prompt {number}", "gold": gold}
                tasks.append(StudyTask(made, spec.label, name, f"source{number // 2}", candidates, proxy.name, **told))
    return Study(study_id(file, tuple(tasks)), file, tuple(tasks), proxies)


def sets_of(subject: str, methods: Sequence[str]) -> list[tuple[str, ...]]:
    if subject == "clip":
        return [()]
    if subject == "one":
        return [(one,) for one in sorted(methods)]
    return list(combinations(sorted(methods), 2)) if subject == "pair" else [tuple(sorted(methods))]


def gold_of(leaf: str, candidates: Sequence[str]) -> tuple[str, ...]:
    return (candidates[0],) if leaf in ("pairwise", "best_of") else ("25",) if leaf == "scene_motion" else ("5",)


def proxy_of(name: str, candidates: Sequence[str], *, frames: int) -> Proxy:
    tiles = [Tile("original", None, 0, 0, 64, 64), Tile("outline", None, 64, 0, 64, 64)]
    tiles += [Tile("candidate", one, 64 * place, 64, 64, 64) for place, one in enumerate(reversed(candidates))]
    return Proxy(content_id("p", name, list(candidates)) * 2 + ".mp4", frames, 25.0, 128, 128, tuple(tiles))


def with_suggestion(study: Study, value: str) -> Study:
    return replace(study, tasks=tuple(replace(task, suggestion=value) for task in study.tasks))


def answer_to(card: Mapping[str, Any], submission_id: str, *, option: int = 0, **changes: Any) -> dict[str, Any]:
    """What the browser sends when every part is answered with option number ``option``."""
    given: dict[str, str] = {}
    for part in card["question"]["form"]["parts"]:
        if part["when"] is None or given.get(part["when"][0]) == part["when"][1]:
            given[part["name"]] = part["options"][option % len(part["options"])]["value"]
            if given[part["name"]] == part["text_with"]:
                given[f"{part['name']}_text"] = "words"
    sent = {"submission_id": submission_id, "lease_id": card["lease_id"], "given": given, "seconds": 4.0}
    return {**sent, "watched_frames": 90, "dropped_frames": 0, "plays": 1.0, "stuttered": False, **changes}


def skip_of(card: Mapping[str, Any], submission_id: str, reason: str = "unclear", text: str = "") -> dict[str, Any]:
    return {"submission_id": submission_id, "lease_id": card["lease_id"], "reason": reason, "text": text}


def given_to(desk: Desk, rater_id: str, *, most: int, option: int = 0) -> list[dict[str, Any]]:
    """A rater answers up to ``most`` tasks one after the other; gives the cards."""
    seen: list[dict[str, Any]] = []
    work = desk.work(rater_id)
    while work["queue"] and len(seen) < most:
        seen.append(work["queue"][0])
        work = desk.answer(rater_id, answer_to(seen[-1], f"{rater_id}-{seen[-1]['lease_id']}", option=option))["work"]
    return seen
