"""Folders of masks that other projects made: which sequences they hold, and the files of each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError

Layout = Literal["auto", "sequences", "sequence", "images"]
LAYOUTS: tuple[str, ...] = get_args(Layout)
_NAMED_MASK = re.compile(r"_mask(?![a-z])", re.IGNORECASE)
_MOST_STEP = 10
"""Largest gap between the frame numbers of a sequence (YouTube-VOS labels every fifth frame)."""


def list_sequences(folder: Path | str, *, layout: Layout = "auto") -> list[str]:
    """The names of the sequences and single masks in ``folder``, sorted. Raises what ``sequence_files`` raises."""
    return list(sequence_files(folder, layout=layout))


def sequence_files(folder: Path | str, *, layout: Layout = "auto") -> Mapping[str, tuple[Path, ...]]:
    """The files of every sequence in ``folder``, frames in natural order (frame 10 after frame 9).

    Args:
        folder: where masks lie.
        layout: ``sequences``: a folder each, named by it (DAVIS, YouTube-VOS). ``sequence``: the images are the frames of one
            sequence, named by the folder (ProPainter). ``images``: each is a mask of its own, named by its file without the
            ending (LaMa). Of files beside each other those with ``_mask`` in their names count, where there are any.
            ``auto``: ``sequences`` where subfolders hold images; else ``sequence`` where names end in evenly spaced
            numbers of equal length, such as 00000, 00005; else ``images``.

    Raises:
        InputError: no such folder, or no images in that layout.
        UnknownNameError: no such layout.
    """
    if layout not in LAYOUTS:
        raise UnknownNameError(unknown_name("mask layout", layout, list(LAYOUTS)))
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"no folder of masks at {folder}")
    if layout in ("auto", "sequences"):
        found = {path.name: _images(path) for path in sorted(root.iterdir()) if path.is_dir() and not path.name.startswith(".")}
        found = {name: files for name, files in found.items() if files}
        if found or layout == "sequences":
            return _some(found, folder, "subfolders with images")
    files = _images(root)
    if files and (layout == "sequence" or (layout == "auto" and _are_frames(files))):
        return {root.resolve().name: files}
    return _some(_single(files), folder, "images")


def content_of(paths: Iterable[Path]) -> str:
    """16 hex digits that change with the name or a byte of any of the files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode(errors="surrogateescape") + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _some(found: Mapping[str, tuple[Path, ...]], folder: Path | str, what: str) -> Mapping[str, tuple[Path, ...]]:
    if not found:
        raise InputError(f"{folder} holds no {what}: give the folder that masks or folders of masks lie in")
    return found


def _single(files: tuple[Path, ...]) -> Mapping[str, tuple[Path, ...]]:
    by_name: dict[str, tuple[Path, ...]] = {}
    for file in files:
        if file.stem in by_name:
            raise InputError(f"two masks are called {file.stem!r}: {by_name[file.stem][0].name} and {file.name}")
        by_name[file.stem] = (file,)
    return by_name


def _images(folder: Path) -> tuple[Path, ...]:
    found = [path for path in folder.iterdir() if video.is_image(path) and not path.name.startswith(".") and path.is_file()]
    masks = [path for path in found if _NAMED_MASK.search(path.stem)]
    return tuple(sorted(masks or found, key=_natural))


def _natural(path: Path) -> tuple[tuple[str, int], ...]:
    """Digits compare as numbers; the whole name breaks ties."""
    parts = re.findall(r"(\D*)(\d*)", path.name)
    return (*((text, int(digits or 0)) for text, digits in parts), (path.name, 0))


def _are_frames(files: tuple[Path, ...]) -> bool:
    # `a_mask000` is a mask of the image `a` (LaMa); `frame_000_mask` is a frame.
    stems = [re.sub(r"_mask$", "", path.stem, flags=re.IGNORECASE) for path in files]
    found = [re.fullmatch(r"(.*?)(\d+)", stem) for stem in stems]
    if len(files) < 2 or any(match is None or "_mask" in match[1].lower() for match in found):
        return False
    prefixes = {match[1] for match in found if match}
    digits = [match[2] for match in found if match]
    steps = {int(after) - int(before) for before, after in pairwise(digits)}
    return len(prefixes) == 1 and len({len(text) for text in digits}) == 1 and len(steps) == 1 and max(steps) <= _MOST_STEP
