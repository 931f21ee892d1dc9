"""DreamSim's adapters: added to matrices as they act beside them, read from both formats, refused where they do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_networks import shaken

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.models import dino, weights
from inpaintbench.models import dino as dreamsim
from inpaintbench.models.dino import ADAPTERS, folded

torch = pytest.importorskip("torch")

ALPHA, RANK, WIDTH, BLOCKS = 0.5, 4, 12, 2
PREFIX = "base_model.model.base_model.model.extractor_list.0.model"


def tiny() -> Any:
    from inpaintbench.models.dino_layers import Dino

    return Dino(width=WIDTH, layers=BLOCKS, heads=3, patch_pixels=4, grid=5)


def made_up() -> dict[str, Any]:
    generator = torch.Generator().manual_seed(5)
    shapes = {"A": (RANK, WIDTH), "B": (3 * WIDTH, RANK)}
    return {
        f"{PREFIX}.blocks.{block}.attn.qkv.lora_{side}.weight": torch.randn(shape, generator=generator)
        for block in range(BLOCKS)
        for side, shape in shapes.items()
    }


def beside(network: Any, adapters: dict[str, Any], pictures: Any) -> Any:
    """The class token behind the last block, adapters acting beside their layers and read by hooks, as in the released code."""
    kept, handles = [], [network.blocks[-1].register_forward_hook(lambda *given: kept.append(given[2]))]
    for block, layer in enumerate(network.blocks):
        down, up = (adapters[f"{PREFIX}.blocks.{block}.attn.qkv.lora_{side}.weight"] for side in "AB")

        def add(_: Any, given: Any, out: Any, down: Any = down, up: Any = up) -> Any:
            return out + (given[0] @ down.T @ up.T) * (ALPHA / RANK)

        handles.append(layer.attn.qkv.register_forward_hook(add))
    with torch.no_grad():
        network(pictures)
    for handle in handles:
        handle.remove()
    return kept[0][:, 0]


@pytest.fixture
def brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The adapters' folder, and a file of a small DINO in place of the large one."""
    network = shaken(tiny)
    torch.save(network.state_dict(), tmp_path / "dino.pth")
    monkeypatch.setattr(weights, "path_of", lambda name: tmp_path / "dino.pth")
    monkeypatch.setattr(dino, "_ADDRESS", tiny)
    folder = tmp_path / "dino_vitb16_single_lora"
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps({"r": RANK, "lora_alpha": ALPHA, "target_modules": ["qkv"]}))
    monkeypatch.setenv(ADAPTERS.variable, str(folder))
    return folder


@pytest.mark.parametrize("kind", ["bin", "safetensors"])
def test_the_folder_of_the_release_is_read_and_folded(brought: Path, kind: str) -> None:
    if kind == "bin":
        torch.save(made_up(), brought / "adapter_model.bin")
    else:
        save_file = pytest.importorskip("safetensors.torch").save_file
        save_file(made_up(), brought / "adapter_model.safetensors")
    network = dreamsim.dreamsim(Compute(device="cpu"))
    pictures = torch.randn(2, 3, 20, 20, generator=torch.Generator().manual_seed(0))
    plain = shaken(tiny)
    expected = beside(plain, made_up(), pictures)
    found = network.raw_class_token(pictures)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(found, plain.raw_class_token(pictures), atol=1e-2)
    assert len(ADAPTERS.sha256()) == 64


def test_what_is_missing_is_told_with_the_way_to_it(brought: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compute = Compute(device="cpu")
    with pytest.raises(NotMeasurable, match=r"has no adapter_model.safetensors or adapter_model.bin"):
        dreamsim.dreamsim(compute)
    torch.save(made_up(), brought / "adapter_model.bin")
    (brought / "adapter_config.json").write_text("{}")
    with pytest.raises(NotMeasurable, match="states no lora_alpha"):
        dreamsim.dreamsim(compute)
    monkeypatch.setenv(ADAPTERS.variable, str(brought / "nowhere"))
    with pytest.raises(NotMeasurable, match=r"INPAINTBENCH_DREAMSIM names no folder: 'nowhere'"):
        dreamsim.dreamsim(compute)
    monkeypatch.delenv(ADAPTERS.variable)
    with pytest.raises(NotMeasurable, match=r"dreamsim_dino_vitb16_checkpoint.zip and set INPAINTBENCH_DREAMSIM to its folder"):
        dreamsim.dreamsim(compute)
    assert ADAPTERS.sha256() == "missing"


def test_adapters_that_do_not_fit_are_refused() -> None:
    state = shaken(tiny).state_dict()
    some = made_up()
    for wrong, reason in (
        ({name: matrix for name, matrix in some.items() if ".1." not in name}, "adapters of 1 blocks, and DINO has 2"),
        (some | {"blocks.0.mlp.fc1.lora_A.weight": some[next(iter(some))]}, "which is none of a layer of queries"),
        (some | {next(iter(some)): torch.zeros(RANK, WIDTH + 1)}, "block 0 have the shapes"),
    ):
        with pytest.raises(NotMeasurable, match=reason):
            folded(state, adapters=wrong, alpha=ALPHA)
    zero = {name: torch.zeros_like(matrix) if "lora_B" in name else matrix for name, matrix in some.items()}
    same = folded(state, adapters=zero, alpha=ALPHA)
    assert all(torch.equal(same[name], state[name]) for name in state)
