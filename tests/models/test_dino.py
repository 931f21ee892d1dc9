"""DINO: layer by layer against plain formulas, positions of other grids, and its published shape."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_networks import shaken

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.models.dino import dino
from inpaintbench.models.torch_networks import running

torch = pytest.importorskip("torch")

CPU = Compute(device="cpu")

Array = np.ndarray


def tiny() -> Any:
    from inpaintbench.models.dino_layers import Dino

    return shaken(lambda: Dino(width=12, layers=2, heads=3, patch_pixels=4, grid=5))


def norm(x: Array, weight: Array, bias: Array) -> Array:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6) * weight + bias


def cubic(distance: float) -> float:
    """The kernel of PyTorch's bicubic filter, a = -0.75."""
    x = abs(distance)
    if x <= 1:
        return 1.25 * x**3 - 2.25 * x**2 + 1
    return -0.75 * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0


def scaled_along(grid: Array, count: int) -> Array:
    """The first axis of ``grid`` sampled at ``count`` places, as if there were ``count + 0.1`` of them."""
    rows = []
    for index in range(count):
        place = (index + 0.5) * len(grid) / (count + 0.1) - 0.5
        first = math.floor(place) - 1
        rows.append(sum(cubic(place - k) * grid[min(max(k, 0), len(grid) - 1)] for k in range(first, first + 4)))
    return np.stack(rows)


def reference(state: dict[str, Array], picture: Array) -> Array:
    """The class token of one picture, ``float64[3, H, W]``, for 3 heads of 4 numbers and patches of 4 pixels."""
    rows, columns = picture.shape[1] // 4, picture.shape[2] // 4
    filters = state["patch_embed.proj.weight"].reshape(12, -1)
    tokens = [state["cls_token"][0, 0]] + [
        filters @ picture[:, 4 * r : 4 * r + 4, 4 * c : 4 * c + 4].ravel() + state["patch_embed.proj.bias"]
        for r, c in product(range(rows), range(columns))
    ]
    learned = state["pos_embed"][0, 1:].reshape(5, 5, 12)
    if (rows, columns) != (5, 5):
        learned = scaled_along(scaled_along(learned, rows).transpose(1, 0, 2), columns).transpose(1, 0, 2)
    x = np.stack(tokens) + np.concatenate([state["pos_embed"][0, :1], learned.reshape(-1, 12)])
    for layer in range(2):
        own = {
            name.removeprefix(f"blocks.{layer}."): value for name, value in state.items() if name.startswith(f"blocks.{layer}.")
        }
        mixed = norm(x, own["norm1.weight"], own["norm1.bias"]) @ own["attn.qkv.weight"].T + own["attn.qkv.bias"]
        seen = []
        for head in range(3):
            query, key, value = (mixed[:, 12 * part + 4 * head :][:, :4] for part in range(3))
            share = np.exp(query @ key.T / 2)
            seen.append(share / share.sum(1, keepdims=True) @ value)
        x = x + np.concatenate(seen, 1) @ own["attn.proj.weight"].T + own["attn.proj.bias"]
        y = norm(x, own["norm2.weight"], own["norm2.bias"]) @ own["mlp.fc1.weight"].T + own["mlp.fc1.bias"]
        y = y * (1 + np.vectorize(math.erf)(y / math.sqrt(2))) / 2
        x = x + y @ own["mlp.fc2.weight"].T + own["mlp.fc2.bias"]
    return norm(x, state["norm.weight"], state["norm.bias"])[0]


@pytest.mark.parametrize(("height", "width"), [(20, 20), (20, 32), (43, 22), (12, 12)])
def test_pictures_go_through_the_layers_as_published(height: int, width: int) -> None:
    network = tiny()
    state = {name: value.double().numpy() for name, value in network.state_dict().items()}
    pictures = torch.randn(2, 3, height, width, generator=torch.Generator().manual_seed(0))
    with running(CPU):
        found = network(pictures).numpy()
    expected = np.stack([reference(state, one) for one in pictures.double().numpy()])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_square_of_the_training_has_the_learned_positions() -> None:
    network = tiny()
    assert network.positions(5, 5) is network.pos_embed
    assert network.positions(5, 7).shape == (1, 36, 12)
    assert not torch.equal(network.positions(4, 6)[:, 0], network.positions(4, 6)[:, 1])


def test_the_network_has_the_published_parameters() -> None:
    from inpaintbench.models.dino_layers import Dino

    with torch.device("meta"):
        state = Dino().state_dict()
    blocks = {
        f"{layer}.{part}"
        for layer in ("norm1", "attn.qkv", "attn.proj", "norm2", "mlp.fc1", "mlp.fc2")
        for part in ("weight", "bias")
    }
    names = {"cls_token", "pos_embed", "patch_embed.proj.weight", "patch_embed.proj.bias", "norm.weight", "norm.bias"}
    assert set(state) == names | {f"blocks.{index}.{part}" for index, part in product(range(12), blocks)}
    assert len(state) == 150
    assert sum(value.numel() for value in state.values()) == 85_798_656
    shapes = {"cls_token": (1, 1, 768), "pos_embed": (1, 197, 768), "patch_embed.proj.weight": (768, 3, 16, 16)}
    shapes |= {"blocks.11.attn.qkv.weight": (2304, 768), "blocks.0.mlp.fc1.weight": (3072, 768)}
    assert {name: tuple(state[name].shape) for name in shapes} == shapes


def test_without_weights_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models fetch dino-vit-b-16`"):
        dino(CPU)


def test_the_giant_has_the_published_parameters() -> None:
    from inpaintbench.models.dino import _GIANT
    from inpaintbench.models.dino_layers import Dino

    with torch.device("meta"):
        state = Dino(**_GIANT).state_dict()  # type: ignore[arg-type]
    parts = {"norm1", "attn.qkv", "attn.proj", "norm2", "mlp.w12", "mlp.w3"}
    blocks = {f"{layer}.{part}" for layer in parts for part in ("weight", "bias")} | {"ls1.gamma", "ls2.gamma"}
    names = {"cls_token", "pos_embed", "patch_embed.proj.weight", "patch_embed.proj.bias", "norm.weight", "norm.bias"}
    assert set(state) == names | {f"blocks.{index}.{part}" for index, part in product(range(40), blocks)}
    assert sum(value.numel() for value in state.values()) == 1_136_480_768 - 1536  # less the mask's token
    shapes = {"pos_embed": (1, 1370, 1536), "blocks.39.mlp.w12.weight": (8192, 1536), "blocks.0.mlp.w3.weight": (1536, 4096)}
    assert {name: tuple(state[name].shape) for name in shapes} == shapes


def test_the_giants_file_is_read_without_the_token_of_its_training() -> None:
    from inpaintbench.models.dino import _without_mask_token

    assert set(_without_mask_token({"mask_token": 0, "cls_token": 1})) == {"cls_token"}
