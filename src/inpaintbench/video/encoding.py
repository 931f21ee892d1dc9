"""Video encoding: ground truths, hole tracks, grey tracks, lossless frames, and previews for browsers."""

from __future__ import annotations

import errno
import hashlib
import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import av
import cv2
import numpy as np
import numpy.typing as npt
from av.video.reformatter import ColorRange, Colorspace

from inpaintbench.types import Frames, Hole
from inpaintbench.video.conversion import converted, to_rgb
from inpaintbench.video.decoding import decoded_facts, whole
from inpaintbench.video.encoders import X264, Coding, Encoder, chosen_encoder, require_h264
from inpaintbench.video.images import write_image
from inpaintbench.video.suffixes import is_image

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
    if is_image(path):
        write_lossless(path, np.stack(list(frames)), fps=fps)
        return _exact(path)
    if form == "near-lossless":
        return _search_factor(path, _converted(frames), fps=fps)
    if form == "lossless":
        _write_lossless_video(path, frames, fps=fps)
        return _exact(path)
    if form == "challenge":
        # As in the ChaLearn 2018 decaptioning challenge.
        require_h264("the form challenge")
        converted = _converted(frames)
        coding = X264.bit_rate(CHALLENGE_BITS_PER_SECOND, _format_of(converted))
        return _encode_truth(path, converted, X264, coding, fps=fps, crf=None)
    raise ValueError(f"unknown form {form!r}, choose from {', '.join(CLIP_FORMS)}")


def _exact(path: Path | str) -> EncodedClip:
    yuv, rgb, (width, height) = decoded_facts(path)
    return EncodedClip(0, _EXACT_DB, yuv, rgb, width, height, None if is_image(path) else _unusual(chosen_encoder()))


def _unusual(encoder: type[Encoder]) -> str | None:
    return None if encoder is X264 else encoder.name


def _converted(frames: Iterable[npt.NDArray[np.uint8]]) -> list[Any]:
    return [_to_yuv(frame, _subsampling(frame)) for frame in frames]


def _format_of(frames: Sequence[Any]) -> str:
    if not frames:
        raise ValueError("a video needs at least one frame")
    return str(frames[0].format.name)


def _search_factor(path: Path | str, converted: list[Any], *, fps: float) -> EncodedClip:
    encoder = chosen_encoder()
    crf = encoder.first_crf
    while True:
        encoded = _encode_truth(path, converted, encoder, encoder.truth(crf, _format_of(converted)), fps=fps, crf=crf)
        if encoded.psnr_db >= TRUTH_PSNR_DB or crf == 0:
            return encoded
        crf = max(0, crf - math.ceil((TRUTH_PSNR_DB - encoded.psnr_db) / _DB_A_STEP))


def _subsampling(frame: npt.NDArray[np.uint8]) -> str:
    height, width = frame.shape[:2]
    return "yuv420p" if height % 2 == 0 and width % 2 == 0 else "yuv444p"


def _encode_truth(
    path: Path | str, frames: list[Any], encoder: type[Encoder], coding: Coding, *, fps: float, crf: int | None
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
        return _facts_of(frames, _pictures(rebuilt, frames[0].to_ndarray(), len(frames)), encoder, crf)


def _pictures(rebuilt: BinaryIO, like: npt.NDArray[np.uint8], count: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Pictures of a file that holds their planes without padding, one after the other; each has the shape of ``like``."""
    for _ in range(count):
        shown = np.frombuffer(rebuilt.read(like.nbytes), np.uint8)
        if shown.size < like.size:
            raise OSError(errno.ENOSPC, "the encoder could not keep its pictures")
        yield shown.reshape(like.shape)


def _facts_of(
    frames: Sequence[Any], decoded: Iterable[npt.NDArray[np.uint8]], encoder: type[Encoder], crf: int | None
) -> EncodedClip:
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
        _require_one(levels)
        write_image(path, levels[0])
        return
    coding = chosen_encoder().levels()
    grey = map(_grey_frame, np.ascontiguousarray(levels))
    frames = grey if coding.pixel_format == "gray" else (_as_luma(frame, coding.pixel_format) for frame in grey)
    _encode(path, frames, coding, fps=fps, colour=False)


def write_lossless(path: Path | str, frames: Frames, *, fps: float) -> None:
    """Encode RGB frames ``uint8[T, H, W, 3]`` losslessly; browsers show wrong colours, so never link the file from a page."""
    if is_image(path):
        _require_one(frames)
        write_image(path, frames[0])
        return
    _write_lossless_video(path, frames, fps=fps)


def _write_lossless_video(path: Path | str, frames: Iterable[npt.NDArray[np.uint8]], *, fps: float) -> None:
    coding = chosen_encoder().rgb()
    pictures = (av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24") for frame in frames)
    _encode(path, (converted(picture, coding.pixel_format) for picture in pictures), coding, fps=fps, colour=False)


def _require_one(frames: npt.NDArray[np.uint8]) -> None:
    if len(frames) != 1:
        raise ValueError(f"an image holds one frame, not {len(frames)}")


def write_browser(
    path: Path | str, frames: Iterable[npt.NDArray[np.uint8]], *, fps: float, crf: int = 20, key_every: int = 15
) -> None:
    """Encode a preview for browsers in 4:2:0; odd sides lose their last row or column.

    Frames are ``uint8[H, W, 3]`` of one size, as an array or an iterator. ``crf`` is on the scale of libx264, whoever encodes;
    ``key_every`` is the most frames between key frames.
    """
    frames_yuv = (_to_yuv(_even(frame), "yuv420p") for frame in frames)
    _encode(path, frames_yuv, chosen_encoder().preview(crf, key_every), fps=fps, colour=True)


def _even(frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    height, width = (side - side % 2 for side in frame.shape[:2])
    return frame[:height, :width]


def _to_yuv(frame: npt.NDArray[np.uint8], pixel_format: str) -> Any:
    rgb = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
    return converted(
        rgb,
        pixel_format,
        dst_colorspace=Colorspace.ITU601,
        src_color_range=ColorRange.JPEG,
        dst_color_range=ColorRange.MPEG,
    )


def _grey_frame(levels: npt.NDArray[np.uint8]) -> Any:
    return av.VideoFrame.from_numpy_buffer(levels, format="gray")  # shares the memory of `levels`


def _as_luma(grey: Any, pixel_format: str) -> Any:
    """Frame whose luma is the grey one's, level by level, with neutral chroma."""
    return converted(grey, pixel_format, src_color_range=ColorRange.JPEG, dst_color_range=ColorRange.JPEG)


def _encode(path: Path | str, frames: Iterable[Any], coding: Coding, *, fps: float, colour: bool) -> None:
    # 1001 is the denominator of NTSC rates; the rate of a time-lapse may be lower than a container can store.
    rate = max(Fraction(fps).limit_denominator(1001), Fraction(1, 1001))
    with av.open(str(path), "w", options=_CONTAINER) as container:
        stream: Any = None
        for index, frame in enumerate(frames):
            if stream is None:
                stream = container.add_stream(coding.codec, rate=rate, options=coding.options)
                stream.width, stream.height, stream.pix_fmt = frame.width, frame.height, coding.pixel_format
                _tag(stream.codec_context, colour=colour)
            frame.pts, frame.time_base = index, 1 / rate
            container.mux(stream.encode(frame))
        if stream is None:
            raise ValueError("a video needs at least one frame")
        container.mux(stream.encode(None))


def _tag(context: Any, *, colour: bool) -> None:
    context.thread_count = 1  # with more threads the bytes depend on their number
    # 1 = limited range, 2 = full range; 6, 1, 1 = BT.601 matrix, BT.709 primaries and transfer: Chromium shows these correctly.
    context.color_range = 1 if colour else 2
    if colour:
        context.colorspace, context.color_primaries, context.color_trc = 6, 1, 1
