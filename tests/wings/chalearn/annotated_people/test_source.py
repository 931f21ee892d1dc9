from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pose_files import lsp_file, mpii_file, mpii_person

from inpaintbench import video
from inpaintbench.curation.sources.base import Footage
from inpaintbench.errors import InputError, Rejected, UnknownNameError
from inpaintbench.types import canonical_json
from inpaintbench.wings.chalearn.annotated_people.matlab import MPII_JOINTS
from inpaintbench.wings.chalearn.annotated_people.source import PeopleSource

SQUARE = [(0, 101, 101, 1), (1, 181, 101, 1), (2, 101, 201, 0)]


def picture(folder: Path, name: str, *, width: int = 300, height: int = 320) -> np.ndarray:
    pixels = np.random.default_rng(len(name)).integers(0, 256, (height, width, 3), dtype=np.uint8)
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    video.write_image(target, pixels)
    return pixels


def source(folder: Path, people: Sequence[tuple[str, Any]], **constants: Any) -> PeopleSource:
    annotations = mpii_file(folder / "mpii.mat", people, train=[index % 2 for index in range(len(people))])
    (folder / "images").mkdir(exist_ok=True)
    given = {"shortest_side": 50, **constants}
    return PeopleSource(format="mpii", annotations=str(annotations), images=str(folder / "images"), **given)


def refusal(leaf: PeopleSource, piece: Footage, scratch: Path) -> str:
    with pytest.raises(Rejected) as caught:
        leaf.obtain(piece.payload, str(scratch))
    return str(caught.value)


def test_a_crop_is_the_pixels_around_the_person_and_joints_are_counted_from_its_corner(tmp_path: Path) -> None:
    pixels = picture(tmp_path / "images", "a b.png")
    leaf = source(tmp_path, [("a b.png", [mpii_person(SQUARE, x1=111, y1=61, x2=151, y2=96)])])
    (piece,) = leaf.footage()
    assert piece.name == piece.uri == "mpii/a%20b.png#0"
    assert piece.known == {"set": "mpii", "split_group": "mpii/a b.png", "published_split": "test"}
    # Joints and head: x 100..180, y 60..200; a quarter more on each side: 80..200 and 25..235.
    made = video.read_image(leaf.obtain(piece.payload, str(tmp_path)))
    assert np.array_equal(made, pixels[25:236, 80:201])
    assert [(joint["x"], joint["y"], joint["visible"]) for joint in piece.data["joints"]] == [
        (20.0, 75.0, True), (100.0, 75.0, True), (20.0, 175.0, False),
    ]  # fmt: skip


def test_everybody_who_cannot_be_used_is_offered_with_a_reason(tmp_path: Path) -> None:
    images = tmp_path / "images"
    picture(images, "few.png"), picture(images, "small.png", width=150, height=120)
    (images / "broken.png").write_bytes(b"no picture")
    box = {"x1": np.zeros((0, 0))}
    people = [
        (f"{name}.png", [mpii_person(SQUARE[: 2 if name == "few" else 3], **box)]) for name in ("few", "small", "broken", "gone")
    ]
    people.append(("nobody.png", None))
    leaf = source(tmp_path, people)
    pieces = {piece.name: piece for piece in leaf.footage()}
    reasons = {name.removeprefix("mpii/"): refusal(leaf, piece, tmp_path) for name, piece in pieces.items()}
    assert list(reasons) == ["few.png#0", "small.png#0", "broken.png#0", "gone.png#0", "nobody.png"]
    assert "2 labelled joints" in reasons["few.png#0"]
    assert "a side is under 50" in reasons["small.png#0"]
    assert "cannot be opened as an image" in reasons["broken.png#0"]
    assert "no picture gone.png" in reasons["gone.png#0"]
    assert "nobody is labelled" in reasons["nobody.png"]


def test_two_people_of_a_picture_one_in_front_of_the_other(tmp_path: Path) -> None:
    picture(tmp_path / "images", "a.png")
    bare = mpii_person(SQUARE, x1=np.zeros((0, 0)))
    leaf = source(tmp_path, [("a.png", [mpii_person(SQUARE), bare])], grow=0)
    first, second = leaf.footage()
    assert [joint["person"] for joint in first.data["joints"]] == [0, 0, 0]
    assert [second.name, second.payload["crop"] is None] == ["mpii/a.png#1", True]
    assert "person 0 span" in refusal(leaf, second, tmp_path)


def test_whole_pictures_keep_all_people_and_their_coordinates(tmp_path: Path) -> None:
    pixels = picture(tmp_path / "images", "a.png")
    leaf = source(tmp_path, [("a.png", [mpii_person(SQUARE), mpii_person(SQUARE)])], framing="whole")
    (piece,) = leaf.footage()
    assert piece.name == "mpii/a.png"
    assert [(joint["person"], joint["x"]) for joint in piece.data["joints"]][2:4] == [(0, 100.0), (1, 100.0)]
    assert np.array_equal(video.read_image(leaf.obtain(piece.payload, str(tmp_path))), pixels)


def test_lsp_is_whole_unless_told_otherwise(tmp_path: Path) -> None:
    annotations = lsp_file(tmp_path / "joints.mat", np.ones((3, 14, 2)))
    constants = {"format": "lsp", "annotations": str(annotations), "images": str(tmp_path)}
    assert [piece.name for piece in PeopleSource(**constants).footage()] == ["lsp/im0001.jpg", "lsp/im0002.jpg"]
    cut = list(PeopleSource(**constants, framing="person").footage())
    assert [(piece.name, bool(piece.payload["refused"])) for piece in cut] == [
        ("lsp/im0001.jpg#0", True),
        ("lsp/im0002.jpg#0", True),
    ]


def test_published_split_and_limit(tmp_path: Path) -> None:
    people = [(f"{index}.png", [mpii_person(SQUARE)]) for index in range(6)]
    assert [p.name for p in source(tmp_path, people, published_split="train").footage()] == [f"mpii/{n}.png#0" for n in (1, 3, 5)]
    assert [p.name for p in source(tmp_path, people, limit=2).footage()] == ["mpii/0.png#0", "mpii/1.png#0"]


def test_what_goes_into_tables_is_plain_names_nothing_of_this_machine_and_changes_with_the_file(tmp_path: Path) -> None:
    people = [("é.png", [mpii_person(SQUARE), mpii_person(SQUARE[:1])]), ("é.png", None), ("é.png", None)]
    leaf = source(tmp_path, people)
    missing = [piece.content for piece in leaf.footage()]
    picture(tmp_path / "images", "é.png")
    pieces = list(leaf.footage())
    assert len({piece.name for piece in pieces}) == len(pieces) == 4
    assert str(tmp_path) not in canonical_json([asdict(piece) for piece in pieces])
    assert pieces[0].uri == "mpii/%C3%A9.png#0"
    assert [piece.name for piece in pieces[2:]] == ["mpii/%C3%A9.png", "mpii/%C3%A9.png?2"]
    assert missing[0] != pieces[0].content
    assert [piece.content for piece in leaf.footage()] == [piece.content for piece in pieces]


def test_bad_constants(tmp_path: Path) -> None:
    for constants, words in (
        ({"framing": "hole"}, "'whole'"),
        ({"limit": 0}, "limit is 0"),
        ({"grow": -1}, "grow"),
        ({"published_split": "tset"}, "'test'"),
    ):
        with pytest.raises(InputError, match=words):
            source(tmp_path, [("a.png", None)], **constants)
    good = {"format": "mpii", "annotations": str(tmp_path / "mpii.mat"), "images": str(tmp_path)}
    with pytest.raises(UnknownNameError, match="'mpii'"):
        PeopleSource(**{**good, "format": "mpi"})
    with pytest.raises(InputError, match="is not a file"):
        PeopleSource(**{**good, "annotations": "nowhere.mat"})
    with pytest.raises(InputError, match="not a folder"):
        PeopleSource(**{**good, "images": "nowhere"})


@pytest.mark.real
@pytest.mark.parametrize(
    ("kind", "file", "crops", "refused"),
    [("mpii", "mpii/test_mpii.json", 4, 1), ("coco", "coco/test_coco.json", 10, 4),
     ("coco", "crowdpose/test_crowdpose.json", 3, 2),
     ("coco", "ochuman/test_ochuman.json", 2, 3)],
)  # fmt: skip
def test_real_pictures_give_crops_with_joints_inside(
    assets: Path, tmp_path: Path, kind: str, file: str, crops: int, refused: int
) -> None:
    annotations = assets / "poses/pose-mmpose/tests/data" / file
    side = 224 if kind == "mpii" else 95
    leaf = PeopleSource(format=kind, annotations=str(annotations), images=str(annotations.parent), shortest_side=side)
    counts = {"crops": 0, "refused": 0}
    for piece in leaf.footage():
        try:
            made = video.read_image(leaf.obtain(piece.payload, str(tmp_path)))
        except Rejected:
            counts["refused"] += 1
            continue
        counts["crops"] += 1
        assert min(made.shape[:2]) >= side
        for joint in piece.data["joints"]:
            assert 0 <= joint["x"] < made.shape[1]
            assert 0 <= joint["y"] < made.shape[0]
    assert counts == {"crops": crops, "refused": refused}


@pytest.mark.real
def test_left_and_right_of_a_real_person_who_looks_at_the_camera(assets: Path) -> None:
    """Of the skier in this photograph the viewer sees the left side on the right."""
    annotations = assets / "poses/pose-mmpose/tests/data/coco/test_coco.json"
    leaf = PeopleSource(format="coco", annotations=str(annotations), images=str(annotations.parent), limit=1)
    (piece,) = leaf.footage()
    x = {(joint["name"], joint["side"]): joint["x"] for joint in piece.data["joints"]}
    assert all(x[name, "left"] > x[name, "right"] for name in ("eye", "shoulder", "hip", "knee", "ankle"))


def test_mpii_names_are_all_there(tmp_path: Path) -> None:
    joints = [[101.0 + 8 * (index % 4), 101.0 + 30 * (index // 4)] for index in range(16)]
    path = tmp_path / "m.json"
    path.write_text(json.dumps([{"image": "a.jpg", "joints": joints, "joints_vis": [1] * 16}]))
    (piece,) = PeopleSource(format="mpii", annotations=str(path), images=str(tmp_path), shortest_side=20).footage()
    assert [(joint["name"], joint["side"]) for joint in piece.data["joints"]] == list(MPII_JOINTS)
