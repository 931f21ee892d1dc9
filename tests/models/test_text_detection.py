"""The text detector on lines that were drawn where they are known to be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw, ImageFont
from worlds import photograph

from inpaintbench.models.detectors import text_boxes

SIDE, SCORE = 544, 0.6
Corners = list[float]


def written(text: str, *, size: float, at: tuple[int, int], turn: float = 0.0) -> tuple[npt.NDArray[np.uint8], Corners]:
    """A photograph with a line of text, and left, top, right, bottom of its ink."""
    scene = photograph("coffee", width=832, height=480)
    ink = Image.new("L", (832, 480))
    draw = ImageDraw.Draw(ink)
    draw.text(at, text, font=ImageFont.load_default(size), fill=255, anchor="mm")
    ink = ink.rotate(turn, resample=Image.Resampling.BICUBIC, center=at)
    alpha = np.asarray(ink, np.float32)[..., None] / 255
    frame = np.rint(scene * (1 - alpha) + 255 * alpha).astype(np.uint8)
    return frame, [float(edge) for edge in ink.getbbox() or ()]


@pytest.mark.real
@pytest.mark.parametrize(("size", "at"), [(18, (416, 440)), (28, (300, 60)), (44, (416, 240))])
def test_a_line_is_boxed_where_it_was_written(own_weights: None, size: float, at: tuple[int, int]) -> None:
    frame, ink = written("The quick brown fox", size=size, at=at)
    found = text_boxes(frame, longer_side=SIDE, score_threshold=SCORE)
    corners = np.concatenate([corners for corners, _ in found])
    box = [*corners.min(axis=0), *corners.max(axis=0)]
    np.testing.assert_allclose(box, ink, atol=0.6 * size)
    assert all(score >= SCORE for _, score in found)


@pytest.mark.real
def test_a_turned_line_has_a_turned_box(own_weights: None) -> None:
    frame, _ = written("Turned by twenty degrees", size=32, at=(416, 240), turn=20)
    found = text_boxes(frame, longer_side=SIDE, score_threshold=SCORE)
    assert found
    for corners, _ in found:  # a wide gap between words divides a line
        sides = np.roll(corners, -1, axis=0) - corners
        longest = sides[np.argmax(np.hypot(*sides.T))]
        assert abs(np.degrees(np.arctan2(longest[1], longest[0])) % 180 - 160) < 4


@pytest.mark.real
@pytest.mark.parametrize("name", ["coffee", "rocket", "motorcycle"])
def test_photographs_without_text_have_none(own_weights: None, name: str) -> None:
    assert text_boxes(photograph(name, width=832, height=480), longer_side=SIDE, score_threshold=SCORE) == []


@pytest.mark.real
@pytest.mark.parametrize("size", [(16, 16), (20, 900), (31, 33)])
def test_a_plain_view_of_any_size_has_none(own_weights: None, size: tuple[int, int]) -> None:
    assert text_boxes(np.full((*size, 3), 90, np.uint8), longer_side=SIDE, score_threshold=SCORE) == []
