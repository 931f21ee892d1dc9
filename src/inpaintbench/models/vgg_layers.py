"""Layers of VGG-19; see ``vgg``. This module imports PyTorch; others import it lazily."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from inpaintbench.models.lpips_layers import features

# Modules of torchvision's trunk up to relu3_1 and relu4_1, and pixels of the picture to one cell of their maps.
ENDS, STRIDES = (12, 21), (4, 8)
# Means and deviations of ImageNet, of RGB in 0..1, with which torchvision's parameters were learnt.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# The network of the Caffe release saw levels of 0..255 without their mean: pictures as many times larger than these, and
# activations with them, since layers of rectifiers keep scale.
LEVELS_SCALE = 255 * sum(DEVIATION) / 3


class TextureNetwork(nn.Module):
    """The trunk of VGG-19 up to relu4_1."""

    strides = STRIDES

    mean: Tensor
    deviation: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.trunk = features("vgg19", ENDS[-1])
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
        for end in ENDS:
            activations = self.trunk[begin:end](activations)
            maps.append(LEVELS_SCALE * activations)
            begin = end
        return maps
