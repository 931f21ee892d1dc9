"""Layers of DINO's vision transformer, named as in its published state dict; see ``dino``.

This module imports PyTorch; others import it lazily.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

# Of the layer norms, as published.
EPSILON = 1e-6
# Added to the number of patches along a side before positions are scaled to it, as published, against a grid that rounding makes
# one too short. It shifts the sampling slightly, so that results depend on it.
OFFSET = 0.1


class Attention(nn.Module):
    """Multi-head self-attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, L, width]`` -> the same."""
        count, length, width = x.shape
        query, key, value = self.qkv(x).reshape(count, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value)
        projected: Tensor = self.proj(attended.transpose(1, 2).reshape(count, length, width))
        return projected


def mlp(width: int, hidden: int) -> nn.Sequential:
    """Two linear layers with a GELU between them."""
    layers = {"fc1": nn.Linear(width, hidden), "gelu": nn.GELU(), "fc2": nn.Linear(hidden, width)}
    return nn.Sequential(OrderedDict(layers))


class Block(nn.Module):
    """Pre-norm transformer block: self-attention and MLP, each with a residual connection."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=EPSILON)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=EPSILON)
        self.mlp = mlp(width, 4 * width)

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, L, width]`` -> the same."""
        x = x + self.attn(self.norm1(x))
        out: Tensor = x + self.mlp(self.norm2(x))
        return out


class Dino(nn.Module):
    """Vision transformer.

    Args:
        width: dimension of tokens and of the output.
        layers: number of blocks.
        heads: of each block's attention.
        patch_pixels: side of a patch.
        grid: patches along a side of the training's pictures, of 224 pixels.
    """

    def __init__(self, *, width: int = 768, layers: int = 12, heads: int = 12, patch_pixels: int = 16, grid: int = 14) -> None:
        super().__init__()
        self.grid = grid
        self.cls_token = nn.Parameter(torch.empty(1, 1, width))
        self.pos_embed = nn.Parameter(torch.empty(1, 1 + grid**2, width))
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(3, width, patch_pixels, patch_pixels)})
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width, eps=EPSILON)
        for parameter in (self.cls_token, self.pos_embed):
            nn.init.trunc_normal_(parameter, std=0.02)

    def forward(self, pictures: Tensor) -> Tensor:
        """Normalised ``float32[N, 3, H, W]`` -> ``float32[N, width]``: the class token after the last norm."""
        out: Tensor = self.norm(self._tokens(pictures)[0])[:, 0]
        return out

    def raw_class_token(self, pictures: Tensor) -> Tensor:
        """Normalised ``float32[N, 3, H, W]`` -> ``float32[N, width]``: the class token after the last block, before the norm."""
        return self._tokens(pictures)[0][:, 0]

    def keys(self, pictures: Tensor) -> Tensor:
        """Keys of the last block, all heads side by side, the class token's first.

        Normalised ``float32[N, 3, H, W]`` -> ``float32[N, tokens, width]``.
        """
        last = cast("Block", self.blocks[-1])
        tokens = last.norm1(self._tokens(pictures, blocks=len(self.blocks) - 1)[0])
        keys: Tensor = last.attn.qkv(tokens).chunk(3, dim=-1)[1]
        return keys

    def patch_tokens(self, pictures: Tensor) -> Tensor:
        """Normalised ``float32[N, 3, H, W]`` -> the patches' tokens after the last norm, ``float32[N, rows, columns, width]``."""
        tokens, rows, columns = self._tokens(pictures)
        out: Tensor = self.norm(tokens)
        return out[:, 1:].reshape(len(tokens), rows, columns, -1)

    def _tokens(self, pictures: Tensor, *, blocks: int | None = None) -> tuple[Tensor, int, int]:
        """All tokens after so many blocks (all by default), the class token first, and the rows and columns of patches."""
        patches: Tensor = self.patch_embed["proj"](pictures)
        rows, columns = patches.shape[-2:]
        tokens = torch.cat([self.cls_token.expand(len(patches), -1, -1), patches.flatten(2).transpose(1, 2)], dim=1)
        tokens = tokens + self.positions(rows, columns)
        for block in self.blocks[:blocks]:
            tokens = block(tokens)
        return tokens, rows, columns

    def positions(self, rows: int, columns: int) -> Tensor:
        """Positional embeddings of the class token and of a grid of patches, ``float32[1, 1 + rows * columns, width]``."""
        if rows == columns == self.grid:
            return self.pos_embed
        learned = self.pos_embed[:, 1:].reshape(1, self.grid, self.grid, -1).permute(0, 3, 1, 2)
        scales = ((rows + OFFSET) / self.grid, (columns + OFFSET) / self.grid)
        scaled = functional.interpolate(learned.float(), scale_factor=scales, mode="bicubic")
        return torch.cat([self.pos_embed[:, :1], scaled.permute(0, 2, 3, 1).flatten(1, 2)], dim=1)
