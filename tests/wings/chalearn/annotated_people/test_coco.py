from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inpaintbench.errors import InputError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import Box
from inpaintbench.wings.chalearn.annotated_people.plain import CocoReader


def content() -> dict[str, Any]:
    return {
        "images": [{"id": 3, "file_name": "a.jpg", "width": 100, "height": 80}],
        "categories": [{"id": 1, "name": "person", "keypoints": ["nose", "left_knee", "right_knee", "head", "neck"]}],
        "annotations": [
            {
                "image_id": 3,
                "category_id": 1,
                "bbox": [10, 20, 30, 40],
                "keypoints": [5, 6, 2, 7, 8, 1, 0, 0, 0, 1, 2, 2, 3, 4, 2],
            }
        ],
    }


def read(folder: Path, given: Any):
    path = folder / "coco.json"
    path.write_text(json.dumps(given))
    return CocoReader().read(path)


def test_a_person(tmp_path: Path) -> None:
    found = read(tmp_path, content())
    person = found.people[0]
    assert person.joints == (
        Joint(0, "nose", None, 5.0, 6.0, True),
        Joint(0, "knee", "left", 7.0, 8.0, False),
        Joint(0, "head", None, 1.0, 2.0, True),
        Joint(0, "upper_neck", None, 3.0, 4.0, True),
    )
    assert (person.person_box, person.size, person.split_group) == (Box(10, 20, 40, 60), (100, 80), "coco/a.jpg")
    assert not found.problems


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    given = content()
    good = given["annotations"][0]
    given["categories"][0]["keypoints"][4] = "left_big_toe"
    given["annotations"] += [
        {**good, "iscrowd": 1}, {**good, "image_id": 9}, {**good, "category_id": 2}, {**good, "keypoints": [1, 2]}, "odd",
        {**good, "keypoints": [500, 6, 2, float("nan"), 8, 1, 4, 4, 5, 0, 0, 0, 0, 0, 0]},
    ]  # fmt: skip
    found = read(tmp_path, given)
    assert [person.number for person in found.people] == [0, 4]
    assert found.people[1].joints == (Joint(4, "nose", None, 500.0, 6.0, True),)
    assert [(problem.where, problem.lost) for problem in found.problems] == [
        ("category person", False), ("a.jpg#1", True), ("annotations[2]", True), ("a.jpg#2", True), ("a.jpg#3", False),
        ("a.jpg#3", True), ("annotations[5]", True), ("a.jpg#4", False), ("a.jpg#4", False), ("a.jpg#4", False),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["images", "annotations", "categories"])
def test_a_missing_list_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"no list '{name}'"):
        read(tmp_path, {**content(), name: None})


def test_detections_without_keypoints_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no category with keypoints"):
        read(tmp_path, {**content(), "categories": [{"id": 1, "name": "person"}]})
    with pytest.raises(InputError, match="no list 'images'"):
        read(tmp_path, [{"bbox": [1, 2, 3, 4]}])
