"""LAION's linear head that says how much people would like a picture, from its vector by CLIP ViT-L/14.

LAION-AI/aesthetic-predictor (2022, MIT), ``sa_0_4_vit_l_14_linear.pth``: trained on ratings of 1 to 10, not bounded to them.
"""

from __future__ import annotations

from typing import Any

from inpaintbench.compute import Compute
from inpaintbench.models import torch_networks

# The entry of `weights.toml`.
WEIGHTS = "aesthetic-linear-vit-l-14"
# Of the vectors that go in, which have to have length one.
LENGTH = 768


def aesthetic_head(compute: Compute) -> Any:
    """The head, ready to run: ``float32[N, 768]`` of length one -> ``float32[N, 1]``.

    Raises:
        NotMeasurable: its weights are missing, damaged or others.
        MissingExtraError: PyTorch is not installed.
    """
    return torch_networks.network(_build, compute, weights_name=WEIGHTS)


def _build() -> Any:
    return torch_networks.torch().nn.Linear(LENGTH, 1)
