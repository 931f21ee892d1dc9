"""Every normalizer against Pillow, with square and other pixels, and what each refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps
from worlds import photograph

from inpaintbench import video
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.errors import InputError, Rejected

Pixels = npt.NDArray[np.uint8]


def applied(name: str, frame: Pixels, *, pixel_aspect: float = 1.0, **constants: Any) -> Pixels:
    return NORMALIZERS.get(name)(**constants).apply(frame, pixel_aspect=pixel_aspect)


def pillow(frame: Pixels, width: int, height: int) -> Image.Image:
    return Image.fromarray(frame).resize((width, height), Image.Resampling.BICUBIC)


def alike(pixels: Pixels, wanted: Image.Image) -> bool:
    """Whether both are the same picture: Pillow rounds to whole levels between columns and rows."""
    apart = np.abs(pixels.astype(int) - np.asarray(wanted))
    return pixels.shape == np.shape(wanted) and apart.max() <= 8 and apart.mean() < 0.3


@pytest.fixture(scope="module")
def frame() -> Pixels:
    return photograph("coffee", width=320, height=180)


def test_cover(frame: Pixels) -> None:
    wanted = pillow(frame, 214, 120).crop((42, 0, 42 + 130, 120))
    assert alike(applied("cover", frame, width=130, height=120), wanted)


def test_contain_with_padding(frame: Pixels) -> None:
    wanted = Image.new("RGB", (160, 160), (10, 20, 30))
    wanted.paste(pillow(frame, 160, 90), (0, 35))
    assert alike(applied("contain", frame, width=160, height=160, colour=(10, 20, 30)), wanted)
    assert alike(
        applied("contain", frame, width=160, height=160),
        ImageOps.pad(Image.fromarray(frame), (160, 160), Image.Resampling.BICUBIC),
    )


def test_contain_without_padding(frame: Pixels) -> None:
    assert alike(applied("contain", frame, width=160, height=160, pad=False), pillow(frame, 160, 90))
    assert applied("contain", frame, width=101, height=400, pad=False).shape == (56, 100, 3)


def test_stretch(frame: Pixels) -> None:
    assert alike(applied("stretch", frame, width=100, height=150), pillow(frame, 100, 150))


def test_crop(frame: Pixels) -> None:
    assert np.array_equal(applied("crop", frame, width=101, height=60), frame[60:120, 109:210])
    with pytest.raises(Rejected, match="320x180, smaller than the crop of 832x480"):
        applied("crop", frame)


def test_shortest_side(frame: Pixels) -> None:
    assert alike(applied("shortest_side", frame, pixels=120), pillow(frame, 214, 120))
    assert np.array_equal(applied("shortest_side", frame.swapaxes(0, 1).copy(), pixels=120).shape, (214, 120, 3))


def test_pixels_become_square(frame: Pixels) -> None:
    assert alike(applied("as_is", frame, pixel_aspect=0.75), pillow(frame, 240, 180))
    assert alike(applied("crop", frame, pixel_aspect=0.75, width=240, height=180), pillow(frame, 240, 180))
    assert alike(applied("shortest_side", frame, pixel_aspect=0.75, pixels=120), pillow(frame, 160, 120))
    assert alike(applied("contain", frame, pixel_aspect=0.75, width=120, height=120, pad=False), pillow(frame, 120, 90))
    assert alike(applied("cover", frame, pixel_aspect=0.75, width=120, height=90), pillow(frame, 120, 90))


@pytest.mark.parametrize("size", [(16, 16), (16, 400), (1300, 16), (1000, 700)])
def test_one_colour_stays_however_much_a_side_shrinks_or_grows(size: tuple[int, int]) -> None:
    for level in (0, 5, 128, 200, 255):
        plain = np.full((1200, 1900, 3), (level, 255 - level, 7), np.uint8)
        scaled = video.scaled(plain, width=size[0], height=size[1])
        assert scaled.shape == (size[1], size[0], 3)
        assert (scaled == plain[0, 0]).all()


@pytest.mark.parametrize(
    ("name", "constants"),
    [
        ("cover", {"width": 480, "height": 270}),
        ("contain", {"width": 480, "height": 270}),
        ("stretch", {"width": 480, "height": 90}),
        ("shortest_side", {"pixels": 270}),
    ],
)
def test_enlarging_is_refused_by_size_or_allowed(frame: Pixels, name: str, constants: dict[str, Any]) -> None:
    with pytest.raises(Rejected, match=r"the picture is 320x180 and would be enlarged 1\.50 times for .*(480x|270)"):
        applied(name, frame, **constants, most_enlargement=1.4)
    assert applied(name, frame, **constants, most_enlargement=1.5).shape[1] == 480


@settings(max_examples=60, deadline=None)
@given(
    size=st.tuples(st.integers(100, 200), st.integers(100, 200)),
    target=st.tuples(st.integers(60, 120), st.integers(60, 120)),
    pixel_aspect=st.sampled_from([1.0, 0.5, 8 / 9, 64 / 45]),
)
def test_sizes_are_what_they_are_said_to_be(size: tuple[int, int], target: tuple[int, int], pixel_aspect: float) -> None:
    frame = np.zeros((*size, 3), np.uint8)
    width, height = target
    for name in ("cover", "stretch", "contain"):
        made = applied(name, frame, pixel_aspect=pixel_aspect, width=width, height=height, most_enlargement=math.inf)
        assert made.shape == (height, width, 3)
        assert made.flags.c_contiguous
    even = applied("shortest_side", frame, pixel_aspect=pixel_aspect, pixels=32, most_enlargement=math.inf)
    assert min(even.shape[:2]) == 32
    assert even.shape[0] % 2 == even.shape[1] % 2 == 0


@settings(max_examples=60, deadline=None)
@given(size=st.tuples(st.integers(40, 200), st.integers(40, 200)), target=st.tuples(st.integers(40, 120), st.integers(40, 120)))
def test_unpadded_frames_fit_and_keep_their_aspect(size: tuple[int, int], target: tuple[int, int]) -> None:
    ratio = min(target[0] / size[1], target[1] / size[0])
    assume(min(size) * ratio >= 17)
    made = applied(
        "contain", np.zeros((*size, 3), np.uint8), width=target[0], height=target[1], pad=False, most_enlargement=math.inf
    )
    assert made.shape[0] <= target[1]
    assert made.shape[1] <= target[0]
    assert abs(made.shape[0] - size[0] * ratio) <= 2
    assert abs(made.shape[1] - size[1] * ratio) <= 2
    assert made.shape[0] % 2 == made.shape[1] % 2 == 0


def test_very_long_pictures_are_refused() -> None:
    with pytest.raises(Rejected, match="2000x20 and would be 200x2 inside 200x100"):
        applied("contain", np.zeros((20, 2000, 3), np.uint8), width=200, height=100)


@pytest.mark.parametrize(
    ("name", "constants", "message"),
    [
        ("cover", {"width": 8}, "8x480 is too small"),
        ("stretch", {"most_enlargement": 0}, "most_enlargement is 0"),
        ("contain", {"colour": (1, 2)}, r"colour is \[1, 2\]"),
        ("contain", {"colour": (1, 2, 256)}, "256"),
        ("shortest_side", {"pixels": 481}, "481"),
        ("crop", {"height": 2}, "832x2 is too small"),
    ],
)
def test_impossible_constants_are_refused(name: str, constants: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        NORMALIZERS.get(name)(**constants)


def test_each_says_what_it_does() -> None:
    words = {name: NORMALIZERS.get(name)().describe() for name in NORMALIZERS}
    assert words == {
        "as_is": "size kept, square pixels, sides of 16 or more",
        "contain": "contain 832x480, bicubic, padded with RGB 0/0/0, never enlarged",
        "cover": "cover 832x480, bicubic",
        "crop": "crop 832x480 from the centre, not scaled",
        "shortest_side": "shorter side 480, even sides, bicubic, never enlarged",
        "stretch": "stretch 832x480, bicubic, never enlarged",
    }
