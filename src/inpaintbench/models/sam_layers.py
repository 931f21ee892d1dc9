"""Layers of the image encoder of SAM, named as in its published state dict; see ``sam``.

This module imports PyTorch; others import it lazily.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

# Of the layer norms, as published.
EPSILON = 1e-6


class Attention(nn.Module):
    """Self-attention over a square of tokens, with a term for how far apart two of them are in rows and in columns.

    Args:
        width: dimension of tokens.
        heads: of the attention.
        side: tokens along a side of the square.
    """

    apart: Tensor
    """Place of the term of two rows or columns, ``int64[side, side]``."""

    def __init__(self, width: int, heads: int, side: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.rel_pos_h = nn.Parameter(torch.zeros(2 * side - 1, width // heads))
        self.rel_pos_w = nn.Parameter(torch.zeros(2 * side - 1, width // heads))
        apart = torch.arange(side)[:, None] - torch.arange(side)[None] + side - 1
        self.register_buffer("apart", apart, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, side, side, width]`` -> the same."""
        count, side, _, width = x.shape
        query, key, value = self.qkv(x).reshape(count, side * side, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        square = query.reshape(count, self.heads, side, side, -1)
        down = torch.einsum("nhijd,ikd->nhijk", square, self.rel_pos_h[self.apart])
        across = torch.einsum("nhijd,jkd->nhijk", square, self.rel_pos_w[self.apart])
        places = (down[..., :, None] + across[..., None, :]).reshape(count, self.heads, side * side, side * side)
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=places)
        out: Tensor = self.proj(attended.transpose(1, 2).reshape(count, side, side, width))
        return out


class Mlp(nn.Module):
    """Two linear layers with a GELU between them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.lin1 = nn.Linear(width, 4 * width)
        self.lin2 = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """``float32[..., width]`` -> the same."""
        out: Tensor = self.lin2(functional.gelu(self.lin1(x)))
        return out


class Block(nn.Module):
    """Pre-norm transformer block, whose attention looks at all tokens or at windows of them.

    Args:
        width: dimension of tokens.
        heads: of the attention.
        side: tokens along a side of the picture.
        window: tokens along a side of a window; None = one of the whole picture.
    """

    def __init__(self, width: int, heads: int, side: int, window: int | None) -> None:
        super().__init__()
        self.window = window
        self.norm1 = nn.LayerNorm(width, eps=EPSILON)
        self.attn = Attention(width, heads, window or side)
        self.norm2 = nn.LayerNorm(width, eps=EPSILON)
        self.mlp = Mlp(width)

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, side, side, width]`` -> the same."""
        x = x + self._attended(self.norm1(x))
        out: Tensor = x + self.mlp(self.norm2(x))
        return out

    def _attended(self, x: Tensor) -> Tensor:
        if self.window is None:
            whole: Tensor = self.attn(x)
            return whole
        # Windows beyond the right and lower edge are filled up with zeros, which take part, as published.
        count, side, _, width = x.shape
        window, across = self.window, -(-side // self.window)
        beyond = across * window - side
        x = functional.pad(x, (0, 0, 0, beyond, 0, beyond))
        x = x.reshape(count, across, window, across, window, width).transpose(2, 3).reshape(-1, window, window, width)
        x = self.attn(x).reshape(count, across, across, window, window, width).transpose(2, 3)
        return x.reshape(count, across * window, across * window, width)[:, :side, :side]


class ChannelNorm(nn.Module):
    """A layer norm over the channels of a map."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, channels, h, w]`` -> the same."""
        last = functional.layer_norm(x.permute(0, 2, 3, 1), self.weight.shape, self.weight, self.bias, EPSILON)
        return last.permute(0, 3, 1, 2)


class SamEncoder(nn.Module):
    """Vision transformer with windows, and a neck of two convolutions.

    Args:
        width: dimension of tokens.
        layers: number of blocks.
        heads: of each block's attention.
        whole: blocks that look at all tokens.
        side: tokens along a side of the picture.
        patch_pixels: side of a token.
        window: tokens along a side of a window.
        channels: of the map that comes out.
    """

    def __init__(
        self,
        *,
        width: int = 1280,
        layers: int = 32,
        heads: int = 16,
        whole: tuple[int, ...] = (7, 15, 23, 31),
        side: int = 64,
        patch_pixels: int = 16,
        window: int = 14,
        channels: int = 256,
    ) -> None:
        super().__init__()
        self.pos_embed = nn.Parameter(torch.zeros(1, side, side, width))
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(3, width, patch_pixels, patch_pixels)})
        self.blocks = nn.ModuleList([Block(width, heads, side, None if at in whole else window) for at in range(layers)])
        self.neck = nn.Sequential(
            nn.Conv2d(width, channels, 1, bias=False),
            ChannelNorm(channels),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            ChannelNorm(channels),
        )

    def forward(self, pictures: Tensor) -> Tensor:
        """Normalised ``float32[N, 3, side * patch, side * patch]`` -> ``float32[N, channels, side, side]``."""
        tokens = self.patch_embed["proj"](pictures).permute(0, 2, 3, 1) + self.pos_embed
        for block in self.blocks:
            tokens = block(tokens)
        out: Tensor = self.neck(tokens.permute(0, 3, 1, 2))
        return out
