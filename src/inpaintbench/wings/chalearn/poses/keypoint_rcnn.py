"""Keypoint R-CNN, as it comes with torchvision."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from inpaintbench.compute import Compute
from inpaintbench.models import torch_networks
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.poses import Of, Picture, PoseEstimator

# The entry of `weights.toml`.
WEIGHTS = "keypoint-rcnn"
# Of a person; the network's own scores are 0..1.
LEAST_SCORE = 0.5
# In the order of the network's answer, that of COCO.
KEYPOINTS: tuple[tuple[str, str | None], ...] = (
    ("nose", None), ("eye", "left"), ("eye", "right"), ("ear", "left"), ("ear", "right"), ("shoulder", "left"),
    ("shoulder", "right"), ("elbow", "left"), ("elbow", "right"), ("wrist", "left"), ("wrist", "right"), ("hip", "left"),
    ("hip", "right"), ("knee", "left"), ("knee", "right"), ("ankle", "left"), ("ankle", "right"),
)  # fmt: skip


class KeypointRcnn(PoseEstimator):
    """The seventeen joints of COCO for everybody whom the network is at least half sure of (He et al., "Mask R-CNN", 2017).

    It knows no pelvis, thorax, neck or head top. A person who is found has all seventeen.
    """

    name = "keypoint_rcnn"
    version = "1"
    joint_names = tuple(dict.fromkeys(name for name, _ in KEYPOINTS))

    def content(self) -> str:
        """Nothing: its weights have a hash of their own."""
        return ""

    def estimate(self, picture: Picture, *, item_id: str, of: Of, compute: Compute) -> tuple[Joint, ...]:  # noqa: ARG002
        """The joints of everybody, the surest person first.

        Raises:
            NotMeasurable: the weights are missing, damaged or others.
            MissingExtraError: PyTorch is not installed.
        """
        network = torch_networks.network(_build, compute, weights_name=WEIGHTS)
        with torch_networks.running(compute) as device:
            tensor = torch_networks.pictures(np.array(picture)[None], device)
            [found] = network(list(tensor))
        return people(found["scores"].float().cpu().numpy(), found["keypoints"].float().cpu().numpy())


def people(scores: Any, keypoints: Any) -> tuple[Joint, ...]:
    """Joints from ``float[n]`` scores and ``float[n, 17, 3]`` points: x, y, and a 1 that says nothing."""
    order = [index for index in np.argsort(-scores, kind="stable") if scores[index] >= LEAST_SCORE]
    return tuple(
        Joint(person, name, side, float(x), float(y))
        for person, index in enumerate(order)
        for (name, side), (x, y) in zip(KEYPOINTS, keypoints[index, :, :2], strict=True)
    )


def _build() -> Any:
    # As torchvision builds it for its own parameters: frozen batch normalisation without an epsilon. No keypoints are looked for
    # where nobody would be believed.
    detection = import_module("torchvision.models.detection")
    frozen = import_module("torchvision.ops.misc").FrozenBatchNorm2d
    backbone = detection.backbone_utils.resnet_fpn_backbone(backbone_name="resnet50", weights=None, norm_layer=frozen)
    made = detection.KeypointRCNN(backbone, num_classes=2, box_score_thresh=LEAST_SCORE)
    detection._utils.overwrite_eps(made, 0.0)
    return made
