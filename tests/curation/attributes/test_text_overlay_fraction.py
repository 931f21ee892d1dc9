"""The share of the view in boxes of text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw, ImageFont
from worlds import photograph

from inpaintbench import video
from inpaintbench.curation.attributes.detections import TextOverlayFraction
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

CLEAN = ("coffee", "rocket", "motorcycle")


@pytest.fixture
def own_weights(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(assets / "weights"))


def share(frames: Frames) -> float:
    return TextOverlayFraction().measure(ItemView.of_arrays(truth=frames))


def subtitled(scene: npt.NDArray[np.uint8], *, lines: int, size: float) -> tuple[npt.NDArray[np.uint8], float]:
    """A scene with centred, outlined lines, and the share of the view in the boxes of their ink."""
    picture, area = Image.fromarray(scene), 0.0
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(size)
    for line in range(lines):
        place = (scene.shape[1] / 2, scene.shape[0] - 40 - 1.7 * size * line)
        text = ("Subtitles stand at the foot", "and often have two lines")[line]
        style = {"font": font, "anchor": "mm", "stroke_width": 2}
        draw.text(place, text, fill="white", stroke_fill="black", **style)
        left, top, right, bottom = draw.textbbox(place, text, **style)
        area += (right - left) * (bottom - top)
    return np.asarray(picture), area / scene[..., 0].size


@pytest.mark.real
@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize(("lines", "size"), [(1, 24), (2, 24), (2, 34)])
def test_subtitles_cover_the_boxes_of_their_ink(own_weights: None, name: str, lines: int, size: float) -> None:
    frame, area = subtitled(photograph(name, width=832, height=480), lines=lines, size=size)
    assert share(frame[None]) == pytest.approx(area, rel=0.35)


@pytest.mark.real
def test_is_the_mean_over_four_frames(own_weights: None) -> None:
    scene = photograph("coffee", width=832, height=480)
    frame, _ = subtitled(scene, lines=1, size=28)
    assert share(np.stack([frame, scene, scene, scene])) == pytest.approx(share(frame[None]) / 4)


@pytest.mark.real
def test_a_subtitled_film_has_text_and_water_has_none(assets: Path, own_weights: None) -> None:
    film = next(video.upright_frames(assets / "videos/general/general-datajuicer-subtitled/video3.mp4"))[0]
    water = video.read_frames(assets / "videos/scenery/scenery-cc0-mdn/stream-of-water.mp4")[::30]
    assert share(film[None]) > 0.03
    assert share(water) == 0


def test_without_weights_there_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotMeasurable, match=r"put text_detection_ch_ppocrv3_2023may.onnx into a folder"):
        share(np.zeros((1, 32, 32, 3), np.uint8))
