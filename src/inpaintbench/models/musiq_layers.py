"""Layers of MUSIQ, named as in its published state dict; see ``musiq``. This module imports PyTorch; others import it lazily."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from inpaintbench.models.boxes import same_padding
from inpaintbench.models.dino_layers import mlp

PATCH_PIXELS = 32
# Longer side of the two downscaled copies of a picture, pixels; the third copy keeps its size.
LONGER_SIDES = (224, 384)
# Rows and columns of the learned positional embeddings, which patch positions are mapped to.
GRID = 10
TOKEN_CHANNELS, GROUPS = 64, 32
EPSILON = 1e-6
# Of the group norms in the bottleneck, as published.
BLOCK_EPSILON = 1e-4
# Added to the deviation of a filter's weights before dividing by it, as published.
WEIGHT_EPSILON = 1e-5


def same(x: Tensor, *, kernel: int, stride: int) -> Tensor:
    """Pad ``float32[N, C, H, W]`` with zeros as TensorFlow's "SAME": the odd one on the right and at the bottom."""
    top, bottom = same_padding(x.shape[-2], kernel=kernel, stride=stride)
    left, right = same_padding(x.shape[-1], kernel=kernel, stride=stride)
    return functional.pad(x, (left, right, top, bottom))


class StandardisedConvolution(nn.Conv2d):
    """Convolution with weight standardisation: filters are scaled to mean 0 and deviation 1."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, C, H, W]`` -> ``float32[N, outputs, ceil(H / stride), ceil(W / stride)]``."""
        deviations, means = torch.std_mean(self.weight, dim=(1, 2, 3), keepdim=True)
        weight = (self.weight - means) / (deviations + WEIGHT_EPSILON)
        kernel, stride = self.kernel_size[0], self.stride[0]
        return functional.conv2d(same(x, kernel=kernel, stride=stride), weight, stride=stride)


class Bottleneck(nn.Module):
    """Residual bottleneck block with a projected shortcut."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv1 = StandardisedConvolution(inputs, inputs, 1)
        self.gn1 = nn.GroupNorm(GROUPS, inputs, eps=BLOCK_EPSILON)
        self.conv2 = StandardisedConvolution(inputs, inputs, 3)
        self.gn2 = nn.GroupNorm(GROUPS, inputs, eps=BLOCK_EPSILON)
        self.conv3 = StandardisedConvolution(inputs, outputs, 1)
        self.gn3 = nn.GroupNorm(GROUPS, outputs, eps=BLOCK_EPSILON)
        self.conv_proj = StandardisedConvolution(inputs, outputs, 1)
        self.gn_proj = nn.GroupNorm(GROUPS, outputs, eps=BLOCK_EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, inputs, H, W]`` -> ``float32[N, outputs, H, W]``."""
        short = self.gn_proj(self.conv_proj(x))
        x = functional.relu(self.gn1(self.conv1(x)))
        x = functional.relu(self.gn2(self.conv2(x)))
        return functional.relu(self.gn3(self.conv3(x)) + short)


class Attention(nn.Module):
    """Multi-head self-attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, L, width]`` -> the same."""
        split = (*x.shape[:2], self.heads, -1)
        parts = (layer(x).reshape(split).transpose(1, 2) for layer in (self.query, self.key, self.value))
        attended = functional.scaled_dot_product_attention(*parts)
        out: Tensor = self.out(attended.transpose(1, 2).flatten(2))
        return out


class Block(nn.Module):
    """Pre-norm transformer block: self-attention and MLP, each with a residual connection."""

    def __init__(self, width: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=EPSILON)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=EPSILON)
        self.mlp = mlp(width, hidden)

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, L, width]`` -> the same."""
        x = x + self.attention(self.norm1(x))
        out: Tensor = x + self.mlp(self.norm2(x))
        return out


def _random_parameter(*shape: int) -> nn.Parameter:
    return nn.Parameter(nn.init.normal_(torch.empty(shape), std=0.02))


class Encoder(nn.Module):
    """Transformer encoder."""

    def __init__(self, width: int, hidden: int, heads: int, layers: int) -> None:
        super().__init__()
        # Learned embeddings of the grid and of the three sizes of a picture.
        self.posembed_input = nn.ParameterDict({"position_emb": _random_parameter(1, GRID**2, width)})
        self.scaleembed_input = nn.ParameterDict({"scale_emb": _random_parameter(1 + len(LONGER_SIDES), width)})
        self.cls = _random_parameter(1, 1, width)
        self.transformer = nn.ModuleDict({f"encoderblock_{index}": Block(width, hidden, heads) for index in range(layers)})
        self.encoder_norm = nn.LayerNorm(width, eps=EPSILON)

    def forward(self, x: Tensor, places: Tensor, scales: Tensor) -> Tensor:
        """Patches ``float32[N, L, width]``, their grid positions and sizes, ``int64[L]`` -> class token ``float32[N, width]``."""
        x = x + self.posembed_input["position_emb"][0, places] + self.scaleembed_input["scale_emb"][scales]
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)
        for block in self.transformer.values():
            x = block(x)
        out: Tensor = self.encoder_norm(x[:, 0])
        return out


class Musiq(nn.Module):
    """Image quality transformer.

    The published network pads the patches of the smaller sizes to 49 and 144 and masks the empty ones in its attention (their
    share is exp(-1000) = 0 in float32); here there are none.

    Args:
        width: dimension of the tokens.
        hidden: dimension of the hidden layer of each MLP.
        heads: of each block's attention.
        layers: number of blocks.
    """

    def __init__(self, *, width: int = 384, hidden: int = 1152, heads: int = 6, layers: int = 14) -> None:
        super().__init__()
        channels = 4 * TOKEN_CHANNELS
        self.conv_root = StandardisedConvolution(3, TOKEN_CHANNELS, 7, 2)
        self.gn_root = nn.GroupNorm(GROUPS, TOKEN_CHANNELS, eps=EPSILON)
        self.block1 = Bottleneck(TOKEN_CHANNELS, channels)
        self.embedding = nn.Linear(channels * (PATCH_PIXELS // 4) ** 2, width)
        self.transformer_encoder = Encoder(width, hidden, heads, layers)
        self.head = nn.Linear(width, 1)

    def forward(self, pictures: Tensor) -> Tensor:
        """``float32[N, 3, H, W]`` RGB in 0..1 -> ``float32[N]``."""
        x = (pictures - 0.5) * 2
        patches, places, scales = [], [], []
        for scale, sized in enumerate([*(resized(x, side) for side in LONGER_SIDES), x]):
            cut, rows, columns = patches_of(sized)
            patches.append(cut)
            places.append(grid_places(rows, columns).to(x.device))
            scales.append(torch.full((rows * columns,), scale, device=x.device))
        together = torch.cat(patches, dim=1)
        x = functional.relu(self.gn_root(self.conv_root(together.flatten(0, 1))))
        x = self.block1(functional.max_pool2d(same(x, kernel=3, stride=2), 3, 2))
        flat = x.permute(0, 2, 3, 1).flatten(1)  # channels last: the order of the converted parameters
        tokens = self.embedding(flat.reshape(*together.shape[:2], -1))
        quality: Tensor = self.head(self.transformer_encoder(tokens, torch.cat(places), torch.cat(scales)))
        return quality[:, 0]


def resized(pictures: Tensor, longer_side: int) -> Tensor:
    """Resize ``float32[N, 3, H, W]``, bicubic without anti-aliasing, to a longer side of so many pixels."""
    height, width = pictures.shape[-2:]
    ratio = longer_side / max(height, width)
    size = (max(1, round(height * ratio)), max(1, round(width * ratio)))
    return functional.interpolate(pictures, size=size, mode="bicubic", align_corners=False)


def patches_of(pictures: Tensor) -> tuple[Tensor, int, int]:
    """Patches of zero-padded pictures, ``float32[N, rows * columns, 3, 32, 32]`` row by row; numbers of rows and columns."""
    padded = same(pictures, kernel=PATCH_PIXELS, stride=PATCH_PIXELS)
    rows, columns = padded.shape[2] // PATCH_PIXELS, padded.shape[3] // PATCH_PIXELS
    cut = padded.reshape(-1, 3, rows, PATCH_PIXELS, columns, PATCH_PIXELS)
    return cut.permute(0, 2, 4, 1, 3, 5).flatten(1, 2), rows, columns


def grid_places(rows: int, columns: int) -> Tensor:
    """Index into the positional embeddings for each patch of a picture, row by row, ``int64[rows * columns]``."""
    grid = torch.arange(GRID, dtype=torch.float32).reshape(1, 1, GRID)
    down, across = (functional.interpolate(grid, size=count, mode="nearest").reshape(-1).long() for count in (rows, columns))
    return (GRID * down[:, None] + across).flatten()
