"""Open and decode: the frames of a file, and whole arrays of our own files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
# Lower-case file name endings that are taken for video.
VIDEO_SUFFIXES = tuple(f".{name}" for name in _SUFFIXES.split(" "))
# Frame rate that a still image is recorded with.
STILL_FPS = 1.0
# Largest pictures that are decoded: no side longer, and no more pixels (8192 x 8192).
LARGEST_SIDE, MOST_PIXELS = 16_384, 2**26
_LIMITS_IN_WORDS = f"{LARGEST_SIDE} px a side and {MOST_PIXELS} pixels"
_LIMITS = {"max_pixels": str(MOST_PIXELS)}
# By so many frames at least a clip in memory grows while it is read.
_GROWTH = 8
_NOT_THE_VIDEO = av.stream.Disposition.attached_pic | av.stream.Disposition.timed_thumbnails


class Decoder:
    """Iterates over the frames of a file, in presentation order, upright order left to the caller.

    The video is the first stream of moving pictures: cover art is not one. Damaged packets, and pictures that grow beyond the
    limits on the way, are skipped and counted; a cut-off container ends the iteration. Both, and what the header says of the
    stream, are readable afterwards.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.damaged_packets = 0
        self.truncated = False
        self.first_error = ""
        """What went wrong first, in a few words."""
        self.codec = ""
        self.header_frames = 0
        """How many frames the container claims; 0 when it does not say."""
        self.header_rate = 0.0
        """Frames per second that the container claims; 0 when it does not say."""
        self.pixel_aspect = 1.0
        """Width of a pixel over its height."""

    def __iter__(self) -> Iterator[Any]:
        with _open(self.path) as (container, stream):
            self.codec, self.header_frames = stream.codec_context.name, stream.frames
            self.header_rate = float(stream.average_rate or stream.guessed_rate or 0)
            if not stream.codec_context.width:
                self.first_error = f"no size of its pictures is stated, or one above {_LIMITS_IN_WORDS}"
            decode = _decode_function(stream)
            for packet in self._packets(container, stream):
                try:
                    yield from decode(packet)
                except av.error.EOFError:
                    break
                except (av.error.FFmpegError, ValueError) as error:
                    self.damaged_packets += 1
                    self.first_error = self.first_error or reason(error)
            self.pixel_aspect = float(stream.sample_aspect_ratio or 1)

    def _packets(self, container: Any, stream: Any) -> Iterator[Any]:
        try:
            yield from container.demux(stream)
        except av.error.FFmpegError:
            self.truncated = True


def _decode_function(stream: Any) -> Callable[[Any], list[Any]]:
    """What turns packets into frames: FFmpeg's own VP8 and VP9 decoders leave opacity out, libvpx has it."""
    context = stream.codec_context
    if stream.metadata.get("alpha_mode") == "1" and context.name in ("vp8", "vp9"):
        context = av.CodecContext.create({"vp8": "libvpx", "vp9": "libvpx-vp9"}[context.name], "r")
        context.thread_count = 1
        context.options = _LIMITS
    decode: Callable[[Any], list[Any]] = context.decode
    return decode


@contextmanager
def _open(path: Path) -> Iterator[tuple[Any, Any]]:
    """The container and its video stream; ``MediaError`` in one sentence when there is none, or it is too large."""
    try:
        if path.stat().st_size == 0:
            raise MediaError("the file is empty (0 bytes)")
        # The limit is for the decoders that run while the container is being opened.
        container = av.open(str(path), metadata_errors="replace", options=_LIMITS)
    except (av.error.FFmpegError, OSError, UnicodeError) as error:
        raise MediaError(f"cannot be opened as video: {reason(error)}") from error
    with container:
        stream = _video_stream(container)
        width, height = stream.codec_context.width, stream.codec_context.height
        if max(width, height) > LARGEST_SIDE or width * height > MOST_PIXELS:
            raise MediaError(f"claims pictures of {width}x{height}, and none above {_LIMITS_IN_WORDS} are read: scale it down")
        stream.codec_context.thread_count = 1
        stream.codec_context.options = _LIMITS
        yield container, stream


def _video_stream(container: Any) -> Any:
    moving = [stream for stream in container.streams.video if not stream.disposition & _NOT_THE_VIDEO]
    if not moving:
        kinds = {"cover art" if stream.type == "video" else stream.type for stream in container.streams}
        raise MediaError(f"has no video stream, only {', '.join(sorted(kinds)) or 'nothing'}")
    if moving[0].codec_context is None:
        raise MediaError("its video codec is not known to this FFmpeg")
    return moving[0]


def packet_times(path: Path | str) -> list[tuple[int, bool]] | None:
    """Timestamp of each packet in the stream's time base, and whether it is a key frame, in coded order, without decoding.

    None where a packet has no timestamp or is not meant to be shown.
    """
    found = []
    with _open(Path(path)) as (container, stream):
        for packet in _undamaged(container.demux(stream)):
            if packet.size and (packet.pts is None or packet.is_discard):
                return None
            if packet.size:
                found.append((packet.pts, packet.is_keyframe))
    return found


def seek_and_decode(path: Path | str, time: int) -> Any | None:
    """The frame at a timestamp that ``packet_times`` gave, decoded from the key frame before it; None where it does not come."""
    with _open(Path(path)) as (container, stream):
        container.seek(time, stream=stream)
        for frame in _undamaged(container.decode(stream)):
            if frame.pts is not None and frame.pts >= time:
                return frame if frame.pts == time else None
    return None


def _undamaged(packets_or_frames: Iterator[Any]) -> Iterator[Any]:
    with suppress(av.error.FFmpegError):
        yield from packets_or_frames


def read_frames(path: Path | str) -> Frames:
    """All frames of a video, or the one of an image, as ``uint8[T, H, W, 3]`` RGB.

    Raises:
        MediaError: not a video, not one frame, or frames that do not decode.
    """
    if is_image(path):
        return read_image(path)[None]
    return _stacked(frame.to_ndarray(format="rgb24") for frame in whole(path))


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
    return _stacked(_plane(frame.planes[0]) for frame in chain([first], frames))


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
    return _stacked(_plane(frame.planes[0]) for frame in whole(path))


def _stacked(pictures: Iterator[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """``np.stack`` of at least one picture of one size; a list of them and the stack would take a clip's memory twice."""
    first = next(pictures)
    stacked = np.empty((_GROWTH, *first.shape), np.uint8)
    stacked[0], count = first, 1
    for picture in pictures:
        if picture.shape != first.shape:
            raise MediaError(f"a frame of {picture.shape[1]}x{picture.shape[0]} among those of {first.shape[1]}x{first.shape[0]}")
        if count == len(stacked):  # the system moves large blocks without copying them
            stacked.resize((count + max(_GROWTH, count // 8), *first.shape), refcheck=False)
        stacked[count] = picture
        count += 1
    stacked.resize((count, *first.shape), refcheck=False)
    return stacked


def decoded_hashes(path: Path | str) -> tuple[str, str]:
    """SHA-256 of all decoded planes without padding, and of all RGB frames; one and the same for images."""
    return decoded_facts(path)[:2]


def decoded_facts(path: Path | str) -> tuple[str, str, tuple[int, int]]:
    """What ``decoded_hashes`` gives, and width and height."""
    if is_image(path):
        pixels = read_image(path)
        digest = hashlib.sha256(pixels.tobytes()).hexdigest()
        return digest, digest, (pixels.shape[1], pixels.shape[0])
    planes, rgb, size = hashlib.sha256(), hashlib.sha256(), (0, 0)
    for frame in whole(path):
        size = (frame.width, frame.height)
        for plane in frame.planes:
            planes.update(_plane(plane).tobytes())
        rgb.update(frame.to_ndarray(format="rgb24").tobytes())
    return planes.hexdigest(), rgb.hexdigest(), size


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
