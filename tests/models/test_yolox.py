"""YOLOX-nano on photographs whose people others have marked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from inpaintbench import video
from inpaintbench.errors import NotMeasurable
from inpaintbench.models import detectors

COCO = "poses/pose-mmpose/tests/data/coco"


def marked(assets: Path) -> list[tuple[npt.NDArray[np.uint8], list[list[float]]]]:
    """Photographs with the boxes (left, top, width, height) of their people."""
    found = json.loads((assets / COCO / "test_coco.json").read_text())
    return [
        (
            video.read_image(assets / COCO / picture["file_name"]),
            [person["bbox"] for person in found["annotations"] if person["image_id"] == picture["id"]],
        )
        for picture in found["images"]
    ]


def overlap(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    """Intersection over union of two boxes, by their corners."""
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    shared = float(np.prod(sides.clip(min=0)))
    return shared / float(np.prod(one[2:] - one[:2]) + np.prod(other[2:] - other[:2]) - shared)


@pytest.mark.real
def test_large_people_are_found_where_they_are(assets: Path, own_weights: None) -> None:
    overlaps = []
    for frame, people in marked(assets):
        boxes, kinds = detectors.object_boxes(frame, score_threshold=0.5)
        persons = boxes[kinds == detectors.KINDS.index("person")]
        for left, top, width, height in people:
            if width * height > 0.04 * frame.shape[0] * frame.shape[1]:
                truth = np.array([left, top, left + width, top + height])
                overlaps.append(max((overlap(truth, box) for box in persons), default=0.0))
    assert len(overlaps) >= 8
    assert np.mean(np.array(overlaps) > 0.7) >= 0.8
    assert np.mean(overlaps) > 0.75


@pytest.mark.real
@pytest.mark.parametrize(("right", "down"), [(0, 0), (300, 100), (600, 400)])
def test_boxes_move_with_the_picture_in_a_larger_view(assets: Path, own_weights: None, right: int, down: int) -> None:
    frame = video.read_image(assets / COCO / "000000000785.jpg")
    view = np.full((2 * frame.shape[0], 2 * frame.shape[1], 3), 114, np.uint8)
    view[down : down + frame.shape[0], right : right + frame.shape[1]] = frame
    np.testing.assert_allclose(largest(view), np.add(largest(frame), [right, down, right, down]), atol=25)


def largest(frame: npt.NDArray[np.uint8]) -> list[float]:
    boxes, _ = detectors.object_boxes(frame, score_threshold=0.5)
    return boxes[np.argmax(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1))].tolist()


@pytest.mark.real
def test_the_dog_is_a_dog(assets: Path, own_weights: None) -> None:
    frame = next(video.upright_frames(assets / "videos/general/general-torchcodec/dog_eating_854132.mp4"))[0]
    _, kinds = detectors.object_boxes(frame, score_threshold=0.5)
    assert {detectors.KINDS[kind] for kind in kinds.tolist()} == {"dog"}


@pytest.mark.real
@pytest.mark.parametrize("size", [(16, 16), (16, 300), (416, 416), (500, 3)])
def test_a_plain_view_of_any_size_shows_nothing(own_weights: None, size: tuple[int, int]) -> None:
    boxes, kinds = detectors.object_boxes(np.full((*size, 3), 120, np.uint8), score_threshold=0.5)
    assert boxes.shape == (0, 4)
    assert kinds.shape == (0,)


def test_there_are_eighty_kinds() -> None:
    assert len(set(detectors.KINDS)) == 80


def test_without_weights_there_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models fetch yolox-nano`"):
        detectors.object_boxes(np.zeros((32, 32, 3), np.uint8), score_threshold=0.5)
