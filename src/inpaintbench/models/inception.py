"""The Inception network behind FID: Inception v3 as trained in TensorFlow in December 2015, ported to PyTorch.

Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", CVPR 2016; the port and its parameters are those of
pytorch-fid, which scores in papers rest on. It differs from torchvision's Inception v3 in its parameters and in its poolings
(``inception_layers``). How pictures come to 299x299 is the caller's business, since publications differ in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.compute import Compute
from inpaintbench.models import torch_networks

if TYPE_CHECKING:
    from inpaintbench.models.inception_layers import Inception

# The entry of `weights.toml`.
WEIGHTS = "inception-fid"
# Pixels of the square pictures that go in.
SIDE = 299
# Numbers that come out for a picture.
FEATURES = 2048


def inception(compute: Compute) -> Inception:
    """The network, ready to run: ``float32[N, 3, 299, 299]`` RGB in -1..1 -> ``float32[N, 2048]``.

    Raises:
        NotMeasurable: its weights are missing, damaged or others.
        MissingExtraError: PyTorch is not installed.
    """
    made: Inception = torch_networks.network(_build, compute, weights_name=WEIGHTS, translate=_without_classes)
    return made


def _build() -> Inception:
    from inpaintbench.models.inception_layers import Inception

    return Inception()


def _without_classes(state: torch_networks.State) -> torch_networks.State:
    """The file holds the layer of 1008 classes, too, which FID has no use for."""
    return {name: value for name, value in state.items() if not name.startswith("fc.")}
