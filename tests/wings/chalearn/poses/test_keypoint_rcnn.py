"""The network against torchvision's own; it takes minutes to run on a processor, so what it answers is made up."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.models import weights
from inpaintbench.wings.chalearn.poses import JOINT_NAMES, KEYPOINTS, LEAST_SCORE, KeypointRcnn, _keypoint_network, people

torch = pytest.importorskip("torch")
detection = pytest.importorskip("torchvision.models.detection")


def test_the_joints_are_those_that_torchvision_names() -> None:
    named = detection.KeypointRCNN_ResNet50_FPN_Weights.COCO_V1.meta["keypoint_names"]
    assert ["_".join(filter(None, (side, name))) for name, side in KEYPOINTS] == named
    assert set(KeypointRcnn.joint_names) < set(JOINT_NAMES)


def test_the_network_takes_the_parameters_that_torchvision_publishes() -> None:
    """Same names and shapes; batch normalisation is frozen and has no epsilon, as where those parameters are loaded."""
    with torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = detection.keypointrcnn_resnet50_fpn(weights=None, weights_backbone=None).state_dict()
        ours = _keypoint_network()
    shapes = {name: tuple(value.shape) for name, value in theirs.items() if not name.endswith("num_batches_tracked")}
    assert {name: tuple(value.shape) for name, value in ours.state_dict().items()} == shapes
    assert sum(value.numel() for value in ours.parameters()) > 59e6
    assert {module.eps for module in ours.modules() if type(module).__name__ == "FrozenBatchNorm2d"} == {0.0}


def test_people_come_surest_first_and_nobody_whom_it_doubts() -> None:
    points = np.arange(3 * 17 * 3, dtype=np.float32).reshape(3, 17, 3)
    found = people(np.array([0.6, LEAST_SCORE - 0.01, 0.9], np.float32), points)
    assert len(found) == 34
    assert (found[0].person, found[0].name, found[0].side, found[0].x, found[0].y) == (
        0,
        "nose",
        None,
        points[2, 0, 0],
        points[2, 0, 1],
    )
    last = found[-1]
    assert (last.person, last.name, last.side, last.x, last.y) == (1, "ankle", "right", points[0, 16, 0], points[0, 16, 1])
    assert people(np.zeros(0), np.zeros((0, 17, 3))) == ()


def test_without_weights_there_is_a_reason_and_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    if "keypoint-rcnn" not in weights.known():
        pytest.skip("the table of weights has no entry for it")
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", "/nonexistent")
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models"):
        KeypointRcnn().estimate(np.zeros((64, 64, 3), np.uint8), item_id="a", of="truth", compute=Compute(device="cpu"))
