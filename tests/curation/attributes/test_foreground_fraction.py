"""The share of the view in boxes of objects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.curation.attributes import detections as foreground_fraction
from inpaintbench.curation.attributes.detections import Detected, ForegroundFraction, SceneryObjectFraction, covered, staying
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.models.detectors import KINDS
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

PERSON = "poses/pose-mmpose/tests/data/coco/000000000785.jpg"


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    foreground_fraction._detected.cache_clear()


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


def detected(*frames: dict[str, tuple[float, float, float, float]]) -> list[Detected]:
    """One box a kind and frame."""
    return [
        (np.array(list(frame.values()), np.float64).reshape(-1, 4), np.array([KINDS.index(kind) for kind in frame], np.int64))
        for frame in frames
    ]


def kinds_of(frames: list[Detected]) -> list[list[str]]:
    return [[KINDS[kind] for kind in kinds] for _, kinds in frames]


def test_a_box_stays_where_its_kind_overlaps_for_frames_on_end() -> None:
    here, beside, away = (0, 0, 10, 10), (6, 0, 16, 10), (40, 0, 50, 10)
    walking = detected({"person": here}, {"person": beside, "dog": here}, {"person": (12, 0, 22, 10)}, {"person": away})
    assert kinds_of(staying(walking, consecutive_frames=3)) == [["person"], ["person"], ["person"], []]
    assert kinds_of(staying(walking, consecutive_frames=4)) == [[], [], [], []]
    changing = detected({"giraffe": here}, {"zebra": here}, {"giraffe": here})
    assert kinds_of(staying(changing, consecutive_frames=2)) == [[], [], []]
    assert kinds_of(staying(detected({}, {"cat": here}, {}), consecutive_frames=1)) == [[], ["cat"], []]
    assert kinds_of(staying(detected({"cat": here}), consecutive_frames=3)) == [["cat"]]


def test_what_lives_in_scenery_is_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = np.array([[0.0, 0, 10, 10], [10, 0, 40, 10]]), np.array([KINDS.index("person"), KINDS.index("bear")])
    monkeypatch.setattr(foreground_fraction.detectors, "object_boxes", lambda frame, *, score_threshold: boxes)
    clip = ItemView.of_arrays(truth=np.zeros((12, 20, 100, 3), np.uint8))
    assert ForegroundFraction().measure(clip) == pytest.approx(0.05)
    assert SceneryObjectFraction().measure(clip) == pytest.approx(0.15)
    assert ForegroundFraction(classes=["person", "bear"]).measure(clip) == pytest.approx(0.2)


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


@pytest.mark.real
def test_swaying_reeds_are_no_foreground(assets: Path, own_weights: None) -> None:
    """The detector calls them giraffes and zebras."""
    reeds = video.read_frames(assets / "videos/scenery/scenery-panda70m/UBdicUlzAng.35.mp4")[::6]
    assert share(reeds) == 0
    assert share(reeds, classes=["giraffe", "zebra"], consecutive_frames=1) > 0.3
