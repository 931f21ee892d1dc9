"""The videos of an edit: folders of frames, video files and GIFs, read where they lie. Nothing is ever written there.

Workers look at every video of a list once: how many frames it has, of what size, and what identifies them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.errors import MediaError, Rejected
from inpaintbench.executors.base import Executor, Step, Task
from inpaintbench.types import Attribute, Frames, Hole, Plain, content_id
from inpaintbench.wings.editboard.manifest import relative
from inpaintbench.workspace import Blobs

# Both stand in the keys of the ledger, so they stay as long as equal files give equal facts.
VERSION = "1"
_NAME = "editboard.looking"
Kind = Literal["frames", "mask"]
# A path and what it is to hold.
Wanted = tuple[Path, Kind]
# Grey level from which a pixel of a mask belongs to the object where the mask is a video, whose compression blurs the 0 around
# it. In images every level but 0 does, as in EditBoard's released code.
_HALF = 128


def located(path: Path, *, name: str) -> Plain:
    """Place of a video: ``path``, and the ``files`` of a folder of frames in numeric order; plain data, for a worker.

    Args:
        path: a folder of frames, or a video.
        name: what people call it.

    Raises:
        MediaError: there is nothing, nothing that could be a video, or frames without a clear order.
    """
    if path.is_dir():
        # EditBoard's released code takes whatever names there are, so that every second or fifth frame is a video, too.
        files = video.numbered_images(path, name=repr(name), even_steps=True)
        if not files:
            raise MediaError(f"folder {name!r} has no images ({', '.join(video.IMAGE_SUFFIXES)})")
        return {"path": str(path), "name": name, "files": [str(file) for file in files]}
    if not path.is_file():
        raise MediaError(f"{name!r} does not exist")
    if path.suffix.lower() not in video.VIDEO_SUFFIXES:
        raise MediaError(f"{name!r} is neither a folder of frames nor a video ({', '.join(video.VIDEO_SUFFIXES)})")
    return {"path": str(path), "name": name, "files": []}


def order_note(found: Plain) -> str | None:
    """Note on frames whose names, sorted as text as in EditBoard's released code, have another order; None without such."""
    pair = video.misplaced_as_text([Path(name) for name in found["files"]])
    if pair is None:
        return None
    return (
        f"frames of {found['name']!r} are taken in numeric order; sorted as text, as in EditBoard's released code, "
        f"{pair[0].name} would stand in the place of {pair[1].name}"
    )


def step(found: Plain) -> int | None:
    """Step between the numbers of frames in a folder; None for a video."""
    return video.step_of(_files(found))


def count_alike(first: Plain, second: Plain) -> bool:
    """Whether frames of two folders belong together by their numbers, see ``video.count_alike``; videos always do."""
    return video.count_alike(_files(first), _files(second))


def begin(found: Plain) -> str:
    """Names of the first frames in a folder."""
    return ", ".join(path.name for path in _files(found)[:2]) + " ..."


def _files(found: Plain) -> list[Path]:
    return [Path(name) for name in found.get("files", ())]


def state(found: Plain) -> list[list[Any]]:
    """Name, size and time of change of every file: equal as long as nobody touched them."""
    files = [Path(name) for name in found["files"] or [found["path"]]]
    return [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in files]


def read(found: Plain, *, side_pixels: int | None) -> Frames:
    """All frames, ``uint8[T, H, W, 3]`` RGB, turned as players turn them.

    Args:
        found: from ``located``.
        side_pixels: squash every frame to a square of this side, bilinear, as EditBoard's script does; None = as they are.

    Raises:
        MediaError: damaged, or of several sizes.
    """
    pictures = (_squashed(picture, side_pixels, cv2.INTER_LINEAR) for picture in _pictures(found))
    return np.stack(list(pictures))


def read_mask(found: Plain, *, side_pixels: int | None) -> Hole:
    """Masks, ``bool[T, H, W]``, True = object; squashed by the nearest pixel. Otherwise as ``read``."""
    least = 1 if found["files"] else _HALF
    greys = (np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), np.uint8) for picture in _pictures(found))
    return np.stack([_squashed(grey, side_pixels, cv2.INTER_NEAREST) >= least for grey in greys])


def _pictures(found: Plain) -> Iterator[npt.NDArray[np.uint8]]:
    files: Sequence[str] = found["files"]
    pictures = map(video.read_image, files) if files else (picture for picture, _ in video.upright_frames(Path(found["path"])))
    first = None
    for place, picture in enumerate(pictures):
        first = first or picture.shape
        if picture.shape != first:
            name = Path(files[place]).name if files else f"frame {place}"
            raise MediaError(
                f"{name} of {found['name']!r} is {picture.shape[1]}x{picture.shape[0]}, those before it are {first[1]}x{first[0]}"
            )
        yield picture
    if first is None:
        raise MediaError(f"{found['name']!r}: not one frame decodes")


def _squashed(picture: npt.NDArray[np.uint8], side: int | None, how: int) -> npt.NDArray[np.uint8]:
    if side is None or picture.shape[:2] == (side, side):
        return picture
    return np.asarray(cv2.resize(picture, (side, side), interpolation=how), np.uint8)


def digest(frames: npt.NDArray[Any]) -> str:
    """SHA-256, hexadecimal, of an array with its shape and type."""
    told = hashlib.sha256(f"{frames.dtype} {frames.shape}".encode())
    told.update(np.ascontiguousarray(frames).data)
    return told.hexdigest()


@dataclass(frozen=True)
class Looked:
    """Facts of one video, or why it cannot be read."""

    found: Plain
    """From ``located``; empty where there is nothing."""
    frames: int = 0
    height: int = 0
    width: int = 0
    digest: str = ""
    """SHA-256 of the decoded pixels, of masks after they are black and white."""
    inside_share: float | None = None
    """Share of the object in a mask, over all frames."""
    fault: str | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Frames, height, width."""
        return self.frames, self.height, self.width


def look(executor: Executor, wanted: Iterable[Wanted], *, folder: Path) -> dict[Wanted, Looked]:
    """Facts of the video under each path; a video that has not changed since is not read again.

    Args:
        executor: who does the work.
        wanted: paths, and what they are to hold.
        folder: people call a video by its path from here.
    """
    known: dict[Wanted, Looked] = {}
    tasks: dict[Wanted, Task] = {}
    for path, kind in dict.fromkeys(wanted):
        try:
            found = located(path, name=relative(path, folder))
            content = content_id(kind, state(found))
        except (MediaError, OSError) as error:
            fault = str(error) if isinstance(error, MediaError) else f"{relative(path, folder)!r}: {error.strerror}"
            known[path, kind] = Looked({}, fault=fault)
            continue
        subject = content_id(kind, str(path.absolute()))
        tasks[path, kind] = Task(subject, content, {"found": found, "kind": kind}, str(path))
    step = Step(_NAME, VERSION, "attributes", Attribute, f"{__name__}:look_at")
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
            facts = video.probe(Path(found["path"]))
            if facts.damaged_packets or facts.truncated:
                raise MediaError(f"damaged after {facts.frames} frames")
        pixels = read_mask(found, side_pixels=None) if is_mask else read(found, side_pixels=None)
    except MediaError as error:
        raise Rejected(str(error)) from error
    frames, height, width = pixels.shape[:3]
    values: dict[str, float | str] = {
        "frames": float(frames), "height": float(height), "width": float(width), "digest": digest(pixels),
    }  # fmt: skip
    if is_mask:
        values["inside_share"] = float(pixels.mean())
    subject = content_id(payload["kind"], str(Path(found["path"]).absolute()))
    return [Attribute(subject, name, value, None, _NAME, VERSION) for name, value in values.items()]
