"""DINO ViT-B/16 and ViT-B/8: vision transformers trained by self-supervision, whose embeddings of one subject agree across views.

Caron et al., "Emerging Properties in Self-Supervised Vision Transformers", ICCV 2021; the parameters are the authors'
``dino_vitbase16_pretrain.pth`` and ``dino_vitbase8_pretrain.pth`` (Apache-2.0). Nobody whom we found states a hash of the latter,
so users bring it. Resizing pictures is left to the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.compute import Compute
from inpaintbench.models import torch_networks
from inpaintbench.models.brought import Brought

if TYPE_CHECKING:
    from inpaintbench.models.dino_layers import Dino

# Entry of `weights.toml`.
WEIGHTS = "dino-vit-b-16"
# Of the patches of 8 pixels.
FINE = Brought(
    "INPAINTBENCH_DINO_VIT_B_8",
    "dino_vitbase8_pretrain.pth",
    "nobody publishes the hash of DINO ViT-B/8 (Apache-2.0): get https://dl.fbaipublicfiles.com/dino/dino_vitbase8_pretrain/"
    "dino_vitbase8_pretrain.pth",
)
# Networks -> side of their patches, pixels.
PATCH_PIXELS = {"dino-vit-b-8": 8, WEIGHTS: 16}
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
    module: Dino = torch_networks.network(build, compute, weights_name=WEIGHTS)
    return module


def fine_dino(compute: Compute) -> Dino:
    """``dino`` with patches of 8 pixels, from the file that the user brought; raises as ``dino``."""
    module: Dino = torch_networks.network(_build_fine, compute, brought=FINE)
    return module


def build() -> Dino:
    """The network with random parameters, patches of 16 pixels."""
    from inpaintbench.models.dino_layers import Dino

    return Dino()


def _build_fine() -> Dino:
    from inpaintbench.models.dino_layers import Dino

    return Dino(patch_pixels=8, grid=28)
