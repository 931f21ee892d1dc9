"""DINO ViT-B/16: a vision transformer trained by self-supervision, whose embeddings of one subject agree across views.

Caron et al., "Emerging Properties in Self-Supervised Vision Transformers", ICCV 2021; the parameters are the authors'
``dino_vitbase16_pretrain.pth`` (Apache-2.0). Resizing pictures is left to the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.compute import Compute
from inpaintbench.models import torch_networks

if TYPE_CHECKING:
    from inpaintbench.models.dino_layers import Dino

# Entry of `weights.toml`.
WEIGHTS = "dino-vit-b-16"
# Dimension of an embedding.
LENGTH = 768
# Normalisation of the RGB channels in 0..1: the statistics of ImageNet.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def dino(compute: Compute) -> Dino:
    """Load the network: ``float32[N, 3, H, W]`` RGB, normalised by ``MEAN`` and ``DEVIATION`` -> ``float32[N, 768]``.

    Sides are at least 16 pixels; columns and rows beyond a multiple of 16 are ignored on the right and at the bottom.

    Raises:
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch is not installed.
    """
    module: Dino = torch_networks.network(_build, compute, weights_name=WEIGHTS)
    return module


def _build() -> Dino:
    from inpaintbench.models.dino_layers import Dino

    return Dino()
