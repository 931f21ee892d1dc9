"""The videos of an edit: folders of frames, video files and GIFs, read where they lie. Nothing is ever written there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.errors import MediaError
from inpaintbench.types import Frames, Hole, Plain

Kind = Literal["frames", "mask"]
# Grey level from which a pixel of a mask belongs to the object where the mask is a video, whose compression blurs the 0 around
# it. In images every level but 0 does, as in EditBoard's released code.
_HALF = 128


def located(path: Path, *, name: str) -> Plain:
    """What to read: ``path``, and the ``files`` of a folder of frames in numeric order; plain data, for a worker.

    Args:
        path: a folder of frames, or a video.
        name: what people call it.

    Raises:
        MediaError: there is nothing, nothing that could be a video, or frames without a clear order.
    """
    if path.is_dir():
        # EditBoard's released code takes whatever names there are, so that every second or fifth frame is a video, too.
        files = video.numbered_images(path, name=repr(name), even_steps=True)
        if not files:
            raise MediaError(f"folder {name!r} has no images ({', '.join(video.IMAGE_SUFFIXES)})")
        return {"path": str(path), "name": name, "files": [str(file) for file in files]}
    if not path.is_file():
        raise MediaError(f"{name!r} does not exist")
    if path.suffix.lower() not in video.VIDEO_SUFFIXES:
        raise MediaError(f"{name!r} is neither a folder of frames nor a video ({', '.join(video.VIDEO_SUFFIXES)})")
    return {"path": str(path), "name": name, "files": []}


def order_note(found: Plain) -> str | None:
    """Where sorting the names of frames as text gives another order, as EditBoard's released code does: which one."""
    pair = video.misplaced_as_text([Path(name) for name in found["files"]])
    if pair is None:
        return None
    return (
        f"frames of {found['name']!r} are taken in numeric order; sorted as text, as in EditBoard's released code, "
        f"{pair[0].name} would stand in the place of {pair[1].name}"
    )


def step(found: Plain) -> int | None:
    """By how much the numbers of frames grow in a folder; None for a video."""
    return video.step_of([Path(name) for name in found.get("files", ())])


def state(found: Plain) -> list[list[Any]]:
    """Name, size and time of change of every file: equal as long as nobody touched them."""
    files = [Path(name) for name in found["files"] or [found["path"]]]
    return [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in files]


def read(found: Plain, *, side_pixels: int | None) -> Frames:
    """All frames, ``uint8[T, H, W, 3]`` RGB, turned as players turn them.

    Args:
        found: from ``located``.
        side_pixels: squash every frame to a square of this side, bilinear, as EditBoard's script does; None = as they are.

    Raises:
        MediaError: damaged, or of several sizes.
    """
    pictures = (_squashed(picture, side_pixels, cv2.INTER_LINEAR) for picture in _pictures(found))
    return np.stack(list(pictures))


def read_mask(found: Plain, *, side_pixels: int | None) -> Hole:
    """Masks, ``bool[T, H, W]``, True = object; squashed by the nearest pixel. Otherwise as ``read``."""
    least = 1 if found["files"] else _HALF
    greys = (np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), np.uint8) for picture in _pictures(found))
    return np.stack([_squashed(grey, side_pixels, cv2.INTER_NEAREST) >= least for grey in greys])


def _pictures(found: Plain) -> Iterator[npt.NDArray[np.uint8]]:
    files: Sequence[str] = found["files"]
    pictures = map(video.read_image, files) if files else _of_video(Path(found["path"]))
    first = None
    for place, picture in enumerate(pictures):
        first = first or picture.shape
        if picture.shape != first:
            name = Path(files[place]).name if files else f"frame {place}"
            raise MediaError(
                f"{name} of {found['name']!r} is {picture.shape[1]}x{picture.shape[0]}, those before it are {first[1]}x{first[0]}"
            )
        yield picture
    if first is None:
        raise MediaError(f"{found['name']!r}: not one frame decodes")


def _of_video(path: Path) -> Iterator[npt.NDArray[np.uint8]]:
    for picture, _ in video.upright_frames(path):
        yield picture


def _squashed(picture: npt.NDArray[np.uint8], side: int | None, how: int) -> npt.NDArray[np.uint8]:
    if side is None or picture.shape[:2] == (side, side):
        return picture
    return np.asarray(cv2.resize(picture, (side, side), interpolation=how), np.uint8)


def digest(frames: npt.NDArray[Any]) -> str:
    """SHA-256, hexadecimal, of an array with its shape and type."""
    told = hashlib.sha256(f"{frames.dtype} {frames.shape}".encode())
    told.update(np.ascontiguousarray(frames).data)
    return told.hexdigest()
