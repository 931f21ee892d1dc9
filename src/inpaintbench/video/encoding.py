"""Video encoding: ground truths, hole tracks, grey tracks, lossless frames, and previews for browsers.

The encoder is libx264 where the FFmpeg in PyAV holds it; else libvpx-vp9, which is under no copyleft. ``INPAINTBENCH_ENCODER``
names one of them where the other must not be used, or where machines with and without libx264 are to give equal bytes. What each
use asks of it:

| use | needs | libx264 | libvpx-vp9 |
|---|---|---|---|
| truths | `TRUTH_PSNR_DB`, quick decoding, browsers | 4:2:0, constant quantiser | the same |
| holes, opacities | every level | grey | luma of 4:2:0, without loss |
| inputs, predictions, lossless truths | every value of RGB | RGB | GBR, without loss |
| proxies of raters, clips of reports | browsers, quick seeking | 4:2:0, crf | 4:2:0, a crf of about the same PSNR |
| form ``challenge``; results as H.264 | H.264 itself | yes | refused |
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import av
import cv2
import numpy as np
import numpy.typing as npt
from av.codec import codecs_available
from av.video.reformatter import ColorRange, Colorspace

from inpaintbench.errors import InputError
from inpaintbench.types import Frames, Hole
from inpaintbench.video.colour import converted, to_rgb
from inpaintbench.video.decoding import decoded_facts, whole
from inpaintbench.video.images import write_image
from inpaintbench.video.suffixes import is_image

ENVIRONMENT = "INPAINTBENCH_ENCODER"


@dataclass(frozen=True)
class Coding:
    """FFmpeg's names of an encoder and of the pixel format that it takes, and the encoder's options."""

    codec: str
    pixel_format: str
    options: dict[str, str]


class X264:
    """H.264 by libx264, with ``mbtree=0``: macroblock-tree is not deterministic with AVX-512."""

    name: ClassVar[str] = "libx264"
    """FFmpeg's name of the encoder."""
    first_crf: ClassVar[int] = 16
    """Quality factor of truths that is tried first: with it nearly every clip has a little more than ``TRUTH_PSNR_DB``."""

    @staticmethod
    def truth(crf: int, pixel_format: str) -> Coding:
        """Coding of a truth with a constant quantiser, so that the PSNR hardly depends on the clip, and without CABAC; a quality
        factor of 0 loses nothing.

        A high-quality stream decodes twice as fast without it, for 15 % more bytes, and a truth is decoded many times.
        """
        params = "mbtree=0:cabac=0:qcomp=1:aq-mode=0"
        return Coding("libx264", pixel_format, {"crf": str(crf), "preset": "veryfast", "x264-params": params})

    @staticmethod
    def bit_rate(bits_per_second: int, pixel_format: str) -> Coding:
        """Coding at an average bit rate; no other encoder is to stand for it, whose errors are others."""
        return Coding("libx264", pixel_format, {"b": str(bits_per_second), "x264-params": "mbtree=0"})

    @staticmethod
    def levels() -> Coding:
        """Coding as grey, which keeps every level."""
        return Coding("libx264", "gray", {"qp": "0", "preset": "ultrafast", "x264-params": "cabac=1"})

    @staticmethod
    def rgb() -> Coding:
        """Coding as RGB, which keeps every value."""
        return Coding("libx264rgb", "rgb24", {"qp": "0", "preset": "ultrafast"})

    @staticmethod
    def preview(crf: int, key_every: int, *, thorough: bool) -> Coding:
        """Coding for browsers: at most ``key_every`` frames between key frames and no B-frames make seeking exact and quick.

        ``thorough`` takes twice the time for a third fewer bytes with as much flicker (``bench/proxy_flicker.py``).
        """
        params = f"mbtree=0:keyint={key_every}:bframes=0{':deblock=-2,-2:aq-strength=1.3' if thorough else ''}"
        preset = "medium" if thorough else "veryfast"
        options = {"crf": str(crf), "preset": preset, "x264-params": params, "movflags": "+faststart"}
        return Coding("libx264", "yuv420p", options)


class VP9:
    """VP9 by libvpx at its quickest; ``bench/encoders.py`` measures what it takes beside libx264."""

    name: ClassVar[str] = "libvpx-vp9"
    first_crf: ClassVar[int] = 12
    # No frames that are not shown and none from the future: each packet is one picture, and seeking is exact.
    _QUICK: ClassVar[dict[str, str]] = {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "auto-alt-ref": "0"}
    _EXACT: ClassVar[dict[str, str]] = {**_QUICK, "lossless": "1"}

    @classmethod
    def _constant(cls, crf: int) -> dict[str, str]:
        return {**cls._QUICK, "crf": str(crf), "b": "0", "aq-mode": "0"}

    @classmethod
    def truth(cls, crf: int, pixel_format: str) -> Coding:
        """Coding with a constant quantiser."""
        return Coding("libvpx-vp9", pixel_format, cls._constant(crf))

    @classmethod
    def levels(cls) -> Coding:
        """Coding as the luma of 4:2:0, since VP9 has no grey."""
        return Coding("libvpx-vp9", "yuv420p", cls._EXACT)

    @classmethod
    def rgb(cls) -> Coding:
        """Coding as GBR."""
        return Coding("libvpx-vp9", "gbrp", cls._EXACT)

    @classmethod
    def preview(cls, crf: int, key_every: int, *, thorough: bool) -> Coding:
        """Coding with a key frame every ``key_every`` frames.

        Its own factor gives a PSNR within two decibels of that of libx264, more on textured films and less on smooth ones.
        """
        own = min(63, max(0, round(1.8 * crf - 10)))
        more = {"g": str(key_every), "movflags": "+faststart", "cpu-used": "5" if thorough else "8"}
        return Coding("libvpx-vp9", "yuv420p", {**cls._constant(own), **more})


Encoder = type[X264] | type[VP9]
_ENCODERS: tuple[Encoder, ...] = (X264, VP9)


def chosen_encoder() -> Encoder:
    """Return the encoder that ``INPAINTBENCH_ENCODER`` names, else the first that the FFmpeg in PyAV holds.

    Raises:
        InputError: it names another, or the FFmpeg in PyAV lacks the one that is named, or both.
    """
    by_name = {encoder.name: encoder for encoder in _ENCODERS}
    asked = os.environ.get(ENVIRONMENT)
    if asked and asked not in by_name:
        raise InputError(f"{ENVIRONMENT} is {asked!r}; choose from {', '.join(by_name)}")
    wanted = [asked] if asked else list(by_name)
    for name in wanted:
        if name in codecs_available:
            return by_name[name]
    raise InputError(
        f"video cannot be written: the FFmpeg in PyAV holds no {' and no '.join(wanted)}; "
        "pip install --force-reinstall --only-binary av av brings a PyAV with both, and pictures need neither"
    )


def writes_h264() -> bool:
    """Return whether the encoder at hand writes H.264."""
    return chosen_encoder() is X264


def require_h264(what: str) -> None:
    """Refuse what is H.264 by definition where the encoder at hand writes none.

    Raises:
        InputError: the encoder is another than libx264, or there is none.
    """
    if not writes_h264():
        raise InputError(f"{what} is H.264 and needs libx264, but videos are written by {chosen_encoder().name} here")


# Encodings of a truth: tagged 4:2:0 of at least `TRUTH_PSNR_DB`; lossless RGB; or the ChaLearn challenge's 100 kbit/s.
CLIP_FORMS = ("near-lossless", "lossless", "challenge")
CHALLENGE_BITS_PER_SECOND = 100_000
# Lowest PSNR of an encoded clip against the encoder's input, over all YUV values.
TRUTH_PSNR_DB = 45.0
# Fewest decibels that a step of the quality factor brings.
_DB_A_STEP = 0.5
# Stands for the infinite PSNR of equal frames, since records hold finite numbers.
_EXACT_DB = 99.0
# Leaves clock times and versions out of the file, so that equal input gives equal bytes.
_CONTAINER = {"fflags": "+bitexact"}


@dataclass(frozen=True)
class EncodedClip:
    """Facts of an encoded clip: quality factor, PSNR, size, and hashes of the decoded planes and RGB frames."""

    crf: int | None
    """Of the encoder's own scale; None where a bit rate was asked for."""
    psnr_db: float
    yuv_sha256: str
    rgb_sha256: str
    width: int
    height: int
    encoder: str | None = None
    """FFmpeg's name of the encoder where it is another than libx264; None for pictures too."""


def write_clip(
    path: Path | str, frames: Iterable[npt.NDArray[np.uint8]], *, fps: float, form: str = "near-lossless"
) -> EncodedClip:
    """Encode the truth of a clip; a ``.png`` path takes one frame, losslessly, whatever the form.

    ``near-lossless`` is tagged BT.601 video that browsers play, of at least ``TRUTH_PSNR_DB``: the quality factor is lowered
    until the PSNR is reached, which mostly takes one encoding. 4:2:0 colour, or 4:4:4 where a side is odd, which 4:2:0 cannot be.

    Args:
        path: ``.mp4`` or ``.png``.
        frames: ``uint8[H, W, 3]`` RGB of one size, as an array or an iterator; in memory at most as converted to YUV.
        fps: frames per second.
        form: one of ``CLIP_FORMS``.

    Raises:
        ValueError: unknown form, or no frame.
        InputError: no encoder at hand, or ``challenge`` without libx264.
    """
    if is_image(path) or form == "lossless":
        if is_image(path):
            write_lossless(path, np.stack(list(frames)), fps=fps)
        else:
            _write_lossless_video(path, frames, fps=fps)
        planes, rgb, (width, height) = decoded_facts(path)
        return EncodedClip(0, _EXACT_DB, planes, rgb, width, height, None if is_image(path) else _unusual(chosen_encoder()))
    if form not in CLIP_FORMS:
        raise ValueError(f"unknown form {form!r}, choose from {', '.join(CLIP_FORMS)}")
    if form == "challenge":
        require_h264("the form challenge")
    converted = [_to_yuv(frame, "yuv444p" if frame.shape[0] % 2 or frame.shape[1] % 2 else "yuv420p") for frame in frames]
    if not converted:
        raise ValueError("a video needs at least one frame")
    pixel_format = str(converted[0].format.name)
    if form == "challenge":
        # As in the ChaLearn 2018 decaptioning challenge.
        coding = X264.bit_rate(CHALLENGE_BITS_PER_SECOND, pixel_format)
        return _encode_truth(path, converted, X264, coding, fps=fps, crf=None)
    encoder = chosen_encoder()
    crf = encoder.first_crf
    while True:
        encoded = _encode_truth(path, converted, encoder, encoder.truth(crf, pixel_format), fps=fps, crf=crf)
        if encoded.psnr_db >= TRUTH_PSNR_DB or crf == 0:
            return encoded
        crf = max(0, crf - math.ceil((TRUTH_PSNR_DB - encoded.psnr_db) / _DB_A_STEP))


def _unusual(encoder: Encoder) -> str | None:
    return None if encoder is X264 else encoder.name


def _encode_truth(
    path: Path | str, frames: list[Any], encoder: Encoder, coding: Coding, *, fps: float, crf: int | None
) -> EncodedClip:
    """Encode converted frames, with the facts of what a decoder makes of them."""
    if encoder is not X264:
        _encode(path, frames, coding, fps=fps, colour=True)
        return _facts_of(frames, (np.ascontiguousarray(frame.to_ndarray()) for frame in whole(path)), encoder, crf)
    # libx264 tells what it predicts from, which is what a decoder makes of it, so nothing is decoded.
    # A file without a name, so that one whose writer is killed leaves nothing; the encoder takes names alone.
    with tempfile.TemporaryFile(dir=Path(path).parent) as rebuilt:
        params = f"{coding.options['x264-params']}:dump-yuv=/dev/fd/{rebuilt.fileno()}"
        _encode(path, frames, replace(coding, options={**coding.options, "x264-params": params}), fps=fps, colour=True)
        rebuilt.seek(0)
        like = frames[0].to_ndarray()

        def picture() -> npt.NDArray[np.uint8]:
            """The next one, whose planes lie there without padding."""
            shown = np.frombuffer(rebuilt.read(like.nbytes), np.uint8)
            if shown.size < like.size:
                raise OSError(errno.ENOSPC, "the encoder could not keep its pictures")
            return shown.reshape(like.shape)

        return _facts_of(frames, (picture() for _ in frames), encoder, crf)


def _facts_of(frames: Sequence[Any], decoded: Iterable[npt.NDArray[np.uint8]], encoder: Encoder, crf: int | None) -> EncodedClip:
    """PSNR of the decoded pictures against the encoder's input, as PyAV's arrays of planes, and their hashes."""
    first = frames[0]
    planes, rgb, squared, values = hashlib.sha256(), hashlib.sha256(), 0.0, 0
    for frame, shown in zip(frames, decoded, strict=True):
        given = frame.to_ndarray()
        planes.update(shown.data)
        squared, values = squared + cv2.norm(given, shown, cv2.NORM_L2SQR), values + given.size
        picture = av.VideoFrame.from_ndarray(shown, format=first.format.name)
        picture.colorspace, picture.color_range = Colorspace.ITU601, ColorRange.MPEG
        rgb.update(np.ascontiguousarray(to_rgb(picture)).data)
    psnr = round(float(10 * np.log10(255**2 * values / squared)), 3) if squared else _EXACT_DB
    return EncodedClip(crf, psnr, planes.hexdigest(), rgb.hexdigest(), first.width, first.height, _unusual(encoder))


def write_hole(path: Path | str, hole: Hole, *, fps: float) -> None:
    """Encode a hole track ``bool[T, H, W]`` losslessly as a full-range grey track (255 = hole), or one frame as PNG."""
    # Not `view * 255`: a bool array made elsewhere may hold 255 for True, which would wrap to 1. `np.where` is 20 times slower.
    values = np.ascontiguousarray(hole).view(np.uint8).reshape(-1, hole.shape[2])
    levels = np.asarray(cv2.threshold(values, 0, 255, cv2.THRESH_BINARY)[1], np.uint8)
    write_levels(path, levels.reshape(hole.shape), fps=fps)


def write_levels(path: Path | str, levels: npt.NDArray[np.uint8], *, fps: float) -> None:
    """Encode a grey track ``uint8[T, H, W]`` losslessly at full range, or one frame as PNG."""
    if is_image(path):
        _write_one(path, levels)
        return
    coding = chosen_encoder().levels()
    # The frames share the memory of the levels; where VP9 has no grey, a frame's luma is that, level by level.
    grey = (av.VideoFrame.from_numpy_buffer(frame, format="gray") for frame in np.ascontiguousarray(levels))
    full = {"src_color_range": ColorRange.JPEG, "dst_color_range": ColorRange.JPEG}
    frames = grey if coding.pixel_format == "gray" else (converted(frame, coding.pixel_format, **full) for frame in grey)
    _encode(path, frames, coding, fps=fps, colour=False)


def write_lossless(path: Path | str, frames: Frames, *, fps: float) -> None:
    """Encode RGB frames ``uint8[T, H, W, 3]`` losslessly; browsers show wrong colours, so never link the file from a page."""
    if is_image(path):
        _write_one(path, frames)
    else:
        _write_lossless_video(path, frames, fps=fps)


def _write_lossless_video(path: Path | str, frames: Iterable[npt.NDArray[np.uint8]], *, fps: float) -> None:
    coding = chosen_encoder().rgb()
    pictures = (av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24") for frame in frames)
    _encode(path, (converted(picture, coding.pixel_format) for picture in pictures), coding, fps=fps, colour=False)


def _write_one(path: Path | str, frames: npt.NDArray[np.uint8]) -> None:
    if len(frames) != 1:
        raise ValueError(f"an image holds one frame, not {len(frames)}")
    write_image(path, frames[0])


def write_browser(
    path: Path | str, frames: Iterable[npt.NDArray[np.uint8]], *, fps: float, crf: int = 20, key_every: int = 15,
    thorough: bool = False,
) -> None:  # fmt: skip
    """Encode a preview for browsers in 4:2:0; odd sides lose their last row or column.

    Frames are ``uint8[H, W, 3]`` of one size, as an array or an iterator. ``crf`` is on the scale of libx264, whoever encodes;
    ``key_every`` is the most frames between key frames; ``thorough`` takes more time for fewer bytes.
    """
    even = (frame[: frame.shape[0] // 2 * 2, : frame.shape[1] // 2 * 2] for frame in frames)
    frames_yuv = (_to_yuv(frame, "yuv420p") for frame in even)
    _encode(path, frames_yuv, chosen_encoder().preview(crf, key_every, thorough=thorough), fps=fps, colour=True)


def _to_yuv(frame: npt.NDArray[np.uint8], pixel_format: str) -> Any:
    rgb = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
    ranges = {"src_color_range": ColorRange.JPEG, "dst_color_range": ColorRange.MPEG}
    return converted(rgb, pixel_format, dst_colorspace=Colorspace.ITU601, **ranges)


def _encode(path: Path | str, frames: Iterable[Any], coding: Coding, *, fps: float, colour: bool) -> None:
    # 1001 is the denominator of NTSC rates; the rate of a time-lapse may be lower than a container can store.
    rate = max(Fraction(fps).limit_denominator(1001), Fraction(1, 1001))
    with av.open(str(path), "w", options=_CONTAINER) as container:
        stream: Any = None
        for index, frame in enumerate(frames):
            if stream is None:
                stream = container.add_stream(coding.codec, rate=rate, options=coding.options)
                stream.width, stream.height, stream.pix_fmt = frame.width, frame.height, coding.pixel_format
                context = stream.codec_context
                context.thread_count = 1  # with more threads the bytes depend on their number
                # 1 = limited range, 2 = full range; 6, 1, 1 = BT.601 matrix, BT.709 primaries and transfer: Chromium shows these
                # correctly.
                context.color_range = 1 if colour else 2
                if colour:
                    context.colorspace, context.color_primaries, context.color_trc = 6, 1, 1
            frame.pts, frame.time_base = index, 1 / rate
            container.mux(stream.encode(frame))
        if stream is None:
            raise ValueError("a video needs at least one frame")
        container.mux(stream.encode(None))
