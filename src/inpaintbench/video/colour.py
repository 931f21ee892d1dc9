"""Colour of decoded frames: names of the tags (ITU-T H.273), defaults for untagged frames, conversion to RGB."""

from __future__ import annotations

import threading
from collections import defaultdict
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from av.video.reformatter import VideoReformatter

from inpaintbench.errors import MediaError
from inpaintbench.lazily import lazily

cv2 = lazily("cv2")


class _Converters(threading.local):
    """One converter a format and thread, so that decoding and encoding in turns do not make each other's tables anew."""

    def __init__(self) -> None:
        self.to: defaultdict[str, VideoReformatter] = defaultdict(VideoReformatter)


_OF_THIS_THREAD = _Converters()


def converted(frame: Any, pixel_format: str, **colours: int) -> Any:
    """Return an ``av.VideoFrame`` in another pixel format.

    The pixels are those of ``frame.reformat``, which makes its tables and starts a thread a core for every frame: at 288x160 that
    takes ten times as long as the conversion. With one thread, samples of 16 bits at odd widths are right too: several threads
    write over each other's rows there.

    Args:
        frame: an ``av.VideoFrame``.
        pixel_format: FFmpeg's name.
        colours: colour spaces and ranges, as of ``frame.reformat``.
    """
    return _OF_THIS_THREAD.to[pixel_format].reformat(frame, format=pixel_format, threads=1, **colours)


def to_rgb(frame: Any, pixel_format: str = "rgb24") -> npt.NDArray[Any]:
    """Return a frame as an array: ``uint8[H, W, 3]`` RGB, or as ``pixel_format`` has it."""
    return np.asarray(converted(frame, pixel_format).to_ndarray())


UNKNOWN = "unknown"
# Codes of ITU-T H.273 and FFmpeg's names for them.
_PRIMARIES = {
    1: "bt709", 4: "bt470m", 5: "bt470bg", 6: "smpte170m", 7: "smpte240m", 8: "film", 9: "bt2020", 10: "smpte428",
    11: "smpte431", 12: "smpte432", 22: "ebu3213",
}  # fmt: skip
_TRANSFERS = {
    1: "bt709", 4: "bt470m", 5: "bt470bg", 6: "smpte170m", 7: "smpte240m", 8: "linear", 9: "log100", 10: "log316",
    11: "iec61966-2-4", 12: "bt1361e", 13: "iec61966-2-1", 14: "bt2020-10", 15: "bt2020-12", 16: "smpte2084", 17: "smpte428",
    18: "arib-std-b67",
}  # fmt: skip
_MATRICES = {
    0: "gbr", 1: "bt709", 4: "fcc", 5: "bt470bg", 6: "smpte170m", 7: "smpte240m", 8: "ycgco", 9: "bt2020nc", 10: "bt2020c",
    11: "smpte2085", 12: "chroma-derived-nc", 13: "chroma-derived-c", 14: "ictcp",
}  # fmt: skip
_RANGES = {1: "limited", 2: "full"}
_HDR = {16: "pq", 18: "hlg"}
# H.273 codes that name no matrix of luma and chroma: RGB, unspecified, reserved.
_NO_MATRIX = (0, 2, 3)
_BT709, _BT2020 = 1, 9
# Weights of red and blue in luma (Kr, Kb), by the code of the matrix (H.273).
_LUMA_WEIGHTS = {
    1: (0.2126, 0.0722), 2: (0.299, 0.114), 4: (0.30, 0.11), 5: (0.299, 0.114), 6: (0.299, 0.114), 7: (0.212, 0.087),
    9: (0.2627, 0.0593),
}  # fmt: skip
# From this size up players take untagged video for BT.709.
_HD_LINES, _HD_COLUMNS = 720, 1280


def names(frame: Any) -> dict[str, str]:
    """FFmpeg's names of the tags ``transfer``, ``primaries``, ``matrix`` and ``colour_range``; ``unknown`` where untagged."""
    return {
        "transfer": _TRANSFERS.get(int(frame.color_trc), UNKNOWN),
        "primaries": _PRIMARIES.get(int(frame.color_primaries), UNKNOWN),
        "matrix": _MATRICES.get(int(frame.colorspace), UNKNOWN),
        "colour_range": _RANGES.get(int(frame.color_range), UNKNOWN),
    }


def hdr_kind(frame: Any) -> str:
    """Kind of HDR by the tagged transfer function: ``pq``, ``hlg`` or ``none``."""
    return _HDR.get(int(frame.color_trc), "none")


def settle(frame: Any) -> None:
    """Tag an untagged frame, in place, with the matrix that players assume, so that the conversion to RGB honours it.

    BT.2020 for HDR; BT.709 from 720 lines or 1280 columns up; else BT.601, which is the conversion's own default. An untagged
    range counts as limited, as everywhere.
    """
    if frame.format.is_rgb or int(frame.colorspace) not in _NO_MATRIX:
        return
    if hdr_kind(frame) != "none":
        frame.colorspace = _BT2020
    elif frame.height >= _HD_LINES or frame.width >= _HD_COLUMNS:
        frame.colorspace = _BT709


def opacity(frame: Any) -> npt.NDArray[np.uint8] | None:
    """Alpha plane, ``uint8[H, W]``, 255 = opaque; None where every pixel is opaque."""
    if not (frame.format.has_palette or any(component.is_alpha for component in frame.format.components)):
        return None
    alpha = to_rgb(frame, "rgba")[:, :, 3]
    return None if alpha.min() == 255 else alpha


def rgb(frame: Any) -> npt.NDArray[np.uint8]:
    """RGB of a frame that is not HDR, ``uint8[H, W, 3]``, as coded (not rotated), composited over black where transparent.

    Samples of more than 8 bits are rounded to the nearest level. Alpha is taken to be straight, not premultiplied.
    """
    settle(frame)
    alpha = opacity(frame)
    more_than_8_bits = int(frame.format.components[0].bits) > 8
    if more_than_8_bits and not frame.format.is_rgb and int(frame.colorspace) in _LUMA_WEIGHTS:
        # FFmpeg's conversion of deep frames to rgb24 truncates instead of rounding: up to 2.6 levels too dark.
        pixels = np.asarray(np.rint(signals(frame) * 255), np.uint8)
    else:
        pixels = to_rgb(frame)
    if alpha is None:
        return pixels
    weighted = pixels.astype(np.uint16) * alpha[:, :, None] + 127  # + 127 rounds the division by 255
    return np.asarray(weighted // 255, np.uint8)


def signals(frame: Any) -> npt.NDArray[np.float32]:
    """Gamma-encoded R'G'B' of a tagged frame of more than 8 bits, ``float32[H, W, 3]`` in 0..1, at full precision.

    Raises:
        MediaError: the matrix is unknown here.
    """
    if frame.format.is_rgb:
        return np.asarray(to_rgb(frame, "rgb48le") / np.float32(65535), np.float32)
    if int(frame.colorspace) not in _LUMA_WEIGHTS:
        raise MediaError(f"its colours are coded as {names(frame)['matrix']}, which is not read: convert it to bt2020nc or bt709")
    # Shifts the codes up to 16 bits and upsamples chroma; no colour conversion.
    wide = converted(frame, "yuv444p16le")
    rows = [np.frombuffer(plane, "<u2").reshape(plane.height, -1)[:, : plane.width] for plane in wide.planes]
    coded = np.dstack(rows).astype(np.float32)
    full = int(frame.color_range) == 2
    matrix = _to_rgb(int(frame.colorspace), int(frame.format.components[0].bits) if full else 0)
    return np.asarray(np.clip(cv2.transform(coded, matrix), 0, 1), np.float32)


@lru_cache(maxsize=8)
def _to_rgb(matrix: int, full_range_bits: int) -> npt.NDArray[np.float64]:
    """Affine matrix ``float64[3, 4]`` from 16-bit luma and chroma codes to R'G'B' in 0..1; 0 bits = limited range."""
    kr, kb = _LUMA_WEIGHTS[matrix]
    peak = (2**full_range_bits - 1) << (16 - full_range_bits) if full_range_bits else 0
    # Limited range: luma 16..235 and chroma 16..240 of 8 bits, at 16 bits.
    luma, chroma, black = (1 / peak, 1 / peak, 0) if peak else (1 / (219 * 256), 1 / (224 * 256), 16 * 256)
    kg = 1 - kr - kb
    weights = np.array([[1, 0, 2 - 2 * kr], [1, -kb * (2 - 2 * kb) / kg, -kr * (2 - 2 * kr) / kg], [1, 2 - 2 * kb, 0]])
    scaled = weights * [luma, chroma, chroma]
    return np.column_stack([scaled, -scaled @ [black, 128 * 256, 128 * 256]])
