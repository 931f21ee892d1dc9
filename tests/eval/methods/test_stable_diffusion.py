from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, wandering_hole, world

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import Method
from inpaintbench.eval.methods.networks import StableDiffusion

INSTALLED = all(importlib.util.find_spec(name) is not None for name in ("torch", "diffusers", "transformers"))
with_diffusers = pytest.mark.skipif(not INSTALLED, reason="diffusers and transformers are not installed")
CHEAP = {"steps": 2, "guidance": 8.0, "device": "cpu"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Folder of a pipeline of a few thousand seeded parameters."""
    pytest.importorskip("diffusers", reason="diffusers is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    folder = tmp_path_factory.mktemp("model")
    tiny_pipeline(folder / "words").save_pretrained(folder / "tiny", safe_serialization=True)
    return str(folder / "tiny")


def tiny_pipeline(words: Path) -> Any:
    import torch
    from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionInpaintPipeline, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel

    torch.manual_seed(0)
    unet = UNet2DConditionModel(
        sample_size=8,
        in_channels=9,
        out_channels=4,
        block_out_channels=(8, 16),
        norm_num_groups=4,
        layers_per_block=1,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=16,
        attention_head_dim=4,
    )
    for name, parameter in unet.named_parameters():
        if "attn2.to_v" in name:  # words move untrained pictures by less than a grey level
            parameter.data *= 100
    blocks = 4
    vae = AutoencoderKL(
        block_out_channels=(8,) * blocks,
        norm_num_groups=4,
        down_block_types=("DownEncoderBlock2D",) * blocks,
        up_block_types=("UpDecoderBlock2D",) * blocks,
        latent_channels=4,
    )
    tokens = tokenizer(words)
    text = CLIPTextModel(
        CLIPTextConfig(
            vocab_size=len(tokens),
            hidden_size=16,
            intermediate_size=16,
            num_attention_heads=2,
            num_hidden_layers=1,
            max_position_embeddings=77,
            bos_token_id=tokens.bos_token_id,
            eos_token_id=tokens.eos_token_id,
        )
    )
    return StableDiffusionInpaintPipeline(
        vae=vae,
        text_encoder=text,
        tokenizer=tokens,
        unet=unet,
        scheduler=DDIMScheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


def tokenizer(words: Path) -> Any:
    from transformers import CLIPTokenizer

    words.mkdir()
    letters = [chr(ord("a") + number) for number in range(26)]
    names = ["<|startoftext|>", "<|endoftext|>", *letters, *(f"{letter}</w>" for letter in letters)]
    (words / "vocab.json").write_text(json.dumps({name: number for number, name in enumerate(names)}))
    (words / "merges.txt").write_text("#version: 0.2\n")
    (words / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CLIPTokenizer", "model_max_length": 77}))
    return CLIPTokenizer.from_pretrained(str(words))


class TestContract(MethodContract):
    name = "stable_diffusion"

    @pytest.fixture
    def method(self, model: str) -> Method:
        return StableDiffusion(model=model, **CHEAP)

    test_tiny_frames = None  # type: ignore[assignment]  # networks want sides that divide evenly; the step around a method pads


def filled(model: str, **constants: Any) -> np.ndarray:
    hole = wandering_hole()[:2]
    return inpaint(StableDiffusion(model=model, **{**CHEAP, **constants}), corrupted(world()[:2], hole), hole)[hole]


@with_diffusers
@pytest.mark.parametrize(
    "other",
    [{"seed": 1}, {"steps": 3}, {"guidance": 1.0}, {"prompt": "sand"}, {"negative_prompt": "sky"}, {"strength": 0.6}],
    ids=str,
)
def test_every_constant_reaches_the_model(model: str, other: dict[str, Any]) -> None:
    np.testing.assert_array_equal(filled(model), filled(model))
    assert (filled(model, prompt="grass") != filled(model, **{"prompt": "grass", **other})).any()


@with_diffusers
def test_each_frame_stands_alone(model: str) -> None:
    hole = wandering_hole()
    frames, method = corrupted(world(), hole), StableDiffusion(model=model, **CHEAP)
    together = inpaint(method, frames[:3], hole[:3])
    np.testing.assert_array_equal(inpaint(method, frames[2:3], hole[2:3]), together[2:3])


@with_diffusers
def test_the_version_names_the_packages_and_the_folder(model: str, tmp_path: Path) -> None:
    import diffusers

    assert f"diffusers-{diffusers.__version__}" in StableDiffusion(model=model).version
    for path in Path(model).rglob("*"):
        if path.is_file():
            copy = tmp_path / path.relative_to(model)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    settings = tmp_path / "scheduler" / "scheduler_config.json"
    settings.write_text(settings.read_text().replace('"linear"', '"scaled_linear"'))
    assert StableDiffusion(model=str(tmp_path)).version != StableDiffusion(model=model).version


@with_diffusers
def test_constants_out_of_range_and_folders_without_a_model_are_refused(model: str, tmp_path: Path) -> None:
    for wrong in ({"steps": 0}, {"strength": 0.0}, {"strength": 1.1}):
        with pytest.raises(InputError, match="choose steps from 1 up and a strength above 0 up to 1"):
            StableDiffusion(model=model, **wrong)
    with pytest.raises(InputError, match="no numbers 'int8'"):
        StableDiffusion(model=model, numbers="int8")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"no folder '.*' with a model_index.json"):
        StableDiffusion(model=str(tmp_path))
    (tmp_path / "model_index.json").write_text('{"_class_name": "StableDiffusionInpaintPipeline", "unet": ["diffusers", "X"]}')
    with pytest.raises(InputError, match="cannot be loaded as a model for inpainting"):
        filled(str(tmp_path))


@pytest.mark.skipif(INSTALLED, reason="diffusers and transformers are installed")
def test_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'filling with "stable_diffusion" needs .*: pip install diffusers transformers'):
        StableDiffusion(model=str(tmp_path))
