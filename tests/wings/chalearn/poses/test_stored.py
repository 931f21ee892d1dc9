from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, NotMeasurable, UnknownNameError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.poses import POSES, Stored, estimator, identity

PICTURE = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
NOSE = {"name": "nose", "x": 1.5, "y": 2}


def stored(folder: Path, *pictures: dict[str, Any]) -> Stored:
    path = folder / "joints.json"
    path.write_text(json.dumps({"pictures": pictures}))
    return Stored(str(path))


def estimate(leaf: Stored, item: str = "a", of: Any = "prediction") -> tuple[Joint, ...]:
    return leaf.estimate(PICTURE, item_id=item, of=of, compute=Compute())


def test_every_leaf_states_its_facts() -> None:
    for name in POSES:
        leaf = POSES.get(name)
        assert leaf.name == name
        assert leaf.version
        assert leaf.__doc__


def test_json_and_csv_say_the_same(tmp_path: Path) -> None:
    knee = {"name": "knee", "side": "left", "person": 1, "x": 3, "y": 4.25}
    leaf = stored(tmp_path, {"item": "a", "of": "prediction", "joints": [NOSE, knee]}, {"item": "b", "of": "truth", "joints": []})
    table = tmp_path / "joints.csv"
    table.write_text("item,of,person,name,side,x,y\na,prediction,,nose,,1.5,2\na,prediction,1,knee,left,3,4.25\nb,truth,,,,,\n")
    expected = (Joint(0, "nose", None, 1.5, 2.0), Joint(1, "knee", "left", 3.0, 4.25))
    for one in (leaf, Stored(str(table))):
        assert estimate(one) == expected
        assert estimate(one, "b", "truth") == ()
        assert one.joint_names == ("knee", "nose")
        with pytest.raises(NotMeasurable, match="has no joints of the truth of item 'a'"):
            estimate(one, "a", "truth")


def test_a_hash_tells_predictions_of_several_methods_apart(tmp_path: Path) -> None:
    own = hashlib.sha256(PICTURE.tobytes()).hexdigest()
    other = {"item": "a", "of": "prediction", "sha256": "0" * 64, "joints": []}
    mine = {"item": "a", "of": "prediction", "sha256": own, "joints": [NOSE]}
    assert len(estimate(stored(tmp_path, other, mine))) == 1
    with pytest.raises(NotMeasurable, match=f"of another prediction than this one \\(SHA-256 {own}\\)"):
        estimate(stored(tmp_path, other))
    with pytest.raises(NotMeasurable, match="2 entries for the prediction of item 'a'; give each its sha256"):
        estimate(stored(tmp_path, *[{"item": "a", "of": "prediction", "joints": []}] * 2))


@pytest.mark.parametrize(
    ("joint", "complaint"),
    [
        ({"name": "kne", "x": 1, "y": 2}, "unknown joint 'kne', did you mean 'knee'"),
        ({"name": "knee", "side": "L", "x": 1, "y": 2}, "side of the knee of item 'a' in joints.json is 'L'; write left, right"),
        ({"name": "nose", "x": 1}, "the nose of item 'a' in joints.json has no x, y or person"),
        ({"name": "nose", "x": float("nan"), "y": 0}, "lies at \\(nan, 0.0\\); leave a joint out that was not found"),
        ("nose", "a joint of item 'a' in joints.json is 'nose'"),
    ],
)
def test_joints_that_make_no_sense_are_refused(tmp_path: Path, joint: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        stored(tmp_path, {"item": "a", "of": "truth", "joints": [joint]})


def test_files_that_hold_no_joints_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        Stored(str(tmp_path / "none.json"))
    for name, text, complaint in (
        ("a.json", "[1]", 'a.json is not {"pictures"'),
        ("b.json", "{", "b.json is not"),
        ("c.json", '{"pictures": [{"item": "a", "of": "both", "joints": []}]}', "of 'both'; write truth or prediction"),
        ("d.csv", "item,of,x,y\n", "d.csv lacks the column 'name'"),
        ("e.csv", "item,of,name,x,y,x\n", "e.csv has two columns 'x'; keep one"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=complaint):
            Stored(str(tmp_path / name))


def test_an_estimator_is_named_with_its_argument(tmp_path: Path) -> None:
    path = stored(tmp_path)._file
    assert isinstance(estimator(f"stored:{path}"), Stored)
    with pytest.raises(UnknownNameError, match="unknown pose estimator 'sored', did you mean 'stored'"):
        estimator("sored:x")
    with pytest.raises(InputError, match="pose estimator 'stored' lacks its file: write stored:FILE"):
        estimator("stored")
    with pytest.raises(InputError, match="'keypoint_rcnn' takes nothing after its name, 'keypoint_rcnn:x' gives 'x'"):
        estimator("keypoint_rcnn:x")


def test_the_identity_changes_with_the_file(tmp_path: Path) -> None:
    path = stored(tmp_path)._file
    before = identity(f"stored:{path}")
    assert identity(f"stored:{path}") == before
    stored(tmp_path, {"item": "a", "of": "truth", "joints": []})
    assert identity(f"stored:{path}") != before != identity("keypoint_rcnn")
