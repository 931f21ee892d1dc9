"""Frames are converted by tables that are kept; pixels are those of a conversion made for each frame alone."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import av
import numpy as np
import pytest
from av.video.reformatter import ColorRange, Colorspace

from inpaintbench.video import colour as conversion
from inpaintbench.video.colour import converted, to_rgb

SIZES = ((16, 16), (17, 9), (288, 160), (641, 363))
COLOURS = {
    "dst_colorspace": Colorspace.ITU601, "src_color_range": ColorRange.JPEG, "dst_color_range": ColorRange.MPEG,
}  # fmt: skip


def _noise(width: int, height: int) -> Any:
    pixels = np.random.default_rng(width).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return av.VideoFrame.from_ndarray(pixels, format="rgb24")


def _coded() -> list[Any]:
    """Frames whose size, format, matrix or range differs from that of the one before."""
    frames = []
    for size, pixel_format, matrix, levels in itertools.product(
        SIZES, ("yuv420p", "yuv444p", "gray", "yuv420p10le", "yuva420p", "gbrp"), (1, 5, 9), (1, 2)
    ):
        frame = _noise(*size).reformat(format=pixel_format)
        frame.colorspace, frame.color_range = matrix, levels
        frames.append(frame)
    return frames


@pytest.mark.parametrize("target", ["rgb24", "rgba", "rgb48le"])
def test_kept_tables_give_the_pixels_of_fresh_ones(target: str) -> None:
    for frame in _coded():
        assert np.array_equal(to_rgb(frame, target), frame.to_ndarray(format=target))


@pytest.mark.parametrize("target", ["yuv420p", "yuv444p", "gray"])
def test_what_is_encoded_has_the_planes_of_fresh_tables(target: str) -> None:
    for size in SIZES:
        ours, theirs = converted(_noise(*size), target, **COLOURS), _noise(*size).reformat(format=target, **COLOURS)
        assert (int(ours.colorspace), int(ours.color_range)) == (int(theirs.colorspace), int(theirs.color_range))
        for one, other in zip(ours.planes, theirs.planes, strict=True):
            rows = [np.frombuffer(plane, np.uint8).reshape(plane.height, -1)[:, : plane.width] for plane in (one, other)]
            assert np.array_equal(*rows)


def test_threads_share_no_tables() -> None:
    frames = _coded()[:24]
    alone = [to_rgb(frame) for frame in frames]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(to_rgb, frames * 4))
    assert all(map(np.array_equal, together, alone * 4))


def test_a_clip_is_converted_by_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[str]()

    monkeypatch.setattr(conversion, "_OF_THIS_THREAD", kept := conversion._Converters())
    for frame in [_noise(64, 48).reformat(format="yuv420p") for _ in range(5)]:
        to_rgb(frame)
        converted(_noise(64, 48), "yuv420p")
        made.append(",".join(sorted(kept.to)))
    assert made == ["rgb24,yuv420p"] * 5
