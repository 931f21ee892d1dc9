"""Backgrounds of prints: procedural materials by name, and photographs of the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.errors import InputError, MediaError
from inpaintbench.wings.chalearn.degradations.broken import cracks, leather, saturated_colour
from inpaintbench.wings.chalearn.degradations.grained import brushed_metal, fabric, paper, wood
from inpaintbench.wings.chalearn.degradations.planes import Rgb

# Longer side, pixels, that lengths of materials refer to; they grow with the picture, as in photographs.
REFERENCE_SIDE = 400
# Least pixels per unit of length; below it textures would be finer than a pixel.
LEAST_UNIT = 0.2
MATERIALS: Mapping[str, Callable[..., Rgb]] = {
    "paper": paper,
    "wood": wood,
    "brushed_metal": brushed_metal,
    "fabric": fabric,
    "cracks": cracks,
    "leather": leather,
    "saturated_colour": saturated_colour,
}


def draw_material(kind: str, height: int, width: int, *, rng: np.random.Generator) -> Rgb:
    """Draw the material ``kind``, one of ``MATERIALS``, ``uint8[height, width, 3]``; no part of it repeats."""
    return MATERIALS[kind](height, width, unit=max(max(height, width) / REFERENCE_SIDE, LEAST_UNIT), rng=rng)


def list_photographs(folder: str) -> tuple[Path, ...]:
    """List the pictures in a folder and its subfolders, sorted.

    Raises:
        InputError: no such folder, or no pictures in it.
    """
    if not Path(folder).is_dir():
        raise InputError(f"folder of backgrounds {folder!r} is not a folder: give one that holds pictures")
    pictures = (path for path in Path(folder).rglob("*") if path.is_file() and video.is_image(path))
    paths = tuple(sorted(path for path in pictures if not video.is_hidden(path.relative_to(folder))))
    if not paths:
        endings = ", ".join(video.IMAGE_SUFFIXES)
        raise InputError(f"folder of backgrounds {folder!r} holds no pictures: put some in it ({endings})")
    return paths


def check_photographs(folder: str) -> None:
    """Check that every picture in a folder of backgrounds can be read.

    Raises:
        InputError: no folder, no pictures, or one cannot be read; it is named.
    """
    for path in list_photographs(folder):
        read_photograph(path)


def read_photograph(path: Path) -> Rgb:
    """Read a picture, ``uint8[H, W, 3]``.

    Raises:
        InputError: it cannot be read; it is named.
    """
    try:
        return video.read_image(path)
    except MediaError as error:
        raise InputError(f"background {error}: remove it from its folder or replace it") from error


def fit_photograph(picture: Rgb, height: int, width: int, *, smooth: bool, rng: np.random.Generator) -> Rgb:
    """Crop the largest part of ``picture`` with the aspect ratio of ``height`` x ``width`` at a random position, and resize it.

    ``smooth`` resamples by area averaging or cubic interpolation; without it by nearest neighbour, as in the challenge.
    """
    rows, columns = picture.shape[:2]
    scale = min(rows / height, columns / width)
    down, across = (max(1, min(round(side * scale), room)) for side, room in ((height, rows), (width, columns)))
    top, left = round(float(rng.random()) * (rows - down)), round(float(rng.random()) * (columns - across))
    part = np.ascontiguousarray(picture[top : top + down, left : left + across])
    resampling = cv2.INTER_NEAREST_EXACT if not smooth else cv2.INTER_AREA if scale > 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(part, (width, height), interpolation=resampling), np.uint8)
