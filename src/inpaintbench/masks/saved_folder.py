"""Folders of saved masks from other projects: their sequences and files, and their polarity (white or black is the hole)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, MediaError, Rejected, UnknownNameError
from inpaintbench.masks.saved_polarity import GREY_THRESHOLD, STATE_IT, Vote, are_objects, outermost, vote_by_shares

# Largest number of masks of a folder that are read.
SAMPLE = 50
# Of the sampled sequences that are not of one colour; a single clear one must not decide for a folder of free-form masks.
LEAST_SHARE = 0.5
# Histogram of pixel values, `int64[256]`.
Counts = npt.NDArray[np.int64]


def folder_polarity(sequences: Mapping[str, Sequence[Path]], *, threshold: int | None = None) -> Vote:
    """Polarity of a folder by a vote of its masks.

    Up to 50 masks, evenly spaced in the order of ``sequences``, are read; the masks of a sequence have one vote, and object
    numbers, files that cannot be read and masks of one colour have none. At least half of the votes must agree.

    Args:
        sequences: result of ``saved_sequences.sequence_files``.
        threshold: values above it are white; by default 127.

    Raises:
        Rejected: some masks contradict others.
    """
    votes = _votes(_sampled(sequences), threshold)
    voters = {polarity: [name for name, vote in votes if vote == polarity] for _, polarity in votes}
    white, black = voters.get("white_is_hole", []), voters.get("black_is_hole", [])
    if white and black:
        raise Rejected(f"masks {white[0]!r} look as if white were the hole, but {black[0]!r} as if black were: {STATE_IT}")
    if len(white or black) < LEAST_SHARE * len(votes) or not votes:
        return "unclear"
    return "white_is_hole" if white else "black_is_hole"


def _sampled(sequences: Mapping[str, Sequence[Path]]) -> tuple[tuple[str, Path, int, int], ...]:
    """Sampled files as (sequence, file, size in bytes, modification time); the last two make the cache notice changes."""
    files = [(name, path) for name, paths in sequences.items() for path in paths]
    count = min(SAMPLE, len(files))
    sample = [files[place * len(files) // count] for place in range(count)]
    return tuple((name, path, path.stat().st_size, path.stat().st_mtime_ns) for name, path in sample)


@lru_cache(maxsize=16)
def _votes(sample: tuple[tuple[str, Path, int, int], ...], threshold: int | None) -> tuple[tuple[str, Vote], ...]:
    """Vote of every sequence of the sample that has one."""
    pixels: dict[str, Counts] = {}
    borders: dict[str, Counts] = {}
    for name, path, _, _ in sample:
        try:
            image = video.read_index_image(path)
        except MediaError:  # reported when that mask itself is rendered
            continue
        pixels[name] = pixels.get(name, 0) + _counts(image)
        borders[name] = borders.get(name, 0) + _counts(outermost(image[None]))
    shares = {name: (_white(pixels[name], threshold), _white(borders[name], threshold)) for name in pixels}
    voting = [name for name in pixels if 0 < shares[name][0] < 1 and not _has_objects(pixels[name], threshold)]
    return tuple((name, vote_by_shares(*shares[name])) for name in voting)


def _counts(values: npt.NDArray[np.uint8]) -> Counts:
    return np.bincount(values.ravel(), minlength=256)


def _white(counts: Counts, threshold: int | None) -> float:
    return float(counts[(GREY_THRESHOLD if threshold is None else threshold) + 1 :].sum() / counts.sum())


def _has_objects(counts: Counts, threshold: int | None) -> bool:
    return threshold is None and are_objects(np.flatnonzero(counts).tolist())


Layout = Literal["auto", "pictures", "sequences", "sequence", "images"]
LAYOUTS: tuple[str, ...] = get_args(Layout)
# `_mask` at the end of a word: `a_mask000` and `a_mask`, not `a_masked`.
_NAMED_MASK = re.compile(r"_mask(?![a-z])", re.IGNORECASE)
# Largest gap between the frame numbers of a sequence (YouTube-VOS labels every fifth frame).
_MOST_STEP = 10


def list_sequences(folder: Path | str, *, layout: Layout = "auto") -> list[str]:
    """List the names of the sequences and single masks in ``folder``, sorted; errors as ``sequence_files``."""
    return list(sequence_files(folder, layout=layout))


def sequence_files(folder: Path | str, *, layout: Layout = "auto") -> Mapping[str, tuple[Path, ...]]:
    """List the files of every sequence in ``folder``, frames in the order of ``video.images``.

    Args:
        folder: of the masks.
        layout: ``sequences``: a folder each, named by it (DAVIS, YouTube-VOS). ``sequence``: the images are the frames of one
            sequence, named by the folder (ProPainter). ``images``: each is a mask of its own, named by its file without the
            ending (LaMa). Of files beside each other those with ``_mask`` in their names count, where there are any.
            ``auto``: ``sequences`` where subfolders hold images; else ``sequence`` where names end in numbers at most 10
            apart, such as 00000, 00005, with more there than missing; else ``images``. ``pictures``: ``sequences`` where
            subfolders hold images, else ``images``: numbered pictures are no film.

    Raises:
        InputError: no such folder, no images in that layout, or a sequence without a clear order, such as one with a gap.
        UnknownNameError: no such layout.
    """
    if layout not in LAYOUTS:
        raise UnknownNameError(unknown_name("mask layout", layout, list(LAYOUTS)))
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"no folder of masks at {folder}")
    if layout in ("auto", "pictures", "sequences"):
        folders = sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
        sequences = {path.name: _ordered(files, path.name) for path in folders if (files := _images(path))}
        if sequences or layout == "sequences":
            return _require_any(sequences, folder, "subfolders with images")
    files = _images(root)
    if files and (layout == "sequence" or (layout == "auto" and _are_frames(files))):
        way_out = "; `layout=images` takes each for a mask of its own"
        return {root.resolve().name: _ordered(files, root.resolve().name, way_out=way_out)}
    return _require_any(_single(files), folder, "images")


def content_of(paths: Iterable[Path]) -> str:
    """Hash of the names and contents of files, 16 hex digits."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode(errors="surrogateescape") + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _require_any(sequences: Mapping[str, tuple[Path, ...]], folder: Path | str, kind: str) -> Mapping[str, tuple[Path, ...]]:
    if not sequences:
        raise InputError(f"{folder} holds no {kind}: give the folder that masks or folders of masks lie in")
    return sequences


def _single(files: Sequence[Path]) -> Mapping[str, tuple[Path, ...]]:
    by_name: dict[str, tuple[Path, ...]] = {}
    for file in files:
        if file.stem in by_name:
            raise InputError(f"two masks are called {file.stem!r}: {by_name[file.stem][0].name} and {file.name}")
        by_name[file.stem] = (file,)
    return by_name


def _images(folder: Path) -> list[Path]:
    images = video.list_images(folder)
    return [path for path in images if _NAMED_MASK.search(path.stem)] or images


def _ordered(files: Sequence[Path], name: str, *, way_out: str = "") -> tuple[Path, ...]:
    try:
        return video.by_number(files, name=f"masks {name!r}", even_steps=True)  # YouTube-VOS labels every fifth frame
    except MediaError as error:
        raise InputError(f"{error}{way_out}") from error


def _are_frames(files: Sequence[Path]) -> bool:
    """True if masks of one folder are the frames of one sequence, perhaps with some missing."""
    # `a_mask000` is a mask of the image `a` (LaMa); `frame_000_mask` is a frame.
    stems = [re.sub(r"_mask$", "", path.stem, flags=re.IGNORECASE) for path in files]
    matches = [re.fullmatch(r"(.*?)([0-9]+)", stem) for stem in stems]
    if len(files) < 2 or any(match is None or "_mask" in match[1].lower() for match in matches):
        return False
    numbers = sorted(int(match[2]) for match in matches if match)
    steps = {after - before for before, after in pairwise(numbers)}
    if len({match[1] for match in matches if match}) > 1 or min(steps) > _MOST_STEP:
        return False
    if len(steps) == 1 and 0 not in steps:
        return True
    # More present than missing: frames with a gap, which `_ordered` reports; unrelated pictures have numbers far apart.
    return 2 * len(set(numbers)) > (numbers[-1] - numbers[0]) // min(steps - {0}, default=1) + 1
