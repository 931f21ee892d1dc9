"""Write the folder that a program reads, and read the one that it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.errors import MediaError, NotMeasurable
from inpaintbench.eval.adapters.layouts import Layout
from inpaintbench.types import Frames, Hole, Prompts

Picture = npt.NDArray[np.uint8]


def write_input(folder: Path, layout: Layout, frames: Frames, hole: Hole | None) -> None:
    """Write frames and holes into ``folder``, at the size that the layout takes.

    Args:
        folder: an empty folder.
        layout: how.
        frames: ``uint8[T, H, W, 3]``.
        hole: ``bool[T, H, W]``; None where the benchmark hides it: no files of holes then.
    """
    for index, frame in enumerate(frames):
        _write(folder / layout.frame.format(layout.first + index), _resized(frame, layout.size))
    for index, missing in enumerate(() if hole is None else hole):
        _write(folder / layout.hole.format(layout.first + index), _hole_image(_resized_hole(missing, layout.size), layout))


def write_edit(folder: Path, prompts: Prompts, object_mask: Hole | None) -> None:
    """Write ``prompts.json`` and, where there is one, the mask of the object as ``object_mask_0000.png``, white = object."""
    told = {"source": prompts.source, "target": prompts.target}
    (folder / "prompts.json").write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    for index, inside in enumerate(() if object_mask is None else object_mask):
        video.write_image(folder / f"object_mask_{index:04d}.png", inside)


def read_output(folder: Path, layout: Layout, index: int, *, frames: int, height: int, width: int) -> Picture:
    """The filled frame ``index`` (from 0), ``uint8[height, width, 3]``.

    Args:
        folder: where the program wrote.
        layout: how.
        index: which frame.
        frames: how many there have to be.
        height: in pixels, of the frames of the item.
        width: the same.

    Raises:
        NotMeasurable: it is missing, unreadable or of another size.
    """
    path = folder / layout.prediction.format(layout.first + index)
    if not path.exists():
        raise NotMeasurable(f"the program wrote no {path.relative_to(folder)}, wanted {frames} frames")
    try:
        frame = video.read_image(path)
    except MediaError as error:
        raise NotMeasurable(f"the program's {error}") from error
    wanted = layout.size or (width, height)
    if frame.shape != (wanted[1], wanted[0], 3):
        found = f"{frame.shape[1]}x{frame.shape[0]}"
        raise NotMeasurable(f"the program's {path.relative_to(folder)} is {found}, wanted {wanted[0]}x{wanted[1]}")
    return _resized(frame, (width, height))


def _write(path: Path, image: npt.NDArray[np.uint8] | npt.NDArray[np.bool_]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    video.write_image(path, image)


def _hole_image(missing: npt.NDArray[np.bool_], layout: Layout) -> npt.NDArray[np.uint8] | npt.NDArray[np.bool_]:
    bright = missing if layout.hole_level == "white" else ~missing
    if layout.hole_mode == "1":
        return bright
    levels = bright * np.uint8(255)
    return levels if layout.hole_mode == "L" else np.repeat(levels[..., None], 3, axis=2)


def _resized(frame: Picture, size: tuple[int, int] | None) -> Picture:
    if size is None or size == frame.shape[1::-1]:
        return frame
    return np.asarray(cv2.resize(frame, size, interpolation=_filter(frame.shape, size)), np.uint8)


def _resized_hole(missing: npt.NDArray[np.bool_], size: tuple[int, int] | None) -> npt.NDArray[np.bool_]:
    """Every pixel is hole that a missing one has a share in, so that no filling value passes for a picture."""
    if size is None or size == missing.shape[::-1]:
        return missing
    shares = cv2.resize(missing.astype(np.float32), size, interpolation=_filter(missing.shape, size))
    return np.asarray(shares > 0)


def _filter(shape: tuple[int, ...], size: tuple[int, int]) -> int:
    """Means of areas where both sides shrink, else between neighbours; neither has negative shares."""
    return cv2.INTER_AREA if size[0] <= shape[1] and size[1] <= shape[0] else cv2.INTER_LINEAR
