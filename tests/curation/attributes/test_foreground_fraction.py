"""The share of the view in boxes of objects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.curation.attributes.foreground_fraction import ForegroundFraction, covered
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

PERSON = "poses/pose-mmpose/tests/data/coco/000000000785.jpg"


@pytest.fixture
def own_weights(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(assets / "weights"))


def share(frames: Frames, **constants: object) -> float:
    return ForegroundFraction(**constants).measure(ItemView.of_arrays(truth=frames))


def test_the_union_is_counted_once_and_only_inside_the_view() -> None:
    boxes = np.array([[-5.0, -5, 10, 10], [5, 5, 20, 10], [90, 40, 300, 300], [200, 10, 220, 20]])
    inside = np.zeros((50, 100), bool)
    for row in range(50):
        for column in range(100):
            place = (column + 0.5, row + 0.5)
            inside[row, column] = any(box[0] < place[0] < box[2] and box[1] < place[1] < box[3] for box in boxes)
    assert covered(boxes, height=50, width=100) == pytest.approx(inside.mean())
    assert covered(np.zeros((0, 4)), height=50, width=100) == 0


@pytest.mark.real
def test_a_person_covers_what_was_marked(assets: Path, own_weights: None) -> None:
    picture = video.read_image(assets / PERSON)
    person = share(picture[None], classes=["person"])
    assert person == pytest.approx(0.277, abs=0.03)  # what the marked box covers
    assert share(picture[None]) >= person
    assert share(picture[None], classes=["dog", "boat"]) == 0


@pytest.mark.real
def test_is_the_mean_over_ten_frames(assets: Path, own_weights: None) -> None:
    picture = video.read_image(assets / PERSON)
    clip = np.zeros((46, *picture.shape), np.uint8)
    clip[[0, 5, 10]] = picture  # three of the ten that are looked at
    clip[3] = picture
    assert share(clip) == pytest.approx(0.3 * share(picture[None]))


@pytest.mark.real
def test_scenery_has_none_and_a_dog_half_the_view(assets: Path, own_weights: None) -> None:
    water, dog = (
        video.read_frames(assets / "videos" / name)[::30]
        for name in ("scenery/scenery-cc0-mdn/stream-of-water.mp4", "general/general-torchcodec/dog_eating_854132.mp4")
    )
    assert share(water) == 0
    assert 0.35 < share(dog, classes=["dog"]) < 0.65


def test_an_unknown_class_is_an_error() -> None:
    with pytest.raises(InputError, match="'human' is no class of COCO, choose from person, bicycle"):
        ForegroundFraction(classes=["human"])


def test_without_weights_there_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotMeasurable, match="weights missing"):
        share(np.zeros((1, 32, 32, 3), np.uint8))
