"""People that need no download: what the source gives, and that its joints are where the picture has them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.curation.sources.drawn_people import (
    BACKGROUNDS,
    PORTRAIT_JOINTS,
    DrawnPeople,
    joints_of,
    paint_picture,
    pictures,
)
from inpaintbench.curation.sources.figure import POSES
from inpaintbench.curation.sources.virtual_camera import PHOTOGRAPHS
from inpaintbench.errors import InputError
from inpaintbench.types import Joint


def test_footage_has_joints_licence_and_a_stable_order() -> None:
    pieces = list(DrawnPeople(count=6).footage())
    assert pieces == list(DrawnPeople(count=6).footage())
    assert [piece.name for piece in pieces][:2] == ["astronaut", "000_standing"]
    assert len({piece.name for piece in pieces}) == len({piece.content for piece in pieces}) == 7
    for piece in pieces:
        assert piece.licence in ("CC0", "CC0-1.0", "public domain")
        assert piece.known["split_group"] == piece.name
        assert [Joint(**joint) for joint in json.loads(json.dumps(piece.data))["joints"]]
        assert json.loads(json.dumps(piece.payload)) == piece.payload
    assert list(DrawnPeople(count=2, portrait=False).footage()) == pieces[1:3]
    assert next(DrawnPeople(count=1, portrait=False, seed=1).footage()).content != pieces[1].content


def test_obtain_writes_the_picture(tmp_path: Path) -> None:
    source = DrawnPeople(count=1)
    portrait, drawn = source.footage()
    paths = [source.obtain(json.loads(json.dumps(piece.payload)), str(tmp_path)) for piece in (portrait, drawn)]
    assert np.array_equal(video.read_image(paths[0]), video.read_image(PHOTOGRAPHS["astronaut"].path()))
    picture = next(pictures(1))
    first = paint_picture(picture)
    assert np.array_equal(video.read_image(paths[1]), first.image)
    assert first.image.shape == (picture.height, picture.width, 3)
    assert first.joints == joints_of(picture) == tuple(Joint(**joint) for joint in drawn.data["joints"])


def test_pictures_use_all_poses_and_backgrounds_at_their_size() -> None:
    planned = list(pictures(40))
    assert {pose for picture in planned for pose in picture.poses} == set(POSES)
    assert {picture.photograph for picture in planned} == set(BACKGROUNDS)
    assert {len(picture.poses) for picture in planned} == {1, 2}
    assert {picture.whole_body for picture in planned} == {True, False}
    assert all(480 <= max(picture.width, picture.height) <= 640 for picture in planned)
    assert all(min(picture.width, picture.height) > 300 for picture in planned)
    assert planned[:5] == list(pictures(5))


def test_joints_lie_in_the_picture_with_names_and_sides() -> None:
    for picture in pictures(40):
        joints = joints_of(picture)
        assert all(0 <= joint.x < picture.width and 0 <= joint.y < picture.height for joint in joints)
        for person in range(len(picture.poses)):
            keys = [(joint.name, joint.side) for joint in joints if joint.person == person]
            assert len(keys) == len(set(keys)) <= 16
            assert len(keys) >= (16 if picture.whole_body and len(picture.poses) == 1 else 9)


def test_joints_lie_on_people_and_the_rest_is_background() -> None:
    for picture in list(pictures(8)):
        painting = paint_picture(picture)
        without = paint_picture(replace(picture, poses=())).image
        changed = np.abs(painting.image.astype(int) - without).max(axis=2)
        away = changed[:, : picture.width // 20]
        assert np.median(away) == 0
        on_figure = [changed[round(joint.y), round(joint.x)] > 12 for joint in painting.joints if joint.name != "head_top"]
        # A figure may have the colour of what is behind it in a few places.
        assert np.mean(on_figure) > 0.85


def test_the_portrait_has_its_own_left_and_right() -> None:
    eyes = {joint.side: joint.x for joint in PORTRAIT_JOINTS if joint.name == "eye"}
    assert eyes["right"] < eyes["left"]
    image = video.read_image(PHOTOGRAPHS["astronaut"].path())
    for joint in PORTRAIT_JOINTS:
        if joint.name == "shoulder":  # the suit is orange
            red, green, blue = image[int(joint.y), int(joint.x)].astype(int)
            assert red > green + 60 > blue


def test_nothing_to_give_is_an_error() -> None:
    with pytest.raises(InputError, match="count is 0"):
        DrawnPeople(count=0, portrait=False)
    with pytest.raises(InputError, match="count is -1"):
        DrawnPeople(count=-1)
