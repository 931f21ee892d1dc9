"""The layers of the trainable networks. Imported only where PyTorch is needed."""

from __future__ import annotations

from collections.abc import Sequence

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
