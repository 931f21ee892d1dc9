"""DINO ViT-B/16: a transformer that learned without labels to give views of the same picture the same vector.

Caron et al., "Emerging Properties in Self-Supervised Vision Transformers", ICCV 2021; the parameters are the authors'
``dino_vitbase16_pretrain.pth`` (Apache-2.0). How pictures come to their size is the caller's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.compute import Compute
from inpaintbench.models import torch_networks

if TYPE_CHECKING:
    from inpaintbench.models.dino_layers import Dino

# The entry of `weights.toml`.
WEIGHTS = "dino-vit-b-16"
# Of the vector of a picture.
LENGTH = 768
# Of the channels in 0..1, that pictures are brought to: those of ImageNet.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def dino(compute: Compute) -> Dino:
    """The network, ready to run: ``float32[N, 3, H, W]`` RGB, normalised by ``MEAN`` and ``DEVIATION`` -> ``float32[N, 768]``.

    Sides are 16 pixels at least; what is over a multiple of 16 on the right and at the bottom is not looked at.

    Raises:
        NotMeasurable: its weights are missing, damaged or others.
        MissingExtraError: PyTorch is not installed.
    """
    made: Dino = torch_networks.network(_build, compute, weights_name=WEIGHTS)
    return made


def _build() -> Dino:
    from inpaintbench.models.dino_layers import Dino

    return Dino()
