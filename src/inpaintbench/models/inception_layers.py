"""The layers of the Inception network of FID; see ``inception``. Imported only where PyTorch is needed.

The names of the parameters are torchvision's. The poolings are TensorFlow's: averages leave out the border of zeros, and the last
block takes maxima instead of averages.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

# Channels in, channels out, size of the kernel; borders keep the size of the picture.
Shape = tuple[int, int, int | tuple[int, int]]
SEVEN_WIDE, SEVEN_HIGH, THREE_WIDE, THREE_HIGH = (1, 7), (7, 1), (1, 3), (3, 1)


class Convolution(nn.Module):
    """Convolution, batch normalisation and rectifier."""

    def __init__(self, shape: Shape, *, stride: int = 1, border: bool = True) -> None:
        super().__init__()
        taken, given, kernel = shape
        sizes = (kernel, kernel) if isinstance(kernel, int) else kernel
        borders = (sizes[0] // 2, sizes[1] // 2) if border else (0, 0)
        self.conv = nn.Conv2d(taken, given, sizes, stride=stride, padding=borders, bias=False)
        self.bn = nn.BatchNorm2d(given, eps=0.001)
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, pictures: Tensor) -> Tensor:
        """``[N, C, H, W]`` -> ``[N, channels out, h, w]``, none negative."""
        return functional.relu(self.bn(self.conv(pictures)))


class Block(nn.Module):
    """Branches side by side whose answers are stacked.

    Args:
        chains: each a chain of named convolutions; a last step of several, one convolution each, is applied side by side.
        pooling: of the last branch: "average" or "maximum" of 3x3 followed by the convolution ``branch_pool``, "reduce" halves
            the picture by maxima of 3x3 without border and has no convolution. With "reduce" the last convolution of every
            chain halves it, too.
        pool: the convolution ``branch_pool``.
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
        """``[N, C, H, W]`` -> ``[N, all channels of the branches, h, w]``, the pooled branch last."""
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


def _of_35(taken: int, pooled: int) -> Block:
    """A block on pictures of 35x35."""
    return Block(
        {"branch1x1": (taken, 64, 1)},
        {"branch5x5_1": (taken, 48, 1), "branch5x5_2": (48, 64, 5)},
        {"branch3x3dbl_1": (taken, 64, 1), "branch3x3dbl_2": (64, 96, 3), "branch3x3dbl_3": (96, 96, 3)},
        pooling="average",
        pool=(taken, pooled, 1),
    )


def _of_17(inner: int) -> Block:
    """A block on pictures of 17x17."""
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


def _of_8(taken: int, pooling: str) -> Block:
    """A block on pictures of 8x8."""
    return Block(
        {"branch1x1": (taken, 320, 1)},
        {"branch3x3_1": (taken, 384, 1), "branch3x3_2a": (384, 384, THREE_WIDE), "branch3x3_2b": (384, 384, THREE_HIGH)},
        {
            "branch3x3dbl_1": (taken, 448, 1), "branch3x3dbl_2": (448, 384, 3),
            "branch3x3dbl_3a": (384, 384, THREE_WIDE), "branch3x3dbl_3b": (384, 384, THREE_HIGH),
        },
        pooling=pooling,
        pool=(taken, 192, 1),
    )  # fmt: skip


class Inception(nn.Module):
    """The whole network up to the average over places."""

    def __init__(self) -> None:
        super().__init__()
        self.Conv2d_1a_3x3 = Convolution((3, 32, 3), stride=2, border=False)
        self.Conv2d_2a_3x3 = Convolution((32, 32, 3), border=False)
        self.Conv2d_2b_3x3 = Convolution((32, 64, 3))
        self.maxpool1 = nn.MaxPool2d(3, stride=2)
        self.Conv2d_3b_1x1 = Convolution((64, 80, 1))
        self.Conv2d_4a_3x3 = Convolution((80, 192, 3), border=False)
        self.maxpool2 = nn.MaxPool2d(3, stride=2)
        self.Mixed_5b, self.Mixed_5c, self.Mixed_5d = _of_35(192, 32), _of_35(256, 64), _of_35(288, 64)
        self.Mixed_6a = Block(
            {"branch3x3": (288, 384, 3)},
            {"branch3x3dbl_1": (288, 64, 1), "branch3x3dbl_2": (64, 96, 3), "branch3x3dbl_3": (96, 96, 3)},
            pooling="reduce",
        )
        self.Mixed_6b, self.Mixed_6c, self.Mixed_6d, self.Mixed_6e = _of_17(128), _of_17(160), _of_17(160), _of_17(192)
        self.Mixed_7a = Block(
            {"branch3x3_1": (768, 192, 1), "branch3x3_2": (192, 320, 3)},
            {
                "branch7x7x3_1": (768, 192, 1), "branch7x7x3_2": (192, 192, SEVEN_WIDE),
                "branch7x7x3_3": (192, 192, SEVEN_HIGH), "branch7x7x3_4": (192, 192, 3),
            },
            pooling="reduce",
        )  # fmt: skip
        self.Mixed_7b, self.Mixed_7c = _of_8(1280, "average"), _of_8(2048, "maximum")

    def forward(self, pictures: Tensor) -> Tensor:
        """Features of pictures.

        Args:
            pictures: ``float32[N, 3, 299, 299]`` RGB in -1..1.

        Returns:
            ``float32[N, 2048]``, none negative.
        """
        for layer in self.children():
            pictures = layer(pictures)
        return pictures.float().mean(dim=(2, 3))
