"""Clips with an object or a hole, their masks and, where anybody has it, the truth: from folders of data sets.

Films, folders of numbered pictures and single pictures of one name belong together. Nothing is ever written there.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import known_name
from inpaintbench.curation.sources import clip_tables
from inpaintbench.curation.sources import removal_layouts as layouts
from inpaintbench.curation.sources.base import PARTS, Footage, Origin, Sidecars, SourceLeaf, quoted_path, unquoted_path
from inpaintbench.curation.sources.clip_tables import TABLE
from inpaintbench.curation.sources.edit_folders import first_of, of_one_size, read_mask
from inpaintbench.curation.sources.mask_values import MASK_VALUES, MaskValues, dark, quad_layers
from inpaintbench.curation.sources.removal_layouts import GENERIC, NAMES, QUAD, VALUES, Film, Found, Shot, Stated
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.lazily import lazily
from inpaintbench.pages.words import some_of
from inpaintbench.ranges import Positive
from inpaintbench.types import Frames, Hole, content_id

cv2 = lazily("cv2")

Lengthen = Literal["reject", "hold", "to_and_fro"]
LENGTHEN: tuple[str, ...] = get_args(Lengthen)
# Coded masks: white and black are no longer whole.
_WHITE = 127
_PNG = b"\x89PNG"
# Masks that are polygons, or numbers of objects.
_WITHOUT_LEVELS = (".json", ".npz")


class RemovalFolders(SourceLeaf):
    """Clips, masks and truths of one name.

    Args (all constants):
        folder: root of a data set in one of the layouts, or of the clips where the layout is ``generic``; of the layout ``table``
            a table of ``clip_tables.COLUMNS``.
        layout: one of ``NAMES``, or ``table``.
        masks: folder of the masks, where the layout is ``generic``.
        truth: folder of the films without the object, where the layout is ``generic``; None = nobody has them.
        allow_unmatched: leave out what has no partner, and tell it; else it is an error.
        fps: frames a second of folders of pictures.
        lengthen: what is done with masks of fewer frames than their clip: ``reject``, ``hold`` the last one, or ``to_and_fro``;
            with the last two, masks of more frames give their first ones.
        masks_of_any_size: take masks of another size than their clip, which normalizers that stretch bring to the same one.
        effects: table of the side effects of clips, with their names; None = what folders are named after.
        mask_values: which levels of masks are the object: ``white``, ``black``, or ``quad``, the four of quadmasks, which say
            what the object changes, too; None = as the layout has them, else white.
        about: table of what clips show, their objects and the effects of these, with their names; None = what the layout says.
        columns: one of ``clip_tables.COLUMNS`` -> what the table calls it; None = by names and values.
        licence, author: of clips that ``sidecars`` say nothing of.

    Raises:
        InputError: a constant that makes no sense, or a table of side effects that cannot be read.
        UnknownNameError: no such layout.
    """

    name = "removal_folders"
    version = "2"

    def __init__(
        self, *, folder: str, layout: str = GENERIC, masks: str | None = None, truth: str | None = None,
        allow_unmatched: bool = False, fps: Positive = 24.0, lengthen: Lengthen = "reject", masks_of_any_size: bool = False,
        effects: str | None = None, licence: str | None = None, author: str | None = None,
        mask_values: MaskValues | None = None, about: str | None = None, columns: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        known_name("layout", layout, (*NAMES, TABLE))
        known_name("way to lengthen masks", lengthen, LENGTHEN)
        if (layout == GENERIC) != (masks is not None):
            raise InputError("the layout 'generic' needs a folder of masks, and the others know where theirs are")
        if not 0 < fps <= 240:
            raise InputError(f"fps is {fps:g}, give frames a second above 0 and at most 240")
        self.folder, self.layout, self.fps, self.allow_unmatched = Path(folder), layout, float(fps), allow_unmatched
        self.masks, self.truth = (None if path is None else Path(path) for path in (masks, truth))
        self.lengthen, self.masks_of_any_size = lengthen, masks_of_any_size
        self.mask_values = None if mask_values is None else known_name("meaning of masks", mask_values, MASK_VALUES)
        self.about, self.columns = None if about is None else Path(about), columns
        self._effects = None if effects is None else layouts.read_effects(Path(effects))
        self._sidecars = Sidecars(self.folder.parent if layout == TABLE else self.folder, otherwise=Origin(licence, author))
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
            shots = [shot.films() for shot in clip.shots]
            said = self._sidecars.of(clip.shots[0].input.files[0])
            source, fps = clip.truth or clip.shots[0].input, clip.fps or self.fps
            films = [film for shot in shots for film in shot.values()] + ([clip.truth] if clip.truth else [])
            stated = layouts.by_folders(clip.name) if self._effects is None else self._effects.get(clip.name, Stated())
            # What only folders could say before has the content that it had.
            more = [] if self._effects is None and not stated.strength else [stated.kind, stated.strength, list(stated.several)]
            states = [layouts.state_of(film) for film in films]
            payload: dict[str, Any] = {
                "shots": [{part: _plain(film) for part, film in shot.items()} for shot in shots],
                "names": [shot.name for shot in clip.shots],
                "name": quoted_path(clip.name),
                "truth": None if clip.truth is None else _plain(clip.truth),
                "fps": fps, "effect": asdict(stated), "lengthen": self.lengthen,
                "any_size": self.masks_of_any_size,
            }  # fmt: skip
            if len(source.files) == 1 and not source.more and not source.is_archive:  # it is taken where it lies
                payload["path"] = quoted_path(source.files[0].absolute())
            yield Footage(
                name=clip.name, uri=quoted_path(clip.name), origin=self.name,
                content=content_id(self.version, fps, self.lengthen, self.masks_of_any_size, states, *said.state, *more),
                payload=payload, **said.columns, known={**({"side_effect": stated.kind} if stated.kind else {}), **clip.said},
            )  # fmt: skip

    def found(self) -> list[Found]:
        """The clips, looked for and not opened; raises what ``footage`` raises."""
        if self.layout == GENERIC:
            made = layouts.match(self.folder, self.masks or self.folder, self.truth, allow_unmatched=self.allow_unmatched)
        elif self.layout == TABLE:
            made = layouts.Matched(clip_tables.clips_of(self.folder, self.columns), [])
        else:
            made = layouts.find(self.folder, self.layout, allow_unmatched=self.allow_unmatched)
        if self.about is not None:
            made = made._replace(clips=clip_tables.with_words(made.clips, self.about, self.columns))
        strangers = [name for name in self._effects or () if name not in {clip.name for clip in made.clips}]
        if strangers:
            raise InputError(f"the table of side effects names clips that are not there: {some_of(strangers)}")
        self._notes = [(quoted_path(name), reason) for name, reason in made.alone]
        if self.mask_values is None:
            return made.clips
        return [replace(clip, shots=tuple(self._with_values(shot, clip.name) for shot in clip.shots)) for clip in made.clips]

    def _with_values(self, shot: Shot, clip: str) -> Shot:
        """The same with masks whose levels mean what was asked for."""
        if any(film.files[0].suffix in _WITHOUT_LEVELS for film in (shot.mask, shot.effect) if film is not None):
            raise InputError(f"the masks of {clip!r} are no pictures: leave --mask-values out with the layout {self.layout!r}")
        if self.mask_values == QUAD and shot.effect is not None:
            raise InputError(f"{clip!r} has a mask of what its object changes: its other mask is no quadmask")
        return replace(shot, mask=self._saying(shot.mask), effect=shot.effect and self._saying(shot.effect))

    def _saying(self, film: Film) -> Film:
        # That white is the object is not said: it holds wherever nothing is.
        more = {name: value for name, value in film.more.items() if name != VALUES}
        return replace(film, more=more if self.mask_values == "white" else {**more, VALUES: self.mask_values})

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """The truth, or the clip itself where there is none, as a video where it lies or made of its pictures without loss.

        Raises:
            Rejected: films of other lengths, or what cannot be read.
        """
        work, fps = Path(scratch), float(payload["fps"])
        try:
            shots = [{part: _film(given) for part, given in shot.items()} for shot in payload["shots"]]
            truth = payload["truth"] and _film(payload["truth"])
            (work / PARTS).mkdir(exist_ok=True)
            # Several shots of one truth are told apart by number; one is called as it always was.
            numbers = ["all"] if len(shots) == 1 else [f"{number:03d}" for number in range(len(shots))]
            for number, shot in zip(numbers, shots, strict=True):
                end = "" if number == "all" else f"_{number}"
                lengths = {**shot, **({} if truth is None else {"truth": truth})}
                masks = _masks(lengths, work, lengthen=payload["lengthen"], any_size=payload["any_size"])
                for part, levels in masks.items():
                    video.write_levels(work / PARTS / f"{part}{end}.mp4", levels, fps=fps)
                if truth is not None:
                    _put(shot["input"], work, work / PARTS / f"input_{number}", fps=fps)
            effects: dict[str, Any] | None = None if truth is None else {number: {} for number in numbers}
            names = dict(zip(numbers, payload["names"], strict=True))
            stated = payload["effect"]
            said = {
                "name": payload["name"], "kind": stated["kind"], "strength": stated["strength"], "several": stated["several"],
                "effects": effects, "homographies": None, "names": names,
            }  # fmt: skip
            (work / PARTS / "scene.json").write_text(json.dumps(said))
            return str(_put(truth or shots[0]["input"], work, work / "clip", fps=fps, copied=False))
        except (MediaError, OSError) as error:
            raise Rejected(f"cannot be read: {error}") from error


def _plain(film: Film) -> dict[str, Any]:
    return {"files": [quoted_path(path.absolute()) for path in film.files], "more": dict(film.more)}


def _film(given: Mapping[str, Any]) -> Film:
    return Film(tuple(Path(unquoted_path(name)) for name in given["files"]), given["more"])


def _masks(films: Mapping[str, Film], work: Path, *, lengthen: str, any_size: bool) -> dict[str, npt.NDArray[np.uint8]]:
    """Masks of the object, and of its side effects where there are, one a frame, by the names of their parts.

    Raises:
        Rejected: films of other lengths, numbers or, unless masks of ``any_size`` are taken, sizes.
    """
    counts = {part: film.count() for part, film in films.items()}
    frames = counts["input"]
    fixed = {part: count for part, count in counts.items() if part not in ("mask", "effect") or lengthen == "reject"}
    if len(set(fixed.values())) > 1:
        raise Rejected("its films have other lengths: " + ", ".join(f"{part} {count}" for part, count in counts.items()))
    pictures = {part: film.pictures() for part, film in films.items()}
    shown = pictures.pop("input")
    for part, numbered in pictures.items():
        if not (video.count_alike(shown, numbered) if shown else video.begin_a_film(numbered, frames=frames)):
            told = f"its frames are {first_of(shown)}" if shown else f"its film has {frames} frames"
            raise Rejected(f"its {part} is {first_of(numbered)}, {told}: give the {part} of these frames, numbered as they are")
    made = {}
    for name, part in (("object_mask", "mask"), ("effect_mask", "effect")):
        if part in films:
            film = films[part]
            if film.more.get(VALUES) == QUAD:
                thing, changed = quad_layers(_levels_of_pictures(film, work))
                layers = {"object_mask": _white(thing), "effect_mask": _white(changed)}
            else:
                layers = {name: _levels(film, work)}
            # The first masks, or all of them and then the last one again, or back and forth.
            for layer, levels in layers.items():
                more = [(0, max(0, frames - len(levels))), (0, 0), (0, 0)]
                mode: Literal["reflect", "edge"] = "reflect" if lengthen == "to_and_fro" and len(levels) > 1 else "edge"
                made[layer] = np.pad(levels, more, mode=mode)[:frames]
    if any_size:
        return made
    sizes = {}
    for part in films.keys() - {"mask", "effect"}:
        film = _unpacked(films[part], work)
        frame = next(video.upright_frames(film.files[0]))[0] if film.is_video else video.read_image(film.files[0])
        sizes[part] = f"{frame.shape[1]}x{frame.shape[0]}"
    rows, columns = made["object_mask"].shape[1:]
    size = sizes["input"]
    if f"{columns}x{rows}" != size:
        raise Rejected(f"its masks are {columns}x{rows}, its frames {size}: give masks of the size of the frames")
    if (bare := sizes.get("truth", size)) != size:
        raise Rejected(f"its frames are {size} with the object and {bare} without it: give films of one size")
    return made


def _put(film: Film, work: Path, target: Path, *, fps: float, copied: bool = True) -> Path:
    """A video or a picture as it is, several pictures or a span as one video without loss; the path of the file."""
    film = _unpacked(film, work)
    if len(film.files) == 1 and "span" not in film.more:
        if not copied:
            return film.files[0]
        path = target.with_suffix(film.files[0].suffix)
        os.symlink(film.files[0], path)
        return path
    path = target.with_suffix(".mp4")
    if film.is_video:
        frames: Iterator[Any] = (frame for frame, _ in islice(video.upright_frames(film.files[0]), *film.more["span"]))
    else:
        frames = of_one_size([quoted_path(file) for file in film.files], video.read_image)
    video.write_clip(path, frames, fps=fps, form="lossless")
    return path


def _unpacked(film: Film, work: Path) -> Film:
    """A film of an archive or of a row of a table as pictures on their own."""
    if film.is_archive:
        # Films of one clip have one name: what was unpacked of one is not to be that of another.
        folder = work / "unpacked" / content_id(str(film.files[0]))
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        with zipfile.ZipFile(film.files[0]) as opened:
            for number, name in enumerate(layouts.pictures_in(film.files[0])):
                paths.append(folder / f"{number:05d}{Path(name).suffix}")
                with opened.open(name) as packed, paths[-1].open("wb") as target:
                    shutil.copyfileobj(packed, target)
        return Film(tuple(paths))
    if "column" in film.more:
        data = _cell(film)
        path = work / f"{film.more['column']}{'.png' if data.startswith(_PNG) else '.jpg'}"
        path.write_bytes(data)
        return Film((path,))
    return film


def _cell(film: Film) -> bytes:
    """The picture in one cell of a Parquet file, as `datasets` keeps them.

    Raises:
        MediaError: there is none.
    """
    import pyarrow.parquet as pq

    row, column = int(film.more["row"]), film.more["column"]
    table = pq.ParquetFile(film.files[0])
    for group in range(table.num_row_groups):
        count = table.metadata.row_group(group).num_rows
        if row < count:
            cell = table.read_row_group(group, columns=[column])[column][row].as_py()
            data = cell.get("bytes") if isinstance(cell, dict) else cell
            if not isinstance(data, bytes):
                raise MediaError(f"{film.files[0].name}, row {film.more['row']}: {column!r} holds no picture")
            return data
        row -= count
    raise MediaError(f"{film.files[0].name} has no row {film.more['row']}")


def _levels(film: Film, work: Path) -> npt.NDArray[np.uint8]:
    """Masks, ``uint8[T, H, W]``, 0 = no object; of a coded video what is brighter than the middle."""
    path = film.files[0]
    if path.suffix == ".json":
        # The polygons of one picture, filled.
        try:
            polygons = [np.array(polygon, np.float64).reshape(-1, 2) for polygon in layouts.polygons_in(path)]
        except ValueError as error:
            raise MediaError(f"{path.name} has no polygons: {error}") from error
        height, width = video.read_image(Path(film.more["size_of"])).shape[:2]
        filled = np.zeros((height, width), np.uint8)
        for corners in polygons:
            cv2.fillPoly(filled, [np.rint(corners).astype(np.int32)], 255)
        return filled[None]
    if path.suffix == ".npz":
        # One object of the masks of a film, `[T, H, W]` of numbers of objects, over a span.
        try:
            with np.load(path, allow_pickle=False) as archive:
                numbers = archive["arr_0"][slice(*film.more["span"])]
        except (KeyError, ValueError, zipfile.BadZipFile) as error:
            raise MediaError(f"{path.name} holds no array of masks: {error}") from error
        if numbers.ndim != 3 or len(numbers) < film.count():
            begin, end = film.more["span"][:2]
            raise MediaError(f"{path.name} has masks of shape {numbers.shape}, frames {begin} to {end} are asked for")
        return np.asarray(np.where(numbers == film.more["value"], 255, 0), np.uint8)
    if film.more.get(VALUES) == "black":
        return _white(dark(_levels_of_pictures(film, work)))
    film = _unpacked(film, work)
    if film.is_video:
        return _white(_levels_of_pictures(film, work) > _WHITE)
    return np.stack(list(of_one_size([quoted_path(file) for file in film.files], read_mask)))


def _levels_of_pictures(film: Film, work: Path) -> npt.NDArray[np.uint8]:
    """The brightest channel of a film as it stands there, ``uint8[T, H, W]``."""
    film = _unpacked(film, work)
    if film.is_video:
        frames: Frames = video.read_frames(film.files[0])
        return np.asarray(frames.max(axis=3), np.uint8)
    pictures = of_one_size([quoted_path(file) for file in film.files], video.read_image)
    return np.stack([picture.max(axis=2) for picture in pictures])


def _white(inside: Hole) -> npt.NDArray[np.uint8]:
    return np.asarray(np.where(inside, 255, 0), np.uint8)
