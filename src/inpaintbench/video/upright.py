"""Frames as players show them: turned, in the right colours, at a constant rate where one is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError, MediaError
from inpaintbench.video import colour
from inpaintbench.video.decoding import Decoder
from inpaintbench.video.hdr import tone_mapped
from inpaintbench.video.images import is_image, read_image

# What is done with high dynamic range: refuse it, or bring it to BT.709 (see `hdr`).
HDR_POLICIES = ("exclude", "tone_map")
Way = tuple[bool, bool, bool]
# Containers round timestamps to a millisecond.
_SAME_TIME_SECONDS = 1e-3
_FALLBACK_RATE = 30.0


def orientation(frame: Any) -> Way:
    """How a decoded frame is set upright by its display matrix, to the nearest right angle.

    Returns:
        Whether rows and columns change places, and then whether columns and rows are reversed.
    """
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return False, False, False
    a, b, _, c, d = np.frombuffer(bytes(matrix), np.int32)[:5].tolist()
    swapped = abs(b) + abs(c) > abs(a) + abs(d)
    return (True, c < 0, b < 0) if swapped else (False, a < 0, d < 0)


class Orientations:
    """``orientation``, looked up once for each rotation in a stream.

    Reading the matrix ties a frame to itself, so it is freed late: done for every frame, memory grows by gigabytes an hour.
    """

    def __init__(self) -> None:
        self._known: dict[int, Way] = {}

    def of(self, frame: Any) -> Way:
        """As ``orientation`` gives it."""
        degrees = int(frame.rotation)
        if degrees not in self._known:
            self._known[degrees] = orientation(frame)
        return self._known[degrees]


def rotation(frame: Any) -> tuple[int, bool]:
    """How far players turn a frame counter-clockwise (0, 90, 180, 270), after mirroring it left to right where True."""
    swapped, columns, rows = orientation(frame)
    mirrored = swapped == (columns == rows)
    if mirrored:
        return (90 + 180 * rows if swapped else 180 * rows), True
    return (90 if rows else 270) if swapped else 180 * rows, False


def upright(frame: Any, *, hdr: str = "exclude", orientations: Orientations | None = None) -> npt.NDArray[np.uint8]:
    """A decoded PyAV frame as ``uint8[H, W, 3]`` RGB, turned as players turn it; what is transparent lies over black.

    Untagged pictures are taken for BT.709 from 720 lines or 1280 columns up, else for BT.601, in limited range.
    Pass the same ``orientations`` for all frames of a stream.

    Raises:
        MediaError: the frame is HDR, and ``hdr`` is ``exclude``.
    """
    kind = colour.hdr_kind(frame)
    if kind != "none" and hdr == "exclude":
        raise MediaError(f"is HDR ({kind}): choose tone mapping, or leave it out")
    pixels = colour.rgb(frame) if kind == "none" else tone_mapped(frame)
    return turned(pixels, orientations.of(frame) if orientations else orientation(frame))


def turned(pixels: npt.NDArray[np.uint8], way: Way) -> npt.NDArray[np.uint8]:
    """``uint8[h, w, 3]`` set upright in the way that ``orientation`` gave."""
    swapped, columns, rows = way
    if swapped:
        pixels = pixels.transpose(1, 0, 2)
    return np.ascontiguousarray(pixels[:: -1 if rows else 1, :: -1 if columns else 1])


def upright_frames(
    path: Path | str, *, fps: float | None = None, hdr: str = "exclude"
) -> Iterator[tuple[npt.NDArray[np.uint8], bool]]:
    """Every frame, turned as players turn it, and whether width and height changed places in that.

    Args:
        path: a video or an image.
        fps: show the video at this constant rate, by timestamps: frame k is the one on screen ``k / fps`` seconds after the
            first, and the last one stays for good, so take as many as ``frames_at`` says. By default every frame once.
        hdr: one of ``HDR_POLICIES``.

    Yields:
        ``uint8[H, W, 3]`` RGB and a flag.

    Raises:
        MediaError: the video is HDR, and ``hdr`` is ``exclude``.
    """
    if hdr not in HDR_POLICIES:
        raise InputError(f"unknown way to treat HDR {hdr!r}, choose from {', '.join(HDR_POLICIES)}")
    if is_image(path):
        yield read_image(path), False
        return
    orientations = Orientations()
    for frame in iter(Decoder(path)) if fps is None else _retimed(path, fps):
        yield upright(frame, hdr=hdr, orientations=orientations), orientations.of(frame)[0]


def _retimed(path: Path | str, fps: float) -> Iterator[Any]:
    held, first, given = None, 0.0, 0
    decoder = Decoder(path)
    for index, frame in enumerate(decoder):
        seconds = index / (decoder.header_rate or _FALLBACK_RATE) if frame.pts is None else float(frame.pts * frame.time_base)
        if held is None:
            held, first = frame, seconds
        while given / fps < seconds - first - _SAME_TIME_SECONDS:
            yield held
            given += 1
        held = frame
    while held is not None:
        yield held


def frames_at(duration_seconds: float, fps: float) -> int:
    """How many frames a video of that duration has at a constant rate."""
    return max(1, int((duration_seconds + _SAME_TIME_SECONDS) * fps))
