"""Layers of DINO's and DINOv2's vision transformers, named as in their published state dicts; see ``dino``.

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


class GatedMlp(nn.Module):
    """Two linear layers of the input, the first through a SiLU, multiplied, and a third one: SwiGLU."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.w12 = nn.Linear(width, 2 * hidden)
        self.w3 = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, L, width]`` -> the same."""
        gate, value = self.w12(x).chunk(2, dim=-1)
        out: Tensor = self.w3(functional.silu(gate) * value)
        return out


class Scale(nn.Module):
    """A learned factor for each channel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, L, width]`` -> the same."""
        return x * self.gamma


class ScaledBlock(Block):
    """DINOv2's block: a gated MLP, and what is added to the tokens is scaled channel by channel."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__(width, heads)
        # Two thirds of four times the width, up to the next multiple of 8.
        self.mlp = GatedMlp(width, (8 * width // 3 + 7) // 8 * 8)  # type: ignore[assignment]
        self.ls1, self.ls2 = Scale(width), Scale(width)

    def forward(self, x: Tensor) -> Tensor:
        """``float32[N, L, width]`` -> the same."""
        x = x + self.ls1(self.attn(self.norm1(x)))
        out: Tensor = x + self.ls2(self.mlp(self.norm2(x)))
        return out


class Dino(nn.Module):
    """Vision transformer.

    Args:
        width: dimension of tokens and of the output.
        layers: number of blocks.
        heads: of each block's attention.
        patch_pixels: side of a patch.
        grid: patches along a side of the pictures that the positions were learned for.
        scaled: blocks are those of DINOv2's giant, and positions are brought to another grid without DINO's offset, as the
            package ``transformers`` does.
    """

    def __init__(
        self, *, width: int = 768, layers: int = 12, heads: int = 12, patch_pixels: int = 16, grid: int = 14, scaled: bool = False
    ) -> None:
        super().__init__()
        self.grid, self.scaled = grid, scaled
        self.cls_token = nn.Parameter(torch.empty(1, 1, width))
        self.pos_embed = nn.Parameter(torch.empty(1, 1 + grid**2, width))
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(3, width, patch_pixels, patch_pixels)})
        self.blocks = nn.ModuleList([(ScaledBlock if scaled else Block)(width, heads) for _ in range(layers)])
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
        if self.scaled:
            scaled = functional.interpolate(learned.float(), size=(rows, columns), mode="bicubic")
        else:
            scales = ((rows + OFFSET) / self.grid, (columns + OFFSET) / self.grid)
            scaled = functional.interpolate(learned.float(), scale_factor=scales, mode="bicubic")
        return torch.cat([self.pos_embed[:, :1], scaled.permute(0, 2, 3, 1).flatten(1, 2)], dim=1)
