"""Places of the clips, masks and truths of removal and benchmark data sets in their folders, and what is stated of them.

Nothing is ever written there.
"""

from __future__ import annotations

import csv
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, MediaError, reason_of
from inpaintbench.files import open_text, read_text
from inpaintbench.pages.words import some_of
from inpaintbench.table_files import read_rows
from inpaintbench.types import Plain


class Layout(NamedTuple):
    """Where a data set has its films: folders below its root, any of those named; "" = the root itself."""

    inputs: tuple[str, ...]
    masks: tuple[str, ...]
    truths: tuple[str, ...] = ()
    """Empty where nobody has the truth."""
    same_numbers: bool = False
    """Frames count that have a mask of their number; the others are left out."""


# Of those that have a folder for each kind of film. What their cards do not say is told in the docs.
LAYOUTS: Mapping[str, Layout] = {
    "beyondmasks": Layout(("objects_added",), ("masks",), ("object_not_present",)),
    "vor": Layout(("fg_bg", "FG_BG"), ("mask", "masks", "MASK"), ("bg", "background", "BG")),
    "prove": Layout(("inputs",), ("masks",), ("gt", "gts", "truth", "background")),
    "davis": Layout(("JPEGImages/480p", "JPEGImages"), ("Annotations/480p", "Annotations")),
    "youtube-vos": Layout(("JPEGImages", "train/JPEGImages"), ("Annotations", "train/Annotations"), same_numbers=True),
    "propainter": Layout(("JPEGImages_432_240",), ("test_masks",)),
    "e2fgvi": Layout(("JPEGImages",), ("test_masks",)),
}
GENERIC = "generic"
# Of a film of masks: what its levels mean, one of `mask_values.MASK_VALUES`; white is the object where nothing is said.
VALUES, QUAD = "values", "quad"
_ZIP = ".zip"


@dataclass(frozen=True)
class Film:
    """Frames on disk: numbered pictures in their order, one video, one archive of pictures, or what ``more`` says of a file."""

    files: tuple[Path, ...]
    more: Plain = field(default_factory=dict)
    """``span``: the first frame, the one after the last and, where not every one counts, the step. ``value``: the number of the
    object in an array of masks. ``row`` and ``column``: of a table that holds pictures. ``size_of``: file whose size polygons are
    of. ``VALUES``: what levels mean."""

    @property
    def is_video(self) -> bool:
        """Whether it is one file that holds all frames."""
        return self.files[0].suffix.lower() in video.VIDEO_SUFFIXES

    @property
    def is_archive(self) -> bool:
        """Whether it is an archive of pictures."""
        return self.files[0].suffix.lower() == _ZIP

    def pictures(self) -> tuple[Path, ...]:
        """Names of numbered pictures in their order; empty for whatever else holds its frames."""
        if self.is_archive:
            return tuple(map(Path, pictures_in(self.files[0])))
        return self.files if len(self.files) > 1 else ()

    def count(self) -> int:
        """Frames that it shows."""
        if "span" in self.more:
            return len(range(*self.more["span"]))
        if self.is_archive:
            return len(pictures_in(self.files[0]))
        if not self.is_video:
            return len(self.files)
        packets = video.packet_times(self.files[0])
        return len(packets) if packets else video.probe(self.files[0]).frames


@dataclass(frozen=True)
class Shot:
    """A film with an object, and its masks."""

    input: Film
    mask: Film
    effect: Film | None = None
    """Mask of the object and of its side effects, where a data set has one."""
    name: str = ""
    """Tells the shots of one truth apart."""

    def films(self) -> dict[str, Film]:
        """``input``, ``mask`` and perhaps ``effect``."""
        return {"input": self.input, "mask": self.mask} | ({} if self.effect is None else {"effect": self.effect})


@dataclass(frozen=True)
class Found:
    """One clip."""

    name: str
    shots: tuple[Shot, ...]
    """All of one truth; one of each clip without a truth."""
    truth: Film | None = None
    fps: float | None = None
    """Frames a second that the data set states."""
    said: Mapping[str, str] = field(default_factory=dict)
    """``caption``: of the whole clip; ``caption_hole``: of what fills its hole; ``object_name`` and ``after_effects``: of what is
    to be removed; as far as the data set says so."""


class Matched(NamedTuple):
    """Clips whose films have partners, and the films that have none with the reason."""

    clips: list[Found]
    alone: list[tuple[str, str]]


def find(root: Path, layout: str, *, allow_unmatched: bool = False) -> Matched:
    """The clips of a data set, in the order of their names.

    Args:
        root: of the data set.
        layout: one of ``NAMES`` but ``generic``.
        allow_unmatched: leave out what has no partner; else it is an error.

    Raises:
        InputError: not in that layout, or films without a partner.
    """
    if layout in _OWN:
        return Matched(list(_OWN[layout](root)), [])
    known = LAYOUTS[layout]
    inputs, masks, truths = (
        next((root / name for name in names if (root / name).is_dir()), None)
        for names in (known.inputs, known.masks, known.truths)
    )
    if inputs is None or masks is None:
        kinds = {"clips": known.inputs, "masks": known.masks, "truths": known.truths}
        looked = ", ".join(f"{kind} in {' or '.join(map(repr, names))}" for kind, names in kinds.items() if names)
        raise InputError(f"{str(root)!r} is not in the layout {layout!r}, which has {looked}; {_there_is(root)}")
    tested = None
    if (path := root / "test.json").is_file():
        try:
            tested = [str(name) for name in json.loads(read_text(path))]
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"{str(path)!r} is not a list of videos with their numbers of frames: {error}") from error
    clips, alone = match(inputs, masks, truths, allow_unmatched=allow_unmatched, tested=tested)
    for place, clip in enumerate(clips if known.same_numbers else ()):
        shot = clip.shots[0]
        frames, marked = ({path.stem: path for path in film.files} for film in (shot.input, shot.mask))
        if len(marked) < len(frames) and set(marked) <= set(frames) and not shot.input.is_video:
            clips[place] = Found(clip.name, (Shot(Film(tuple(frames[stem] for stem in marked)), shot.mask),))
    return Matched(clips, alone)


def _there_is(root: Path) -> str:
    if not root.is_dir():
        return "there is no such folder"
    folders = sorted(path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    return f"it has {some_of(folders) if folders else 'no folder'}"


def match(
    inputs: Path, masks: Path, truths: Path | None, *, allow_unmatched: bool = False, tested: Sequence[str] | None = None
) -> Matched:
    """The films of folders that have one name.

    Args:
        inputs: folder of the films.
        masks: folder of their masks.
        truths: folder of the same films without an object; None = nobody has them.
        allow_unmatched: leave out what has no partner; else it is an error.
        tested: names that count; None = all.

    Raises:
        InputError: no such folder, or films without a partner.
    """
    sides = {"clips": _films(inputs), "masks": _films(masks)} | ({} if truths is None else {"truths": _films(truths)})
    untested = [] if tested is None else [name for name in sides["clips"] if name not in set(tested)]
    sides = {side: {name: film for name, film in films.items() if name not in untested} for side, films in sides.items()}
    shared = [name for name in sides["clips"] if all(name in films for films in sides.values())]
    alone = [(side, name) for side, films in sides.items() for name in films if name not in shared]
    if not shared or (alone and not allow_unmatched):
        names_of = {side: [name for other, name in alone if other == side] for side in sides}
        lists = "; ".join(f"{side} without a partner: {some_of(names)}" for side, names in names_of.items() if names)
        way_out = "name them alike (capitals count)" + (", or leave them out with --allow-unmatched" if shared else "")
        raise InputError(f"{lists or f'no clips in {str(inputs)!r}'}: {way_out}")
    left_out = [(name, f"{side} without a partner of its name") for side, name in alone]
    left_out += [(name, "test.json does not name it") for name in untested]
    truth_of = {} if truths is None else sides["truths"]
    return Matched(
        [Found(name, (Shot(sides["clips"][name], sides["masks"][name]),), truth_of.get(name)) for name in shared], left_out
    )


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
    endings = (*video.VIDEO_SUFFIXES, _ZIP)
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here, videos = Path(root), sorted(name for name in files if Path(name).suffix.lower() in endings)
        yield from (((here / name).with_suffix(""), Film((here / name,))) for name in videos if not name.startswith("."))
        pictures = video.list_images(here)
        if here == folder:  # pictures side by side are one clip each
            yield from ((path.with_suffix(""), Film((path,))) for path in pictures)
        elif pictures:
            try:
                yield here, Film(video.numbered_images(here, even_steps=True))
            except MediaError as error:
                raise InputError(f"the pictures of {str(here)!r} have no clear order: {error}") from error


def film_at(path: Path, *, where: str) -> Film:
    """A film of its own path: a video, an archive of pictures, one picture, or a folder of numbered ones.

    Raises:
        InputError: nothing like that is there; told after ``where``.
    """
    if path.is_file():
        return Film((path,))
    try:
        pictures = video.numbered_images(path, even_steps=True) if path.is_dir() else ()
    except MediaError as error:
        raise InputError(f"{where} has no clear order: {error}") from error
    if not pictures:
        raise InputError(f"{where} is {str(path)!r}, which is no file and no folder of pictures")
    return Film(pictures)


def pictures_in(archive: Path) -> list[str]:
    """Names of the pictures in an archive by their numbers, as those of a folder; what systems hide there is no frame.

    Raises:
        MediaError: it is no archive, or its pictures have no clear order or lie in several folders.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            names = {Path(name): name for name in opened.namelist() if not name.endswith("/")}
    except (OSError, zipfile.BadZipFile) as error:
        raise MediaError(f"{archive.name} is no archive: {error}") from error
    paths = [path for path in names if video.is_image(path) and not video.is_hidden(path)]
    if len(folders := sorted({path.parent.as_posix() for path in paths})) > 1:
        raise MediaError(f"{archive.name} has pictures in {some_of(folders)}: keep those of one folder")
    ordered = video.by_number(sorted(paths, key=os.fsencode), name=archive.name, even_steps=True)
    return [names[path] for path in ordered]


def polygons_in(path: Path) -> list[list[float]]:
    """The polygons that RORD marks in a picture, x and y in turn; what has fewer than three corners is none.

    Raises:
        MediaError: no such file.
    """
    try:
        marked = json.loads(read_text(path))["Learning_Data_Info."]["Annotation"]
        return [[float(number) for number in part["segmentation"]] for part in marked if len(part["segmentation"]) >= 6]
    except (KeyError, TypeError, ValueError) as error:
        raise MediaError(f"{path.name} has no polygons: {error}") from error


def _rose(root: Path) -> Iterator[Found]:
    """``GROUP/Unedited`` with the object, ``Edited`` without it, ``Masked`` its mask, in the folder of the data set or of its
    benchmark; in the training set ``EnvN/EnvN_Unedited`` and so on."""
    found = (*root.glob("*/*Unedited"), *root.glob("Benchmark/*/Unedited"))
    whole = sorted(path for path in found if path.name in ("Unedited", f"{path.parent.name}_Unedited") and path.is_dir())
    if not whole:
        raise InputError(f"{str(root)!r} is not in the layout 'rose', which has folders such as 'mirror/Unedited'")
    for unedited in whole:
        scene, beginning = unedited.parent, unedited.name.removesuffix("Unedited")
        sides = [_films(scene / f"{beginning}{side}") for side in ("Unedited", "Masked", "Edited")]
        plain = [{re.sub("_(Unedited|Edited|Masked)", "", name): film for name, film in films.items()} for films in sides]
        if alone := sorted(set(plain[0]) ^ set(plain[1]) | set(plain[0]) ^ set(plain[2])):
            raise InputError(f"{scene.name!r} has films without a partner: {some_of(alone)}")
        yield from (Found(f"{scene.name}/{name}", (Shot(plain[0][name], plain[1][name]),), plain[2][name]) for name in plain[0])


def _rord(root: Path) -> Iterator[Found]:
    """``SET/jpg/SCENE/*.jpg``, whose last picture has no object, and ``SET/M/SCENE/*_M.json``, the polygons of the others."""
    scenes = sorted(path for path in (*root.glob("jpg/*"), *root.glob("*/jpg/*")) if path.is_dir())
    if not scenes:
        raise InputError(f"{str(root)!r} is not in the layout 'rord', which has folders such as 'SET/jpg/SCENE'")
    for scene in scenes:
        try:
            pictures = video.numbered_images(scene, pattern="*.jpg", even_steps=True)
        except MediaError as error:
            raise InputError(f"the pictures of {str(scene)!r} have no clear order: {error}") from error
        *shown, truth = pictures or [scene]
        masks = scene.parent.parent / "M" / scene.name
        pairs = [(path, masks / f"{path.stem}_M.json") for path in shown]
        if bare := [path.name for path, mask in pairs if not mask.is_file()]:
            raise InputError(f"pictures of {scene.name!r} have no polygons in {str(masks)!r}: {some_of(bare)}")
        shots = (Shot(Film((path,)), Film((mask,), {"size_of": str(path)}), name=path.stem) for path, mask in pairs)
        marks = masks / f"{truth.stem}_M.json"
        if pairs and marks.is_file() and polygons_in(marks):
            raise InputError(f"the last picture of {scene.name!r} is to show no object, but {truth.name!r} has polygons")
        if pairs:
            yield Found(scene.relative_to(root).as_posix(), tuple(shots), Film((truth,)))


# At which VideoPainter's evaluation looks at clips.
_VPBENCH_FPS = 8


def _vpbench(root: Path, table: str = "our_video_inpaint.csv") -> Iterator[Found]:
    """Rows of a table: a film, the span that counts, and which object of its ``all_masks.npz`` is the hole.

    Of the span about eight frames a second count, as in VideoPainter's evaluation.
    """
    path = root / table
    if not path.is_file():
        raise InputError(f"{str(root)!r} is not in the layout of VPBench, which has the table {table!r}")
    try:
        with open_text(path, newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{str(path)!r} cannot be read as CSV: {reason_of(error)}") from error
    lacking: list[str] = []
    for place, row in enumerate(rows):
        try:
            name, span = row["path"], (int(row["start_frame"]), int(row["end_frame"]))
            number, fps = int(row["mask_id"]), float(row["fps"])
        except (KeyError, TypeError, ValueError) as error:
            wanted = "path, mask_id, start_frame, end_frame and fps"
            raise InputError(f"{path.name}, row {place + 2} does not say {wanted}: {error}") from error
        base, of_videovo = name.partition(".")[0], name.endswith(".0.mp4")
        folder = f"videovo/raw_video/{base[:-3]}" if of_videovo else f"pexels/pexels/raw_video/{base[:9]}"
        film = root / folder / Path(name).name
        masks = root / "video_inpainting" / ("videovo" if of_videovo else "pexels") / base / "all_masks.npz"
        lacking += [str(file.relative_to(root)) for file in (film, masks) if not file.is_file()]
        step = max(1, int(fps // _VPBENCH_FPS))
        more = {"span": [*span, step] if step > 1 else list(span)}
        captions = {"caption": row.get("video_inpainting_prompt"), "caption_hole": row.get("image_inpainting_prompt")}
        yield Found(
            f"{base}_{number}_{span[0]}", (Shot(Film((film,), more), Film((masks,), {**more, "value": number})),), None,
            fps / step, {ours: text for ours, text in captions.items() if text},
        )  # fmt: skip
    if lacking:
        raise InputError(f"{path.name} names files that are not there: {some_of(lacking)}")


def _ober(root: Path) -> Iterator[Found]:
    """Rows of Parquet files with the pictures ``input``, ``gt``, ``object_mask`` and ``object_effect_mask``."""
    import pyarrow.parquet as pq

    files = sorted(root.rglob("*.parquet")) if root.is_dir() else []
    if not files:
        raise InputError(f"{str(root)!r} is not in the layout 'ober', which has Parquet files")
    for path in files:
        there = pq.read_schema(path).names
        if lacking := [name for name in ("input", "gt", "object_mask") if name not in there]:
            raise InputError(f"{path.name} has no column {lacking[0]!r}; it has {', '.join(there)}")
        said = [name for name in ("subset", "split") if name in there]
        rows = pq.read_table(path, columns=said).to_pylist() if said else [{}] * pq.read_metadata(path).num_rows
        for place, row in enumerate(rows):
            input_, truth, mask, effect = (
                Film((path,), {"row": place, "column": name}) if name in there else None
                for name in ("input", "gt", "object_mask", "object_effect_mask")
            )
            where = "/".join(str(row[name]) for name in ("split", "subset") if row.get(name))
            name = "/".join(filter(None, (where, f"{path.stem}-{place:05d}")))
            yield Found(name, (Shot(input_ or Film((path,)), mask or Film((path,)), effect),), truth)


# Names of the films of a clip, its quadmask and its truth in its folder: of what VOID reads, and of what it is trained on.
_VOID = (("input_video", "quadmask_0", None), ("rgb_full", "mask", "rgb_removed"))


def _void(root: Path) -> Iterator[Found]:
    """``CLIP/input_video.mp4`` and ``quadmask_0.mp4``, or ``rgb_full.mp4``, ``mask.mp4`` and ``rgb_removed.mp4``, the truth."""
    sets = " or ".join(" and ".join(f"'{name}.mp4'" for name in names if name) for names in _VOID)
    clips = sorted(path.parent for names in _VOID for path in root.rglob(f"{names[0]}.mp4")) if root.is_dir() else []
    if not clips:
        raise InputError(f"{str(root)!r} is not in the layout 'void', which has folders of clips with {sets}")
    for clip in dict.fromkeys(clips):
        films = next(names for names in _VOID if (clip / f"{names[0]}.mp4").is_file())
        shown, mask, truth = (None if name is None else clip / f"{name}.mp4" for name in films)
        if shown is None or mask is None or not mask.is_file():
            raise InputError(f"{clip.relative_to(root).as_posix()!r} has no mask; looked for {sets}")
        there = Film((truth,)) if truth is not None and truth.is_file() else None
        yield Found(clip.relative_to(root).as_posix(), (Shot(Film((shown,)), Film((mask,), {VALUES: QUAD})),), there)


# Layouts that are more than a folder for each kind of film.
_OWN: Mapping[str, Callable[[Path], Iterator[Found]]] = {
    "rose": _rose, "rord": _rord, "ober": _ober, "void": _void, "vpbench": _vpbench,
    "vpbench-long": partial(_vpbench, table="our_video_inpaint_long.csv"),
}  # fmt: skip
NAMES = (GENERIC, *LAYOUTS, *_OWN)
# Those that have the truth of an object's removal, and those of the classic benchmarks, whose truth is the clip.
PAIRED = ("beyondmasks", "vor", "prove", "rose", "rord", "ober", "void")
CLASSIC = ("davis", "youtube-vos", "propainter", "e2fgvi", "vpbench", "vpbench-long")


def state_of(film: Film) -> list[Any]:
    """What changes whenever a film does: name, size and time of each file, and what is taken of it."""
    status = [(path.name, path.stat()) for path in film.files]
    return [[os.fsencode(name).hex(), one.st_size, one.st_mtime_ns] for name, one in status] + ([film.more] if film.more else [])


# Side effects of objects that people state of their clips, in a table or by the names of folders.
KINDS = ("shadow", "reflection", "mirror", "translucency", "light")
STRENGTHS = ("low", "mid", "high")
# Without a side effect, and with several.
COMMON, COMBINED = "common", "combined"
CLIP, KIND, STRENGTH = "clip", "side_effect", "strength"
# Between several side effects of one clip.
_AND = "+"
# Words in the names of folders that say which side effect an object has.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "shadow": ("shadow",), "reflection": ("reflection", "reflecting"), "mirror": ("mirror",),
    "translucency": ("translucent", "translucency", "transcluent"), "light": ("light", "light_source"), COMMON: (COMMON,),
}  # fmt: skip


@dataclass(frozen=True)
class Stated:
    """What is stated of a clip's side effect."""

    kind: str | None = None
    """One of ``KINDS``, ``COMMON`` or ``COMBINED``; None where nothing is stated."""
    strength: str | None = None
    """One of ``STRENGTHS``; None where nobody says it."""
    several: tuple[str, ...] = ()
    """The kinds of a combined one."""


def by_folders(name: str) -> Stated:
    """What the folders of a clip are named after: ``shadow/high/dog`` has a strong shadow."""
    words = {part.lower() for part in Path(name).parts}
    kind = next((kind for kind, names in _WORDS.items() if words & set(names)), None)
    levels = words.intersection(STRENGTHS)
    strong = kind in KINDS and len(levels) == 1
    return Stated(kind, levels.pop() if strong else None)


def read_effects(path: Path) -> dict[str, Stated]:
    """Clip -> what a table with the columns ``clip``, ``side_effect`` and, if need be, ``strength`` states of it.

    Raises:
        InputError: not such a table; an unknown side effect or strength; a clip twice.
    """
    stated: dict[str, Stated] = {}
    for row in read_rows(path, called="table of side effects", known=(CLIP, KIND, STRENGTH)):
        texts = {name: str(value).strip() for name, value in row.fields.items()}
        if unknown := sorted(texts.keys() - {CLIP, KIND, STRENGTH}):
            raise InputError(f"{path.name}: {unknown_name('column', unknown[0], [CLIP, KIND, STRENGTH])}")
        if CLIP not in texts or KIND not in texts:
            raise InputError(f"{row.where} needs a {CLIP} and its {KIND}")
        if texts[CLIP] in stated:
            raise InputError(f"{row.where} names the clip {texts[CLIP]!r} again")
        kinds = tuple(dict.fromkeys(word.strip() for word in texts[KIND].split(_AND)))
        choices = KINDS if len(kinds) > 1 else (*KINDS, COMMON, COMBINED)
        strength = texts.get(STRENGTH)
        for kind in kinds:
            if kind not in choices:
                raise InputError(f"{row.where}: {unknown_name('side effect', kind, list(choices))}")
        if strength is not None and strength not in STRENGTHS:
            raise InputError(f"{row.where}: {unknown_name('strength', strength, list(STRENGTHS))}")
        if strength is not None and kinds == (COMMON,):
            raise InputError(f"{row.where}: what has no side effect has no strength")
        stated[texts[CLIP]] = Stated(kinds[0], strength) if len(kinds) == 1 else Stated(COMBINED, strength, kinds)
    if not stated:
        raise InputError(f"{path.name} has no rows: it needs the columns {CLIP}, {KIND} and, if need be, {STRENGTH}")
    return stated
