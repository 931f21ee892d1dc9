"""The layers of the trainable networks. Imported only where PyTorch is needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

# As published for the baseline of track 3.
RESIDUAL_BLOCKS = 5


class FrameNetwork(nn.Module):
    """A frame in, the frame without text out: baseline 1 of track 2.

    Three blocks of two 3x3 convolutions (``width``, 2 and 4 times that), the second and third block at half and a quarter of the
    size; then four convolutions (8, 4, 4 and 2 times ``width``), the second and third of which are enlarged twofold.

    Args:
        width: channels of the first block; 64 as published.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__()
        sizes = ((3, width, 1), (width, width, 1), (width, 2 * width, 2), (2 * width, 2 * width, 1),
                 (2 * width, 4 * width, 2), (4 * width, 4 * width, 1))  # fmt: skip
        down = [_convolution(before, after, stride=stride) for before, after, stride in sizes]
        up = _enlarging((4 * width, 8 * width, 4 * width, 4 * width, 2 * width), enlarged=(1, 2))
        self.layers = nn.Sequential(*down, *up, nn.Conv2d(2 * width, 3, 3, padding=1))

    def forward(self, frames: Tensor) -> Tensor:
        """``float32[N, 3, H, W]`` in 0..1 from the same; sides are multiples of 4."""
        found: Tensor = self.layers(frames)
        return found.sigmoid()


class PatchNetwork(nn.Module):
    """A patch in, the patch without text and whether it has any out: baseline 2 of track 2, lighter than ``FrameNetwork``.

    Three 3x3 convolutions (``width``, 2 and 4 times that; the second and third halve the size) serve both the classifier, a
    convolution and the mean over the patch, and the decoder (4, 2 and ``width`` channels).

    Args:
        width: channels of the first layer.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__()
        sizes = ((3, width, 1), (width, 2 * width, 2), (2 * width, 4 * width, 2))
        self.encoder = nn.Sequential(*(_convolution(before, after, stride=stride) for before, after, stride in sizes))
        self.classifier = nn.Sequential(
            _convolution(4 * width, 4 * width, stride=2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, 1)
        )
        up = _enlarging((4 * width, 4 * width, 2 * width, width), enlarged=(0, 1))
        self.decoder = nn.Sequential(*up, nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, patches: Tensor) -> tuple[Tensor, Tensor]:
        """``float32[N, 3, 32, 32]`` in 0..1 from the same, and ``float32[N]``: above 0 where there seems to be text."""
        codes: Tensor = self.encoder(patches)
        return self.decoder(codes).sigmoid(), self.classifier(codes)[:, 0]

    def has_text(self, codes: Tensor) -> Tensor:
        """``bool[N]`` from what the encoder gave."""
        scores: Tensor = self.classifier(codes)
        return scores[:, 0] > 0

    def without_text(self, codes: Tensor) -> Tensor:
        """``float32[N, 3, 32, 32]`` in 0..1 from what the encoder gave."""
        levels: Tensor = self.decoder(codes)
        return levels.sigmoid()


class PrintNetwork(nn.Module):
    """A degraded print in, its grey levels without the degradation out: the baseline of track 3.

    A 9x9 convolution (``width``), two of 3x3 that halve the size (2 and 4 times ``width``), five residual blocks, two that double
    it, and a 9x9 one to grey. Every convolution is followed by batch normalisation, the last by a hyperbolic tangent.

    Args:
        width: channels of the first layer; 32 as published.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.first = _convolution(3, width, side=9)
        self.to_half = _convolution(width, 2 * width, stride=2)
        self.to_quarter = _convolution(2 * width, 4 * width, stride=2)
        self.blocks = nn.ModuleList(_Residual(4 * width) for _ in range(RESIDUAL_BLOCKS))
        self.up = nn.ConvTranspose2d(4 * width, 2 * width, 3, stride=2, padding=1, bias=False)
        self.up_normal = nn.BatchNorm2d(2 * width)
        self.up_again = nn.ConvTranspose2d(2 * width, width, 3, stride=2, padding=1, bias=False)
        self.up_again_normal = nn.BatchNorm2d(width)
        self.last = nn.Sequential(nn.Conv2d(width, 1, 9, padding=4, bias=False), nn.BatchNorm2d(1))

    def forward(self, prints: Tensor) -> Tensor:
        """``float32[N, 1, H, W]`` in 0..255 from ``float32[N, 3, H, W]`` in 0..1, of any size."""
        first = self.first(2 * prints - 1)
        half = self.to_half(first)
        codes = self.to_quarter(half)
        for block in self.blocks:
            codes = block(codes)
        # The sizes of the way down: halves of odd sides are rounded up.
        doubled = functional.relu(self.up_normal(self.up(codes, output_size=list(half.shape[2:]))))
        drawn = functional.relu(self.up_again_normal(self.up_again(doubled, output_size=list(first.shape[2:]))))
        levels: Tensor = 127.5 * torch.tanh(self.last(drawn)) + 127.5
        return levels


class ContextNetwork(nn.Module):
    """A picture with a hole in, the whole picture out, of 128x128, and a critic of pictures: baseline 1 of track 1.

    Context encoder (Pathak et al., CVPR 2016): five 4x4 convolutions that halve the size (``width``, the same, 2, 4 and 8 times
    that), one of 4x4 to a code of 62.5 times ``width`` (4000 as published), and as many back. The critic has five that halve the
    size and one to a number.

    Args:
        width: channels of the first layer; 64 as published.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__()
        code = max(1, 4000 * width // 64)
        down = [_halving(before, after) for before, after in pairwise((3, width, width, 2 * width, 4 * width, 8 * width))]
        self.encoder = nn.Sequential(*down, nn.Conv2d(8 * width, code, 4), nn.LeakyReLU(0.2))
        self.decoder = _from_code((code, 8 * width, 4 * width, 2 * width, width, width))
        self.critic = _critic((3, width, 2 * width, 4 * width, 8 * width, 8 * width))

    def forward(self, pictures: Tensor, inside: Tensor) -> Tensor:
        """``float32[N, 3, 128, 128]`` in 0..1 from the same and ``float32[N, 1, 128, 128]``, 1 = hole; grey is put there."""
        known: Tensor = (2 * pictures - 1) * (1 - inside)
        drawn: Tensor = self.decoder(self.encoder(known))
        return drawn.sigmoid()


class ManifoldNetwork(nn.Module):
    """A code in, a picture of 64x64 out, and a critic of pictures: baseline 3 of track 1.

    DCGAN, as semantic inpainting (Yeh et al., CVPR 2017) uses it: transposed convolutions that double the size (8, 4, 2 times and
    once ``width`` channels), and a critic of four that halve it.

    Args:
        width: channels of the last layer before the picture; 64 as published.
    """

    code = 100

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.decoder = _from_code((self.code, 8 * width, 4 * width, 2 * width, width))
        self.critic = _critic((3, width, 2 * width, 4 * width, 8 * width))

    def forward(self, codes: Tensor) -> Tensor:
        """``float32[N, 3, 64, 64]`` in 0..1 from ``float32[N, 100]``."""
        drawn: Tensor = self.decoder(codes[:, :, None, None])
        return drawn.sigmoid()


def _halving(before: int, after: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(before, after, 4, stride=2, padding=1, bias=False), nn.BatchNorm2d(after), nn.LeakyReLU(0.2))


def _from_code(channels: Sequence[int]) -> nn.Sequential:
    """A code to 4x4 pixels, which double with each further number of channels, and to three channels of twice the size."""
    first = nn.ConvTranspose2d(channels[0], channels[1], 4, bias=False)
    layers: list[nn.Module] = [first, nn.BatchNorm2d(channels[1]), nn.ReLU(inplace=True)]
    for before, after in pairwise(channels[1:]):
        up = nn.ConvTranspose2d(before, after, 4, stride=2, padding=1, bias=False)
        layers += [up, nn.BatchNorm2d(after), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.ConvTranspose2d(channels[-1], 3, 4, stride=2, padding=1))


def _critic(channels: Sequence[int]) -> nn.Sequential:
    """Pictures that are halved down to 4x4 pixels to one number each: above 0 where they seem real."""
    halving = (_halving(before, after) for before, after in pairwise(channels))
    return nn.Sequential(*halving, nn.Conv2d(channels[-1], 1, 4), nn.Flatten(0))


class _Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        last = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.layers = nn.Sequential(_convolution(channels, channels), last, nn.BatchNorm2d(channels))

    def forward(self, codes: Tensor) -> Tensor:
        return functional.relu(codes + self.layers(codes))


def _convolution(before: int, after: int, *, side: int = 3, stride: int = 1) -> nn.Sequential:
    inner = nn.Conv2d(before, after, side, stride=stride, padding=side // 2, bias=False)  # the normalisation has a bias
    return nn.Sequential(inner, nn.BatchNorm2d(after), nn.ReLU(inplace=True))


def _enlarging(channels: Sequence[int], *, enlarged: Sequence[int]) -> list[nn.Module]:
    """Convolutions from each number of channels to the next; those that ``enlarged`` counts double both sides."""
    layers: list[nn.Module] = []
    for index in range(len(channels) - 1):
        layers.append(nn.Conv2d(channels[index], channels[index + 1], 3, padding=1, bias=False))
        layers += [nn.Upsample(scale_factor=2)] if index in enlarged else []
        layers += [nn.BatchNorm2d(channels[index + 1]), nn.ReLU(inplace=True)]
    return layers
