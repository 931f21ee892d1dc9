"""Clips that a file of prompts asks edits of, from folders as EditBoard, DAVIS and TGVE keep them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.editing.folders import Found, faults_of, locate, order_notes, read_mask
from inpaintbench.curation.editing.prompts import FEWEST_PROMPTS, Asked, read_prompts
from inpaintbench.curation.sources.base import PARTS, Footage, SourceLeaf
from inpaintbench.curation.sources.folder import unquote_bytes
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.types import content_id

# The fact of a source that says what edits are asked of it.
EDITS = "edits"
# The part of a source with its masks, as they are: `uint8[T, H, W]`, 0 = no object.
OBJECT_MASK = "object_mask"
# Tasks whose items carry an object mask. Source: EditBoard, AAAI 2025.
MASK_TASKS = ("SOSA",)
_MOST_TOLD = 20


class EditClips(SourceLeaf):
    """The clips that ``prompts`` names, below ``folder``, with their object masks; ``curation.editing.folders`` has the layouts.

    Args (all constants):
        folder: where clips lie, three folders deep at most: folders of frames (.png, .jpg ...), or videos.
        prompts: CSV or JSON lines with ``clip``, ``task``, ``target_prompt``, perhaps ``source_prompt`` and ``object``.
        masks: folder of folders of masks, by the names of the clips; by default beside the clips.
        mask_tasks: tasks that need an object mask.
        fps: frames a second of folders of frames.
        fewest_prompts: target prompts that a clip needs in each of its tasks.
        licence: of all clips.

    Raises:
        InputError: a path that cannot be used, or a file that cannot be read.
    """

    name = "edit_clips"
    version = "1"

    def __init__(
        self,
        *,
        folder: str,
        prompts: str,
        masks: str | None = None,
        mask_tasks: Sequence[str] = MASK_TASKS,
        fps: float = 24.0,
        fewest_prompts: int = FEWEST_PROMPTS,
        licence: str | None = None,
    ) -> None:
        if not 0 < fps <= 240:
            raise InputError(f"fps is {fps:g}, give frames a second above 0 and at most 240")
        if fewest_prompts < 1:
            raise InputError(f"fewest_prompts is {fewest_prompts}, give 1 or more")
        self.folder, self.prompts = Path(folder), Path(prompts)
        self.masks = None if masks is None else Path(masks)
        self.mask_tasks, self.fps, self.licence, self.fewest_prompts = tuple(mask_tasks), float(fps), licence, fewest_prompts
        self._notes: list[tuple[str, str]] = []

    def notes(self) -> list[tuple[str, str]]:
        """What is odd of clips that are used all the same: (name, reason), after ``footage``."""
        return self._notes

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a clip, in the order of the prompts.

        Raises:
            InputError: what is wrong with prompts, frames and masks, all of it.
        """
        asked, clips = self.checked()
        for clip in clips:
            edits = [one for one in asked if one.clip == clip.name]
            yield self._footage(clip, edits)
        self._notes = [(quote(name), note) for name, note in order_notes(clips).items()]

    def checked(self) -> tuple[list[Asked], list[Found]]:
        """The edits and the clips that they are asked of; reads prompts and masks, not the frames.

        Raises:
            InputError: what is wrong with them, all of it.
        """
        asked, faults = read_prompts(self.prompts, fewest=self.fewest_prompts)
        clips, missing = locate(self.folder, list(dict.fromkeys(one.clip for one in asked)), masks=self.masks)
        faults += missing
        for clip in clips:
            faults += faults_of(clip, objects=self._objects(clip.name, asked))
        if faults:
            raise InputError(_in_words(faults))
        return asked, clips

    def _objects(self, clip: str, asked: Sequence[Asked]) -> list[int | None]:
        return list(dict.fromkeys(one.object for one in asked if one.clip == clip and one.task in self.mask_tasks))

    def _footage(self, clip: Found, edits: Sequence[Asked]) -> Footage:
        payload: dict[str, Any] = {"frames": [_quoted(path) for path in clip.frames], "fps": self.fps, "masks": []}
        if not clip.frames:
            payload["path"] = _quoted(clip.path)
        files = list(clip.frames or (clip.path,))
        if any(one.task in self.mask_tasks for one in edits):
            payload["masks"] = [_quoted(path) for path in clip.masks]
            files += clip.masks
        return Footage(
            name=clip.name,
            uri=quote(os.fsencode(clip.name)),
            origin=self.name,
            content=content_id(self.version, self.fps, [_state(path) for path in files]),
            payload=payload,
            licence=self.licence,
            data={EDITS: [edit_of(one) for one in edits]},
        )

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """A video where it lies, or the frames as one without loss; the masks as a part, without loss too.

        Raises:
            Rejected: frames or masks that cannot be read, or of several sizes.
        """
        try:
            if payload["masks"]:
                write_masks(Path(scratch), np.stack(list(_alike(payload["masks"], read_mask))), fps=payload["fps"])
            if not payload["frames"]:
                return os.fsdecode(unquote_bytes(payload["path"]))
            path = Path(scratch) / "clip.mp4"
            video.write_clip(path, _alike(payload["frames"], video.read_image), fps=payload["fps"], form="lossless")
        except MediaError as error:
            raise Rejected(str(error)) from error
        return str(path)


def edit_of(asked: Asked) -> dict[str, Any]:
    """An edit as plain data, as the fact ``EDITS`` holds it."""
    return {
        "task": asked.task, "source_prompt": asked.source_prompt, "target_prompt": asked.target_prompt, "object": asked.object,
    }  # fmt: skip


def write_masks(scratch: Path, levels: npt.NDArray[np.uint8], *, fps: float) -> None:
    """``uint8[T, H, W]`` as the part ``OBJECT_MASK`` of what a source obtains into ``scratch``."""
    (scratch / PARTS).mkdir(exist_ok=True)
    video.write_levels(scratch / PARTS / f"{OBJECT_MASK}.mp4", levels, fps=fps)


def _alike(names: Sequence[str], read: Any) -> Iterator[npt.NDArray[np.uint8]]:
    size = None
    for name in names:
        picture: npt.NDArray[np.uint8] = read(Path(os.fsdecode(unquote_bytes(name))))
        size = size or picture.shape
        if picture.shape != size:
            found, first = (f"{shape[1]}x{shape[0]}" for shape in (picture.shape, size))
            raise Rejected(f"{Path(name).name} is {found}, the frames before it are {first}")
        yield picture


def _quoted(path: Path) -> str:
    return quote(os.fsencode(path.absolute()))


def _state(path: Path) -> list[Any]:
    status = path.stat()
    return [quote(os.fsencode(path.name)), status.st_size, status.st_mtime_ns]


def _in_words(faults: Sequence[str]) -> str:
    if len(faults) == 1:
        return faults[0]
    told = [*faults[:_MOST_TOLD], *([f"and {len(faults) - _MOST_TOLD} more"] if len(faults) > _MOST_TOLD else [])]
    return f"{len(faults)} things are wrong: " + "; ".join(told)
