"""Video decoding: frames of any file one by one; whole arrays of the files that ``encoding`` writes, or one decoding for several
readers of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from io import RawIOBase
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import av
import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import MediaError
from inpaintbench.large import is_large, mapped, nameless
from inpaintbench.types import Frames, Hole, Luma
from inpaintbench.video.colour import to_rgb
from inpaintbench.video.images import read_image, reason
from inpaintbench.video.suffixes import is_image

# Frame rate of a still image, frames per second.
STILL_FPS = 1.0
# Of files without timestamps whose header states no rate, frames per second.
FALLBACK_RATE = 30.0
# Largest pictures that are decoded (16384 px a side, 8192 x 8192 px): a damaged or hostile header must not exhaust the memory.
LARGEST_SIDE, MOST_PIXELS = 16_384, 2**26
_LIMITS_IN_WORDS = f"{LARGEST_SIDE} px a side and {MOST_PIXELS} pixels"
_LIMITS = {"max_pixels": str(MOST_PIXELS)}
# Readers of FFmpeg's that open what a file names: lists of films, playlists, numbered pictures, addresses, cameras and screens.
_LEADS_ELSEWHERE = {
    "concat", "hls", "dash", "imf", "webm_dash_manifest", "image2", "vobsub", "sdp", "rtp", "rtsp", "sap", "avisynth",
    "vapoursynth", "alsa", "decklink", "fbdev", "iec61883", "jack", "kmsgrab", "lavfi", "libcdio", "libdc1394", "openal", "oss",
    "pulse", "sndio", "v4l2", "video4linux2", "video4linux2,v4l2", "x11grab", "xcbgrab",
}  # fmt: skip
# A stranger's file opens itself and nothing else, whatever its name ends in.
_ALONE = {"format_whitelist": ",".join(sorted(av.formats_available - _LEADS_ELSEWHERE)), "protocol_whitelist": "file"}
# Smallest growth of an array that a clip is read into, frames.
_GROWTH = 8
# Cover art and thumbnails are video streams of one picture.
_NOT_THE_VIDEO = av.stream.Disposition.attached_pic | av.stream.Disposition.timed_thumbnails


class Decoder:
    """Iterator over the frames of a file (``av.VideoFrame``), in presentation order, not rotated.

    The video is the first stream of moving pictures: cover art is not one. Damaged packets, and pictures that grow beyond the
    limits midway, are skipped and counted; a truncated container ends the iteration. The attributes hold these facts, and those
    of the header, once the iteration is over.
    """

    def __init__(self, path: Path | str | RawIOBase) -> None:
        self.path = path if isinstance(path, RawIOBase) else Path(path)
        self.damaged_packets = 0
        self.truncated = False
        self.first_error = ""
        """First error of the decoder, in a few words; empty = none."""
        self.codec = ""
        self.header_frames = 0
        """Number of frames by the container's header; 0 = not stated."""
        self.header_rate = 0.0
        """Frames per second by the container's header; 0 = not stated."""
        self.pixel_aspect = 1.0
        """Width of a pixel over its height."""

    def __iter__(self) -> Iterator[Any]:
        with _open(self.path) as (container, stream):
            self.codec, self.header_frames = stream.codec_context.name, stream.frames
            self.header_rate = float(stream.average_rate or stream.guessed_rate or 0)
            if not stream.codec_context.width:
                self.first_error = f"no size of its pictures is stated, or one above {_LIMITS_IN_WORDS}"
            self.pixel_aspect = float(stream.sample_aspect_ratio or 1)
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
    """Function that decodes one packet of the stream to frames."""
    context = stream.codec_context
    # FFmpeg's own VP8 and VP9 decoders drop the alpha plane, libvpx keeps it.
    if stream.metadata.get("alpha_mode") == "1" and context.name in ("vp8", "vp9"):
        context = av.CodecContext.create({"vp8": "libvpx", "vp9": "libvpx-vp9"}[context.name], "r")
        context.thread_count = 1
        context.options = _LIMITS
    decode: Callable[[Any], list[Any]] = context.decode
    return decode


@contextmanager
def _open(path: Path | RawIOBase) -> Iterator[tuple[Any, Any]]:
    """Open the container and its video stream; ``MediaError`` when there is none, or its pictures are too large."""
    try:
        if isinstance(path, RawIOBase):
            path.seek(0)
        elif path.stat().st_size == 0:
            raise MediaError("the file is empty (0 bytes)")
        file = path if isinstance(path, RawIOBase) else str(path.absolute())
        # The limit here is for the decoders that FFmpeg runs while it opens the container.
        container = av.open(file, metadata_errors="replace", options=_LIMITS | _ALONE)
    except av.error.ArgumentError as error:
        raise MediaError("cannot be opened as video: it is a list of other files, which are not followed, or damaged") from error
    except (av.error.FFmpegError, OSError, UnicodeError) as error:
        raise MediaError(f"cannot be opened as video: {reason(error)}") from error
    with container:
        moving = [stream for stream in container.streams.video if not stream.disposition & _NOT_THE_VIDEO]
        if not moving:
            kinds = {"cover art" if stream.type == "video" else stream.type for stream in container.streams}
            raise MediaError(f"has no video stream, only {', '.join(sorted(kinds)) or 'nothing'}")
        stream = moving[0]
        if stream.codec_context is None:
            raise MediaError("its video codec is not known to this FFmpeg")
        width, height = stream.codec_context.width, stream.codec_context.height
        if max(width, height) > LARGEST_SIDE or width * height > MOST_PIXELS:
            raise MediaError(f"claims pictures of {width}x{height}, and none above {_LIMITS_IN_WORDS} are read: scale it down")
        stream.codec_context.thread_count = 1  # clips are decoded in parallel processes
        stream.codec_context.options = _LIMITS
        yield container, stream


class Packet(NamedTuple):
    """A packet of a video: one coded frame, as a rule."""

    time: int
    """When it is shown, in the stream's time base."""
    is_key: bool
    begin: int
    """Its place in the file, bytes; -1 = not known."""
    bytes: int


def packets_of(path: Path | str | RawIOBase) -> list[Packet] | None:
    """The packets of a video in coded order, without decoding; None where one has no timestamp or is not to be shown."""
    packets = []
    with _open(path if isinstance(path, RawIOBase) else Path(path)) as (container, stream), suppress(av.error.FFmpegError):
        for packet in container.demux(stream):
            if packet.size and (packet.pts is None or packet.is_discard):
                return None
            if packet.size:
                packets.append(Packet(packet.pts, packet.is_keyframe, -1 if packet.pos is None else packet.pos, packet.size))
    return packets


def packet_times(path: Path | str) -> list[tuple[int, bool]] | None:
    """Timestamps of ``packets_of`` a video, each with its key-frame flag."""
    packets = packets_of(path)
    return None if packets is None else [(packet.time, packet.is_key) for packet in packets]


def seek_and_decode(path: Path | str, time: int) -> Any | None:
    """Decode the frame at a timestamp of ``packet_times``, from the key frame before it; None where the decoder skips it."""
    with _open(Path(path)) as (container, stream):
        container.seek(time, stream=stream)
        with suppress(av.error.FFmpegError):
            for frame in container.decode(stream):
                if frame.pts is not None and frame.pts >= time:
                    return frame if frame.pts == time else None
    return None


def read_frames(path: Path | str) -> Frames:
    """Read all frames of a video, or the one of an image, as ``uint8[T, H, W, 3]`` RGB.

    Raises:
        MediaError: not a video, no frame, or frames that do not decode.
    """
    if is_image(path):
        return read_image(path)[None]
    return _stacked(to_rgb(frame) for frame in whole(path))


def read_luma(path: Path | str) -> Luma:
    """Read the luma plane of all frames as coded, ``uint8[T, H, W]``; three times cheaper than RGB.

    For files that hold RGB it is their limited-range BT.601 luma.
    """
    if is_image(path):
        return _luma(read_image(path)[None])
    frames = whole(path)
    first = next(frames)
    if first.format.is_rgb:
        return _luma(read_frames(path))
    return _stacked(_plane(frame.planes[0]) for frame in chain([first], frames))


def _luma(frames: Frames) -> Luma:
    weights = np.array([[65.481 / 255, 128.553 / 255, 24.966 / 255, 16]])  # ITU-R BT.601, limited range
    return np.stack([cv2.transform(frame, weights) for frame in frames])


def read_hole(path: Path | str) -> Hole:
    """Read a hole track written by ``write_hole``, ``bool[T, H, W]``, True = hole."""
    levels = read_levels(path)
    # In its place: a mask is as large as what it is read from.
    return np.greater(levels, 127, out=levels.view(np.bool_) if levels.flags.writeable else None)


def read_levels(path: Path | str) -> npt.NDArray[np.uint8]:
    """Read a grey track written by ``write_levels``, ``uint8[T, H, W]``."""
    if is_image(path):
        return read_image(path)[None, :, :, 0]
    return _stacked(_plane(frame.planes[0]) for frame in whole(path))


def _stacked(pictures: Iterator[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """Stack of at least one picture of one size; ``np.stack`` of a list would take a clip's memory twice.

    A large one lies in a file, which the system takes from memory where that is short.
    """
    first = next(pictures)
    stacked, count = np.empty((_GROWTH, *first.shape), np.uint8), 1
    stacked[0] = first
    with ExitStack() as files:
        file = None
        for picture in pictures:
            if picture.shape != first.shape:
                sizes = [f"{one.shape[1]}x{one.shape[0]}" for one in (picture, first)]
                raise MediaError(f"a frame of {sizes[0]} among those of {sizes[1]}")
            if count == len(stacked):
                shape = (count + max(_GROWTH, count // 8), *first.shape)
                if file is None and is_large(shape):
                    file = files.enter_context(nameless())
                    mapped(file, shape, np.uint8)[:count] = stacked
                if file is None:  # cheap: the operating system remaps large blocks instead of copying them
                    stacked.resize(shape, refcheck=False)
                else:
                    stacked = mapped(file, shape, np.uint8)
            stacked[count] = picture
            count += 1
        if file is not None:
            return stacked[:count]
    stacked.resize((count, *first.shape), refcheck=False)
    return stacked


def decoded_hashes(path: Path | str) -> tuple[str, str]:
    """SHA-256 of all decoded planes without padding, and of all RGB frames; equal to each other for images."""
    return decoded_facts(path)[:2]


def decoded_facts(path: Path | str) -> tuple[str, str, tuple[int, int]]:
    """Hashes of ``decoded_hashes``, then width and height."""
    if is_image(path):
        pixels = read_image(path)
        digest = hashlib.sha256(pixels.tobytes()).hexdigest()
        return digest, digest, (pixels.shape[1], pixels.shape[0])
    planes, rgb, size = hashlib.sha256(), hashlib.sha256(), (0, 0)
    for frame in whole(path):
        size = (frame.width, frame.height)
        for plane in frame.planes:
            planes.update(_plane(plane).tobytes())
        rgb.update(to_rgb(frame).tobytes())
    return planes.hexdigest(), rgb.hexdigest(), size


def whole(path: Path | str) -> Iterator[Any]:
    """Iterate over the frames of a file written by ``encoding``; unlike ``Decoder``, any damage raises ``MediaError``."""
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


class DecodedClip:
    """Clip whose coded frames are cached, 1.5 bytes per pixel, so that luma and RGB share one decoding.

    ``luma`` and ``frames`` equal ``read_luma`` and ``read_frames``, raise the same errors, and are read-only.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = path

    @cached_property
    def _coded(self) -> list[Any]:
        return list(whole(self._path))

    @cached_property
    def frames(self) -> Frames:
        """``uint8[T, H, W, 3]`` RGB."""
        if is_image(self._path):
            return _read_only(read_frames(self._path))
        return _read_only(np.stack([to_rgb(frame) for frame in self._coded]))

    def frame(self, index: int) -> npt.NDArray[np.uint8]:
        """Frame ``index`` as ``uint8[H, W, 3]`` RGB, without converting the others."""
        if is_image(self._path):
            return np.asarray(self.frames[index])
        return to_rgb(self._coded[index])

    @cached_property
    def luma(self) -> Luma:
        """Luma plane as coded, ``uint8[T, H, W]``."""
        if is_image(self._path) or self._coded[0].format.is_rgb:
            return _read_only(_luma(self.frames))
        return _read_only(np.stack([_plane(frame.planes[0]) for frame in self._coded]))


def _read_only(pixels: Frames) -> Frames:
    pixels.flags.writeable = False  # a leaf that wrote into shared frames would change the next leaf's results
    return pixels
