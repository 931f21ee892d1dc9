"""Look at every video of a list once: how many frames it has, of what size, and what identifies them. In workers, remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from inpaintbench import video
from inpaintbench.errors import MediaError, Rejected
from inpaintbench.eval.editboard import media
from inpaintbench.eval.editboard.manifest import relative
from inpaintbench.eval.editboard.media import Kind
from inpaintbench.executors.base import Executor, Step, Task
from inpaintbench.types import Attribute, Plain, content_id
from inpaintbench.workspace import Blobs

VERSION = "1"
_NAME = "editboard.looking"
Asked = tuple[Path, Kind]


@dataclass(frozen=True)
class Looked:
    """What is known of one video, or why it cannot be read."""

    found: Plain
    """From ``media.located``; empty where there is nothing."""
    frames: int = 0
    height: int = 0
    width: int = 0
    digest: str = ""
    """Of the decoded pixels, of masks after they are black and white."""
    inside_share: float | None = None
    """Of the object in a mask, over all frames."""
    fault: str | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Frames, height, width."""
        return self.frames, self.height, self.width


def look(executor: Executor, asked: Iterable[Asked], *, folder: Path) -> dict[Asked, Looked]:
    """What there is under each path; a video that has not changed since is not read again.

    Args:
        executor: who does the work.
        asked: paths, and what they are to hold.
        folder: people call a video by its path from here.
    """
    known: dict[Asked, Looked] = {}
    tasks: dict[Asked, Task] = {}
    for path, kind in dict.fromkeys(asked):
        try:
            found = media.located(path, name=relative(path, folder))
            content = content_id(kind, media.state(found))
        except (MediaError, OSError) as error:
            known[path, kind] = Looked(
                {}, fault=str(error) if isinstance(error, MediaError) else f"{relative(path, folder)!r}: {error.strerror}"
            )
            continue
        subject = content_id(kind, str(path.absolute()))
        tasks[path, kind] = Task(subject, content, {"found": found, "kind": kind}, str(path))
    step = Step(_NAME, VERSION, "attributes", Attribute, "inpaintbench.eval.editboard.looking:look_at")
    outcome = executor.run(step, list({task.subject_id: task for task in tasks.values()}.values()))
    facts: dict[str, dict[str, float | str | None]] = {}
    for row in outcome.records:
        facts.setdefault(row.subject_id, {})[row.name] = row.value
    refused = {row.subject_id: row.reason for row in outcome.rejected}
    for key, task in tasks.items():
        known[key] = _looked(task, facts.get(task.subject_id), refused.get(task.subject_id))
    return known


def _looked(task: Task, facts: Mapping[str, float | str | None] | None, refusal: str | None) -> Looked:
    found = task.payload["found"]
    if facts is None:
        return Looked(found, fault=f"{found['name']!r} cannot be read: {refusal}")
    share = facts.get("inside_share")
    frames, height, width = (int(facts[name] or 0) for name in ("frames", "height", "width"))
    return Looked(found, frames, height, width, str(facts["digest"]), None if share is None else float(share))


def look_at(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:  # noqa: ARG001 - signature of steps
    """Facts of one video.

    Raises:
        Rejected: it is damaged, or its frames have several sizes.
    """
    found, is_mask = payload["found"], payload["kind"] == "mask"
    try:
        if not found["files"]:
            _check_whole(Path(found["path"]))
        pixels = media.read_mask(found, side_pixels=None) if is_mask else media.read(found, side_pixels=None)
    except MediaError as error:
        raise Rejected(str(error)) from error
    frames, height, width = pixels.shape[:3]
    values: dict[str, float | str] = {
        "frames": float(frames), "height": float(height), "width": float(width), "digest": media.digest(pixels),
    }  # fmt: skip
    if is_mask:
        values["inside_share"] = float(pixels.mean())
    subject = content_id(payload["kind"], str(Path(found["path"]).absolute()))
    return [Attribute(subject, name, value, None, _NAME, VERSION) for name, value in values.items()]


def _check_whole(path: Path) -> None:
    facts = video.probe(path)
    if facts.damaged_packets or facts.truncated:
        raise MediaError(f"damaged after {facts.frames} frames")
