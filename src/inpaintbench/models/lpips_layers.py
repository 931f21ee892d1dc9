"""Layers of LPIPS and of VGG-19 for textures; see ``lpips_networks``. This module imports PyTorch; others import it lazily."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import torch
from torch import Tensor, nn

from inpaintbench.errors import MissingExtraError, NotMeasurable

# Names in `torchvision.models`.
CLASSIFIERS = {"alex": "alexnet", "vgg": "vgg16", "squeeze": "squeezenet1_1"}
# Modules of torchvision's feature extractor whose outputs are compared: all but the last precede a pooling, except in SqueezeNet,
# whose last four are consecutive.
ENDS = {"alex": (2, 5, 8, 10, 12), "vgg": (4, 9, 16, 23, 30), "squeeze": (2, 5, 8, 10, 11, 12, 13)}
# Of those activations.
CHANNELS = {
    "alex": (64, 192, 384, 256, 256), "vgg": (64, 128, 256, 512, 512), "squeeze": (64, 128, 256, 384, 384, 512, 512),
}  # fmt: skip
# Smallest side of a picture, pixels; below it the last activations are empty.
LEAST_SIDE = {"alex": 31, "vgg": 16, "squeeze": 17}
# Normalisation of RGB in -1..1: the means and deviations of ImageNet, rounded as in the published package.
SHIFT, SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)
# Added to the norm of a channel vector before dividing by it, as in the published package.
LEAST_LENGTH = 1e-10


class LpipsNetwork(nn.Module):
    """Trunk and linear heads of LPIPS.

    Args:
        net: "alex", "vgg" or "squeeze".
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, net: str) -> None:
        super().__init__()
        self.net = net
        self.trunk = features(CLASSIFIERS[net], ENDS[net][-1])
        self.heads = nn.ParameterList([nn.Parameter(torch.rand(channels) / channels) for channels in CHANNELS[net]])
        self.register_buffer("shift", torch.tensor(SHIFT).reshape(1, 3, 1, 1), persistent=False)
        self.register_buffer("scale", torch.tensor(SCALE).reshape(1, 3, 1, 1), persistent=False)

    def layers(self, pictures: Tensor) -> list[Tensor]:
        """Activations of the trunk, normalised to unit length along channels.

        Args:
            pictures: ``float32[N, 3, H, W]`` RGB in 0..1.

        Returns:
            ``float32[N, C, h, w]`` of each of the five (SqueezeNet: seven) layers, finest first.

        Raises:
            NotMeasurable: the pictures are too small for the network.
        """
        height, width = pictures.shape[-2:]
        if min(height, width) < LEAST_SIDE[self.net]:
            least = LEAST_SIDE[self.net]
            raise NotMeasurable(f"LPIPS of {self.net} needs at least {least}x{least} pixels, the frames have {width}x{height}")
        layers, start = [], 0
        activations = self.scaled(pictures)
        for end in ENDS[self.net]:
            activations = self.trunk[start:end](activations)
            layers.append(self.unit_length(activations))
            start = end
        return layers

    def scaled(self, pictures: Tensor) -> Tensor:
        """Normalise pictures of 0..1 for the trunk."""
        return (pictures * 2).sub_(1).sub_(self.shift).div_(self.scale)  # in place: half the time

    @staticmethod
    def unit_length(activations: Tensor) -> Tensor:
        """Normalise each channel vector to unit length, in float32."""
        wide = activations.float()
        return wide / (wide.square().sum(dim=1, keepdim=True).sqrt() + LEAST_LENGTH)

    def layer_maps(self, layers: Sequence[Tensor], reference: Sequence[Tensor]) -> list[Tensor]:
        """Contribution of each position of each layer to the distance of two pictures, always in float32.

        Args:
            layers: result of ``layers``.
            reference: result of ``layers`` for as many pictures.

        Returns:
            ``float32[N, h, w]`` for each layer: squared differences, weighted and summed over channels. LPIPS is the sum
            over layers of their means.
        """
        return [
            (left - right).square_().mul_(head.reshape(1, -1, 1, 1)).sum(dim=1)
            for left, right, head in zip(layers, reference, self.heads, strict=True)
        ]


def features(classifier: str, end: int) -> nn.Sequential:
    """Feature extractor of torchvision with random parameters that preserve the scale of activations from layer to layer.

    The classifier behind it, most of the parameters, is never allocated.

    Args:
        classifier: a name in ``torchvision.models``.
        end: number of the extractor's modules that are kept.
    """
    try:
        classifiers = import_module("torchvision.models")
    except ImportError as error:
        raise MissingExtraError(f"a trunk of {classifier}", "eval") from error
    with torch.device("meta"):  # allocates no memory and draws no parameters
        trunk: nn.Sequential = getattr(classifiers, classifier)(weights=None).features
    trunk = trunk[:end].to_empty(device="cpu")
    for parameter in trunk.parameters():
        if parameter.dim() > 1:
            nn.init.kaiming_normal_(parameter, nonlinearity="relu")
        else:
            nn.init.zeros_(parameter)
    return trunk


# Modules of torchvision's trunk up to relu3_1 and relu4_1, and pixels of the picture to one cell of their maps.
TEXTURE_ENDS, TEXTURE_STRIDES = (12, 21), (4, 8)
# Means and deviations of ImageNet, of RGB in 0..1, with which torchvision's parameters were learnt.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# The network of the Caffe release saw levels of 0..255 without their mean: pictures as many times larger than these, and
# activations with them, since layers of rectifiers keep scale.
LEVELS_SCALE = 255 * sum(DEVIATION) / 3


class TextureNetwork(nn.Module):
    """The trunk of VGG-19 up to relu4_1."""

    strides = TEXTURE_STRIDES

    mean: Tensor
    deviation: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.trunk = features("vgg19", TEXTURE_ENDS[-1])
        self.register_buffer("mean", 255 * torch.tensor(MEAN).reshape(1, 3, 1, 1), persistent=False)
        self.register_buffer("deviation", 255 * torch.tensor(DEVIATION).reshape(1, 3, 1, 1), persistent=False)

    def forward(self, pictures: Tensor) -> list[Tensor]:
        """Activations of relu3_1 and relu4_1, on the scale of a network that sees levels.

        Args:
            pictures: ``float32[N, 3, H, W]`` RGB in 0..255; sides of at least 8.

        Returns:
            ``float32[N, 256, H // 4, W // 4]`` and ``float32[N, 512, H // 8, W // 8]``.
        """
        maps, begin, activations = [], 0, (pictures - self.mean) / self.deviation
        for end in TEXTURE_ENDS:
            activations = self.trunk[begin:end](activations)
            maps.append(LEVELS_SCALE * activations)
            begin = end
        return maps
