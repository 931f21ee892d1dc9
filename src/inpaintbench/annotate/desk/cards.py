"""Replies to browsers, as JSON: candidates are letters by place, and no name of a method is among it."""

from __future__ import annotations

from typing import Any, Literal

from inpaintbench.annotate.desk.records import Lease, Vote
from inpaintbench.annotate.events import SuggestionShown
from inpaintbench.annotate.study import Proxy, Study, StudyTask, Tile
from inpaintbench.types import content_id

Status = Literal["working", "done", "paused", "waiting"]
# The reason of a skip that asks for a few words.
OTHER = "other"
SKIP_REASONS = (
    {"value": "broken", "label": "Does not play", "key": "1"},
    {"value": "unclear", "label": "I cannot tell", "key": "2"},
    {"value": "uncomfortable", "label": "I would rather not see this", "key": "3"},
    {"value": OTHER, "label": "Something else", "key": "4"},
)
_LABELS = {"original": "Original", "input": "Masked input", "clip": "Clip"}


def card(study: Study, lease: Lease) -> dict[str, Any]:
    """One task, ready to be shown."""
    task = study.task_of[lease.task_id]
    spec, proxy = study.spec_of[task.question], study.proxies[task.proxy]
    outlines = [_box(tile) for tile in proxy.tiles if tile.role == "outline"]
    return {
        "lease_id": lease.lease_id,
        "task": content_id("card", lease.lease_id),  # of the lease: a silent repeat must not be known by its id
        "question": {"name": task.question, "leaf": spec.leaf, "form": study.form(task).json()},
        "prompt": task.prompt,
        "media": _media(proxy),
        "players": _players(proxy, lease.shown),
        "outline": outlines[0] if outlines else None,
        "must_watch": spec.must_watch,
        "suggestion": suggestion(study, task, mode="prefill"),
        "previous": dict(lease.previous) if lease.previous is not None else None,
        "skip_reasons": [dict(reason) for reason in SKIP_REASONS],
    }


def suggestion(study: Study, task: StudyTask, *, mode: Literal["after", "prefill"]) -> dict[str, str] | None:
    """The machine's answer where the study shows it in this ``mode``."""
    if suggestion_shown(study, task) != mode or task.suggestion is None:
        return None
    return {"part": study.form(task).parts[0].name, "value": task.suggestion, "mode": mode}


def suggestion_shown(study: Study, task: StudyTask, *, told: bool = False) -> SuggestionShown:
    """How the suggestion is shown: ``hidden`` too where there is nothing to show. ``told``: they saw it before."""
    mode = study.spec_of[task.question].suggestion if task.suggestion is not None else "hidden"
    return "seen" if told and mode == "after" else mode


def stored(study: Study, vote: Vote | None, work: dict[str, Any], *, duplicate: bool) -> dict[str, Any]:
    """The reply to an answer, a skip or an undo (``vote`` None)."""
    after = suggestion(study, study.task_of[vote.task_id], mode="after") if vote is not None else None
    shown = {"part": after["part"], "value": after["value"]} if after else None
    return {"stored": True, "duplicate": duplicate, "suggestion": shown, "work": work}


def progress(answered: int, to_come: int, pace: float | None, undoable: str | None) -> dict[str, Any]:
    """How far a rater is. ``pace`` in seconds a task."""
    return {
        "answered": answered,
        "total": answered + to_come,
        "seconds_per_task": None if pace is None else round(pace, 2),
        "seconds_left": None if pace is None else round(pace * to_come),
        "undoable": undoable,
    }


def letter(place: int) -> str:
    """A, B ... Z, AA ..."""
    name = ""
    number = place + 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _media(proxy: Proxy) -> dict[str, Any]:
    return {
        "url": f"/media/{proxy.name}",
        "kind": "video" if proxy.name.endswith(".mp4") else "image",
        "fps": proxy.fps,
        "frames": proxy.frames,
        "width": proxy.width,
        "height": proxy.height,
    }


def _players(proxy: Proxy, shown: tuple[str, ...]) -> list[dict[str, Any]]:
    """Candidates by place first: the order of tiles in the proxy is nobody's business."""
    placed = {shown.index(tile.candidate): tile for tile in proxy.tiles if tile.candidate in shown}
    players = [
        {"role": "candidate", "place": place, "label": letter(place), **_box(tile)} for place, tile in sorted(placed.items())
    ]
    for role, label in _LABELS.items():
        players += [{"role": role, "place": None, "label": label, **_box(tile)} for tile in proxy.tiles if tile.role == role]
    return players


def _box(tile: Tile) -> dict[str, int]:
    return {"x": tile.x, "y": tile.y, "width": tile.width, "height": tile.height}
