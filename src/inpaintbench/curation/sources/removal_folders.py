"""Clips with an object, its masks and, where somebody filmed the place without it, the truth: from folders of data sets.

Films, folders of numbered pictures and single pictures of one name belong together. Nothing is ever written there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import known_name
from inpaintbench.curation.sources.base import PARTS, Footage, SourceLeaf, quoted_path, unquoted_path
from inpaintbench.curation.sources.edit_clips import _alike, _state, write_masks
from inpaintbench.curation.sources.edit_folders import read_mask
from inpaintbench.curation.sources.sidecars import Origin, Sidecars
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.types import content_id
from inpaintbench.video.decoding import packet_times

# Coded masks: white and black are no longer whole.
_WHITE = 127
_MOST_NAMED = 8
# Words in the names of folders that say which side effect an object has.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "shadow": ("shadow",), "reflection": ("reflection", "reflecting"), "mirror": ("mirror",),
    "translucency": ("translucent", "translucency"), "light": ("light", "light_source"), "common": ("common",),
}  # fmt: skip


class Layout(NamedTuple):
    """Where a data set has its films: folders below its root, any of those named; "" = the root itself."""

    inputs: tuple[str, ...]
    masks: tuple[str, ...]
    truths: tuple[str, ...] = ()
    """Empty where nobody has the truth."""


# ROSE has a folder a scene; the others have one for each kind of film. What their cards do not say is told in the docs.
LAYOUTS: Mapping[str, Layout] = {
    "beyondmasks": Layout(("objects_added",), ("masks",), ("object_not_present",)),
    "vor": Layout(("fg_bg", "FG_BG"), ("mask", "masks"), ("bg", "background")),
    "prove": Layout(("inputs",), ("masks",), ("gt", "gts", "truth", "background")),
    "davis": Layout(("JPEGImages/480p", "JPEGImages"), ("Annotations/480p", "Annotations")),
    "propainter": Layout(("JPEGImages_432_240",), ("test_masks",)),
}
ROSE, GENERIC = "rose", "generic"
NAMES = (GENERIC, *LAYOUTS, ROSE)


@dataclass(frozen=True)
class Film:
    """Frames on disk: numbered pictures in their order, or one video."""

    files: tuple[Path, ...]

    @property
    def is_video(self) -> bool:
        """Whether it is one file that holds all frames."""
        return self.files[0].suffix.lower() in video.VIDEO_SUFFIXES

    def count(self) -> int:
        """Frames that it shows."""
        if not self.is_video:
            return len(self.files)
        packets = packet_times(self.files[0])
        return len(packets) if packets else video.probe(self.files[0]).frames


@dataclass(frozen=True)
class Found:
    """One clip."""

    name: str
    input: Film
    mask: Film
    truth: Film | None

    @property
    def kind(self) -> str | None:
        """Side effect that a folder is named after; None where none is."""
        words = {part.lower() for part in Path(self.name).parts}
        return next((kind for kind, names in _KINDS.items() if words & set(names)), None)


class RemovalFolders(SourceLeaf):
    """Clips, masks and truths of one name.

    Args (all constants):
        folder: root of a data set in one of the layouts, or of the clips where the layout is ``generic``.
        layout: one of ``NAMES``.
        masks: folder of the masks, where the layout is ``generic``.
        truth: folder of the films without the object, where the layout is ``generic``; None = nobody has them.
        allow_unmatched: leave out what has no partner, and tell it; else it is an error.
        fps: frames a second of folders of pictures.
        licence, author: of clips that ``sidecars`` say nothing of.

    Raises:
        InputError: a constant that makes no sense.
        UnknownNameError: no such layout.
    """

    name = "removal_folders"
    version = "1"

    def __init__(
        self,
        *,
        folder: str,
        layout: str = GENERIC,
        masks: str | None = None,
        truth: str | None = None,
        allow_unmatched: bool = False,
        fps: float = 24.0,
        licence: str | None = None,
        author: str | None = None,
    ) -> None:
        known_name("layout", layout, NAMES)
        if (layout == GENERIC) != (masks is not None):
            raise InputError("the layout 'generic' needs a folder of masks, and the others know where theirs are")
        if not 0 < fps <= 240:
            raise InputError(f"fps is {fps:g}, give frames a second above 0 and at most 240")
        self.folder, self.layout, self.fps, self.allow_unmatched = Path(folder), layout, float(fps), allow_unmatched
        self.masks, self.truth = (None if path is None else Path(path) for path in (masks, truth))
        self._sidecars = Sidecars(self.folder, otherwise=Origin(licence, author))
        self._notes: list[tuple[str, str]] = []

    def notes(self) -> list[tuple[str, str]]:
        """Films that have no partner, after ``footage``."""
        return self._notes

    def footage(self) -> Iterator[Footage]:
        """The clips, in the order of their names.

        Raises:
            InputError: a folder that is not there, or names without a partner.
        """
        for clip in self.found():
            yield self._footage(clip)

    def found(self) -> list[Found]:
        """The clips, looked for and not opened; raises what ``footage`` raises."""
        if self.layout == ROSE:
            return list(_rose(self.folder))
        if self.layout == GENERIC:
            return self._matched(self.folder, self.masks or self.folder, self.truth)
        known = LAYOUTS[self.layout]
        inputs, masks = (_first_of(self.folder, names) for names in (known.inputs, known.masks))
        if inputs is None or masks is None:
            wanted = " and ".join(repr(names[0]) for names in (known.inputs, known.masks))
            raise InputError(f"{str(self.folder)!r} is not in the layout {self.layout!r}, which has the folders {wanted}")
        return self._matched(inputs, masks, _first_of(self.folder, known.truths))

    def _matched(self, inputs: Path, masks: Path, truths: Path | None) -> list[Found]:
        sides = {"clips": _films(inputs), "masks": _films(masks)} | ({} if truths is None else {"truths": _films(truths)})
        shared = [name for name in sides["clips"] if all(name in films for films in sides.values())]
        alone = [(side, name) for side, films in sides.items() for name in films if name not in shared]
        if not shared or (alone and not self.allow_unmatched):
            lists = "; ".join(
                f"{side} without a partner: {_some([name for other, name in alone if other == side])}"
                for side in sides
                if any(other == side for other, _ in alone)
            )
            way_out = "name them alike (capitals count)" + (", or leave them out with --allow-unmatched" if shared else "")
            raise InputError(f"{lists or f'no clips in {str(inputs)!r}'}: {way_out}")
        self._notes = [(quoted_path(name), f"{side} without a partner of its name") for side, name in alone]
        return [
            Found(name, sides["clips"][name], sides["masks"][name], sides["truths"][name] if truths is not None else None)
            for name in shared
        ]

    def _footage(self, clip: Found) -> Footage:
        films = {"input": clip.input, "mask": clip.mask} | ({} if clip.truth is None else {"truth": clip.truth})
        files = {part: [quoted_path(path.absolute()) for path in film.files] for part, film in films.items()}
        said = self._sidecars.of(clip.input.files[0])
        source = clip.truth or clip.input
        states = [_state(path) for film in films.values() for path in film.files]
        payload: dict[str, Any] = {"films": files, "fps": self.fps, "kind": clip.kind}
        if source.is_video:
            payload["path"] = quoted_path(source.files[0].absolute())
        return Footage(
            name=clip.name,
            uri=quoted_path(clip.name),
            origin=self.name,
            content=content_id(self.version, self.fps, states, *said.state),
            payload=payload,
            **said.columns,
            known={"side_effect": clip.kind} if clip.kind else {},
        )

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """The truth, or the clip itself where there is none, as a video where it lies or made of its pictures without loss.

        Raises:
            Rejected: films of other lengths, or what cannot be read.
        """
        films = {part: Film(tuple(Path(unquoted_path(name)) for name in files)) for part, files in payload["films"].items()}
        try:
            counts = {part: film.count() for part, film in films.items()}
            if len(set(counts.values())) > 1:
                raise Rejected("its films have other lengths: " + ", ".join(f"{part} {count}" for part, count in counts.items()))
            write_masks(Path(scratch), _levels(films["mask"]), fps=payload["fps"])
            parts, source = Path(scratch) / PARTS, films.get("truth")
            if source is not None:
                _put(films["input"], parts / "input_all", fps=payload["fps"])
            said = {"kind": payload["kind"], "effects": None if source is None else {"all": {}}, "homographies": None}
            (parts / "scene.json").write_text(json.dumps(said))
            return str(_put(source or films["input"], Path(scratch) / "clip", fps=payload["fps"], copied=False))
        except (MediaError, OSError) as error:
            raise Rejected(f"cannot be read: {error}") from error


def _put(film: Film, target: Path, *, fps: float, copied: bool = True) -> Path:
    """A video or a picture as it is, several pictures as one video without loss; the path of the file."""
    if len(film.files) == 1:
        if not copied:
            return film.files[0]
        path = target.with_suffix(film.files[0].suffix)
        os.symlink(film.files[0], path)
        return path
    path = target.with_suffix(".mp4")
    frames = _alike([quoted_path(file) for file in film.files], video.read_image)
    video.write_clip(path, frames, fps=fps, form="lossless")
    return path


def _levels(film: Film) -> npt.NDArray[np.uint8]:
    """Masks, ``uint8[T, H, W]``, 0 = no object; of a coded video what is brighter than the middle."""
    if film.is_video:
        return np.asarray(np.where(video.read_frames(film.files[0]).max(axis=3) > _WHITE, 255, 0), np.uint8)
    return np.stack(list(_alike([quoted_path(file) for file in film.files], read_mask)))


def _first_of(root: Path, names: Sequence[str]) -> Path | None:
    return next((root / name for name in names if (root / name).is_dir()), None)


def _films(folder: Path) -> dict[str, Film]:
    """Name -> film: paths below the folder without their ending, of videos, of folders of pictures, and of pictures side by side.

    Raises:
        InputError: no such folder, or two films of one name.
    """
    if not folder.is_dir():
        raise InputError(f"folder {str(folder)!r} does not exist or is not a folder")
    films: dict[str, Film] = {}
    for path, film in _found(folder):
        name = path.relative_to(folder).as_posix()
        if name in films:
            both = f"{films[name].files[0].name} and {film.files[0].name}"
            raise InputError(f"{str(folder)!r} has two films called {name!r}: {both}")
        films[name] = film
    return films


def _found(folder: Path) -> Iterator[tuple[Path, Film]]:
    """The path of each film, without its ending, and the film."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here, videos = Path(root), sorted(name for name in files if Path(name).suffix.lower() in video.VIDEO_SUFFIXES)
        yield from (((here / name).with_suffix(""), Film((here / name,))) for name in videos if not name.startswith("."))
        pictures = video.list_images(here)
        if here == folder:  # pictures side by side are one clip each
            yield from ((path.with_suffix(""), Film((path,))) for path in pictures)
        elif pictures:
            try:
                yield here, Film(video.numbered_images(here, even_steps=True))
            except MediaError as error:
                raise InputError(f"the pictures of {str(here)!r} have no clear order: {error}") from error


def _rose(root: Path) -> Iterator[Found]:
    """``EnvN/EnvN_Unedited`` with the object, ``EnvN_Edited`` without it, ``EnvN_Masked`` its mask.

    Raises:
        InputError: not one scene, or films without a partner.
    """
    scenes = sorted(path for path in root.glob("*") if (path / f"{path.name}_Unedited").is_dir()) if root.is_dir() else []
    if not scenes:
        raise InputError(f"{str(root)!r} is not in the layout 'rose', which has folders such as 'Env1/Env1_Unedited'")
    for scene in scenes:
        sides = [_films(scene / f"{scene.name}_{side}") for side in ("Unedited", "Masked", "Edited")]
        plain = [{_bare(name): film for name, film in films.items()} for films in sides]
        if alone := sorted(set(plain[0]) ^ set(plain[1]) | set(plain[0]) ^ set(plain[2])):
            raise InputError(f"{scene.name!r} has films without a partner: {_some(alone)}")
        yield from (Found(f"{scene.name}/{name}", plain[0][name], plain[1][name], plain[2][name]) for name in plain[0])


def _bare(name: str) -> str:
    for word in ("_Unedited", "_Edited", "_Masked"):
        name = name.replace(word, "")
    return name


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(repr, names[:_MOST_NAMED])) + more
