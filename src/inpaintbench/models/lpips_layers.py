"""The layers of LPIPS; see ``lpips_networks``. Imported only where PyTorch is needed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import torch
from torch import Tensor, nn

from inpaintbench.errors import MissingExtraError, NotMeasurable

# Names in `torchvision.models`.
CLASSIFIERS = {"alex": "alexnet", "vgg": "vgg16", "squeeze": "squeezenet1_1"}
# After which modules of torchvision's feature extractor the activations are taken: all but the last come before a pooling, except
# in SqueezeNet, whose last four follow each other.
ENDS = {"alex": (2, 5, 8, 10, 12), "vgg": (4, 9, 16, 23, 30), "squeeze": (2, 5, 8, 10, 11, 12, 13)}
CHANNELS = {
    "alex": (64, 192, 384, 256, 256), "vgg": (64, 128, 256, 512, 512), "squeeze": (64, 128, 256, 384, 384, 512, 512),
}  # fmt: skip
# Pixels; a smaller picture leaves nothing of the last activations.
LEAST_SIDE = {"alex": 31, "vgg": 16, "squeeze": 17}
# Of the channels of pictures in -1..1: the means and deviations of ImageNet, rounded as the published package has them.
SHIFT, SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)
# Added to the length of a vector of channels before it divides.
LEAST_LENGTH = 1e-10


class LpipsNetwork(nn.Module):
    """Trunk and heads of one network of LPIPS.

    Args:
        net: "alex", "vgg" or "squeeze".
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, net: str) -> None:
        super().__init__()
        self.net = net
        self.trunk = _features(net)
        self.heads = nn.ParameterList([nn.Parameter(torch.rand(channels) / channels) for channels in CHANNELS[net]])
        self.register_buffer("shift", torch.tensor(SHIFT).reshape(1, 3, 1, 1), persistent=False)
        self.register_buffer("scale", torch.tensor(SCALE).reshape(1, 3, 1, 1), persistent=False)

    def layers(self, pictures: Tensor) -> list[Tensor]:
        """Activations of the trunk, each vector of channels divided by its length.

        Args:
            pictures: ``float32[N, 3, H, W]`` RGB in 0..1.

        Returns:
            ``float32[N, C, h, w]`` for each of the five (SqueezeNet: seven) layers, finest first.

        Raises:
            NotMeasurable: the pictures are too small for the network.
        """
        height, width = pictures.shape[-2:]
        if min(height, width) < LEAST_SIDE[self.net]:
            least = LEAST_SIDE[self.net]
            raise NotMeasurable(f"LPIPS of {self.net} needs at least {least}x{least} pixels, the frames have {width}x{height}")
        found, start = [], 0
        activations = self.scaled(pictures)
        for end in ENDS[self.net]:
            activations = self.trunk[start:end](activations)
            found.append(self.of_length_one(activations))
            start = end
        return found

    def scaled(self, pictures: Tensor) -> Tensor:
        """Pictures of 0..1 as the trunk takes them."""
        return (pictures * 2).sub_(1).sub_(self.shift).div_(self.scale)  # in place: half the time

    @staticmethod
    def of_length_one(activations: Tensor) -> Tensor:
        """Each vector of channels divided by its length, in float32."""
        wide = activations.float()
        return wide / (wide.square().sum(dim=1, keepdim=True).sqrt() + LEAST_LENGTH)

    def layer_maps(self, one: Sequence[Tensor], other: Sequence[Tensor]) -> list[Tensor]:
        """How much each place of each layer adds to the distance of two pictures, always in float32.

        Args:
            one: of ``layers``.
            other: of ``layers`` for as many pictures.

        Returns:
            ``float32[N, h, w]`` for each layer: squared differences, weighted and summed over channels. LPIPS is the sum
            over layers of their means.
        """
        return [
            (mine - theirs).square_().mul_(head.reshape(1, -1, 1, 1)).sum(dim=1)
            for mine, theirs, head in zip(one, other, self.heads, strict=True)
        ]


def _features(net: str) -> nn.Sequential:
    """The feature extractor of torchvision with drawn parameters that keep the size of activations from layer to layer.

    The classifier behind it, most of the parameters, is never held.
    """
    try:
        classifiers = import_module("torchvision.models")
    except ImportError as error:
        raise MissingExtraError("LPIPS", "eval") from error
    with torch.device("meta"):  # no memory and no drawing
        features: nn.Sequential = getattr(classifiers, CLASSIFIERS[net])(weights=None).features
    features = features[: ENDS[net][-1]].to_empty(device="cpu")
    for parameter in features.parameters():
        if parameter.dim() > 1:
            nn.init.kaiming_normal_(parameter, nonlinearity="relu")
        else:
            nn.init.zeros_(parameter)
    return features
