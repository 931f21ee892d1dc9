from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import av
import numpy as np
import pytest
import torture
from worlds import pan_clip

from inpaintbench import video

COLOURS = np.array(
    [(255, 255, 255), (0, 0, 0), (128, 128, 128), (200, 30, 40), (30, 180, 60), (20, 40, 210), (220, 200, 30), (90, 160, 200)]
)
LUMA_WEIGHTS = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


def coded(colour: Sequence[int], matrix: str, *, full: bool) -> tuple[int, int, int]:
    """Luma and chroma of a colour after ITU-R BT.601, BT.709 or BT.2020, in 8 bits."""
    kr, kb = LUMA_WEIGHTS[matrix]
    red, green, blue = (value / 255 for value in colour)
    luma = kr * red + (1 - kr - kb) * green + kb * blue
    cb, cr = (blue - luma) / (2 - 2 * kb), (red - luma) / (2 - 2 * kr)
    if full:
        return round(255 * luma), min(255, round(128 + 255 * cb)), min(255, round(128 + 255 * cr))
    return round(16 + 219 * luma), round(128 + 224 * cb), round(128 + 224 * cr)


def stripes(width: int, height: int, matrix: str, *, full: bool) -> av.VideoFrame:
    """One stripe a colour, 4:2:0."""
    codes = np.array([coded(colour, matrix, full=full) for colour in COLOURS], np.uint8)
    frame = av.VideoFrame(width, height, "yuv420p")
    for channel, plane in enumerate(frame.planes):
        rows = np.zeros((plane.height, plane.line_size), np.uint8)
        rows[:, : plane.width] = codes[np.arange(plane.width) * len(codes) // plane.width, channel]
        plane.update(rows.tobytes())
    return frame


@pytest.mark.parametrize(
    ("size", "matrix", "tagged", "full"),
    [
        ((640, 48), "bt601", 6, False), ((640, 48), "bt601", 5, True), ((640, 48), "bt709", 1, False),
        ((640, 48), "bt709", 1, True),
        ((640, 48), "bt2020", 9, False), ((1280, 720), "bt601", 6, False), ((1280, 720), "bt709", 1, False),
        ((640, 480), "bt601", 2, False), ((1280, 64), "bt709", 2, False), ((640, 720), "bt709", 2, False),
        ((1280, 720), "bt709", 2, True),
    ],
)  # fmt: skip
def test_colours_come_back_as_their_tags_or_their_size_say(
    size: tuple[int, int], matrix: str, tagged: int, full: bool, tmp_path: Path
) -> None:
    path = tmp_path / "colours.mp4"
    prepare = torture.tags(matrix=tagged, colour_range=2 if full else 0)
    options = {"qp": "0", "preset": "ultrafast"}
    torture.encode(path, [stripes(*size, matrix, full=full)] * 2, options=options, prepare=prepare)
    middles = (np.arange(len(COLOURS)) * 2 + 1) * size[0] // (2 * len(COLOURS))
    for pixels, _ in video.upright_frames(path):
        assert np.abs(pixels[size[1] // 2, middles].astype(int) - COLOURS).max() <= 3


@pytest.mark.parametrize("size", [(160, 96), (1280, 720)])
@pytest.mark.parametrize("form", ["near-lossless", "lossless"])
def test_our_own_files_decode_alike_as_sources_and_as_truths(form: str, size: tuple[int, int], tmp_path: Path) -> None:
    frames = pan_clip("coffee", pixels_per_frame=1, frames=2, width=320, height=240)[:, :96, :160]
    frames = np.ascontiguousarray(np.tile(frames, (1, -(-size[1] // 96), -(-size[0] // 160), 1))[:, : size[1], : size[0]])
    video.write_clip(tmp_path / "clip.mp4", frames, fps=25.0, form=form)
    own = video.read_frames(tmp_path / "clip.mp4")
    assert (np.stack([pixels for pixels, _ in video.upright_frames(tmp_path / "clip.mp4")]) == own).all()


@pytest.mark.parametrize("full", [False, True])
def test_ten_bits_are_rounded_to_the_nearest_level(full: bool, tmp_path: Path) -> None:
    ramp = np.resize(np.arange(0, 1024) if full else np.arange(64, 941), (48, 64))
    torture.encode(
        tmp_path / "ramp.mp4", [torture.ten_bit_frame(ramp)], pixel_format="yuv420p10le", options={"qp": "0"},
        prepare=torture.tags(matrix=1, colour_range=2 if full else 1),
    )  # fmt: skip
    ((pixels, _),) = video.upright_frames(tmp_path / "ramp.mp4")
    exact = ramp * 255 / 1023 if full else (ramp / 4 - 16) * 255 / 219
    assert np.abs(pixels - exact[:, :, None]).max() <= 0.51
    assert video.probe(tmp_path / "ramp.mp4").bit_depth == 10


@pytest.mark.parametrize(
    ("size", "tagged", "matrix"), [((640, 48), 1, "bt709"), ((640, 48), 2, "bt601"), ((1280, 64), 2, "bt709")]
)
def test_colours_of_ten_bits_come_back(size: tuple[int, int], tagged: int, matrix: str, tmp_path: Path) -> None:
    deep = [stripes(*size, matrix, full=False).reformat(format="yuv420p10le") for _ in range(2)]
    prepare = torture.tags(matrix=tagged, colour_range=1)
    torture.encode(tmp_path / "deep.mp4", deep, pixel_format="yuv420p10le", options={"qp": "0"}, prepare=prepare)
    middles = (np.arange(len(COLOURS)) * 2 + 1) * size[0] // (2 * len(COLOURS))
    for pixels, _ in video.upright_frames(tmp_path / "deep.mp4"):
        assert np.abs(pixels[size[1] // 2, middles].astype(int) - COLOURS).max() <= 3


@pytest.mark.parametrize("opacity", [0, 1, 77, 128, 254, 255])
def test_what_is_transparent_lies_over_black(opacity: int, tmp_path: Path) -> None:
    colours = np.dstack([np.resize(COLOURS, (32, 32, 3)), np.full((32, 32), opacity)]).astype(np.uint8)
    frame = av.VideoFrame.from_ndarray(colours, format="rgba")
    torture.encode(tmp_path / "glass.mov", [frame], codec="png", pixel_format="rgba")
    ((pixels, _),) = video.upright_frames(tmp_path / "glass.mov")
    assert np.abs(pixels - colours[..., :3] * (opacity / 255)).max() <= 0.51
    assert video.probe(tmp_path / "glass.mov").has_alpha == (opacity < 255)
