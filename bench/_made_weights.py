"""Made-up weights in the files, folders and forms of released ones: what `bench/released_programs.py` has a program's Python run.

python _made_weights.py PRESET MADE, in the clone; files that do not belong there lie in the folder MADE.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import torch


def _saved(module: Any, path: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    torch.save(module.state_dict(), path)


def fuseformer(made: str) -> None:  # noqa: ARG001 - as the others are called
    """FuseFormer."""
    _saved(import_module("model.fuseformer").InpaintGenerator(), "fuseformer.pth")


def e2fgvi(made: str, name: str = "e2fgvi") -> None:
    """E2FGVI, and SPyNet, which mmcv looks for in PyTorch's own folder."""
    network = import_module("model.modules.flow_comp").SPyNet(pretrained=None)
    state = {key: value for key, value in network.state_dict().items() if key not in ("mean", "std")}
    torch.save(state, f"{made}/hub/checkpoints/spynet_20210409-c6c1bd09.pth")
    torch.manual_seed(0)
    _saved(import_module(f"model.{name}").InpaintGenerator(), f"release_model/{name}.pth")


def e2fgvi_hq(made: str) -> None:
    """The other model."""
    e2fgvi(made, "e2fgvi_hq")


def propainter(made: str, folder: str = "weights", package: str = "") -> None:  # noqa: ARG001
    """RAFT, the completion of flow, and ProPainter."""
    options: Any = argparse.ArgumentParser()  # RAFT asks whether a name is in it
    options.small = options.mixed_precision = options.alternate_corr = False
    _saved(torch.nn.DataParallel(import_module(f"{package}RAFT").RAFT(options)), f"{folder}/raft-things.pth")
    flow = import_module(f"{package}model.recurrent_flow_completion").RecurrentFlowCompleteNet()
    _saved(flow, f"{folder}/recurrent_flow_completion.pth")
    _saved(import_module(f"{package}model.propainter").InpaintGenerator(), f"{folder}/ProPainter.pth")


def lama(made: str) -> None:
    """The generator of big-lama and the settings beside it."""
    none, most = ({"ratio_gin": share, "ratio_gout": share, "enable_lfu": False} for share in (0, 0.75))
    generator = {
        "kind": "ffc_resnet", "input_nc": 4, "output_nc": 3, "ngf": 64, "n_downsampling": 3, "n_blocks": 18,
        "add_out_act": "sigmoid", "init_conv_kwargs": none, "downsample_conv_kwargs": none, "resnet_conv_kwargs": most,
    }  # fmt: skip
    settings = {
        "training_model": {"kind": "default", "concat_mask": True, "predict_only": True}, "generator": generator,
        "trainer": {"kwargs": {}}, "losses": {}, "visualizer": {"kind": "noop"},
    }  # fmt: skip
    config = import_module("omegaconf").OmegaConf.create(settings)
    model = import_module("saicinpainting.training.trainers").make_training_model(config)
    folder = Path(made, "big-lama")
    (folder / "models").mkdir(parents=True, exist_ok=True)
    torch.save({"state_dict": model.state_dict()}, folder / "models" / "best.ckpt")
    (folder / "config.yaml").write_text(json.dumps(settings))  # which is YAML


def diffueraser(made: str) -> None:
    """Stable Diffusion, its VAE, BrushNet, motion layers and an adapter, of 8 and 32 channels; ProPainter as it is."""
    diffusers, transformers = import_module("diffusers"), import_module("transformers")
    least, small = ({"block_out_channels": (wide,) * 4, "norm_num_groups": 4} for wide in (8, 32))
    blocks = {"down_block_types": ("DownEncoderBlock2D",) * 4, "up_block_types": ("UpDecoderBlock2D",) * 4}
    diffusers.AutoencoderKL(**blocks, **least).save_pretrained("weights/sd-vae-ft-mse")
    brushnet = import_module("libs.brushnet_CA").BrushNetModel(cross_attention_dim=32, attention_head_dim=4, **small)
    brushnet.save_pretrained("weights/diffuEraser/brushnet")
    heads = {"num_attention_heads": 4, "motion_num_attention_heads": 4}
    unet = import_module("libs.unet_motion_model").UNetMotionModel(cross_attention_dim=32, **heads, **small)
    unet.register_to_config(time_cond_proj_dim=None)  # a key of its released form that no argument has
    unet.save_pretrained("weights/diffuEraser/unet_main")
    base, first, last = Path("weights/stable-diffusion-v1-5"), "<|startoftext|>", "<|endoftext|>"
    noise = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
    diffusers.DDPMScheduler(**noise).save_pretrained(base / "scheduler")
    words = {"vocab_size": 2, "bos_token_id": 0, "eos_token_id": 1}
    text = transformers.CLIPTextConfig(**words, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4)
    transformers.CLIPTextModel(text).save_pretrained(base / "text_encoder")
    tokens: dict[str, Any] = {"tokenizer_class": "CLIPTokenizer", "bos_token": first, "model_max_length": 77}
    tokens |= dict.fromkeys(("eos_token", "unk_token", "pad_token"), last)
    parts = {
        "scheduler": "diffusers.DDPMScheduler", "unet": "diffusers.UNet2DConditionModel", "vae": "diffusers.AutoencoderKL",
        "text_encoder": "transformers.CLIPTextModel", "tokenizer": "transformers.CLIPTokenizer",
    }  # fmt: skip
    index: dict[str, Any] = {
        "_class_name": "StableDiffusionPipeline",
        "feature_extractor": [None] * 2,
        "safety_checker": [None] * 2,
    }
    index |= {part: kind.split(".") for part, kind in parts.items()}
    (base / "tokenizer").mkdir(exist_ok=True)
    (base / "tokenizer" / "merges.txt").write_text("#version: 0.2\n")
    texts = {"tokenizer/vocab.json": {first: 0, last: 1}, "tokenizer/tokenizer_config.json": tokens, "model_index.json": index}
    for name, value in texts.items():
        (base / name).write_text(json.dumps(value))
    adapter = Path("weights/PCM_Weights/sd15/pcm_sd15_smallcfg_2step_converted.safetensors")
    adapter.parent.mkdir(parents=True, exist_ok=True)
    layer = "lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn1_to_q"
    ranks = {"lora_down.weight": torch.randn(4, 32), "lora_up.weight": torch.randn(32, 4), "alpha": torch.tensor(4.0)}
    import_module("safetensors.torch").save_file({f"{layer}.{part}": value for part, value in ranks.items()}, adapter)
    propainter(made, "weights/propainter", "propainter.")


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    torch.manual_seed(0)
    globals()[sys.argv[1].replace("-", "_")](sys.argv[2])
