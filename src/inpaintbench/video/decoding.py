"""Open and decode: what a file holds, and its frames."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import MediaError
from inpaintbench.types import Frames, Hole, Luma
from inpaintbench.video.images import is_image, read_image, reason

_SUFFIXES = "3gp avi flv gif m2ts m4v mkv mov mp4 mpeg mpg mts mxf ogv ts webm wmv y4m"
VIDEO_SUFFIXES = tuple(f".{name}" for name in _SUFFIXES.split(" "))
"""Lower-case file name endings that are taken for video."""
STILL_FPS = 1.0
"""Frame rate that a still image is recorded with."""
_SAME_TIME_SECONDS = 1e-3
"""Containers round timestamps to a millisecond."""


@dataclass(frozen=True)
class Probe:
    """What a file holds, found by decoding all of it."""

    codec: str
    pixel_format: str
    bit_depth: int
    width: int
    """Of the coded picture, before rotation."""
    height: int
    rotation_degrees: int
    """How far players turn the picture, counter-clockwise: 0, 90, 180 or 270."""
    pixel_aspect: float
    """Width of a pixel over its height."""
    fps: float
    """Average over the timestamps of the frames; the container's figure when there is one frame."""
    variable_frame_rate: bool
    frames: int
    """How many frames decode."""
    header_frames: int
    """How many the container claims; 0 when it does not say."""
    damaged_packets: int
    truncated: bool
    """The container ended before its end."""
    duration_seconds: float
    """From the first frame until the last one has been shown."""


class Decoder:
    """Iterates over the frames of a file, in presentation order, upright order left to the caller.

    Damaged packets are skipped and counted, a cut-off container ends the iteration; both are readable afterwards.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.damaged_packets = 0
        self.truncated = False

    def __iter__(self) -> Iterator[Any]:
        with _open(self.path) as (container, stream):
            for packet in self._packets(container, stream):
                try:
                    yield from packet.decode()
                except av.error.EOFError:
                    return
                except (av.error.FFmpegError, ValueError):
                    self.damaged_packets += 1

    def _packets(self, container: Any, stream: Any) -> Iterator[Any]:
        try:
            yield from container.demux(stream)
        except av.error.FFmpegError:
            self.truncated = True


@contextmanager
def _open(path: Path) -> Iterator[tuple[Any, Any]]:
    """The container and its first video stream; ``MediaError`` in one sentence when there is none."""
    try:
        if path.stat().st_size == 0:
            raise MediaError("the file is empty (0 bytes)")
        container = av.open(str(path), metadata_errors="replace")
    except (av.error.FFmpegError, OSError, UnicodeError) as error:
        raise MediaError(f"cannot be opened as video: {reason(error)}") from error
    with container:
        if not container.streams.video:
            kinds = ", ".join(sorted({stream.type for stream in container.streams})) or "nothing"
            raise MediaError(f"has no video stream, only {kinds}")
        stream = container.streams.video[0]
        if stream.codec_context is None:
            raise MediaError("its video codec is not known to this FFmpeg")
        stream.codec_context.thread_count = 1
        yield container, stream


def probe(path: Path | str) -> Probe:
    """Decode the whole file and tell what it holds.

    Raises:
        MediaError: no video stream, or not one frame decodes; the text says why.
    """
    if is_image(path):
        return _probe_image(path)
    decoder = Decoder(path)
    times: list[float] = []
    first = None
    frames = 0
    for frame in decoder:
        first = first or frame
        frames += 1
        if frame.pts is not None:
            times.append(float(frame.pts * frame.time_base))
    if first is None:
        raise MediaError("not one frame decodes")
    with _open(decoder.path) as (_, stream):
        header_rate = float(stream.average_rate or stream.guessed_rate or 0)
        aspect = stream.sample_aspect_ratio
        fps, variable = _frame_rate(times, header_rate)
        return Probe(
            codec=stream.codec_context.name,
            pixel_format=first.format.name,
            bit_depth=first.format.components[0].bits,
            width=first.width,
            height=first.height,
            rotation_degrees=int(first.rotation) % 360,
            pixel_aspect=float(aspect) if aspect else 1.0,
            fps=fps,
            variable_frame_rate=variable,
            frames=frames,
            header_frames=stream.frames,
            damaged_packets=decoder.damaged_packets,
            truncated=decoder.truncated,
            duration_seconds=(max(times) - min(times) if len(times) == frames else (frames - 1) / fps) + 1 / fps,
        )


def _probe_image(path: Path | str) -> Probe:
    height, width = read_image(path).shape[:2]
    return Probe(
        codec=Path(path).suffix.lower().removeprefix("."), pixel_format="rgb24", bit_depth=8, width=width, height=height,
        rotation_degrees=0, pixel_aspect=1.0, fps=STILL_FPS, variable_frame_rate=False, frames=1, header_frames=1,
        damaged_packets=0, truncated=False, duration_seconds=1 / STILL_FPS,
    )  # fmt: skip


def _frame_rate(times: list[float], header_rate: float) -> tuple[float, bool]:
    """Frames per second, and whether the gaps differ by more than the rounding of coarse (1 ms) timestamps."""
    gaps = np.diff(np.array(times))
    gaps = gaps[gaps > 0]
    if not len(gaps):
        return header_rate or 30.0, False
    mean = float(gaps.mean())
    variable = bool(np.abs(gaps - mean).max() > max(0.25 * mean, 0.0021))
    constant_rate = header_rate if header_rate and abs(header_rate * mean - 1) < 0.01 else 1 / mean
    return (1 / mean if variable else constant_rate), variable


def upright(frame: Any) -> npt.NDArray[np.uint8]:
    """A decoded PyAV frame as ``uint8[H, W, 3]`` RGB, turned as players turn it."""
    pixels = frame.to_ndarray(format="rgb24")
    turns = round(frame.rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(pixels, turns)) if turns else pixels


def upright_frames(path: Path | str, *, fps: float | None = None) -> Iterator[tuple[npt.NDArray[np.uint8], bool]]:
    """Every frame, turned as players turn it, and whether width and height changed places in that.

    Args:
        path: a video or an image.
        fps: show the video at this constant rate, by timestamps: frame k is the one on screen ``k / fps`` seconds after the
            first, and the last one stays for good, so take as many as ``frames_at`` says. By default every frame once.

    Yields:
        ``uint8[H, W, 3]`` RGB and a flag.
    """
    if is_image(path):
        yield read_image(path), False
        return
    for frame in iter(Decoder(path)) if fps is None else _retimed(path, fps):
        yield upright(frame), frame.rotation % 180 != 0


def _retimed(path: Path | str, fps: float) -> Iterator[Any]:
    held, first, given = None, 0.0, 0
    for index, frame in enumerate(Decoder(path)):
        seconds = float(frame.pts * frame.time_base) if frame.pts is not None else index / fps
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


def read_frames(path: Path | str) -> Frames:
    """All frames of a video, or the one of an image, as ``uint8[T, H, W, 3]`` RGB.

    Raises:
        MediaError: not a video, not one frame, or frames that do not decode.
    """
    if is_image(path):
        return read_image(path)[None]
    return np.stack([frame.to_ndarray(format="rgb24") for frame in whole(path)])


def read_luma(path: Path | str) -> Luma:
    """The luma plane of all frames as coded, ``uint8[T, H, W]``; three times cheaper than RGB.

    Of files that hold RGB it is their limited-range BT.601 luma.
    """
    if is_image(path):
        return _luma(read_image(path)[None])
    frames = whole(path)
    first = next(frames)
    if first.format.is_rgb:
        return _luma(read_frames(path))
    return np.stack([_plane(frame.planes[0]).copy() for frame in chain([first], frames)])


def _luma(frames: Frames) -> Luma:
    weights = np.array([[65.481 / 255, 128.553 / 255, 24.966 / 255, 16]])
    return np.stack([cv2.transform(frame, weights) for frame in frames])


def read_hole(path: Path | str) -> Hole:
    """A hole track written by ``write_hole``, ``bool[T, H, W]``, True = hole."""
    return read_levels(path) > 127


def read_levels(path: Path | str) -> npt.NDArray[np.uint8]:
    """A grey track written by ``write_levels``, ``uint8[T, H, W]``."""
    if is_image(path):
        return read_image(path)[None, :, :, 0]
    return np.stack([_plane(frame.planes[0]).copy() for frame in whole(path)])


def decoded_hashes(path: Path | str) -> tuple[str, str]:
    """SHA-256 of all decoded planes without padding, and of all RGB frames; one and the same for images."""
    if is_image(path):
        digest = hashlib.sha256(read_image(path).tobytes()).hexdigest()
        return digest, digest
    planes, rgb = hashlib.sha256(), hashlib.sha256()
    for frame in whole(path):
        for plane in frame.planes:
            planes.update(_plane(plane).tobytes())
        rgb.update(frame.to_ndarray(format="rgb24").tobytes())
    return planes.hexdigest(), rgb.hexdigest()


def whole(path: Path | str) -> Iterator[Any]:
    """Frames of one of our own files: anything damaged is an error."""
    decoder = Decoder(path)
    frames = 0
    for frame in decoder:
        frames += 1
        yield frame
    if not frames:
        raise MediaError(f"{Path(path).name}: not one frame decodes")
    if decoder.damaged_packets or decoder.truncated:
        raise MediaError(f"{Path(path).name}: damaged after {frames} frames")


def _plane(plane: Any) -> npt.NDArray[np.uint8]:
    # Rows are padded to `line_size` bytes for alignment.
    rows = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)
    return rows[:, : plane.width]
