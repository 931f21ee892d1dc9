"""DINO and DINOv2: vision transformers trained by self-supervision, whose embeddings of one subject agree across views.

Caron et al., "Emerging Properties in Self-Supervised Vision Transformers", ICCV 2021; the parameters are the authors'
``dino_vitbase16_pretrain.pth`` and ``dino_vitbase8_pretrain.pth`` (Apache-2.0). Nobody whom we found states a hash of the latter,
so users bring it. DINOv2's giant (Oquab et al., TMLR 2024) is the authors' ``dinov2_vitg14_pretrain.pth`` (Apache-2.0), without
registers, 1.1 billion parameters. Resizing pictures is left to the caller.

DreamSim's network of one branch (Fu et al., NeurIPS 2023; MIT, code and parameters) is the former with adapters that were trained
on people's judgements of similarity, those of the release ``dreamsim_dino_vitb16_checkpoint.zip``: for the queries, keys and
values of each block two matrices A and B of rank r, by which the layer's own matrix W becomes W + (alpha / r) B A. They are added
once, when the network is loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.models import torch_networks
from inpaintbench.models.weights import Brought

if TYPE_CHECKING:
    from inpaintbench.models.dino_layers import Dino

_ADDRESS = "inpaintbench.models.dino_layers:Dino"
# Entry of `weights.toml`.
WEIGHTS = "dino-vit-b-16"
# Of the patches of 8 pixels.
FINE = Brought(
    "INPAINTBENCH_DINO_VIT_B_8",
    "dino_vitbase8_pretrain.pth",
    "nobody publishes the hash of DINO ViT-B/8 (Apache-2.0): get https://dl.fbaipublicfiles.com/dino/dino_vitbase8_pretrain/"
    "dino_vitbase8_pretrain.pth",
)
SMALL = Brought(
    "INPAINTBENCH_DINO_VIT_S_16",
    "dino_deitsmall16_pretrain.pth",
    "nobody publishes the hash of DINO ViT-S/16 (Apache-2.0): get https://dl.fbaipublicfiles.com/dino/dino_deitsmall16_pretrain/"
    "dino_deitsmall16_pretrain.pth",
)
# Networks -> side of their patches, pixels.
PATCH_PIXELS = {"dino-vit-b-8": 8, WEIGHTS: 16}
# Dimension of an embedding.
LENGTH = 768
# Normalisation of the RGB channels in 0..1: the statistics of ImageNet.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def dino(compute: Compute) -> Dino:
    """Load the network: ``float32[N, 3, H, W]`` RGB, normalised by ``MEAN`` and ``DEVIATION`` -> ``float32[N, 768]``.

    Sides are at least 16 pixels; columns and rows beyond a multiple of 16 are ignored on the right and at the bottom.

    Raises:
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch is not installed.
    """
    module: Dino = torch_networks.network(_ADDRESS, compute, weights_name=WEIGHTS)
    return module


def fine_dino(compute: Compute) -> Dino:
    """``dino`` with patches of 8 pixels, from the file that the user brought; raises as ``dino``."""
    module: Dino = torch_networks.network(_ADDRESS, compute, brought=FINE, patch_pixels=8, grid=28)
    return module


def small_dino(compute: Compute) -> Dino:
    """``dino`` of 384 channels, from the file that the user brought; raises as ``dino``."""
    module: Dino = torch_networks.network(_ADDRESS, compute, brought=SMALL, width=384, heads=6)
    return module


# Entry of `weights.toml`, and side of the network's patches.
GIANT, GIANT_PATCH_PIXELS = "dinov2-giant", 14
# Dimension of its tokens.
GIANT_LENGTH = 1536
_GIANT: Mapping[str, Any] = {
    "width": GIANT_LENGTH,
    "layers": 40,
    "heads": 24,
    "patch_pixels": GIANT_PATCH_PIXELS,
    "grid": 37,
    "scaled": True,
}


def giant_dino(compute: Compute) -> Dino:
    """Load DINOv2's giant: ``patch_tokens`` of ``float32[N, 3, H, W]`` RGB, normalised as for DINO, are what is looked at.

    It takes 4.5 GB of memory, and twice as much while it is read. Raises as ``dino``.
    """
    module: Dino = torch_networks.network(_ADDRESS, compute, weights_name=GIANT, translate=_without_mask_token, **_GIANT)
    return module


def _without_mask_token(state: torch_networks.State) -> torch_networks.State:
    """What stands for patches that are hidden in training alone is left out."""
    return {name: value for name, value in state.items() if name != "mask_token"}


_SETTINGS, _MATRICES = "adapter_config.json", "adapter_model.safetensors|adapter_model.bin"
ADAPTERS = Brought(
    "INPAINTBENCH_DREAMSIM",
    "its folder dino_vitb16_single_lora",
    "nobody publishes the hash of DreamSim's adapters (MIT): get https://github.com/ssundaram21/dreamsim/releases/download/"
    "v0.2.0-checkpoints/dreamsim_dino_vitb16_checkpoint.zip",
    (_SETTINGS, _MATRICES),
)
_NAME = re.compile(r"\.blocks\.(\d+)\.attn\.qkv\.lora_([AB])(?:\.default)?\.weight$")


def dreamsim(compute: Compute) -> Dino:
    """Load the network: ``raw_class_token`` of ``float32[N, 3, 224, 224]`` RGB, normalised as for DINO, is the vector.

    With ``compute.random_weights`` there are no adapters.

    Raises:
        NotMeasurable: DINO's weights or the adapters are missing, damaged or of another network.
        MissingExtraError: PyTorch is not installed.
    """

    if compute.random_weights is not None:
        module: Dino = torch_networks.network(_ADDRESS, compute, weights_name=WEIGHTS)
        return module
    folding = _folding(str(ADAPTERS.member(_SETTINGS)), str(ADAPTERS.member(_MATRICES)), ADAPTERS.changed())
    module = torch_networks.network(_ADDRESS, compute, weights_name=WEIGHTS, translate=folding)
    return module


@lru_cache(maxsize=2)
def _folding(settings: str, matrices: str, changed: int) -> Any:  # noqa: ARG001 - the time is part of the cache's key
    """What adds the adapters to a state dict; the same object for the same files, since it is part of a cache's key."""
    try:
        alpha = float(json.loads(Path(settings).read_bytes())["lora_alpha"])
    except (ValueError, KeyError, TypeError) as error:
        raise NotMeasurable(f"{_SETTINGS} of {ADAPTERS.variable} states no lora_alpha") from error
    return partial(folded, adapters=_read(matrices), alpha=alpha)


def _read(path: str) -> torch_networks.State:
    if path.endswith(".bin"):
        return torch_networks.read_state(path)
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        state: torch_networks.State = load_file(path)
    except SafetensorError as error:
        raise NotMeasurable(f"{Path(path).name} cannot be read as a file of parameters: {error}") from error
    return state


def folded(state: torch_networks.State, *, adapters: torch_networks.State, alpha: float) -> torch_networks.State:
    """A state dict of DINO with the adapters in it.

    Args:
        state: of DINO, ``blocks.N.attn.qkv.weight`` among it.
        adapters: ``....blocks.N.attn.qkv.lora_A.weight``, ``float[r, width]``, and ``lora_B``, ``float[3 width, r]``.
        alpha: of their settings.

    Raises:
        NotMeasurable: a block has no two matrices that fit, or there is something else among the adapters.
    """
    pairs: dict[tuple[int, str], Any] = {}
    for name, matrix in adapters.items():
        found = _NAME.search(name)
        if found is None:
            raise NotMeasurable(
                f"the adapters of {ADAPTERS.variable} hold {name}, which is none of a layer of queries, keys and values"
            )
        pairs[int(found[1]), found[2]] = matrix
    made = dict(state)
    blocks = [name for name in state if name.endswith(".attn.qkv.weight")]
    if set(pairs) != {(block, side) for block in range(len(blocks)) for side in "AB"}:
        raise NotMeasurable(f"{ADAPTERS.variable} has adapters of {len(pairs) // 2} blocks, and DINO has {len(blocks)}")
    for block in range(len(blocks)):
        down, up = pairs[block, "A"].float(), pairs[block, "B"].float()
        name = f"blocks.{block}.attn.qkv.weight"
        if up.shape[1] != down.shape[0] or (up.shape[0], down.shape[1]) != tuple(state[name].shape):
            raise NotMeasurable(f"the adapters of block {block} have the shapes {tuple(down.shape)} and {tuple(up.shape)}")
        made[name] = state[name].float() + alpha / down.shape[0] * (up @ down)
    return made
