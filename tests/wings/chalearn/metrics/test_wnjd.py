from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.types import Joint, Score
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.metrics.wnjd import JointMean, Wnjd, joint_means

WIDTH, HEIGHT = 30, 40
PEOPLE = (
    Joint(0, "knee", "left", 5, 20), Joint(0, "knee", "right", 12, 21), Joint(0, "wrist", "left", 3, 9),
    Joint(0, "pelvis", None, 8, 14),
)  # fmt: skip


def moved(joints: Sequence[Joint], x: float, y: float) -> tuple[Joint, ...]:
    return tuple(replace(joint, x=joint.x + x, y=joint.y + y) for joint in joints)


def measured(
    folder: Path, *, prediction: Sequence[Joint], truth: Sequence[Joint] | None = None, labelled: Sequence[Joint] | None = PEOPLE,
    reference: Any = "annotation", missing_joints: Any = "leave_out", frames: int = 1, size: tuple[int, int] = (WIDTH, HEIGHT),
) -> Measurement:  # fmt: skip
    """WNJD with an estimator that answers with the given joints."""
    answers = {"prediction": prediction} | ({} if truth is None else {"truth": truth})
    pictures = [{"item": "item", "of": of, "joints": [asdict(joint) for joint in joints]} for of, joints in answers.items()]
    path = folder / f"{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps({"pictures": pictures}))
    metric = Wnjd(
        regions=("frame", "hole"), band_radius_pixels=8, pose=f"stored:{path}", reference=reference, missing_joints=missing_joints
    )  # fmt: skip
    picture = np.zeros((frames, size[1], size[0], 3), np.uint8)
    parts = {"truth": lambda: picture, "composite": lambda: picture}
    if labelled is not None:
        parts["joints"] = lambda: tuple(labelled)  # type: ignore[assignment, return-value]
    view = ItemView(item_id="item", frames=frames, height=size[1], width=size[0], fps=25, parts=parts)
    found = metric.measure(view.declaring(metric.name, metric.needs))
    assert list(found) == ["frame"]
    return found["frame"]


def test_a_shift_of_all_joints_by_3_and_4_in_30_by_40_pixels_is_a_tenth(tmp_path: Path) -> None:
    found = measured(tmp_path, prediction=moved(PEOPLE, 3, 4))
    assert found.value == pytest.approx(0.1, abs=1e-15)
    assert found.details == {
        "joints": 4, "missing": 0, "unknown": 0,
        "by_joint": pytest.approx({"left knee": 0.1, "left wrist": 0.1, "pelvis": 0.1, "right knee": 0.1}),
    }  # fmt: skip


def test_nothing_moved_is_0(tmp_path: Path) -> None:
    assert measured(tmp_path, prediction=PEOPLE[::-1]).value == 0


def test_the_side_is_kept(tmp_path: Path) -> None:
    """Knees that changed sides are not where they were, though two knees are."""
    swapped = [replace(PEOPLE[0], side="right"), replace(PEOPLE[1], side="left"), *PEOPLE[2:]]
    found = measured(tmp_path, prediction=swapped)
    far = math.hypot(7, 1) / 50
    assert found.details["by_joint"] == pytest.approx({"left knee": far, "right knee": far, "left wrist": 0, "pelvis": 0})
    assert found.value == pytest.approx(far / 2)


def test_lost_and_unknown_joints_are_left_out_and_counted(tmp_path: Path) -> None:
    """One knee is lost; the estimator has no word for a pelvis."""
    found = measured(tmp_path, prediction=[*moved(PEOPLE[:1], 3, 4), PEOPLE[2]])
    assert found.value == pytest.approx(0.05)
    assert {name: found.details[name] for name in ("joints", "missing", "unknown")} == {"joints": 2, "missing": 1, "unknown": 1}


def test_where_nobody_is_found_there_is_no_number(tmp_path: Path) -> None:
    found = measured(tmp_path, prediction=(), truth=PEOPLE)
    assert (found.value, found.reason) == (None, "the estimator finds none of the joints in the repaired picture")
    assert found.details == {"joints": 0, "missing": 4, "unknown": 0}
    found = measured(tmp_path, prediction=[Joint(0, "nose", None, 1, 1)])
    assert (found.value, found.reason) == (None, "the estimator knows none of the labelled joints")


def test_a_joint_that_was_made_unfindable_is_no_better_than_one_that_moved(tmp_path: Path) -> None:
    """The last joint is far off, then lost; then all are."""
    counted: dict[str, Any] = {"truth": PEOPLE, "reference": "estimate", "missing_joints": "diagonal"}
    off, lost, nobody = (
        measured(tmp_path, prediction=joints, **counted) for joints in ([*PEOPLE[:3], *moved(PEOPLE[3:], 9, 9)], PEOPLE[:3], ())
    )
    assert 0 < float(off.value or 0) < float(lost.value or 0) == pytest.approx(1 / 4)
    assert lost.details["missing"] == 1
    assert nobody.value == 1
    beyond = measured(tmp_path, prediction=[*PEOPLE[:3], *moved(PEOPLE[3:], 900, 900)], **counted)
    assert beyond.value == lost.value


def test_the_reference_may_be_what_the_estimator_finds_in_the_original(tmp_path: Path) -> None:
    """It is 6 px off everywhere: its own error counts against annotations alone."""
    off = moved(PEOPLE, 6, 0)
    given: dict[str, Any] = {"prediction": moved(off, 3, 4), "truth": off}
    assert measured(tmp_path, **given, reference="estimate").value == pytest.approx(0.1)
    assert measured(tmp_path, **given, reference="annotation").value == pytest.approx(math.hypot(9, 4) / 50)
    assert measured(tmp_path, prediction=off, truth=off, reference="estimate").value == 0


def test_of_the_original_only_labelled_joints_count_where_there_are_any(tmp_path: Path) -> None:
    given: dict[str, Any] = {"prediction": [*PEOPLE[:3], replace(PEOPLE[3], x=28)], "truth": PEOPLE, "reference": "estimate"}
    assert measured(tmp_path, **given, labelled=PEOPLE[:3]).value == 0
    assert measured(tmp_path, **given, labelled=PEOPLE).value == pytest.approx(20 / 4 / 50)
    assert measured(tmp_path, **given, labelled=None).value == pytest.approx(20 / 4 / 50)


def test_two_people_count_joint_by_joint(tmp_path: Path) -> None:
    others = tuple(replace(joint, person=1, x=joint.x + 15) for joint in PEOPLE[:2])
    found = measured(tmp_path, prediction=[*moved(PEOPLE, 3, 4), *others], labelled=[*PEOPLE, *others])
    assert found.value == pytest.approx(4 * 0.1 / 6)
    assert found.details["by_joint"]["left knee"] == pytest.approx(0.05)


def test_what_cannot_be_measured_says_why(tmp_path: Path) -> None:
    for reason, given in {
        "single pictures, this item has 2 frames": {"frames": 2},
        "the item has no labelled joints": {"labelled": None},
        "finds nobody in the original": {"truth": (), "reference": "estimate"},
        "finds none of the labelled joints in the original": {"truth": [Joint(0, "nose", None, 1, 1)], "reference": "estimate"},
        "has no joints of the truth of item 'item'": {"reference": "estimate"},
    }.items():
        with pytest.raises(NotMeasurable, match=reason):
            measured(tmp_path, prediction=PEOPLE, **given)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="unknown reference of WNJD 'annotations', did you mean 'annotation'"):
        measured(tmp_path, prediction=PEOPLE, reference="annotations")


def test_means_over_items_of_each_joint() -> None:
    def score(method: str, value: float | None, by_joint: dict[str, float]) -> Score:
        return Score(method, "item", "wnjd", "frame", "p", "f", value, None, {"by_joint": by_joint} if by_joint else {})

    scores = [
        score("a", 0.2, {"left knee": 0.1, "pelvis": 0.3}), score("a", 0.2, {"left knee": 0.2}), score("a", None, {}),
        score("b", 0.5, {"pelvis": 0.5}), replace(score("b", 0.5, {}), metric="mse"),
    ]  # fmt: skip
    assert joint_means(scores) == {
        "a": {"left knee": JointMean(pytest.approx(0.15), 2), "pelvis": JointMean(0.3, 1)},
        "b": {"pelvis": JointMean(0.5, 1)},
    }


MPII = (
    ("ankle", "right"), ("knee", "right"), ("hip", "right"), ("hip", "left"), ("knee", "left"), ("ankle", "left"),
    ("pelvis", None), ("thorax", None), ("upper_neck", None), ("head_top", None),
    ("wrist", "right"), ("elbow", "right"), ("shoulder", "right"), ("shoulder", "left"), ("elbow", "left"), ("wrist", "left"),
)  # fmt: skip


@pytest.mark.real
def test_real_annotations_under_a_known_error(assets: Path, tmp_path: Path) -> None:
    """People of MPII; the estimate is the annotation with noise, the expected value is its formula written out."""
    rows = json.loads((assets / "poses/pose-mmpose/tests/data/mpii/test_mpii.json").read_text())
    rng = np.random.default_rng(1)
    assert len(rows) == 5
    for row in rows:
        seen = [index for index, visible in enumerate(row["joints_vis"]) if visible]
        points = np.array(row["joints"])[seen]
        noise = rng.normal(0, 12, points.shape)
        labelled = [Joint(0, *MPII[index], x, y) for index, (x, y) in zip(seen, points.tolist(), strict=True)]
        estimate = [Joint(0, *MPII[index], x, y) for index, (x, y) in zip(seen, (points + noise).tolist(), strict=True)]
        expected = np.linalg.norm(noise, axis=1).mean() / np.linalg.norm([1280, 720])
        found = measured(tmp_path, prediction=estimate, labelled=labelled, size=(1280, 720))
        assert found.value == pytest.approx(expected, rel=1e-12)
        assert len(found.details["by_joint"]) == len(seen) >= 10


def test_each_methods_people_are_estimated_on_its_own_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """What several methods of an item share is the estimate on the truth."""

    class BrightnessMoves:
        joint_names = tuple(dict.fromkeys(joint.name for joint in PEOPLE))

        def estimate(self, picture: np.ndarray, **_: Any) -> tuple[Joint, ...]:
            return moved(PEOPLE, 0, float(picture[0, 0, 0]))

    monkeypatch.setattr("inpaintbench.wings.chalearn.metrics.wnjd.estimator", lambda pose: BrightnessMoves())
    metric, shared = (
        Wnjd(regions=("frame",), band_radius_pixels=8, pose="stored:x", reference="annotation", missing_joints="leave_out"),
        Shared(),
    )
    found, dark = [], np.zeros((1, HEIGHT, WIDTH, 3), np.uint8)
    for level in (0, 5):
        picture = np.full((1, HEIGHT, WIDTH, 3), level, np.uint8)
        parts: dict[str, Any] = {"truth": lambda: dark, "composite": lambda made=picture: made, "joints": lambda: PEOPLE}
        view = ItemView(item_id="item", frames=1, height=HEIGHT, width=WIDTH, fps=25, parts=parts, shared=shared)
        found.append(metric.measure(view)["frame"].value)
    assert found == [0, pytest.approx(5 / 50)]
