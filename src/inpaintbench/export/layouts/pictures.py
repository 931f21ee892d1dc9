"""Frames and holes as numbered PNG files."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from inpaintbench import video
from inpaintbench.types import Frames, Hole


def write_frames(folder: Path, template: str, frames: Frames) -> None:
    """Write ``uint8[T, H, W, 3]`` as RGB; ``template`` names a file by its number, such as ``frame_%04d.png``."""
    folder.mkdir(parents=True, exist_ok=True)
    for index, frame in enumerate(frames):
        video.write_image(folder / (template % index), frame)


def write_black_holes(folder: Path, template: str, hole: Hole) -> None:
    """Write ``bool[T, H, W]``, one bit a pixel: black where it is hole."""
    folder.mkdir(parents=True, exist_ok=True)
    for index, missing in enumerate(hole):
        video.write_image(folder / (template % index), ~missing)


def write_objects(folder: Path, template: str, mask: Hole) -> None:
    """Write ``bool[T, H, W]`` as RGB: white where the object is."""
    folder.mkdir(parents=True, exist_ok=True)
    for index, inside in enumerate(mask):
        video.write_image(folder / (template % index), np.repeat((inside * np.uint8(255))[..., None], 3, axis=2))


def copy(source: Path, target: Path) -> None:
    """Copy the bytes of a file, and nothing of its times and rights."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
