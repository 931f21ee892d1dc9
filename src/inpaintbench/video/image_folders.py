"""Image sequences: which files of a folder are frames, and in which order.

Frames are ordered by the number in their names: the only one that differs from name to name. What stands around it, other
numbers included (``clip_2_0001_480p.png``), is the same for all. Counting may begin anywhere (DAVIS at 00000, ffmpeg at 1), with
or without leading zeros. A gap, two files of one number (``1.png`` with ``01.png`` or ``1.jpg``) and a name without a number are
refused: each is a frame in the wrong place as easily as nothing at all. Hidden files (``.DS_Store``, ``._0001.png``), folders and
files that are no images by their endings (``Thumbs.db``, ``info.json``) are no frames; an image alone needs no number.

Folders whose names are keys, such as one picture for each item, are not numbered and have no order.
"""

from __future__ import annotations

import fnmatch
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import numpy as np

from inpaintbench.errors import MediaError
from inpaintbench.types import Frames
from inpaintbench.video.images import read_image
from inpaintbench.video.suffixes import is_image

_DIGITS = re.compile("([0-9]+)")
# File names shown on each side of the fault in an error, which stays one sentence however many files the folder holds.
_SHOWN_EACH_SIDE = 3


def list_images(folder: Path | str, *, pattern: str = "*") -> list[Path]:
    """List the images of a folder whose names match ``pattern``, sorted by name.

    A broken link is listed: leaving it out would shift all frames behind it.

    Raises:
        MediaError: the folder cannot be listed.
    """
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name for entry in entries if is_image(entry.name) and not entry.name.startswith(".") and _is_file(entry)
            ]
    except OSError as error:
        raise MediaError(f"{Path(folder).name} cannot be listed: {error.strerror}") from error
    return [Path(folder, name) for name in sorted(names, key=os.fsencode) if fnmatch.fnmatchcase(name, pattern)]


def _is_file(entry: os.DirEntry[str]) -> bool:
    return entry.is_file() or (entry.is_symlink() and not os.path.exists(entry.path))


def numbered_images(folder: Path | str, *, pattern: str = "*", name: str = "", even_steps: bool = False) -> tuple[Path, ...]:
    """List the images of a folder in the order of their numbers; see the module.

    Args:
        folder: of the images.
        pattern: glob pattern of the file names.
        name: of the folder in errors; by default its own.
        even_steps: accept a constant step other than 1, for layouts that publish every second, fifth ... frame.

    Raises:
        MediaError: the folder cannot be listed, or its names give no clear order.
    """
    return by_number(list_images(folder, pattern=pattern), name=name or Path(folder).name, even_steps=even_steps)


def by_number(paths: Sequence[Path], *, name: str, even_steps: bool = False) -> tuple[Path, ...]:
    """Sort images by their numbers; arguments and errors are those of ``numbered_images``."""
    if len(paths) < 2:
        return tuple(paths)
    numbers = _numbers(paths, name)
    order = sorted(range(len(paths)), key=numbers.__getitem__)
    ordered, counted = [paths[place] for place in order], [numbers[place] for place in order]
    steps = [after - before for before, after in pairwise(counted)]
    usual = min(Counter(steps).most_common(), key=lambda pair: (-pair[1], pair[0]))[0] if even_steps else 1
    for place, step in enumerate(steps):
        if step == 0:
            _refuse(name, f"{ordered[place].name} and {ordered[place + 1].name} have the same number, keep one", ordered, place)
        if step != usual and 0 not in steps:
            rule = f"numbers go in steps of {usual}" if even_steps else "every number counts"
            gap = f"{ordered[place + 1].name} follows {ordered[place].name}, but {rule}: add what is missing or number them anew"
            _refuse(name, gap, ordered, place)
    return tuple(ordered)


def step_of(paths: Sequence[Path]) -> int | None:
    """Step between the numbers of ordered images; None for fewer than two."""
    if len(paths) < 2:
        return None
    first, second = _numbers(paths[:2], "")
    return second - first


def count_alike(first: Sequence[Path], second: Sequence[Path]) -> bool:
    """Whether ordered images belong together place by place: their numbers are the same, or begin at 0 and 1 and go in one step.

    Images of fewer than two have no say.
    """
    if min(len(first), len(second)) < 2:
        return True
    begin, other = (_numbers(paths[:2], "") for paths in (first, second))
    return begin[1] - begin[0] == other[1] - other[0] and (begin[0] == other[0] or {begin[0], other[0]} == {0, 1})


def begin_a_film(paths: Sequence[Path], *, frames: int) -> bool:
    """Whether ordered images are of the first frames of a film of ``frames``, or of all of them.

    Frames of a film that is one file count from 0 or 1, so images that count otherwise are of others unless there is one of each
    frame. Images of fewer than two have no say.
    """
    return len(paths) < 2 or len(paths) == frames or (step_of(paths) == 1 and _numbers(paths[:2], "")[0] <= 1)


def misplaced_as_text(paths: Sequence[Path]) -> tuple[Path, Path] | None:
    """First image that a program sorting names as text would misplace, and the image due at its place; None = no such image."""
    as_text = sorted(paths, key=lambda path: os.fsencode(path.name))
    return next((pair for pair in zip(as_text, paths, strict=True) if pair[0] != pair[1]), None)


def _numbers(paths: Sequence[Path], name: str) -> list[int]:
    """Number of each image: the only number in the names that differs."""
    # macOS stores accented letters decomposed, Linux composed; both spell the same name.
    split = [_DIGITS.split(unicodedata.normalize("NFC", path.stem)) for path in paths]
    around = [tuple(parts[::2]) for parts in split]
    usual = Counter(around).most_common(1)[0][0]
    for path, parts, texts in zip(paths, split, around, strict=True):
        if len(parts) == 1:
            _refuse(name, f"{path.name} has no number: take it out or name it like the others", paths, paths.index(path))
        if texts != usual:
            usual_name = paths[around.index(usual)].name
            _refuse(name, f"{path.name} is not named like {usual_name}: keep one series", paths, paths.index(path))
    columns = list(zip(*(parts[1::2] for parts in split), strict=True))
    varying = [column for column in columns if len(set(column)) > 1]
    if len(varying) > 1:
        differ = next(place for place, parts in enumerate(split) if parts != split[0])
        _refuse(name, f"more than one number differs between {paths[0].name} and {paths[-1].name}: vary one", paths, differ)
    return list(map(int, varying[0] if varying else columns[-1]))


def _refuse(name: str, reason: str, paths: Sequence[Path], place: int) -> NoReturn:
    first = max(place - _SHOWN_EACH_SIDE, 0)
    names = [path.name for path in paths[first : place + 1 + _SHOWN_EACH_SIDE]]
    before, after = "... " * (first > 0), " ..." * (first + len(names) < len(paths))
    raise MediaError(f"{name}: the order of its images is not clear: {reason} ({before}{', '.join(names)}{after})")


def read_image_folder(folder: Path | str, *, pattern: str = "*") -> Frames:
    """Read the images of a folder in the order of their numbers, as ``uint8[T, H, W, 3]``.

    Raises:
        MediaError: no images, no clear order, or images of different sizes.
    """
    images = [read_image(path) for path in numbered_images(folder, pattern=pattern)]
    sizes = {image.shape for image in images}
    if len(sizes) != 1:
        contents = "no images" if not sizes else f"images of {len(sizes)} different sizes"
        raise MediaError(f"{Path(folder).name} holds {contents}")
    return np.stack(images)
