"""I3D once more: layer by layer, with every padding written out and batch norm as a step of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn.functional import conv3d, max_pool3d, pad

STAGES = (
    ("conv", "Conv3d_1a_7x7", 7, (2, 2, 2)),
    ("pool", "MaxPool3d_2a_3x3", (1, 3, 3), (1, 2, 2)),
    ("conv", "Conv3d_2b_1x1", 1, (1, 1, 1)),
    ("conv", "Conv3d_2c_3x3", 3, (1, 1, 1)),
    ("pool", "MaxPool3d_3a_3x3", (1, 3, 3), (1, 2, 2)),
    ("mixed", "Mixed_3b", 0, ()),
    ("mixed", "Mixed_3c", 0, ()),
    ("pool", "MaxPool3d_4a_3x3", (3, 3, 3), (2, 2, 2)),
    *(("mixed", f"Mixed_4{letter}", 0, ()) for letter in "bcdef"),
    ("pool", "MaxPool3d_5a_2x2", (2, 2, 2), (2, 2, 2)),
    ("mixed", "Mixed_5b", 0, ()),
    ("mixed", "Mixed_5c", 0, ()),
)
LAYERS = ("Conv3d_2c_3x3", "Mixed_3c", "Mixed_4f", "Mixed_5c")


def features(state: Mapping[str, torch.Tensor], clip: torch.Tensor, *, train: bool = False) -> dict[str, torch.Tensor]:
    """All layers of ``clip``, ``float[1, 3, T, H, W]``, with the parameters ``state``."""
    found, x = {}, clip
    for kind, name, kernel, stride in STAGES:
        if kind == "conv":
            x = _unit(state, name, x, kernel, stride, train=train)
        elif kind == "pool":
            x = max_pool3d(_same(x, kernel, stride), kernel, stride)
        else:
            x = _mixed(state, name, x, train=train)
        found[name] = x
    return found


def distance(one: np.ndarray, other: np.ndarray, state: Mapping[str, torch.Tensor], *, train: bool = False) -> list[float]:
    """Of two windows, ``uint8[T, H, W, 3]`` as 0..1, in each of ``LAYERS``: as 2 (1 - mean cosine)."""
    clips = [torch.from_numpy(frames).permute(3, 0, 1, 2)[None] / 255 for frames in (one, other)]
    layers = [features(state, clip, train=train) for clip in clips]
    found = []
    for name in LAYERS:
        a, b = (layer[name].double() for layer in layers)
        cosine = (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))
        found.append(2 * (1 - float(cosine.mean())))
    return found


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    """Vectors differ by no more than ``tolerance`` of their length."""
    one, other = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert one.shape == other.shape
    error = np.linalg.norm(one - other, axis=-1) / np.linalg.norm(other, axis=-1)
    assert np.all(error <= tolerance), error


def _mixed(state: Mapping[str, torch.Tensor], name: str, x: torch.Tensor, *, train: bool) -> torch.Tensor:
    def unit(branch: str, x: torch.Tensor, kernel: int) -> torch.Tensor:
        return _unit(state, f"{name}.{branch}", x, kernel, (1, 1, 1), train=train)

    pooled = max_pool3d(_same(x, (3, 3, 3), (1, 1, 1)), 3, 1)
    branches = [unit("b0", x, 1), unit("b1b", unit("b1a", x, 1), 3), unit("b2b", unit("b2a", x, 1), 3), unit("b3b", pooled, 1)]
    return torch.cat(branches, dim=1)


def _unit(
    state: Mapping[str, torch.Tensor], name: str, x: torch.Tensor, kernel: int, stride: Any, *, train: bool
) -> torch.Tensor:
    x = conv3d(_same(x, (kernel,) * 3, stride), state[f"{name}.conv3d.weight"], stride=stride)
    mean, variance = state[f"{name}.bn.running_mean"], state[f"{name}.bn.running_var"]
    if train:
        mean, variance = x.mean(dim=(0, 2, 3, 4)), x.var(dim=(0, 2, 3, 4), unbiased=False)
    x = (x - mean[:, None, None, None]) / torch.sqrt(variance[:, None, None, None] + 1e-3)
    return torch.relu(x * state[f"{name}.bn.weight"][:, None, None, None] + state[f"{name}.bn.bias"][:, None, None, None])


def _same(x: torch.Tensor, kernel: tuple[int, ...], stride: tuple[int, ...]) -> torch.Tensor:
    amounts: list[int] = []
    for size, length, step in zip(x.shape[2:], kernel, stride, strict=True):
        total = max((math.ceil(size / step) - 1) * step + length - size, 0)
        amounts = [total // 2, total - total // 2, *amounts]
    return pad(x, amounts)
