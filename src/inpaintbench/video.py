"""Probe, decode and encode: the only module that opens a video or an image.

The published file is the truth. A clip is encoded once and its pixels are whatever decoding that file gives, so decoding has
one form: PyAV, frames in presentation order, PyAV's default conversion to RGB. Passing ``interpolation=`` to the conversion
changes pixels by up to 190 levels at colour edges, so nothing here does.

A clip of one frame is a PNG image and is never encoded as video: every reader and writer here tells the two apart by the
suffix of the path, which ``suffix_for`` gives.

Encoded bytes repeat for one platform and PyAV version: libx264 with one thread, ``mbtree=0`` (macroblock-tree is not
deterministic with AVX-512) and bit-exact containers without clock times.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
from av.video.reformatter import ColorRange, Colorspace
from PIL import Image, ImageOps, UnidentifiedImageError

from inpaintbench.errors import MediaError
from inpaintbench.types import Frames, Hole, Luma

_SUFFIXES = "3gp avi flv gif m2ts m4v mkv mov mp4 mpeg mpg mts mxf ogv ts webm wmv y4m"
VIDEO_SUFFIXES = tuple(f".{name}" for name in _SUFFIXES.split(" "))
"""Lower-case file name endings that are taken for video."""
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")
"""Lower-case file name endings that are taken for still images."""
CLIP_FORMS = ("near-lossless", "lossless", "challenge")
"""How a truth can be encoded: tagged 4:2:0 of at least ``TRUTH_PSNR_DB``; exact RGB; or the ChaLearn challenge's 100 kbit/s."""
CHALLENGE_BITS_PER_SECOND = 100_000
STILL_FPS = 1.0
"""Frame rate that a still image is recorded with."""
TRUTH_PSNR_DB = 45.0
"""Lowest quality of an encoded clip against the frames given to the encoder, over all YUV values."""
_TRUTH_CRFS = (14, 10, 6, 2, 0)
_TRIAL_FRAMES = 8
_SAME_TIME_SECONDS = 1e-3
"""Containers round timestamps to a millisecond."""
_EXACT_DB = 99.0
_CONTAINER = {"fflags": "+bitexact"}


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


@dataclass(frozen=True)
class EncodedClip:
    """How a clip was encoded and what decoding it gives."""

    crf: int | None
    """None where a bit rate was asked for."""
    psnr_db: float
    yuv_sha256: str
    rgb_sha256: str


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
        raise MediaError(f"cannot be opened as video: {_reason(error)}") from error
    with container:
        if not container.streams.video:
            kinds = ", ".join(sorted({stream.type for stream in container.streams})) or "nothing"
            raise MediaError(f"has no video stream, only {kinds}")
        stream = container.streams.video[0]
        if stream.codec_context is None:
            raise MediaError("its video codec is not known to this FFmpeg")
        stream.codec_context.thread_count = 1
        yield container, stream


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


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


def is_image(path: Path | str) -> bool:
    """Whether the name says that the file is a still image."""
    return Path(path).suffix.lower() in IMAGE_SUFFIXES


def suffix_for(frames: int) -> str:
    """How the file of a clip of so many frames ends: a single frame is an image."""
    return ".png" if frames == 1 else ".mp4"


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
    return np.stack([frame.to_ndarray(format="rgb24") for frame in _whole(path)])


def read_luma(path: Path | str) -> Luma:
    """The luma plane of all frames as coded, ``uint8[T, H, W]``; three times cheaper than RGB.

    Of files that hold RGB it is their limited-range BT.601 luma.
    """
    if is_image(path):
        return _luma(read_image(path)[None])
    frames = _whole(path)
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
    return np.stack([_plane(frame.planes[0]).copy() for frame in _whole(path)])


def decoded_hashes(path: Path | str) -> tuple[str, str]:
    """SHA-256 of all decoded planes without padding, and of all RGB frames; one and the same for images."""
    if is_image(path):
        digest = hashlib.sha256(read_image(path).tobytes()).hexdigest()
        return digest, digest
    planes, rgb = hashlib.sha256(), hashlib.sha256()
    for frame in _whole(path):
        for plane in frame.planes:
            planes.update(_plane(plane).tobytes())
        rgb.update(frame.to_ndarray(format="rgb24").tobytes())
    return planes.hexdigest(), rgb.hexdigest()


def _whole(path: Path | str) -> Iterator[Any]:
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


def write_clip(path: Path | str, frames: Frames, *, fps: float, form: str = "near-lossless") -> EncodedClip:
    """Encode the truth of a clip in one of ``CLIP_FORMS``; a ``.png`` path takes one frame, exactly, whatever the form.

    ``near-lossless`` is tagged BT.601 H.264 that browsers play, of at least ``TRUTH_PSNR_DB``: the quality factor is lowered
    until decoding is close enough. 4:2:0 colour, or 4:4:4 where a side is odd (4:2:0 cannot have odd sides).
    """
    if is_image(path):
        write_lossless(path, frames, fps=fps)
        crf, psnr = 0, _EXACT_DB
    elif form == "near-lossless":
        crf, psnr = _search_factor(path, frames, fps=fps)
    elif form == "lossless":
        write_lossless(path, frames, fps=fps)
        crf, psnr = 0, _EXACT_DB
    elif form == "challenge":
        return _write_challenge(path, frames, fps=fps)
    else:
        raise ValueError(f"unknown form {form!r}, choose from {', '.join(CLIP_FORMS)}")
    yuv, rgb = decoded_hashes(path)
    return EncodedClip(crf=crf, psnr_db=round(psnr, 3), yuv_sha256=yuv, rgb_sha256=rgb)


def _search_factor(path: Path | str, frames: Frames, *, fps: float) -> tuple[int, float]:
    converted = [_to_yuv(frame, _subsampling(frames)) for frame in frames]
    # A few frames tell whether a factor is worth trying on all of them; the whole clip decides.
    trial = converted[:: max(1, len(converted) // _TRIAL_FRAMES)]
    for crf in _TRUTH_CRFS:
        if _encode_truth(path, trial, crf=crf, fps=fps) < TRUTH_PSNR_DB and crf != _TRUTH_CRFS[-1]:
            continue
        psnr = _encode_truth(path, converted, crf=crf, fps=fps)
        if psnr >= TRUTH_PSNR_DB:
            break
    return crf, psnr


def _subsampling(frames: Frames) -> str:
    height, width = frames.shape[1:3]
    return "yuv420p" if height % 2 == 0 and width % 2 == 0 else "yuv444p"


def _write_challenge(path: Path | str, frames: Frames, *, fps: float) -> EncodedClip:
    """H.264 at ``CHALLENGE_BITS_PER_SECOND``, as the clips of the ChaLearn 2018 decaptioning challenge."""
    converted = [_to_yuv(frame, _subsampling(frames)) for frame in frames]
    options = {"b": str(CHALLENGE_BITS_PER_SECOND), "x264-params": "mbtree=0"}
    _encode(path, converted, codec="libx264", pixel_format=_subsampling(frames), fps=fps, options=options, colour=True)
    psnr = _psnr_db([frame.to_ndarray() for frame in converted], (frame.to_ndarray() for frame in _whole(path)))
    yuv, rgb = decoded_hashes(path)
    return EncodedClip(crf=None, psnr_db=round(psnr, 3), yuv_sha256=yuv, rgb_sha256=rgb)


def _encode_truth(path: Path | str, frames: list[Any], *, crf: int, fps: float) -> float:
    """Encode converted frames; the PSNR in dB of decoding them, over all YUV values."""
    # Without CABAC a high-quality stream decodes twice as fast for 15 % more bytes, and a truth is decoded many times.
    options = {"crf": str(crf), "preset": "veryfast", "x264-params": "mbtree=0:cabac=0"}
    _encode(path, frames, codec="libx264", pixel_format=frames[0].format.name, fps=fps, options=options, colour=True)
    return _psnr_db([frame.to_ndarray() for frame in frames], (frame.to_ndarray() for frame in _whole(path)))


def write_hole(path: Path | str, hole: Hole, *, fps: float) -> None:
    """Encode a hole track ``bool[T, H, W]`` without loss as full-range grey H.264 (255 = hole), or as PNG."""
    # Not `view * 255`: a bool array made elsewhere may hold 255 for True, which would wrap to 1. `np.where` is 20 times slower.
    values = np.ascontiguousarray(hole).view(np.uint8).reshape(-1, hole.shape[2])
    levels = np.asarray(cv2.threshold(values, 0, 255, cv2.THRESH_BINARY)[1], np.uint8)
    write_levels(path, levels.reshape(hole.shape), fps=fps)


def write_levels(path: Path | str, levels: npt.NDArray[np.uint8], *, fps: float) -> None:
    """Encode a grey track ``uint8[T, H, W]`` without loss as full-range grey H.264, or one frame as PNG."""
    if is_image(path):
        _one(levels)
        write_image(path, levels[0])
        return
    options = {"qp": "0", "preset": "ultrafast", "x264-params": "cabac=1"}
    frames = map(_grey_frame, np.ascontiguousarray(levels))
    _encode(path, frames, codec="libx264", pixel_format="gray", fps=fps, options=options, colour=False)


def write_lossless(path: Path | str, frames: Frames, *, fps: float) -> None:
    """Encode RGB frames ``uint8[T, H, W, 3]`` without loss (browsers show wrong colours: never link it from a page)."""
    if is_image(path):
        _one(frames)
        write_image(path, frames[0])
        return
    converted = (av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24") for frame in frames)
    options = {"qp": "0", "preset": "ultrafast"}
    _encode(path, converted, codec="libx264rgb", pixel_format="rgb24", fps=fps, options=options, colour=False)


def _one(frames: npt.NDArray[np.uint8]) -> None:
    if len(frames) != 1:
        raise ValueError(f"an image holds one frame, not {len(frames)}")


def write_browser(path: Path | str, frames: Frames, *, fps: float, crf: int = 20) -> None:
    """Encode frames for looking at: 4:2:0 H.264, no B-frames, a key frame every 15; odd sides lose their last row or column."""
    height, width = (side - side % 2 for side in frames.shape[1:3])
    converted = (_to_yuv(frame[:height, :width], "yuv420p") for frame in frames)
    params = "mbtree=0:keyint=15:bframes=0"
    options = {"crf": str(crf), "preset": "veryfast", "x264-params": params, "movflags": "+faststart"}
    _encode(path, converted, codec="libx264", pixel_format="yuv420p", fps=fps, options=options, colour=True)


def _to_yuv(frame: npt.NDArray[np.uint8], pixel_format: str) -> Any:
    rgb = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
    return rgb.reformat(
        format=pixel_format,
        dst_colorspace=Colorspace.ITU601,
        src_color_range=ColorRange.JPEG,
        dst_color_range=ColorRange.MPEG,
    )


def _grey_frame(levels: npt.NDArray[np.uint8]) -> Any:
    return av.VideoFrame.from_numpy_buffer(levels, format="gray")  # no copy


def _encode(
    path: Path | str,
    frames: Iterable[Any],
    *,
    codec: str,
    pixel_format: str,
    fps: float,
    options: dict[str, str],
    colour: bool,
) -> None:
    rate = max(Fraction(fps).limit_denominator(1001), Fraction(1, 1001))  # a time-lapse may be slower than a container can say
    with av.open(str(path), "w", options=_CONTAINER) as container:
        stream: Any = None
        for index, frame in enumerate(frames):
            if stream is None:
                stream = container.add_stream(codec, rate=rate, options=options)
                stream.width, stream.height, stream.pix_fmt = frame.width, frame.height, pixel_format
                _tag(stream.codec_context, colour=colour)
            frame.pts, frame.time_base = index, 1 / rate
            container.mux(stream.encode(frame))
        if stream is None:
            raise ValueError("a video needs at least one frame")
        container.mux(stream.encode(None))


def _tag(context: Any, *, colour: bool) -> None:
    context.thread_count = 1
    # 1 = limited range, 2 = full range; 6, 1, 1 = BT.601 matrix, BT.709 primaries and transfer: what Chromium shows best.
    context.color_range = 1 if colour else 2
    if colour:
        context.colorspace, context.color_primaries, context.color_trc = 6, 1, 1


def _psnr_db(wanted: list[npt.NDArray[np.uint8]], decoded: Iterable[npt.NDArray[np.uint8]]) -> float:
    squared, values = 0, 0
    for one, other in zip(wanted, decoded, strict=True):
        difference = one.astype(np.int32) - other
        squared += int(np.vdot(difference, difference))
        values += difference.size
    return float(10 * np.log10(255**2 * values / squared)) if squared else _EXACT_DB


def read_image(path: Path | str) -> npt.NDArray[np.uint8]:
    """An image as ``uint8[H, W, 3]`` RGB, turned upright by its EXIF tag.

    Raises:
        MediaError: not an image.
    """
    try:
        with Image.open(path) as image:
            return np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise MediaError(f"{Path(path).name} cannot be opened as an image: {_reason(error)}") from error


def read_image_folder(folder: Path | str, *, pattern: str = "*") -> Frames:
    """The images of a folder, sorted by name, as ``uint8[T, H, W, 3]``.

    Raises:
        MediaError: no images, or images of different sizes.
    """
    paths = sorted(path for path in Path(folder).glob(pattern) if is_image(path))
    images = [read_image(path) for path in paths]
    sizes = {image.shape for image in images}
    if len(sizes) != 1:
        found = "no images" if not sizes else f"images of {len(sizes)} different sizes"
        raise MediaError(f"{Path(folder).name} holds {found}")
    return np.stack(images)


def write_image(path: Path | str, image: npt.NDArray[np.uint8] | npt.NDArray[np.bool_]) -> None:
    """Write ``uint8[H, W, 3]`` RGB, ``uint8[H, W]`` grey or ``bool[H, W]`` (one bit a pixel) as PNG."""
    Image.fromarray(np.ascontiguousarray(image)).save(path, format="PNG")


# Index images

_GREY_SPREAD = 32
"""Largest difference between the channels of a grey pixel that went through JPEG."""


def read_index_image(path: Path | str) -> npt.NDArray[np.uint8]:
    """An image whose values are numbers of objects or grey levels, ``uint8[H, W]``, upright.

    A palette in colours gives its indices (DAVIS and YouTube-VOS number objects so), one of greys alone its grey levels; one
    bit gives 0 and 255; equal channels give their grey level, whatever the opacity, and a picture of one colour its opacity.

    Raises:
        MediaError: not an image, real colours, or values above 255.
    """
    name = Path(path).name
    try:
        with Image.open(path) as image:
            return _index_values(ImageOps.exif_transpose(image), name)
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError, SyntaxError) as error:
        raise MediaError(f"{name} cannot be opened as an image: {_reason(error)}") from error


def _index_values(image: Image.Image, name: str) -> npt.NDArray[np.uint8]:
    if image.mode == "P":
        palette = np.array(image.getpalette("RGB"), np.uint8).reshape(-1, 3)
        return np.array(image.convert("L") if not np.ptp(palette, axis=1).any() else image)
    if image.mode in ("1", "L"):
        return np.array(image.convert("L"))
    if image.mode.startswith(("I", "F")):
        values = np.array(image)
        if values.min() < 0 or values.max() > 255 or (values % 1).any():
            raise MediaError(f"{name} holds values up to {values.max():g}, but a mask has whole numbers 0..255: save it as 8 bit")
        return values.astype(np.uint8)
    return _grey_of_channels(np.array(image.convert("RGBA")), name)


def _grey_of_channels(pixels: npt.NDArray[np.uint8], name: str) -> npt.NDArray[np.uint8]:
    colours, opacity = pixels[..., :3], pixels[..., 3]
    if not (colours != colours[0, 0]).any() and (opacity != opacity[0, 0]).any():
        return opacity.copy()
    spread = int((colours.max(axis=2) - colours.min(axis=2)).max())
    if spread > _GREY_SPREAD:
        raise MediaError(f"{name} is a picture in colours, but a mask is black and white, grey, or numbers objects by a palette")
    return np.asarray(cv2.cvtColor(colours, cv2.COLOR_RGB2GRAY), np.uint8)
