"""Clips that a file of prompts asks edits of, from folders as EditBoard, DAVIS and TGVE keep them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.sources.base import PARTS, Footage, Origin, Sidecars, SourceLeaf, quoted_path, unquoted_path
from inpaintbench.curation.sources.edit_folders import Found, faults_of, locate, of_one_size, order_notes, read_mask
from inpaintbench.curation.sources.edit_prompts import FEWEST_PROMPTS, Asked, read_prompts, wants_mask
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.ranges import Positive, Whole
from inpaintbench.types import content_id

# The fact of a source that says what edits are asked of it.
EDITS = "edits"
# The part of a source with its masks, as they are: `uint8[T, H, W]`, 0 = no object.
OBJECT_MASK = "object_mask"
# Tasks whose items carry an object mask. Source: EditBoard, AAAI 2025.
MASK_TASKS = ("SOSA",)
_MOST_TOLD = 20


class EditClips(SourceLeaf):
    """The clips that ``prompts`` names, below ``folder``, with their object masks; ``sources.edit_folders`` has the layouts.

    Args (all constants):
        folder: where clips lie, three folders deep at most: folders of frames (.png, .jpg ...), or videos.
        prompts: table of ``edit_prompts.COLUMNS``: CSV, JSON lines or JSON.
        columns: one of these columns -> what the table calls it, where that is something else.
        masks: folder of folders of masks, by the names of the clips; by default beside the clips.
        mask_tasks: tasks that need an object mask, as edits of one's own tasks do that name an object.
        fps: frames a second of folders of frames.
        fewest_prompts: target prompts, or instructions, that a clip needs in each of its tasks.
        licence, author: of clips that ``sidecars`` say nothing of.

    Raises:
        InputError: a path that cannot be used, or a file that cannot be read.
    """

    name = "edit_clips"
    version = "1"

    def __init__(
        self, *, folder: str, prompts: str, masks: str | None = None, mask_tasks: Sequence[str] = MASK_TASKS,
        fps: Positive = 24.0, fewest_prompts: Whole = FEWEST_PROMPTS, licence: str | None = None, author: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        if not 0 < fps <= 240:
            raise InputError(f"fps is {fps:g}, give frames a second above 0 and at most 240")
        if fewest_prompts < 1:
            raise InputError(f"fewest_prompts is {fewest_prompts}, give 1 or more")
        self.folder, self.prompts = Path(folder), Path(prompts)
        self.masks = None if masks is None else Path(masks)
        self.mask_tasks, self.fps, self.fewest_prompts = tuple(mask_tasks), float(fps), fewest_prompts
        self.columns = dict(columns or {})
        self._sidecars = Sidecars(self.folder, otherwise=Origin(licence, author))
        self._notes: list[tuple[str, str]] = []

    def notes(self) -> list[tuple[str, str]]:
        """Odd points of clips that are used all the same: (name, reason), after ``footage``."""
        return self._notes

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a clip, in the order of the prompts.

        Raises:
            InputError: what is wrong with prompts, frames and masks, all of it.
        """
        asked, clips = self.checked()
        for clip in clips:
            edits = [edit for edit in asked if edit.clip == clip.name]
            masked = any(wants_mask(edit.task, edit.object, self.mask_tasks) for edit in edits)
            payload: dict[str, Any] = {
                "frames": [quoted_path(path.absolute()) for path in clip.frames], "fps": self.fps,
                "masks": [quoted_path(path.absolute()) for path in clip.masks] if masked else [],
            }  # fmt: skip
            if not clip.frames:
                payload["path"] = quoted_path(clip.path.absolute())
            files = [*(clip.frames or (clip.path,)), *(clip.masks if masked else ())]
            said = self._sidecars.of(clip.path)
            yield Footage(
                name=clip.name, uri=quoted_path(clip.name), origin=self.name,
                content=content_id(self.version, self.fps, [_state(path) for path in files], *said.state),
                payload=payload, **said.columns, data={EDITS: [edit_of(edit) for edit in edits]},
            )  # fmt: skip
        self._notes = [(quote(name), note) for name, note in order_notes(clips).items()]

    def checked(self) -> tuple[list[Asked], list[Found]]:
        """The edits and the clips that they are asked of; reads prompts and masks, not the frames.

        Raises:
            InputError: what is wrong with them, all of it.
        """
        asked, faults = read_prompts(self.prompts, fewest=self.fewest_prompts, columns=self.columns)
        clips, missing = locate(self.folder, list(dict.fromkeys(edit.clip for edit in asked)), masks=self.masks)
        faults += missing
        for clip in clips:
            of_clip = [edit for edit in asked if edit.clip == clip.name]
            masked = [edit.object for edit in of_clip if wants_mask(edit.task, edit.object, self.mask_tasks)]
            faults += faults_of(clip, objects=list(dict.fromkeys(masked)))
        if len(faults) > 1:
            more = [f"and {len(faults) - _MOST_TOLD} more"] if len(faults) > _MOST_TOLD else []
            raise InputError(f"{len(faults)} things are wrong: " + "; ".join([*faults[:_MOST_TOLD], *more]))
        if faults:
            raise InputError(faults[0])
        return asked, clips

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """A video where it lies, or the frames as one without loss; the masks as a part, without loss too.

        Raises:
            Rejected: frames or masks that cannot be read, or of several sizes.
        """
        try:
            if payload["masks"]:
                write_masks(Path(scratch), np.stack(list(of_one_size(payload["masks"], read_mask))), fps=payload["fps"])
            if not payload["frames"]:
                return unquoted_path(payload["path"])
            path = Path(scratch) / "clip.mp4"
            video.write_clip(path, of_one_size(payload["frames"], video.read_image), fps=payload["fps"], form="lossless")
        except MediaError as error:
            raise Rejected(str(error)) from error
        return str(path)


def edit_of(asked: Asked) -> dict[str, Any]:
    """An edit as plain data, as the fact ``EDITS`` holds it."""
    names = ("task", "source_prompt", "target_prompt", "object", *(["instruction"] if asked.instruction else []))
    return {name: getattr(asked, name) for name in names}


def write_masks(scratch: Path, levels: npt.NDArray[np.uint8], *, fps: float) -> None:
    """``uint8[T, H, W]`` as the part ``OBJECT_MASK`` of what a source obtains into ``scratch``."""
    (scratch / PARTS).mkdir(exist_ok=True)
    video.write_levels(scratch / PARTS / f"{OBJECT_MASK}.mp4", levels, fps=fps)


def _state(path: Path) -> list[Any]:
    status = path.stat()
    return [quoted_path(path.name), status.st_size, status.st_mtime_ns]
