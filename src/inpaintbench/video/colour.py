"""What numbers of a decoded frame mean as colour: its tags, and what is taken for granted where there are none."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import MediaError

UNKNOWN = "unknown"
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
# H.273 codes that say nothing of a picture in luma and chroma: RGB, unspecified, reserved.
_NO_MATRIX = (0, 2, 3)
_BT709, _BT2020 = 1, 9
# Shares of red and blue in luma, by the code of the matrix (H.273).
_LUMA_WEIGHTS = {
    1: (0.2126, 0.0722), 2: (0.299, 0.114), 4: (0.30, 0.11), 5: (0.299, 0.114), 6: (0.299, 0.114), 7: (0.212, 0.087),
    9: (0.2627, 0.0593),
}  # fmt: skip
_HD_LINES, _HD_COLUMNS = 720, 1280


def names(frame: Any) -> dict[str, str]:
    """FFmpeg's names of a frame's ``transfer``, ``primaries``, ``matrix`` and ``colour_range``; ``unknown`` where untagged."""
    return {
        "transfer": _TRANSFERS.get(int(frame.color_trc), UNKNOWN),
        "primaries": _PRIMARIES.get(int(frame.color_primaries), UNKNOWN),
        "matrix": _MATRICES.get(int(frame.colorspace), UNKNOWN),
        "colour_range": _RANGES.get(int(frame.color_range), UNKNOWN),
    }


def hdr_kind(frame: Any) -> str:
    """``pq``, ``hlg`` or ``none``, by the transfer function that the frame is tagged with."""
    return _HDR.get(int(frame.color_trc), "none")


def settle(frame: Any) -> None:
    """Give an untagged frame the matrix that players take for granted, so that the conversion to RGB honours it.

    BT.2020 for HDR; BT.709 from 720 lines or 1280 columns up; else BT.601, which is what the conversion does by itself. An
    untagged range is limited, as everywhere.
    """
    if frame.format.is_rgb or int(frame.colorspace) not in _NO_MATRIX:
        return
    if hdr_kind(frame) != "none":
        frame.colorspace = _BT2020
    elif frame.height >= _HD_LINES or frame.width >= _HD_COLUMNS:
        frame.colorspace = _BT709


def opacity(frame: Any) -> npt.NDArray[np.uint8] | None:
    """``uint8[H, W]``, 255 = opaque; None where every pixel is opaque."""
    if not (frame.format.has_palette or any(component.is_alpha for component in frame.format.components)):
        return None
    alpha = frame.to_ndarray(format="rgba")[:, :, 3]
    return None if alpha.min() == 255 else alpha


def rgb(frame: Any) -> npt.NDArray[np.uint8]:
    """A frame that is not HDR as ``uint8[H, W, 3]``, as coded (not turned); what is transparent lies over black.

    More than 8 bits are rounded to the nearest level. Opacity is taken to be straight, not premultiplied.
    """
    settle(frame)
    alpha = opacity(frame)
    if is_deep(frame) and not frame.format.is_rgb and int(frame.colorspace) in _LUMA_WEIGHTS:
        # The conversion to rgb24 cuts off instead of rounding: up to 2.6 levels too dark.
        pixels = np.asarray(np.rint(signals(frame) * 255), np.uint8)
    else:
        pixels = frame.to_ndarray(format="rgb24")
    if alpha is None:
        return pixels
    weighted = pixels.astype(np.uint16) * alpha[:, :, None] + 127
    return np.asarray(weighted // 255, np.uint8)


def is_deep(frame: Any) -> bool:
    """Whether its values have more than 8 bits."""
    return int(frame.format.components[0].bits) > 8


def signals(frame: Any) -> npt.NDArray[np.float32]:
    """A settled frame of more than 8 bits as coded R'G'B', ``float32[H, W, 3]`` of 0..1, at full precision.

    Raises:
        MediaError: its colours are coded in a way that is not known here.
    """
    if frame.format.is_rgb:
        return np.asarray(frame.to_ndarray(format="rgb48le") / np.float32(65535), np.float32)
    if int(frame.colorspace) not in _LUMA_WEIGHTS:
        raise MediaError(f"its colours are coded as {names(frame)['matrix']}, which is not read: convert it to bt2020nc or bt709")
    # The same codes with zeros behind them; chroma is brought to full size.
    wide = frame.reformat(format="yuv444p16le")
    rows = [np.frombuffer(plane, "<u2").reshape(plane.height, -1)[:, : plane.width] for plane in wide.planes]
    coded = np.dstack(rows).astype(np.float32)
    full = int(frame.color_range) == 2
    matrix = _to_rgb(int(frame.colorspace), int(frame.format.components[0].bits) if full else 0)
    return np.asarray(np.clip(cv2.transform(coded, matrix), 0, 1), np.float32)


@lru_cache(maxsize=8)
def _to_rgb(matrix: int, full_range_bits: int) -> npt.NDArray[np.float64]:
    """``[3, 4]``: from 16-bit codes of luma and chroma to R'G'B' of 0..1; 0 bits stand for limited range."""
    kr, kb = _LUMA_WEIGHTS[matrix]
    whole = (2**full_range_bits - 1) << (16 - full_range_bits) if full_range_bits else 0
    luma, chroma, black = (1 / whole, 1 / whole, 0) if whole else (1 / (219 * 256), 1 / (224 * 256), 16 * 256)
    kg = 1 - kr - kb
    weights = np.array([[1, 0, 2 - 2 * kr], [1, -kb * (2 - 2 * kb) / kg, -kr * (2 - 2 * kr) / kg], [1, 2 - 2 * kb, 0]])
    scaled = weights * [luma, chroma, chroma]
    return np.column_stack([scaled, -scaled @ [black, 128 * 256, 128 * 256]])
