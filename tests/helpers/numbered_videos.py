"""Pictures that carry their number, and videos made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

WIDTH, HEIGHT, FRAMES, FPS = 64, 48, 30, 25
DARK, BRIGHT = 40, 215
CELLS = 4
"""The code is a square of so many cells a side: 12 bits of the number and 4 of a check sum, row by row."""


# The number in the picture


def _bits(number: int) -> np.ndarray:
    check = (7 * number + 3 * (number >> 4) + (number >> 8) + 5) & 15
    return np.array([(number | check << 12) >> bit & 1 for bit in range(CELLS**2)], bool).reshape(CELLS, CELLS)


def numbered(number: int, *, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    """A grey picture ``uint8[height, width, 3]`` that says ``number``, 0..4095."""
    rows, columns = np.arange(height) * CELLS // height, np.arange(width) * CELLS // width
    grey = np.where(_bits(number)[np.ix_(rows, columns)], BRIGHT, DARK).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def frame_number(pixels: np.ndarray) -> int | None:
    """What ``numbered`` drew into ``uint8[h, w, 3]``; None where the code cannot be read, as in a turned picture."""
    grey = pixels.mean(axis=2)
    height, width = grey.shape
    bands = [(slice(*_middle(row, height)), slice(*_middle(column, width))) for row in range(CELLS) for column in range(CELLS)]
    means = np.array([grey[rows, columns].mean() for rows, columns in bands])
    if np.abs(means - (means.min() + means.max()) / 2).min() < 0.2 * np.ptp(means):
        return None  # cells that are neither dark nor bright: two frames mixed, or damage
    value = sum(int(bit) << place for place, bit in enumerate(means > (means.min() + means.max()) / 2))
    number = value & 0xFFF
    return number if (_bits(number).ravel() == [value >> bit & 1 for bit in range(CELLS**2)]).all() else None


def _middle(cell: int, side: int) -> tuple[int, int]:
    start, end = -(-cell * side // CELLS), -(-(cell + 1) * side // CELLS)
    return start + (end - start) // 4, max(end - (end - start) // 4, start + (end - start) // 4 + 1)


# Encoding


def encode(
    path: Path, pictures: Iterable[Any], *, codec: str = "libx264", pixel_format: str = "yuv420p", rate: int = FPS,
    pts: Sequence[int] | None = None, options: Mapping[str, str] = {}, muxing: Mapping[str, str] = {},
    prepare: Callable[[Any], None] | None = None, cover: bool = False,
) -> None:  # fmt: skip
    """Write pictures (arrays ``uint8[h, w, 3]`` or PyAV frames) as one video stream, at ``pts / rate`` seconds."""
    with av.open(str(path), "w", options={"fflags": "+bitexact", **muxing}) as container:
        stream: Any = None
        for index, picture in enumerate(pictures):
            frame = picture if isinstance(picture, av.VideoFrame) else av.VideoFrame.from_ndarray(picture, format="rgb24")
            if stream is None:
                stream = container.add_stream(codec, rate=rate, options=dict(options))
                stream.width, stream.height, stream.pix_fmt = frame.width, frame.height, pixel_format
                stream.codec_context.thread_count = 1
                if prepare:
                    prepare(stream)
                picture_of_cover = add_cover(container) if cover else None
            frame.pts, frame.time_base = (index if pts is None else pts[index]), Fraction(1, rate)
            container.mux(stream.encode(frame))
            if picture_of_cover and index == 0:
                container.mux(picture_of_cover)
        container.mux(stream.encode(None))


def pictures(numbers: Iterable[int] = range(FRAMES), *, width: int = WIDTH, height: int = HEIGHT) -> Iterable[np.ndarray]:
    return (numbered(number, width=width, height=height) for number in numbers)


def add_cover(container: Any) -> Any:
    """An attached picture, of another size than the video and without a code; returns its packet."""
    stream = container.add_stream("mjpeg", rate=1)
    stream.width, stream.height, stream.pix_fmt = 96, 96, "yuvj420p"
    stream.disposition = av.stream.Disposition.attached_pic
    frame = av.VideoFrame.from_ndarray(np.full((96, 96, 3), 200, np.uint8), format="rgb24").reformat(format="yuvj420p")
    (packet,) = stream.encode(frame)
    return packet


def ten_bit_frame(luma: np.ndarray) -> Any:
    """A grey 4:2:0 frame of the 10-bit codes ``luma``, ``[h, w]``."""
    height, width = luma.shape
    grey = np.full(((height + 1) // 2, (width + 1) // 2), 512)
    frame = av.VideoFrame(width, height, "yuv420p10le")
    for plane, values in zip(frame.planes, (luma, grey, grey), strict=True):
        rows = np.zeros((plane.height, plane.line_size // 2), "<u2")
        rows[:, : values.shape[1]] = values
        plane.update(rows.tobytes())
    return frame


def tags(*, matrix: int = 2, primaries: int = 2, transfer: int = 2, colour_range: int = 0) -> Callable[[Any], None]:
    """Sets the colour description of a stream to be encoded; numbers of ITU-T H.273, range 1 limited, 2 full."""

    def prepare(stream: Any) -> None:
        context = stream.codec_context
        context.colorspace, context.color_primaries, context.color_trc = matrix, primaries, transfer
        context.color_range = colour_range

    return prepare
