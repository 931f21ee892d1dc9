"""SAM's image encoder: its published shape, what the released layers gave, and how pictures come into it."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from tiny_networks import by_formula

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.models import sam

torch = pytest.importorskip("torch")


def tiny(**shape: Any) -> Any:
    from inpaintbench.models.sam_layers import SamEncoder

    return by_formula(SamEncoder(width=16, layers=3, heads=2, whole=(1,), side=10, window=4, channels=8, **shape))


def test_the_network_has_the_published_parameters() -> None:
    from inpaintbench.models.sam_layers import SamEncoder

    with torch.device("meta"):
        state = SamEncoder().state_dict()
    parts = {"norm1", "attn.qkv", "attn.proj", "norm2", "mlp.lin1", "mlp.lin2"}
    blocks = {f"{layer}.{part}" for layer in parts for part in ("weight", "bias")} | {"attn.rel_pos_h", "attn.rel_pos_w"}
    names = {"pos_embed", "patch_embed.proj.weight", "patch_embed.proj.bias", "neck.0.weight", "neck.2.weight"}
    names |= {f"neck.{number}.{part}" for number in (1, 3) for part in ("weight", "bias")}
    assert set(state) == names | {f"blocks.{index}.{part}" for index, part in product(range(32), blocks)}
    shapes = {"pos_embed": (1, 64, 64, 1280), "blocks.0.attn.rel_pos_h": (27, 80), "blocks.7.attn.rel_pos_h": (127, 80)}
    assert {name: tuple(state[name].shape) for name in shapes} == shapes


def test_windows_see_nothing_of_each_other() -> None:
    from inpaintbench.models.sam_layers import Block

    block = by_formula(Block(16, 2, 10, 4))
    tokens = torch.from_numpy(np.random.default_rng(0).normal(size=(1, 10, 10, 16)).astype(np.float32))
    changed = tokens.clone()
    changed[:, 9, 9, 0] += 1
    with torch.inference_mode():
        apart = (block(tokens) - block(changed)).abs().amax(dim=-1)[0] > 0
    assert apart[8:, 8:].all()  # the last window, which is filled up with zeros
    assert not apart[:8].any()
    assert not apart[:, :8].any()


def test_what_the_released_layers_give() -> None:
    """ImageEncoderViT of ReMOVE's repository at b297426 with the same parameters."""
    y, x = np.mgrid[:160, :160]
    picture = np.stack([np.sin(x / 9), np.cos(y / 7), np.sin((x + y) / 11)])[None].astype(np.float32)
    with torch.inference_mode():
        found = tiny()(torch.from_numpy(picture))[0].numpy()
    assert found.shape == (8, 10, 10)
    assert found[[0, 3, 7], [0, 4, 9], [0, 5, 9]] == pytest.approx([-1.97012579, 0.148538336, 0.313885927], rel=1e-4)


def test_pictures_are_scaled_and_filled_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sam.scaled_size(480, 832) == (591, 1024)
    assert sam.scaled_size(1080, 540) == (1024, 512)
    white = sam.prepared(np.full((50, 100, 3), 255, np.uint8), torch.device("cpu"))
    assert white.shape == (1, 3, 1024, 1024)
    expected = [(255 - mean) / deviation for mean, deviation in ((123.675, 58.395), (116.28, 57.12), (103.53, 57.375))]
    assert white[0, :, 511, 1023].tolist() == pytest.approx(expected)
    assert not white[..., 512:, :].any()
    seen = []

    class Stub:
        def __call__(self, given: Any) -> Any:
            seen.append(tuple(given.shape))
            return torch.ones(1, 256, 64, 64)

    monkeypatch.setattr(sam, "sam_encoder", lambda compute: Stub())
    assert sam.maps(np.zeros((20, 30, 3), np.uint8), Compute(device="cpu")).shape == (256, 64, 64)
    assert seen == [(1, 3, 1024, 1024)]


def test_of_the_file_the_encoder_alone_is_read() -> None:
    state = {"image_encoder.pos_embed": 1, "mask_decoder.x": 2, "prompt_encoder.y": 3}
    assert sam._of_the_encoder(state) == {"pos_embed": 1}


def test_without_weights_it_says_how_to_get_them(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path))
    with pytest.raises(NotMeasurable, match="models fetch sam-vit-h"):
        sam.sam_encoder(Compute(device="cpu"))
