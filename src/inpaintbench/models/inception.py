"""The Inception network of FID: Inception v3 as trained in TensorFlow in December 2015, ported to PyTorch.

Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", CVPR 2016; the port and its parameters are those of
pytorch-fid, which published scores rest on. It differs from torchvision's Inception v3 in its parameters and in its poolings
(``inception_layers``). Resizing pictures to 299x299 is left to the caller, since publications differ in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.compute import Compute
from inpaintbench.models import torch_networks

if TYPE_CHECKING:
    from inpaintbench.models.inception_layers import Inception

# Entry of `weights.toml`.
WEIGHTS = "inception-fid"
# Side of the square input pictures, pixels.
SIDE = 299
# Dimension of a feature vector.
FEATURES = 2048


def inception(compute: Compute) -> Inception:
    """Load the network: ``float32[N, 3, 299, 299]`` RGB in -1..1 -> ``float32[N, 2048]``.

    Raises:
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch is not installed.
    """
    module: Inception = torch_networks.network(_build, compute, weights_name=WEIGHTS, translate=_without_classes)
    return module


def _build() -> Inception:
    from inpaintbench.models.inception_layers import Inception

    return Inception()


def _without_classes(state: torch_networks.State) -> torch_networks.State:
    """Parameters without those of the classifier (1008 classes), which FID does not use."""
    return {name: value for name, value in state.items() if not name.startswith("fc.")}
