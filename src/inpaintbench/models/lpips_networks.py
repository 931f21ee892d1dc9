"""LPIPS: perceptual distance of two pictures in the activations of a classifier, weighted to agree with human judgements.

Zhang et al., "The Unreasonable Effectiveness of Deep Features as a Perceptual Metric", CVPR 2018, version 0.1: the trunk is a
classifier of torchvision, the weights of its channels (the linear heads) are files of the package ``lpips``, of which nothing
else is used. VGG-19, a larger form of one of these trunks, stands here too: its middle layers compare textures.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inpaintbench.catalogue import known_name
from inpaintbench.compute import Compute
from inpaintbench.errors import MissingExtraError, NotMeasurable
from inpaintbench.files import file_sha256
from inpaintbench.models import torch_networks

if TYPE_CHECKING:
    from inpaintbench.models.lpips_layers import LpipsNetwork

# Network -> entry of `weights.toml` of its trunk.
LPIPS_WEIGHTS: Mapping[str, str] = {"alex": "alexnet", "vgg": "vgg16", "squeeze": "squeezenet1-1"}
# Entry of `weights.toml` of VGG-19, in whose middle layers patches of textures are compared: Simonyan and Zisserman, ICLR 2015;
# the parameters are those of torchvision.
VGG_19 = "vgg19"
# SHA-256 of the linear heads of each network, version 0.1: other heads would be another metric.
HEADS: Mapping[str, str] = {
    "alex": "df73285e35b22355a2df87cdb6b70b343713b667eddbda73e1977e0c860835c0",
    "vgg": "a78928a0af1e5f0fcb1f3b9e8f8c3a2a5a3de244d830ad5c1feddc79b8432868",
    "squeeze": "4a5350f23600cb79923ce65bb07cbf57dca461329894153e05a1346bd531cf76",
}


def lpips(net: str, compute: Compute) -> LpipsNetwork:
    """Load the network.

    Args:
        net: one of ``LPIPS_WEIGHTS``.
        compute: device, precision and seed of random weights, which make trunk and heads random, the heads not negative.

    Raises:
        UnknownNameError: no such network.
        NotMeasurable: the trunk's weights or the package's heads are missing, damaged or of another network.
        MissingExtraError: PyTorch or the package ``lpips`` is not installed.
    """
    name = LPIPS_WEIGHTS[known_name("network of LPIPS", net, LPIPS_WEIGHTS)]
    address = "inpaintbench.models.lpips_layers:LpipsNetwork"
    module: LpipsNetwork = torch_networks.network(address, compute, weights_name=name, translate=_TRANSLATIONS[net], net=net)
    return module


def _translated(net: str, trunk: torch_networks.State) -> torch_networks.State:
    """State dict of ``LpipsNetwork``: the trunk's parameters without its classifier, and the heads of the package."""
    state = {f"trunk.{name.removeprefix('features.')}": value for name, value in trunk.items() if "classifier" not in name}
    package = importlib.util.find_spec("lpips")  # without importing the package, which takes seconds
    if package is None or not package.submodule_search_locations:
        raise MissingExtraError("LPIPS", "eval")
    path = Path(package.submodule_search_locations[0]) / "weights" / "v0.1" / f"{net}.pth"
    if not path.is_file() or file_sha256(path) != HEADS[net]:
        raise NotMeasurable(f"the installed package lpips has not the {net}.pth of version 0.1: reinstall lpips 0.1.4")
    for name, value in torch_networks.read_state(str(path)).items():
        # "lin0.model.1.weight", a convolution of one output, 1 x C x 1 x 1
        state[f"heads.{name.split('.')[0].removeprefix('lin')}"] = value.reshape(-1)
    return state


# Part of the key of the cache of loaded networks, so that each has to be one object.
_TRANSLATIONS = {net: partial(_translated, net) for net in LPIPS_WEIGHTS}


def vgg_19(compute: Compute) -> Any:
    """Load the network as a ``lpips_layers.TextureNetwork``.

    Raises:
        NotMeasurable: the weights are missing, damaged or of another network. MissingExtraError: PyTorch is not installed.
    """
    address = "inpaintbench.models.lpips_layers:TextureNetwork"
    return torch_networks.network(address, compute, weights_name=VGG_19, translate=_textures)


def _textures(state: torch_networks.State) -> torch_networks.State:
    """Parameters of the trunk up to the last layer that is looked at; the file has the classifier, too."""
    from inpaintbench.models.lpips_layers import TEXTURE_ENDS

    features = {name.removeprefix("features."): value for name, value in state.items() if name.startswith("features.")}
    return {f"trunk.{name}": value for name, value in features.items() if int(name.split(".")[0]) < TEXTURE_ENDS[-1]}
