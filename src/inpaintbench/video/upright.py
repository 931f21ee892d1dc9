"""Frames as players show them: rotated, converted to BT.709 RGB, and resampled to a constant frame rate on request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError, MediaError
from inpaintbench.video import colour
from inpaintbench.video.decoding import FALLBACK_RATE, Decoder
from inpaintbench.video.hdr import tone_mapped
from inpaintbench.video.images import read_image
from inpaintbench.video.suffixes import is_image

# Treatments of high dynamic range: refuse it, or tone-map it to BT.709 (see `hdr`).
HDR_POLICIES = ("exclude", "tone_map")
# Rows and columns are swapped, then columns are reversed, then rows are.
Orientation = tuple[bool, bool, bool]
# Containers round timestamps to a millisecond.
_SAME_TIME_SECONDS = 1e-3


def orientation(frame: Any) -> Orientation:
    """Orientation of a decoded frame by its display matrix, to the nearest right angle.

    Returns:
        True if rows and columns are swapped, then if columns are reversed, then if rows are, to set the frame upright.
    """
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return False, False, False
    a, b, _, c, d = np.frombuffer(bytes(matrix), np.int32)[:5].tolist()
    swapped = abs(b) + abs(c) > abs(a) + abs(d)
    return (True, c < 0, b < 0) if swapped else (False, a < 0, d < 0)


class Orientations:
    """Cache of ``orientation``, with one entry for each rotation in a stream.

    Reading the matrix puts a frame into a reference cycle, which is freed late: done for every frame, memory grows by gigabytes
    an hour.
    """

    def __init__(self) -> None:
        self._known: dict[int, Orientation] = {}

    def of(self, frame: Any) -> Orientation:
        """Return ``orientation(frame)``, cached."""
        degrees = int(frame.rotation)
        if degrees not in self._known:
            self._known[degrees] = orientation(frame)
        return self._known[degrees]


def rotation(frame: Any) -> tuple[int, bool]:
    """Counter-clockwise rotation by players in degrees (0, 90, 180, 270), and True if they mirror left to right before it."""
    swapped, columns, rows = orientation(frame)
    mirrored = swapped == (columns == rows)
    if mirrored:
        return (90 + 180 * rows if swapped else 180 * rows), True
    return (90 if rows else 270) if swapped else 180 * rows, False


def upright(frame: Any, *, hdr: str = "exclude", orientations: Orientations | None = None) -> npt.NDArray[np.uint8]:
    """RGB of a decoded PyAV frame, ``uint8[H, W, 3]``, rotated as players do, composited over black where transparent.

    Untagged frames are taken for BT.709 from 720 lines or 1280 columns up, else for BT.601, in limited range. ``orientations`` is
    one object for all frames of a stream.

    Raises:
        MediaError: the frame is HDR, and ``hdr`` is ``exclude``.
    """
    kind = colour.hdr_kind(frame)
    if kind != "none" and hdr == "exclude":
        raise MediaError(f"is HDR ({kind}): choose tone mapping, or leave it out")
    pixels = colour.rgb(frame) if kind == "none" else tone_mapped(frame)
    return rotated(pixels, orientations.of(frame) if orientations else orientation(frame))


def rotated(pixels: npt.NDArray[np.uint8], orientation: Orientation) -> npt.NDArray[np.uint8]:
    """Rotate ``uint8[h, w, 3]`` upright by the result of ``orientation``."""
    swapped, columns, rows = orientation
    if swapped:
        pixels = pixels.transpose(1, 0, 2)
    return np.ascontiguousarray(pixels[:: -1 if rows else 1, :: -1 if columns else 1])


def upright_frames(
    path: Path | str, *, fps: float | None = None, hdr: str = "exclude", decoder: Decoder | None = None
) -> Iterator[tuple[npt.NDArray[np.uint8], bool]]:
    """Iterate over the frames, rotated as players do.

    Args:
        path: a video or an image.
        fps: constant rate to resample to, by timestamps: frame k is the one on screen ``k / fps`` seconds after the first. The
            last frame repeats without end, so that the caller takes the ``frames_at`` first ones. By default every frame once.
        hdr: one of ``HDR_POLICIES``.
        decoder: of the video, where somebody else wants to know what it tells; by default one of its own.

    Yields:
        ``uint8[H, W, 3]`` RGB, and True if rotation swapped width and height.

    Raises:
        InputError: ``hdr`` is not one of ``HDR_POLICIES``.
        MediaError: the video is HDR, and ``hdr`` is ``exclude``.
    """
    if hdr not in HDR_POLICIES:
        raise InputError(f"unknown way to treat HDR {hdr!r}, choose from {', '.join(HDR_POLICIES)}")
    if is_image(path):
        yield read_image(path), False
        return
    orientations = Orientations()
    decoder = decoder or Decoder(path)
    for frame in iter(decoder) if fps is None else _retimed(decoder, fps):
        yield upright(frame, hdr=hdr, orientations=orientations), orientations.of(frame)[0]


def _retimed(decoder: Decoder, fps: float) -> Iterator[Any]:
    shown, first, count = None, 0.0, 0
    for index, frame in enumerate(decoder):
        seconds = index / (decoder.header_rate or FALLBACK_RATE) if frame.pts is None else float(frame.pts * frame.time_base)
        if shown is None:
            shown, first = frame, seconds
        while count / fps < seconds - first - _SAME_TIME_SECONDS:
            yield shown
            count += 1
        shown = frame
    while shown is not None:
        yield shown


def frames_at(duration_seconds: float, fps: float) -> int:
    """Number of frames of a video of that duration at a constant rate, at least 1."""
    return max(1, int((duration_seconds + _SAME_TIME_SECONDS) * fps))
