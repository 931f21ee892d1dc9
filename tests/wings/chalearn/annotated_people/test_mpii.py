from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from pose_files import mpii_file, mpii_person
from scipy import io

from inpaintbench.errors import InputError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import Box
from inpaintbench.wings.chalearn.annotated_people.matlab import MPII_JOINTS, MpiiReader

HEAD = [(9, 31.0, 21.5, 1), (8, 31.0, 61.0, 0), (0, 101, 301, "1")]


def read(path: Path, pictures: list[tuple[str, object]], train: list[int], videos: list[int] | None = None):
    return MpiiReader().read(mpii_file(path / "mpii.mat", pictures, train=train, videos=videos or []))


def test_a_person_with_points_box_scale_and_video(tmp_path: Path) -> None:
    found = read(tmp_path, [("a.jpg", [mpii_person(HEAD)]), ("b.jpg", [mpii_person(HEAD)])], [1, 0], [7, 7])
    first, second = found.people
    assert first.joints == (
        Joint(0, "head_top", None, 30.0, 20.5, True),
        Joint(0, "upper_neck", None, 30.0, 60.0, False),
        Joint(0, "ankle", "right", 100.0, 300.0, True),
    )
    assert first.head_box == Box(10, 20, 40, 60)
    assert (first.scale, first.published_split, second.published_split) == (1.5, "train", "test")
    assert first.split_group == second.split_group == "mpii/video 7"
    assert not found.problems


@pytest.mark.parametrize(("flag", "visible"), [(1, True), (0, False), ("1", True), ("0", False), (np.zeros((0, 0)), None)])
def test_visibility_may_be_a_number_a_text_or_empty(tmp_path: Path, flag: object, visible: bool | None) -> None:
    found = read(tmp_path, [("a.jpg", [mpii_person([(0, 5, 6, flag)])])], [1])
    assert found.people[0].joints == (Joint(0, "ankle", "right", 4.0, 5.0, visible),)


def test_points_without_a_visibility_field(tmp_path: Path) -> None:
    found = read(tmp_path, [("a.jpg", [mpii_person([(6, 5, 6)])])], [1])
    assert found.people[0].joints == (Joint(0, "pelvis", None, 4.0, 5.0, None),)


def test_what_cannot_be_read_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    nobody = mpii_person(HEAD, annopoints=np.zeros((0, 0)))
    odd = mpii_person([(0, np.nan, 3, 1), (16, 1, 1, 1), (1, 9, 9, 1), (1, 8, 8, 1)], x1=np.zeros((0, 0)))
    pictures = [
        ("none.jpg", None),
        ("two.jpg", [nobody, odd]),
        ("../up.jpg", [mpii_person(HEAD)]),
        ("last.jpg", [mpii_person(HEAD)]),
    ]
    found = read(tmp_path, pictures, [1, 1, 1, 0])
    assert [(person.image, person.number, person.published_split) for person in found.people] == [
        ("two.jpg", 1, "train"), ("last.jpg", 0, "test"),
    ]  # fmt: skip
    assert found.people[0].joints == (Joint(1, "knee", "right", 8.0, 8.0, True),)
    assert [(problem.where, problem.lost) for problem in found.problems] == [
        ("none.jpg", True), ("two.jpg#0", True), ("two.jpg#1", False), ("two.jpg#1", False), ("two.jpg#1", False),
        ("two.jpg#1", False), ("annolist(3)", True),
    ]  # fmt: skip


def test_a_picture_listed_twice_goes_on_counting_its_people(tmp_path: Path) -> None:
    found = read(tmp_path, [("a.jpg", [mpii_person(HEAD)]), ("a.jpg", [mpii_person(HEAD)])], [1, 1])
    assert [person.number for person in found.people] == [0, 1]
    assert {joint.person for joint in found.people[1].joints} == {1}


def test_flags_that_do_not_match_the_pictures_give_no_split(tmp_path: Path) -> None:
    found = read(tmp_path, [("a.jpg", [mpii_person(HEAD)])], [1, 0])
    assert found.people[0].published_split is None
    assert found.problems[0].where == "img_train"


def test_json_form(tmp_path: Path) -> None:
    joints = [[float(index + 1), 10.0] for index in range(16)]
    joints[3] = [-1.0, -1.0]
    entry = {"image": "a.jpg", "joints": joints, "joints_vis": [1] * 3 + [0] + [1] * 12, "scale": 2.0, "center": [1, 2]}
    rows = [entry, {**entry, "joints": []}, {**entry, "image": None}, 5]
    path = tmp_path / "mpii.json"
    path.write_text(json.dumps(rows))
    found = MpiiReader().read(path)
    names = [(joint.name, joint.side, joint.x) for joint in found.people[0].joints]
    assert names == [(*slot, float(index)) for index, slot in enumerate(MPII_JOINTS) if index != 3]
    assert [problem.where for problem in found.problems if problem.lost] == ["a.jpg#1", "row 2", "row 3"]


def test_wrong_files_say_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "other.mat"
    io.savemat(path, {"joints": np.zeros((3, 14, 2))})
    with pytest.raises(InputError, match="no variable 'RELEASE', only 'joints'"):
        MpiiReader().read(path)
    io.savemat(path, {"RELEASE": {"version": "12"}})
    with pytest.raises(InputError, match="no field 'annolist', only version"):
        MpiiReader().read(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(InputError, match="'-v7'"):
        MpiiReader().read(path)
    with pytest.raises(InputError, match="cannot be read"):
        MpiiReader().read(tmp_path / "nowhere.mat")
    (tmp_path / "dict.json").write_text("{}")
    with pytest.raises(InputError, match="not a list"):
        MpiiReader().read(tmp_path / "dict.json")
