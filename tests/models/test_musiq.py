"""MUSIQ against plain loops: filters, padding, positions, and the whole network with its patches filled up as published."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_networks import shaken

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.metrics.musiq import HEADS, musiq
from inpaintbench.models.torch_networks import running

torch = pytest.importorskip("torch")

CPU = Compute(device="cpu")

Array = np.ndarray


@pytest.fixture(scope="module")
def tiny() -> Any:
    from inpaintbench.models.musiq_layers import Musiq

    return shaken(lambda: Musiq(width=12, hidden=20, heads=3, layers=2))


def padded(x: Array, kernel: int, stride: int) -> Array:
    """TensorFlow's SAME for ``[C, H, W]``: as many zeros as the last window needs, the odd one behind."""
    for axis in (1, 2):
        size = x.shape[axis]
        missing = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
        widths = [(0, 0)] * 3
        widths[axis] = (missing // 2, missing - missing // 2)
        x = np.pad(x, widths)
    return x


def convolved(x: Array, filters: Array, stride: int = 1) -> Array:
    """Filters of mean 0 and deviation 1 over ``[C, H, W]``."""
    flat = filters.reshape(len(filters), -1)
    flat = (flat - flat.mean(1, keepdims=True)) / (flat.std(1, ddof=1, keepdims=True) + 1e-5)
    kernel = filters.shape[-1]
    x = padded(x, kernel, stride)
    rows, columns = ((length - kernel) // stride + 1 for length in x.shape[1:])
    out = np.zeros((len(filters), rows, columns))
    for r, c in product(range(rows), range(columns)):
        out[:, r, c] = flat @ x[:, stride * r : stride * r + kernel, stride * c : stride * c + kernel].ravel()
    return out


def grouped(x: Array, weight: Array, bias: Array, epsilon: float) -> Array:
    groups = x.reshape(32, -1)
    groups = (groups - groups.mean(1, keepdims=True)) / np.sqrt(groups.var(1, keepdims=True) + epsilon)
    return groups.reshape(x.shape) * weight[:, None, None] + bias[:, None, None]


def norm(x: Array, weight: Array, bias: Array) -> Array:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6) * weight + bias


def stem(state: dict[str, Array], patch: Array) -> Array:
    """``float64[3, 32, 32]`` -> the numbers that the embedding takes."""
    x = np.maximum(
        grouped(convolved(patch, state["conv_root.weight"], 2), state["gn_root.weight"], state["gn_root.bias"], 1e-6), 0
    )
    x = padded(x, 3, 2)
    x = np.stack([[x[:, 2 * r : 2 * r + 3, 2 * c : 2 * c + 3].max(axis=(1, 2)) for c in range(8)] for r in range(8)]).transpose(
        2, 0, 1
    )

    def unit(x: Array, convolution: str, group: str) -> Array:
        filtered = convolved(x, state[f"block1.{convolution}.weight"])
        return grouped(filtered, state[f"block1.{group}.weight"], state[f"block1.{group}.bias"], 1e-4)

    short = unit(x, "conv_proj", "gn_proj")
    y = np.maximum(unit(np.maximum(unit(x, "conv1", "gn1"), 0), "conv2", "gn2"), 0)
    return np.maximum(unit(y, "conv3", "gn3") + short, 0).transpose(1, 2, 0).ravel()


def pieces(picture: Array) -> tuple[list[Array], list[int]]:
    """The 32x32 patches of ``float64[3, H, W]`` in -1..1 and their places in the grid of 10x10."""
    x = padded(picture, 32, 32)
    rows, columns = x.shape[1] // 32, x.shape[2] // 32
    place = [
        10 * math.floor(np.float32(r) * np.float32(10 / rows)) + math.floor(np.float32(c) * np.float32(10 / columns))
        for r, c in product(range(rows), range(columns))
    ]
    return [x[:, 32 * r : 32 * r + 32, 32 * c : 32 * c + 32] for r, c in product(range(rows), range(columns))], place


def reference(state: dict[str, Array], pictures: list[Array], lengths: tuple[int, ...]) -> float:
    """The score from one picture in its three sizes, patches filled up to ``lengths`` and hidden by -1000."""
    tokens, mask = [state["transformer_encoder.cls"][0, 0]], [True]
    positions, scales = (
        state["transformer_encoder.posembed_input.position_emb"][0],
        state["transformer_encoder.scaleembed_input.scale_emb"],
    )
    empty = np.zeros((3, 32, 32))
    for scale, (picture, length) in enumerate(zip(pictures, lengths, strict=True)):
        patches, places = pieces(picture)
        for index in range(max(length, len(patches))):
            there = index < len(patches)
            given = stem(state, patches[index] if there else empty)
            place, size = (places[index], scale) if there else (0, 0)
            tokens.append(state["embedding.weight"] @ given + state["embedding.bias"] + positions[place] + scales[size])
            mask.append(there)
    x, hidden = np.stack(tokens), ~np.outer(mask, mask)
    for layer in range(2):
        prefix = f"transformer_encoder.transformer.encoderblock_{layer}."
        own = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
        y = norm(x, own["norm1.weight"], own["norm1.bias"])
        query, key, value = (
            y @ own[f"attention.{part}.weight"].T + own[f"attention.{part}.bias"] for part in ("query", "key", "value")
        )
        seen = []
        for some in (slice(0, 4), slice(4, 8), slice(8, 12)):
            scores = np.where(hidden, -1000.0, query[:, some] @ key[:, some].T / 2)
            share = np.exp(scores - scores.max(1, keepdims=True))
            seen.append(share / share.sum(1, keepdims=True) @ value[:, some])
        x = x + np.concatenate(seen, 1) @ own["attention.out.weight"].T + own["attention.out.bias"]
        y = norm(x, own["norm2.weight"], own["norm2.bias"]) @ own["mlp.fc1.weight"].T + own["mlp.fc1.bias"]
        y = y * (1 + np.vectorize(math.erf)(y / math.sqrt(2))) / 2
        x = x + y @ own["mlp.fc2.weight"].T + own["mlp.fc2.bias"]
    x = norm(x, state["transformer_encoder.encoder_norm.weight"], state["transformer_encoder.encoder_norm.bias"])
    return float(state["head.weight"][0] @ x[0] + state["head.bias"][0])


def test_the_whole_network_is_the_published_one_with_its_hidden_patches(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """At sizes of 48 and 70 pixels instead of 224 and 384, so that loops can follow."""
    from inpaintbench.models import musiq_layers

    monkeypatch.setattr(musiq_layers, "LONGER_SIDES", (48, 70))
    state = {name: value.double().numpy() for name, value in tiny.state_dict().items()}
    pictures = torch.rand(2, 3, 75, 41, generator=torch.Generator().manual_seed(0))
    with running(CPU):
        found = tiny(pictures)
        small = [musiq_layers.resized(2 * pictures - 1, side).double().numpy() for side in (48, 70)]
    assert [one.shape[2:] for one in small] == [(48, 26), (70, 38)]
    expected = [
        reference(state, [small[0][index], small[1][index], 2 * one - 1], (4, 9, 0))
        for index, one in enumerate(pictures.double().numpy())
    ]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4)
    assert abs(expected[0] - expected[1]) > 1e-3


@pytest.mark.parametrize(
    ("kernel", "stride", "height", "width"), [(7, 2, 32, 32), (3, 2, 16, 16), (32, 32, 40, 65), (32, 32, 64, 1)]
)
def test_padding_is_that_of_tensorflow(kernel: int, stride: int, height: int, width: int) -> None:
    from inpaintbench.models.musiq_layers import same

    given = torch.rand(1, 2, height, width)
    np.testing.assert_array_equal(same(given, kernel=kernel, stride=stride)[0].numpy(), padded(given[0].numpy(), kernel, stride))


def test_filters_are_standardised_before_they_are_used() -> None:
    from inpaintbench.models.musiq_layers import StandardisedConvolution

    layer = shaken(lambda: StandardisedConvolution(3, 5, 7, 2))
    given = torch.rand(1, 3, 32, 30)
    with torch.no_grad():
        expected = convolved(given[0].double().numpy(), layer.weight.double().numpy(), 2)
        np.testing.assert_allclose(layer(given)[0].numpy(), expected, rtol=1e-4, atol=1e-5)
        layer.weight.mul_(7).add_(3)
        np.testing.assert_allclose(layer(given)[0].numpy(), expected, rtol=1e-3, atol=1e-4)


def test_places_of_patches_follow_the_grid_row_by_row() -> None:
    from inpaintbench.models.musiq_layers import grid_places

    assert grid_places(2, 3).tolist() == [0, 3, 6, 50, 53, 56]
    assert grid_places(10, 10).tolist() == list(range(100))
    assert grid_places(1, 20).tolist() == [index // 2 for index in range(20)]
    for count in range(1, 80):
        found = grid_places(count, 1)
        assert found.tolist() == [10 * math.floor(np.float32(k) * np.float32(10 / count)) for k in range(count)]


@pytest.mark.parametrize(
    ("height", "width", "expected"), [(512, 512, (224, 224)), (480, 854, (126, 224)), (100, 50, (224, 112)), (3, 4000, (1, 224))]
)
def test_the_longer_side_decides_the_smaller_sizes(height: int, width: int, expected: tuple[int, int]) -> None:
    from inpaintbench.models.musiq_layers import resized

    assert resized(torch.zeros(1, 3, height, width), 224).shape[2:] == expected


def test_the_network_has_the_published_parameters() -> None:
    from inpaintbench.models.musiq_layers import Musiq

    with torch.device("meta"):
        state = Musiq().state_dict()
    block = [f"{part}.weight" for part in ("conv1", "conv2", "conv3", "conv_proj")]
    block += [f"{part}.{kind}" for part in ("gn1", "gn2", "gn3", "gn_proj") for kind in ("weight", "bias")]
    layers = ("norm1", "attention.query", "attention.key", "attention.value", "attention.out", "norm2", "mlp.fc1", "mlp.fc2")
    encoder = [
        f"transformer.encoderblock_{index}.{layer}.{kind}"
        for index in range(14)
        for layer in layers
        for kind in ("weight", "bias")
    ]
    encoder += ["posembed_input.position_emb", "scaleembed_input.scale_emb", "cls", "encoder_norm.weight", "encoder_norm.bias"]
    names = {
        "conv_root.weight",
        "gn_root.weight",
        "gn_root.bias",
        "embedding.weight",
        "embedding.bias",
        "head.weight",
        "head.bias",
    }
    names |= {f"block1.{name}" for name in block} | {f"transformer_encoder.{name}" for name in encoder}
    assert set(state) == names
    shapes = {
        "conv_root.weight": (64, 3, 7, 7), "block1.conv2.weight": (64, 64, 3, 3), "block1.conv_proj.weight": (256, 64, 1, 1),
        "embedding.weight": (384, 16384), "transformer_encoder.posembed_input.position_emb": (1, 100, 384),
        "transformer_encoder.scaleembed_input.scale_emb": (3, 384), "transformer_encoder.cls": (1, 1, 384),
        "transformer_encoder.transformer.encoderblock_13.mlp.fc1.weight": (1152, 384), "head.weight": (1, 384),
    }  # fmt: skip
    assert {name: tuple(state[name].shape) for name in shapes} == shapes
    # The published file has 108,610,983 bytes: these numbers and a few hundred bytes for each name.
    assert 0 < 108_610_983 - 4 * sum(value.numel() for value in state.values()) < 500 * len(state)


def test_without_weights_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    for head, entry in HEADS.items():
        with pytest.raises(NotMeasurable, match=f"weights missing: run `inpaintbench models fetch {entry}`"):
            musiq(head, CPU)


def test_an_unknown_head_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown head of MUSIQ 'koniq10k', did you mean 'koniq'"):
        musiq("koniq10k", CPU)
