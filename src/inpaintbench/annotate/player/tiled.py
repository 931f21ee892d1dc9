"""Videos of others as one file for browsers: every frame holds all pictures, so players that draw from it cannot drift apart."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import video
from inpaintbench.annotate.preparing.pictures import Grid, Picture, layout
from inpaintbench.errors import InputError, MediaError
from inpaintbench.files import file_sha256
from inpaintbench.types import canonical_json

# One file a label. A list is labelled A, B, C ...
Videos = Mapping[str, Path | str] | Sequence[Path | str]
# Candidates are named by letters.
MOST_VIDEOS = 26
# Of the file names, so that another layout makes files anew.
VERSION = "1"
# Share by which the shapes of two videos may differ: sides of scaled videos are rounded.
_SHAPE_TOLERANCE = 0.01
# Longest side of one picture, pixels: what one player of several ever shows.
LARGEST_SIDE = 960


@dataclass(frozen=True)
class Tiled:
    """A file and where each video lies in it."""

    path: Path
    media: dict[str, Any]
    """``kind``, ``fps``, ``frames``, ``width``, ``height``."""
    players: list[dict[str, Any]]
    """``role`` (candidate or original), ``place`` of candidates, ``label``, ``x``, ``y``, ``width``, ``height``: pixels."""

    @property
    def mime_type(self) -> str:
        """Of the file."""
        return "image/png" if video.is_image(self.path) else "video/mp4"


def tiled(videos: Videos, *, folder: Path, original: str | None = None, largest_side: int = LARGEST_SIDE) -> Tiled:
    """The videos in one file, made once for the same files.

    Args:
        videos: by label, or a list whose labels are A, B, C ...; images count as videos of one frame.
        folder: where the file is put, under a name of its content.
        original: label of the one that the others are compared with; it stands after them.
        largest_side: no picture is larger, pixels; and none larger than the smallest of the videos.

    Raises:
        InputError: no or too many videos, no video is called ``original``, or they differ in shape, length or frame rate.
        MediaError: one cannot be read.
    """
    paths = _by_label(videos, original)
    probes = {label: _probed(path, label) for label, path in paths.items()}
    first_label, first = next(iter(probes.items()))
    sizes = [
        (probe.height, probe.width) if probe.rotation_degrees % 180 else (probe.width, probe.height) for probe in probes.values()
    ]
    for (label, probe), (width, height) in zip(probes.items(), sizes, strict=True):
        if probe.frames != first.frames:
            raise InputError(
                f"{label!r} has {probe.frames} frames and {first_label!r} has {first.frames}; cut them to one length"
            )
        if round(probe.fps, 3) != round(first.fps, 3):
            raise InputError(f"{label!r} has {probe.fps:g} frames a second and {first_label!r} has {first.fps:g}")
        if abs(width / height * sizes[0][1] / sizes[0][0] - 1) > _SHAPE_TOLERANCE:
            raise InputError(f"{label!r} is {width}x{height} and {first_label!r} is {sizes[0][0]}x{sizes[0][1]}: not one shape")
    smallest = min(sizes)
    grid = layout(len(paths), width=smallest[0], height=smallest[1], largest_side=largest_side)
    fps = first.fps if first.fps > 0 else 1.0
    named = hashlib.sha256(canonical_json([VERSION, largest_side, [file_sha256(path) for path in paths.values()]]).encode())
    path = folder / f"comparison-{named.hexdigest()[:32]}{video.suffix_for(first.frames)}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        # The suffix says how it is written.
        with tempfile.TemporaryDirectory(dir=folder, prefix=".") as unfinished:
            made = Path(unfinished) / path.name
            _write(made, _sheets(list(paths.values()), grid), fps=fps)
            made.replace(path)
    media = {
        "kind": "image" if first.frames == 1 else "video",
        "fps": fps,
        "frames": first.frames,
        "width": grid.size[0],
        "height": grid.size[1],
    }
    return Tiled(path, media, [_player(label, index, grid, original) for index, label in enumerate(paths)])


def _by_label(videos: Videos, original: str | None) -> dict[str, Path]:
    """The files with the original last, so that places of candidates count from 0."""
    if isinstance(videos, str | Path):
        raise InputError(f"{str(videos)!r} is one video; name several, as a list or by label")
    given = videos if isinstance(videos, Mapping) else {chr(ord("A") + place): path for place, path in enumerate(videos)}
    if not 0 < len(given) <= MOST_VIDEOS:
        raise InputError(f"{len(given)} videos cannot be compared; name 1 to {MOST_VIDEOS}")
    if original is not None and original not in given:
        raise InputError(f"no video is called {original!r}; there are {', '.join(map(repr, given))}")
    return {label: Path(given[label]) for label in sorted(given, key=lambda label: label == original)}


def _probed(path: Path, label: str) -> video.Probe:
    if not path.is_file():
        raise InputError(f"{label!r}: there is no file {str(path)!r}")
    try:
        return video.probe(path)
    except MediaError as error:
        raise MediaError(f"{label!r}, {path.name}: {error}") from error


def _player(label: str, index: int, grid: Grid, original: str | None) -> dict[str, Any]:
    x, y = grid.place(index)
    role = {"role": "original", "place": None} if label == original else {"role": "candidate", "place": index}
    return {**role, "label": label, "x": x, "y": y, "width": grid.tile[0], "height": grid.tile[1]}


def _sheets(paths: Sequence[Path], grid: Grid) -> Iterator[Picture]:
    for pictures in zip(*(video.upright_frames(path, hdr="tone_map") for path in paths), strict=True):
        yield grid.sheet([picture for picture, _ in pictures])


def _write(path: Path, sheets: Iterator[Picture], *, fps: float) -> None:
    if video.is_image(path):
        video.write_lossless(path, np.stack(list(sheets)), fps=fps)
    else:
        video.write_browser(path, sheets, fps=fps)
