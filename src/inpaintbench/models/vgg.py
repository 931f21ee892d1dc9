"""VGG-19: activations of its middle layers, in which patches of textures are compared.

Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition", ICLR 2015; the parameters are those
of torchvision.
"""

from __future__ import annotations

from typing import Any

from inpaintbench.compute import Compute
from inpaintbench.models import torch_networks

# Entry of `weights.toml`.
VGG_19 = "vgg19"


def vgg_19(compute: Compute) -> Any:
    """Load the network as a ``vgg_layers.TextureNetwork``.

    Raises:
        NotMeasurable: the weights are missing, damaged or of another network. MissingExtraError: PyTorch is not installed.
    """
    return torch_networks.network(_build, compute, weights_name=VGG_19, translate=_translated)


def _build() -> Any:
    from inpaintbench.models.vgg_layers import TextureNetwork

    return TextureNetwork()


def _translated(state: torch_networks.State) -> torch_networks.State:
    """Parameters of the trunk up to the last layer that is looked at; the file has the classifier, too."""
    from inpaintbench.models.vgg_layers import ENDS

    names = {name: name.split(".") for name in state}
    return {
        f"trunk.{place}.{kind}": state[name]
        for name, (part, place, kind) in ((name, parts) for name, parts in names.items() if len(parts) == 3)
        if part == "features" and int(place) < ENDS[-1]
    }
