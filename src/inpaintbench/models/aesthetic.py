"""LAION's aesthetic predictor: a linear head that rates a picture from its CLIP ViT-L/14 embedding.

LAION-AI/aesthetic-predictor (2022, MIT), ``sa_0_4_vit_l_14_linear.pth``: trained on ratings of 1 to 10, not bounded to them.
"""

from __future__ import annotations

from typing import Any

from inpaintbench.compute import Compute
from inpaintbench.models import torch_networks

# Entry of `weights.toml`.
WEIGHTS = "aesthetic-linear-vit-l-14"
# Dimension of the input embeddings, which have unit length.
LENGTH = 768


def aesthetic_head(compute: Compute) -> Any:
    """Load the head: unit-length embeddings ``float32[N, 768]`` -> ratings ``float32[N, 1]``.

    Raises:
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch is not installed.
    """
    return torch_networks.network(_build, compute, weights_name=WEIGHTS)


def _build() -> Any:
    return torch_networks.torch().nn.Linear(LENGTH, 1)
