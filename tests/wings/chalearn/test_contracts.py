"""The contract of pose estimators: stored joints keep it, and what breaks it is told how."""

from __future__ import annotations

import json
from pathlib import Path

from inpaintbench.compute import Compute
from inpaintbench.contracts import outcomes
from inpaintbench.types import Frames, Joint
from inpaintbench.wings.chalearn.contract import CHECKS, ITEM
from inpaintbench.wings.chalearn.poses import PoseEstimator, Stored


def test_stored_joints_keep_the_contract(tmp_path: Path) -> None:
    joints = [{"name": "nose", "x": 1.5, "y": 2}, {"name": "knee", "side": "left", "x": 3, "y": 4}]
    file = tmp_path / "joints.json"
    file.write_text(json.dumps({"pictures": [{"item": ITEM, "of": of, "joints": joints} for of in ("truth", "prediction")]}))
    assert [(row.check, row.fault or row.skipped) for row in outcomes(CHECKS, Stored(str(file)))] == [
        (check.__name__.replace("_", " "), None) for check in CHECKS
    ]


class Toes(PoseEstimator):
    """A joint that it does not name."""

    name, version, joint_names = "toes", "1", ("nose",)

    def estimate(self, picture: Frames, *, item_id: str, of: str, compute: Compute) -> tuple[Joint, ...]:
        return (Joint(0, "ankle", "left", 3.0, 4.0),)

    def content(self) -> str:
        return ""


def test_an_estimator_of_joints_that_it_does_not_name_is_told() -> None:
    found = {one.check: one.fault for one in outcomes(CHECKS, Toes()) if one.fault}
    assert "lack 'ankle'" in str(found["gives joints that it names and leaves the picture alone"])
