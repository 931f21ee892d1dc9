"""Optical flow by RAFT, Teed and Deng, ECCV 2020, with three sets of parameters."""

from __future__ import annotations

import numpy as np

from inpaintbench.compute import Compute
from inpaintbench.eval.flows.base import Flow, Motion
from inpaintbench.models import torch_networks
from inpaintbench.types import Frames


class RaftSmall(Flow):
    """The small network with torchvision's parameters (C_T_V2, trained on FlyingChairs and FlyingThings3D)."""

    name = "raft_small"
    version = "1"
    weights: str | None = "raft-small"

    def flow(self, one: Frames, other: Frames, compute: Compute) -> Motion:
        """As ``Flow.flow``; in batches that fit into ``compute.batch_bytes``."""
        from inpaintbench.models import raft

        height, width = one.shape[1:3]
        network = raft.raft(str(self.weights), compute)
        step = max(1, torch_networks.batch_bytes(compute) // _pair_bytes(height, width))
        motion = np.empty((len(one), height, width, 2), np.float32)
        with torch_networks.running(compute) as device:
            for begin in range(0, len(one), step):
                some = slice(begin, begin + step)
                first, second = (torch_networks.pictures(frames[some], device) for frames in (one, other))
                motion[some] = raft.flow(network, first, second).permute(0, 2, 3, 1).cpu().numpy()
        return motion


class RaftSmallOfficial(RaftSmall):
    """The small network with the parameters that its authors published."""

    name = "raft_small_official"
    weights = "raft-small-official"


class RaftLarge(RaftSmall):
    """The large network with torchvision's parameters (C_T_SKHT_V2)."""

    name = "raft_large"
    weights = "raft-large"


def _pair_bytes(height: int, width: int) -> int:
    """About what the activations of one pair take: all correlations at an eighth of the size, and the first layers."""
    return 10 * (height * width // 64) ** 2 + 300 * height * width
