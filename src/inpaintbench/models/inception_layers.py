"""Layers of the Inception network of FID; see ``inception``. This module imports PyTorch; others import it lazily.

The names of the parameters are torchvision's. The poolings are TensorFlow's: averages exclude the padding, and the last block
takes maxima instead of averages.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

# Input channels, output channels, kernel size; padding keeps the size of the picture.
Shape = tuple[int, int, int | tuple[int, int]]
SEVEN_WIDE, SEVEN_HIGH, THREE_WIDE, THREE_HIGH = (1, 7), (7, 1), (1, 3), (3, 1)


class Convolution(nn.Module):
    """Convolution, batch norm and ReLU."""

    def __init__(self, shape: Shape, *, stride: int = 1, border: bool = True) -> None:
        super().__init__()
        inputs, outputs, kernel = shape
        sizes = (kernel, kernel) if isinstance(kernel, int) else kernel
        padding = (sizes[0] // 2, sizes[1] // 2) if border else (0, 0)
        self.conv = nn.Conv2d(inputs, outputs, sizes, stride=stride, padding=padding, bias=False)
        self.bn = nn.BatchNorm2d(outputs, eps=0.001)
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, pictures: Tensor) -> Tensor:
        """``[N, C, H, W]`` -> ``[N, channels out, h, w]``, none negative."""
        return functional.relu(self.bn(self.conv(pictures)))


class Block(nn.Module):
    """Inception module: parallel branches, concatenated along channels.

    Args:
        chains: of named convolutions, one for each branch; those at its end whose names end in "a" and "b" run in parallel.
        pooling: of the last branch: "average" or "maximum" of 3x3 followed by the convolution ``branch_pool``; "reduce" halves
            the picture by maxima of 3x3 without padding and has no convolution. With "reduce" the last convolution of every
            chain halves it, too.
        pool: shape of the convolution ``branch_pool``.
    """

    def __init__(self, *chains: dict[str, Shape], pooling: str, pool: Shape | None = None) -> None:
        super().__init__()
        self.chains: list[list[str]] = [list(chain) for chain in chains]
        self.pooling = pooling
        for chain in chains:
            for name, shape in chain.items():
                halves = pooling == "reduce" and name == list(chain)[-1]
                self.add_module(name, Convolution(shape, stride=2 if halves else 1, border=not halves))
        if pool is not None:
            self.branch_pool = Convolution(pool)

    def forward(self, pictures: Tensor) -> Tensor:
        """``[N, C, H, W]`` -> ``[N, sum of the branches' channels, h, w]``, the pooled branch last."""
        return torch.cat([*(self._along(chain, pictures) for chain in self.chains), self._pooled(pictures)], dim=1)

    def _along(self, chain: list[str], pictures: Tensor) -> Tensor:
        forked = [name for name in chain if name.endswith(("a", "b"))]
        for name in chain[: len(chain) - len(forked)]:
            pictures = self.get_submodule(name)(pictures)
        return torch.cat([self.get_submodule(name)(pictures) for name in forked], dim=1) if forked else pictures

    def _pooled(self, pictures: Tensor) -> Tensor:
        if self.pooling == "reduce":
            return functional.max_pool2d(pictures, 3, stride=2)
        if self.pooling == "maximum":
            pooled = functional.max_pool2d(pictures, 3, stride=1, padding=1)
        else:
            pooled = functional.avg_pool2d(pictures, 3, stride=1, padding=1, count_include_pad=False)
        return torch.as_tensor(self.branch_pool(pooled))


def _block_35(inputs: int, pooled: int) -> Block:
    """Build a block on 35x35 activations."""
    return Block(
        {"branch1x1": (inputs, 64, 1)},
        {"branch5x5_1": (inputs, 48, 1), "branch5x5_2": (48, 64, 5)},
        {"branch3x3dbl_1": (inputs, 64, 1), "branch3x3dbl_2": (64, 96, 3), "branch3x3dbl_3": (96, 96, 3)},
        pooling="average",
        pool=(inputs, pooled, 1),
    )


def _block_17(inner: int) -> Block:
    """Build a block on 17x17 activations."""
    return Block(
        {"branch1x1": (768, 192, 1)},
        {
            "branch7x7_1": (768, inner, 1), "branch7x7_2": (inner, inner, SEVEN_WIDE), "branch7x7_3": (inner, 192, SEVEN_HIGH),
        },
        {
            "branch7x7dbl_1": (768, inner, 1), "branch7x7dbl_2": (inner, inner, SEVEN_HIGH),
            "branch7x7dbl_3": (inner, inner, SEVEN_WIDE), "branch7x7dbl_4": (inner, inner, SEVEN_HIGH),
            "branch7x7dbl_5": (inner, 192, SEVEN_WIDE),
        },
        pooling="average",
        pool=(768, 192, 1),
    )  # fmt: skip


def _block_8(inputs: int, pooling: str) -> Block:
    """Build a block on 8x8 activations."""
    return Block(
        {"branch1x1": (inputs, 320, 1)},
        {"branch3x3_1": (inputs, 384, 1), "branch3x3_2a": (384, 384, THREE_WIDE), "branch3x3_2b": (384, 384, THREE_HIGH)},
        {
            "branch3x3dbl_1": (inputs, 448, 1), "branch3x3dbl_2": (448, 384, 3),
            "branch3x3dbl_3a": (384, 384, THREE_WIDE), "branch3x3dbl_3b": (384, 384, THREE_HIGH),
        },
        pooling=pooling,
        pool=(inputs, 192, 1),
    )  # fmt: skip


class Inception(nn.Module):
    """Network up to the global average pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.Conv2d_1a_3x3 = Convolution((3, 32, 3), stride=2, border=False)
        self.Conv2d_2a_3x3 = Convolution((32, 32, 3), border=False)
        self.Conv2d_2b_3x3 = Convolution((32, 64, 3))
        self.maxpool1 = nn.MaxPool2d(3, stride=2)
        self.Conv2d_3b_1x1 = Convolution((64, 80, 1))
        self.Conv2d_4a_3x3 = Convolution((80, 192, 3), border=False)
        self.maxpool2 = nn.MaxPool2d(3, stride=2)
        self.Mixed_5b, self.Mixed_5c, self.Mixed_5d = _block_35(192, 32), _block_35(256, 64), _block_35(288, 64)
        self.Mixed_6a = Block(
            {"branch3x3": (288, 384, 3)},
            {"branch3x3dbl_1": (288, 64, 1), "branch3x3dbl_2": (64, 96, 3), "branch3x3dbl_3": (96, 96, 3)},
            pooling="reduce",
        )
        self.Mixed_6b, self.Mixed_6c, self.Mixed_6d, self.Mixed_6e = (
            _block_17(128),
            _block_17(160),
            _block_17(160),
            _block_17(192),
        )
        self.Mixed_7a = Block(
            {"branch3x3_1": (768, 192, 1), "branch3x3_2": (192, 320, 3)},
            {
                "branch7x7x3_1": (768, 192, 1), "branch7x7x3_2": (192, 192, SEVEN_WIDE),
                "branch7x7x3_3": (192, 192, SEVEN_HIGH), "branch7x7x3_4": (192, 192, 3),
            },
            pooling="reduce",
        )  # fmt: skip
        self.Mixed_7b, self.Mixed_7c = _block_8(1280, "average"), _block_8(2048, "maximum")

    def forward(self, pictures: Tensor) -> Tensor:
        """Compute feature vectors.

        Args:
            pictures: ``float32[N, 3, 299, 299]`` RGB in -1..1.

        Returns:
            ``float32[N, 2048]``, none negative.
        """
        for layer in self.children():
            pictures = layer(pictures)
        return pictures.float().mean(dim=(2, 3))
