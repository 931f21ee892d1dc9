"""Saved masks of other projects: their files and sequences, and how their values are read as a hole (polarity, objects)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.types import Hole

Polarity = Literal["white_is_hole", "black_is_hole", "detect"]
POLARITIES: tuple[str, ...] = get_args(Polarity)
# Polarity by the look of masks.
Vote = Literal["white_is_hole", "black_is_hole", "unclear"]
VOTES: tuple[str, ...] = get_args(Vote)
# Advice in errors about an unclear polarity.
STATE_IT = "state `polarity` (white_is_hole or black_is_hole)"
# `uint8[T, H, W]`: object numbers, 0 = background, or grey levels.
Values = npt.NDArray[np.uint8]

# Largest value that counts as an object number rather than a grey level.
MOST_OBJECTS = 31
# Value of ignored pixels in some data sets of objects.
VOID = 255
# Values above it are white, where none is stated.
GREY_THRESHOLD = 127
# Share of the outermost pixels that must be of one colour for a guess that it is the known one.
CLEAR_BORDER_SHARE = 0.8
# Share of all pixels that must be of that colour, too.
CLEAR_AREA_SHARE = 0.6


@dataclass(frozen=True)
class Reading:
    """Hole of saved masks, with the interpretation of their values."""

    hole: Hole
    polarity: str
    """``white_is_hole`` or ``black_is_hole``."""
    guessed: bool
    objects: tuple[int, ...]
    """Object numbers in the hole's frames; empty for grey levels."""


def detect_polarity(white: Hole) -> Polarity:
    """Guess the polarity from the masks alone.

    Raises:
        Rejected: it is unclear.
    """
    vote = vote_of(white)
    if vote == "unclear":
        raise Rejected(f"cannot tell whether white or black is the hole ({look_of(white)}): {STATE_IT}")
    return vote


def read_hole_from(
    values: Values,
    *,
    polarity: Polarity = "detect",
    objects: Literal["all"] | int = "all",
    threshold: int | None = None,
    detect: Callable[[Hole], Polarity] = detect_polarity,
) -> Reading:
    """Convert one sequence of saved masks to a hole.

    Args:
        values: stacked results of ``video.read_index_image``.
        polarity: ``detect`` takes objects for the hole, and of grey levels the colour that the border is not.
        objects: number of one object, or all of them. A number makes ``values`` object numbers whatever they look like.
        threshold: values above it are white; by default 127, or 0 for object numbers. 0 for masks where any value above 0 is
            the hole (ProPainter).
        detect: guesses the polarity of grey levels from their white pixels.

    Raises:
        Rejected: no such object, or an unclear polarity.
    """
    present = np.flatnonzero(np.bincount(values.ravel(), minlength=256)).tolist()
    numbers = tuple(value for value in present if 0 < value <= MOST_OBJECTS)
    stated = "white_is_hole" if polarity == "detect" else polarity
    if objects != "all":
        if objects not in present:
            raise Rejected(f"no object {objects} in the masks, they hold the values {', '.join(map(str, present[:12]))}")
        return Reading(_oriented(values == objects, stated), stated, False, (objects,))
    if threshold is None and are_objects(present):
        inside = (values > 0) & (values <= MOST_OBJECTS)
        return Reading(_oriented(inside, stated), stated, False, numbers)
    white = values > (GREY_THRESHOLD if threshold is None else threshold)
    if polarity != "detect":
        return Reading(_oriented(white, polarity), polarity, False, ())
    guess = detect(white)
    return Reading(_oriented(white, guess), guess, True, ())


def are_objects(present: list[int]) -> bool:
    """True if values are object numbers: at least one of 1..31, and no other than 0 and 255 (void)."""
    return any(0 < value <= MOST_OBJECTS for value in present) and not any(MOST_OBJECTS < value < VOID for value in present)


def vote_of(white: Hole) -> Vote:
    """Polarity of masks by the position of their white pixels; see ``vote_by_shares``."""
    return vote_by_shares(*_shares(white))


def vote_by_shares(area: float, border: float) -> Vote:
    """Polarity of masks whose pixels are white by a share of ``area``, the outermost ones by a share of ``border``.

    Holes are mostly objects inside the picture, so the colour of at least 80 % of the outermost pixels and of at least 60 %
    of all pixels, over all frames, counts as known. Otherwise masks are ``unclear``: a rule that always decides would invert
    large free-form holes. Masks of one colour are ``unclear``, too.
    """
    if 0 < area <= 1 - CLEAR_AREA_SHARE and border <= 1 - CLEAR_BORDER_SHARE:
        return "white_is_hole"
    if 1 > area >= CLEAR_AREA_SHARE and border >= CLEAR_BORDER_SHARE:
        return "black_is_hole"
    return "unclear"


def look_of(white: Hole) -> str:
    """Description of masks, for errors."""
    area, border = _shares(white)
    if area in (0, 1):
        return f"all pixels are {'white' if area else 'black'}"
    return f"{area:.0%} of the pixels and {border:.0%} of the border are white"


def outermost(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Pixels at the four edges of ``[T, H, W]``, flattened."""
    edges = [values[:, 0], values[:, -1], values[:, 1:-1, 0], values[:, 1:-1, -1]]
    return np.concatenate([edge.ravel() for edge in edges])


def _shares(white: Hole) -> tuple[float, float]:
    return float(white.mean()), float(outermost(white).mean())


def _oriented(inside: Hole, polarity: str) -> Hole:
    return ~inside if polarity == "black_is_hole" else inside


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
    files = [(name, path) for name, paths in sequences.items() for path in paths]
    count = min(SAMPLE, len(files))
    sample = [files[place * len(files) // count] for place in range(count)]
    stats = [path.stat() for _, path in sample]  # by which the cache notices changes
    votes = _votes(tuple(sample), threshold, tuple((stat.st_size, stat.st_mtime_ns) for stat in stats))
    voters = {polarity: [name for name, vote in votes if vote == polarity] for _, polarity in votes}
    white, black = voters.get("white_is_hole", []), voters.get("black_is_hole", [])
    if white and black:
        raise Rejected(f"masks {white[0]!r} look as if white were the hole, but {black[0]!r} as if black were: {STATE_IT}")
    if len(white or black) < LEAST_SHARE * len(votes) or not votes:
        return "unclear"
    return "white_is_hole" if white else "black_is_hole"


@lru_cache(maxsize=16)
def _votes(
    sample: tuple[tuple[str, Path], ...],
    threshold: int | None,
    stats: tuple[tuple[int, int], ...],  # noqa: ARG001 - files may change
) -> tuple[tuple[str, Vote], ...]:
    """Vote of every sequence of the sample that has one."""
    pixels: dict[str, Counts] = {}
    borders: dict[str, Counts] = {}
    for name, path in sample:
        try:
            image = video.read_index_image(path)
        except MediaError:  # reported when that mask itself is rendered
            continue
        pixels[name] = pixels.get(name, 0) + _counts(image)
        borders[name] = borders.get(name, 0) + _counts(outermost(image[None]))
    votes = []
    for name, counts in pixels.items():
        above = (GREY_THRESHOLD if threshold is None else threshold) + 1
        area, border = (float(of[above:].sum() / of.sum()) for of in (counts, borders[name]))
        has_objects = threshold is None and are_objects(np.flatnonzero(counts).tolist())
        if 0 < area < 1 and not has_objects:
            votes.append((name, vote_by_shares(area, border)))
    return tuple(votes)


def _counts(values: npt.NDArray[np.uint8]) -> Counts:
    return np.bincount(values.ravel(), minlength=256)


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
    known_name("mask layout", layout, LAYOUTS)
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
    by_name: dict[str, tuple[Path, ...]] = {}
    for file in files:
        if file.stem in by_name:
            raise InputError(f"two masks are called {file.stem!r}: {by_name[file.stem][0].name} and {file.name}")
        by_name[file.stem] = (file,)
    return _require_any(by_name, folder, "images")


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
