"""The list of edited videos that are to be scored, one line for each, and their videos, read where they lie.

Videos are folders of frames, video files and GIFs. Nothing is ever written there. Workers look at every video of a list once:
how many frames it has, of what size, and what identifies them.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.sources.edit_prompts import task_fault
from inpaintbench.errors import InputError, MediaError, Rejected, reason_of
from inpaintbench.executors.base import Executor, Step, Task
from inpaintbench.files import read_text
from inpaintbench.lazily import lazily
from inpaintbench.table_files import Row, read_rows
from inpaintbench.types import Attribute, Frames, Hole, Plain, content_id
from inpaintbench.workspace import Blobs

cv2 = lazily("cv2")

PATHS = ("original_video_path", "edited_video_path", "semantic_mask_path")
PROMPTS = ("source_prompt", "target_prompt")
OWN = ("task", "model", "id")
# EditBoard's five, and three of which each may be left out.
COLUMNS = (*PATHS, *PROMPTS, *OWN)
# EditBoard's own lists lie at most two folders below the one that their paths start from.
_FOLDERS_ABOVE = 2
# Name of the model where the list has none.
MODEL = "edits"


@dataclass(frozen=True)
class Edit:
    """One line: an edited video, and what there is to compare it with. What the line leaves empty is None."""

    where: str
    """``items.csv line 4``."""
    item_id: str
    """Unique among the edits of one model; the same words may stand for the same edit by several models."""
    model: str
    task: str | None
    """One of ``EDIT_TASKS``, or a word of one's own."""
    edited: Path
    original: Path | None
    mask: Path | None
    source_prompt: str | None
    target_prompt: str | None

    @property
    def name(self) -> str:
        """Name for people: ``model/item``."""
        return f"{self.model}/{self.item_id}"


class Listed(NamedTuple):
    """Edits of a list and its faults."""

    edits: list[Edit]
    """Edits in the order of the list, ids filled in."""
    faults: list[str]
    """Faults, a sentence each."""
    folder: Path
    """Folder that relative paths start from."""


def read_manifest(path: Path) -> Listed:
    """The edits of a list. Looks at no video.

    Args:
        path: ``.csv`` (commas, semicolons or tabs), ``.jsonl`` or ``.parquet`` with some of ``COLUMNS``, or ``.json``: one list
            of objects, as EditBoard writes its items. Paths are taken from the folder of the file; where nothing is there, from
            the next folders above, because those of EditBoard's own lists begin where its program is run.

    Raises:
        InputError: not readable, or without an edit.
    """
    rows = _rows(path)
    if not rows:
        raise InputError(f"{str(path)!r} lists no edit; give a line for each, with {', '.join(COLUMNS)}")
    found = list(dict.fromkeys(name for row in rows for name in row.fields))
    faults = [f"{path.name}: {unknown_name('column', name, list(COLUMNS))}" for name in found if name not in COLUMNS]
    if "edited_video_path" not in found:
        faults.append(f"{path.name} has no column 'edited_video_path'; needed is what is to be scored")
    if any("edited_video_path" in row.fields for row in rows):
        faults += [fault for row in rows for fault in _faults(row)]
    edited = [str(row.first("edited_video_path")) for row in rows]
    folders = [path.parent, *path.absolute().parents[1 : 1 + _FOLDERS_ABOVE]]
    folder = next((folder for folder in folders if any((folder / name).exists() for name in edited)), path.parent)
    # Edits without an id get one that does not depend on the order of the list: their path, with their prompt where needed.
    edits = [_edit(row, folder) for row in rows if row.first("edited_video_path")]
    own = [edit.item_id or relative(edit.edited, folder) for edit in edits]
    uses = Counter((edit.model, name) for edit, name in zip(edits, own, strict=True))
    named = []
    for edit, name in zip(edits, own, strict=True):
        unique = edit.item_id or uses[edit.model, name] == 1
        words = (name,) if unique else (name, edit.target_prompt, edit.task)
        named.append(replace(edit, item_id=" | ".join(filter(None, words))))
    return Listed(named, [*faults, *_repetitions(named)], folder)


def _rows(path: Path) -> list[Row]:
    if path.suffix.lower() == ".xlsx":
        raise InputError(f"{str(path)!r} is a spreadsheet; save it as CSV")
    if path.suffix.lower() != ".json":
        return read_rows(path)
    try:
        found: Any = json.loads(read_text(path))
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read: {reason_of(error)}") from error
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise InputError(f"{str(path)!r} is not a list of objects with {', '.join(COLUMNS)}")
    return [
        Row(f"{path.name} entry {number}", {name: value for name, value in one.items() if value not in (None, "")})
        for number, one in enumerate(found, start=1)
    ]


def _faults(row: Row) -> list[str]:
    faults = [] if row.first("edited_video_path") else [f"{row.where}: there is no edited_video_path"]
    task = row.first("task")
    if task and (fault := task_fault(task)):
        faults.append(f"{row.where}: {fault}")
    return faults


def _edit(row: Row, folder: Path) -> Edit:
    original, edited, mask = (row.first(name) or None for name in PATHS)
    source, target = (row.first(name) or None for name in PROMPTS)
    return Edit(
        row.where, row.first("id") or "", row.first("model") or MODEL, row.first("task") or None, folder / str(edited),
        original and folder / original, mask and folder / mask, source, target,
    )  # fmt: skip


def relative(path: Path, folder: Path) -> str:
    """The path from ``folder`` where it lies there, else as it is."""
    return (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()


def _repetitions(edits: Sequence[Edit]) -> list[str]:
    first: dict[str, str] = {}
    faults = []
    for edit in edits:
        if edit.name in first:
            same = f"id {edit.item_id!r} of model {edit.model!r} is that of {first[edit.name]} too"
            faults.append(f"{edit.where}: {same}; give each its own id")
        first.setdefault(edit.name, edit.where)
    return faults


def plain(edit: Edit, folder: Path) -> dict[str, str | None]:
    """An edit in the columns of a list in ``folder``, from which its paths are told."""
    paths = [None if path is None else relative(path, folder) for path in (edit.original, edit.edited, edit.mask)]
    return {
        "id": edit.item_id, "model": edit.model, "task": edit.task, **dict(zip(PATHS, paths, strict=True)),
        "source_prompt": edit.source_prompt, "target_prompt": edit.target_prompt,
    }  # fmt: skip


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
