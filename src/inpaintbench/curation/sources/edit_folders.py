"""Clips that a file of prompts asks edits of, from folders as EditBoard, DAVIS and TGVE keep them, and what is wrong there.

    EditBoard   ROOT/bear/00000.jpg, ROOT/bear_mask/00000.png
    DAVIS       ROOT/JPEGImages/480p/bear/00000.jpg, ROOT/Annotations/480p/bear/00000.png
    TGVE        ROOT/DAVIS_480p/480p_videos/bear.mp4, or folders of frames; it has no masks

Nothing is ever written here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.sources.base import PARTS, Footage, Origin, Sidecars, SourceLeaf, quoted_path, unquoted_path
from inpaintbench.curation.sources.edit_prompts import FEWEST_PROMPTS, Asked, read_prompts, wants_mask
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.lazily import lazily
from inpaintbench.ranges import Positive, Whole
from inpaintbench.types import content_id

cv2 = lazily("cv2")

# Folders below the root in which clips are looked for.
DEPTH = 3
_MASK = "_mask"
_FRAMES, _ANNOTATIONS = "JPEGImages", "Annotations"


@dataclass(frozen=True)
class Found:
    """One clip on disk."""

    name: str
    path: Path
    """A folder of frames, or a video."""
    frames: tuple[Path, ...]
    """In numeric order; empty for a video, whose frames are not counted before it is opened."""
    masks: tuple[Path, ...]
    """In numeric order; empty without masks."""


def index(root: Path) -> dict[str, list[Path]]:
    """Every name that a clip can be asked for by (``bear``, ``480p/bear`` ...) -> the folders of frames and videos it may mean.

    Raises:
        InputError: no such folder, or one that cannot be listed.
    """
    if not root.is_dir():
        raise InputError(f"folder of clips {str(root)!r} does not exist or is not a folder")
    paths_of: dict[str, list[Path]] = {}
    for path in _clips(root, DEPTH):
        parts = [*path.relative_to(root).parent.parts, path.stem if path.is_file() else path.name]
        for begin in range(len(parts)):
            paths_of.setdefault("/".join(parts[begin:]), []).append(path)
        if path.is_file():
            paths_of.setdefault(path.relative_to(root).as_posix(), []).append(path)
            if len(parts) > 1:
                paths_of.setdefault(path.name, []).append(path)
    return paths_of


def _clips(folder: Path, depth: int) -> Iterator[Path]:
    try:
        paths = sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name))
    except OSError as error:
        raise InputError(f"folder of clips {str(folder)!r} cannot be listed: {error.strerror}") from error
    for path in paths:
        if path.name.startswith(".") or path.name == _ANNOTATIONS or path.stem.endswith(_MASK):
            continue
        if path.is_dir():
            if video.list_images(path):
                yield path
            if depth:
                yield from _clips(path, depth - 1)
        elif path.suffix.lower() in video.VIDEO_SUFFIXES:
            yield path


def mask_files(path: Path, *, given: Path | None) -> tuple[Path, ...]:
    """The masks of the clip at ``path``: below ``given`` under its name, else where DAVIS or EditBoard have them.

    Raises:
        MediaError: masks without a clear order, or in two places.
    """
    name = path.stem if path.is_file() else path.name
    places = [path.with_name(f"{name}{_MASK}")] if given is None else [given / name, given / f"{name}{_MASK}"]
    if given is None and _FRAMES in path.parts:
        last = len(path.parts) - 1 - path.parts[::-1].index(_FRAMES)
        places.append(Path(*path.parts[:last], _ANNOTATIONS, *path.parts[last + 1 :]))
    masks_in = {place: files for place in places if place.is_dir() and (files := _ordered(place))}
    if len(masks_in) > 1:
        raise MediaError(f"masks lie in {' and in '.join(map(repr, map(str, masks_in)))}: keep one of them")
    return next(iter(masks_in.values()), ())


def _ordered(folder: Path) -> tuple[Path, ...]:
    # YouTube-VOS keeps, and labels, every fifth frame.
    return video.numbered_images(folder, even_steps=True)


def locate(root: Path, names: Sequence[str], *, masks: Path | None) -> tuple[list[Found], list[str]]:
    """The clips ``names``, and one sentence for each that is not there, not clear, or there under another name already.

    Raises:
        InputError: no such folder.
    """
    if masks is not None and not masks.is_dir():
        raise InputError(f"folder of masks {str(masks)!r} does not exist or is not a folder")
    known, clips, faults = index(root), list[Found](), list[str]()
    taken: dict[str, str] = {}
    for name in names:
        # Tables of others name files from the folder above, whose last part is that of the root.
        paths = list(dict.fromkeys(known.get(name) or known.get(name.removeprefix(f"{root.resolve().name}/")) or []))
        if not paths:
            faults.append(f"clip {name!r}: {str(root)!r} has no folder of frames and no video of that name")
            continue
        if len(paths) > 1:
            both = " and ".join(path.relative_to(root).as_posix() for path in paths[:2])
            faults.append(f"clip {name!r} may be {both}: name the folder too")
            continue
        real = os.path.realpath(paths[0])
        if real in taken:
            faults.append(f"clip {name!r} is the same folder as clip {taken[real]!r}: call it by one name")
            continue
        taken[real] = name
        try:
            frames = _ordered(paths[0]) if paths[0].is_dir() else ()
            clips.append(Found(name, paths[0], frames, mask_files(paths[0], given=masks)))
        except MediaError as error:
            faults.append(f"clip {name!r}: {error}")
    return clips, faults


def faults_of(clip: Found, *, objects: Sequence[int | None]) -> list[str]:
    """Faults of the frames and masks of a clip, a sentence each.

    Args:
        clip: where it lies.
        objects: the objects whose masks are needed, None for whatever is not 0; empty where none is.
    """
    subject = f"clip {clip.name!r}"
    try:
        count = len(clip.frames) or len(video.packet_times(clip.path) or ())
        # Where packets do not fit, which is quick, a video is decoded.
        if not clip.frames and (count <= 1 or (objects and count != len(clip.masks))):
            count = video.probe(clip.path).frames
    except (MediaError, OSError):
        count = len(clip.masks)  # what cannot be decoded is refused with its reason later
    if count == 1:
        return [f"{subject} has 1 frame, at least 2 are needed"]
    if not objects:
        return []
    if not clip.masks:
        return [f"{subject} has no masks, which its task needs; put them into {clip.path.stem + _MASK!r} beside it"]
    if count != len(clip.masks):
        return [f"{subject} has {count} frames but {len(clip.masks)} masks"]
    if not video.count_alike(clip.frames, clip.masks):
        return [f"{subject} has frames {first_of(clip.frames)} but masks {first_of(clip.masks)}: give the masks of these frames"]
    try:
        size = video.read_image(clip.frames[0]).shape[:2] if clip.frames else None
        looked = [_look(path, path.stat().st_size, path.stat().st_mtime_ns) for path in clip.masks]
    except (MediaError, OSError) as error:
        return [f"{subject}: a mask cannot be read: {error}"]
    wrong = [size_of_mask for size_of_mask, _ in looked if size_of_mask != (size or looked[0][0])]
    if wrong:
        height, width = size or looked[0][0]
        return [f"{subject} has masks of {wrong[0][1]}x{wrong[0][0]}, its frames are {width}x{height}"]
    counts = np.sum([values for _, values in looked], axis=0)  # pixels of each value over all masks
    faults = []
    for wanted in objects:
        inside = int(counts[1:].sum() if wanted is None else counts[wanted])
        if not inside:
            present = ", ".join(map(str, np.flatnonzero(counts)[:12]))
            lacks = f": its masks have no object {wanted}, they hold {present}"
            faults.append(subject + (" has empty masks" if wanted is None else lacks))
        elif inside == counts.sum():
            faults.append(f"{subject} has full masks, which leave nothing that is to stay")
    return faults


def first_of(paths: Sequence[Path]) -> str:
    """The first two names, for errors about numbers."""
    return ", ".join(path.name for path in paths[:2]) + " ..."


def of_one_size(names: Sequence[str], read: Callable[[Path], npt.NDArray[np.uint8]]) -> Iterator[npt.NDArray[np.uint8]]:
    """The pictures of quoted paths; raises ``Rejected`` for one of another size than the first."""
    size = None
    for name in names:
        picture = read(Path(unquoted_path(name)))
        size = size or picture.shape
        if picture.shape != size:
            size_here, first = (f"{shape[1]}x{shape[0]}" for shape in (picture.shape, size))
            raise Rejected(f"{Path(name).name} is {size_here}, the frames before it are {first}")
        yield picture


def read_mask(path: Path) -> npt.NDArray[np.uint8]:
    """A mask as ``uint8[H, W]``, 0 = no object: numbers of objects by a palette, or grey levels.

    A picture in colours gives its ITU-R 601 grey, as EditBoard reads masks; those of its sample have coloured edges.

    Raises:
        MediaError: no image.
    """
    try:
        values = video.read_index_image(path)
        if not values.min() > 0 or values.min() != values.max():
            return values
    except MediaError:
        values = None
    grey = np.asarray(cv2.cvtColor(video.read_image(path), cv2.COLOR_RGB2GRAY), np.uint8)
    # What is black all over counts as its opacity there; here it is a frame without the object.
    return grey if values is None or not grey.any() else values


# (height, width), and how many pixels have each of 256 values.
Look = tuple[tuple[int, int], tuple[int, ...]]


@lru_cache(maxsize=4096)
def _look(path: Path, size: int, changed: int) -> Look:  # noqa: ARG001 - another file under the same name is looked at again
    values = read_mask(path)
    return (values.shape[0], values.shape[1]), tuple(np.bincount(values.ravel(), minlength=256).tolist())


def order_notes(clips: Sequence[Found]) -> Mapping[str, str]:
    """Clip -> what other programs would make of the names of its frames or masks, where these sort otherwise as text."""
    notes = {}
    for clip in clips:
        for paths in (clip.frames, clip.masks):
            if pair := video.misplaced_as_text(paths):
                notes[clip.name] = (
                    f"frames are taken in numeric order; programs that sort names as text, as EditBoard's does, take "
                    f"{pair[0].name} for {pair[1].name}"
                )
    return notes


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
            states = [[quoted_path(path.name), path.stat().st_size, path.stat().st_mtime_ns] for path in files]
            yield Footage(
                name=clip.name, uri=quoted_path(clip.name), origin=self.name,
                content=content_id(self.version, self.fps, states, *said.state),
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
    named = {name: getattr(asked, name) for name in ("task", "source_prompt", "target_prompt", "object")}
    return named | {name: value for name in ("instruction", "questions") if (value := getattr(asked, name))}


def write_masks(scratch: Path, levels: npt.NDArray[np.uint8], *, fps: float) -> None:
    """``uint8[T, H, W]`` as the part ``OBJECT_MASK`` of what a source obtains into ``scratch``."""
    (scratch / PARTS).mkdir(exist_ok=True)
    video.write_levels(scratch / PARTS / f"{OBJECT_MASK}.mp4", levels, fps=fps)
