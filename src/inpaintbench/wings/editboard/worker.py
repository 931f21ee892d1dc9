"""Score edits of one original in a worker: videos are read where they lie, and every metric sees all edits at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import MediaError
from inpaintbench.eval.scoring import score_item
from inpaintbench.types import Frames, Plain, Prompts, Score
from inpaintbench.view import ItemView
from inpaintbench.wings.editboard import media
from inpaintbench.workspace import Blobs

# Of decoded videos at once; where more edits do not fit, they are measured in several goes.
_HELD_BYTES = 1 << 30
# No metric of edits asks for it.
_FPS = 24.0

Job = tuple[Plain, Plain]


def score_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Score]:
    """All metrics of one edit."""
    return score_together([(payload, parameters)], blobs=blobs)[0]


def score_together(jobs: Sequence[Job], *, blobs: Blobs) -> list[list[Score]]:
    """All metrics of several edits of one original: the rows of each job."""
    size = 4 * max(payload["row"]["frames"] * _area(payload, parameters) for payload, parameters in jobs)  # colours and mask
    at_once = max(1, _HELD_BYTES // size - 1)
    goes = [jobs[begin : begin + at_once] for begin in range(0, len(jobs), at_once)]
    return [rows for some in goes for rows in _scored(some, blobs)]


def _area(payload: Plain, parameters: Plain) -> int:
    side = parameters["side_pixels"]
    area: int = side**2 if side else payload["row"]["height"] * payload["row"]["width"]
    return area


def _scored(jobs: Sequence[Job], blobs: Blobs) -> list[list[Score]]:
    shared = Shared(compute=Compute(**jobs[0][0]["compute"]))
    side = jobs[0][1]["side_pixels"]
    read = lru_cache(maxsize=1)(lambda path: media.read(_original(jobs, path), side_pixels=side))
    views = [_view(payload, side, shared, read) for payload, _ in jobs]
    told = [(payload, {**parameters, "method": payload["method"]}) for payload, parameters in jobs]
    return score_item.score_together(told, blobs=blobs, ahead=views)


def _original(jobs: Sequence[Job], path: str) -> Plain:
    found: Plain = next(payload["original"] for payload, _ in jobs if payload["original"]["path"] == path)
    return found


def _view(payload: Plain, side: int | None, shared: Shared, read: Callable[[str], Frames]) -> ItemView:
    """The parts of an edit.

    Raises:
        RuntimeError: they could be read when they were looked at, and cannot now; the next run tries again.
    """
    try:
        edited = media.read(payload["edited"], side_pixels=side)
        parts: dict[str, Callable[[], Any]] = {"prediction": lambda: edited}
        if payload["original"]:
            parts["truth"] = partial(lambda frames: frames, read(payload["original"]["path"]))
        if payload["mask"]:
            parts["object_mask"] = partial(lambda mask: mask, media.read_mask(payload["mask"], side_pixels=side))
    except (MediaError, OSError) as error:
        raise RuntimeError(f"it changed after it was looked at: {error}") from error
    source, target = payload["prompts"]
    if source or target:
        parts["prompts"] = lambda: Prompts(source, target or "")
    frames, height, width = edited.shape[:3]
    return ItemView(
        item_id=payload["row"]["item_id"], frames=frames, height=height, width=width, fps=_FPS, parts=parts, shared=shared
    )
