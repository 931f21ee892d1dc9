"""OpenAI's CLIP: embeddings of pictures and texts whose cosine similarity measures how well they match.

Radford et al., "Learning Transferable Visual Models From Natural Language Supervision", ICML 2021. The layers and the tokens are
those of the package ``open_clip`` (MIT), the parameters OpenAI's own archives, checked by their SHA-256 before they are opened;
no function of that package that downloads is called. Resizing pictures is left to the caller.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from inpaintbench.catalogue import known_name
from inpaintbench.compute import Compute
from inpaintbench.errors import MissingExtraError
from inpaintbench.models import torch_networks

# Normalisation of the RGB channels in 0..1, as published with the network.
MEAN, DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
# Longest text, with the start and end tokens.
MOST_TOKENS = 77
# Number of tokens of the published byte-pair encoding.
_VOCABULARY = 49408
# Channels of an attention head, in all published sizes of the network.
_HEAD_WIDTH = 64
# Entries of the archives that are settings, not parameters of either encoder.
_NO_PARAMETERS = ("input_resolution", "context_length", "vocab_size", "logit_scale")


@dataclass(frozen=True)
class Shape:
    """Architecture of one network."""

    weights: str
    """Entry of ``weights.toml``."""
    length: int
    """Dimension of the embeddings."""
    layers: int
    width: int
    patch_pixels: int
    text_layers: int
    text_width: int
    side_pixels: int = 224
    """Side of the square input pictures."""


# Networks by their names in publications.
NETWORKS: Mapping[str, Shape] = {
    "ViT-B/32": Shape("clip-vit-b-32", 512, layers=12, width=768, patch_pixels=32, text_layers=12, text_width=512),
    "ViT-L/14": Shape("clip-vit-l-14", 768, layers=24, width=1024, patch_pixels=14, text_layers=12, text_width=768),
    "ViT-L/14@336px": Shape(
        "clip-vit-l-14-336", 768, layers=24, width=1024, patch_pixels=14, text_layers=12, text_width=768, side_pixels=336
    ),
}


def shape_of(name: str) -> Shape:
    """Look up the architecture of the network ``name``.

    Raises:
        UnknownNameError: no such network; the text suggests the nearest name.
    """
    return NETWORKS[known_name("network of CLIP", name, NETWORKS)]


def image_network(name: str, compute: Compute) -> Any:
    """Load the image encoder: normalised ``float32[N, 3, side, side]`` -> embeddings ``float32[N, length]``, not normalised.

    Raises:
        UnknownNameError: no such network.
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch or the package ``open_clip_torch`` is not installed.
    """
    shape = shape_of(name)
    return torch_networks.network(
        build_images, compute, weights_name=shape.weights, translate=_image_parameters, read=_archive, shape=shape
    )


def text_network(name: str, compute: Compute) -> Any:
    """Load the text encoder: ``tokens`` padded with zeros, ``int64[N, 77]`` -> embeddings ``float32[N, length]``.

    Raises the errors of ``image_network``.
    """
    shape = shape_of(name)
    return torch_networks.network(
        build_texts, compute, weights_name=shape.weights, translate=_text_parameters, read=_archive, shape=shape
    )


def tokens(text: str) -> list[int]:
    """Tokenise a text; the list begins with the start token and ends with the end token.

    Raises:
        MissingExtraError: the package ``open_clip_torch`` is not installed.
    """
    tokenizer = _tokenizer()
    return [tokenizer.sot_token_id, *tokenizer.encode(text), tokenizer.eot_token_id]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    return open_clip_part("tokenizer").SimpleTokenizer()


def open_clip_part(name: str) -> Any:
    """Import a module of the package ``open_clip``.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        return import_module(f"open_clip.{name}")
    except ImportError as error:
        raise MissingExtraError("CLIP (the package open_clip_torch)", "eval") from error


def build_images(shape: Shape) -> Any:
    """Build the image encoder with random parameters; their names are those of OpenAI's state dict behind ``visual.``."""
    transformer = open_clip_part("transformer")
    return transformer.VisionTransformer(
        image_size=shape.side_pixels, patch_size=shape.patch_pixels, width=shape.width, layers=shape.layers,
        heads=shape.width // _HEAD_WIDTH, mlp_ratio=4.0, output_dim=shape.length, act_layer=transformer.QuickGELU,
    )  # fmt: skip


def build_texts(shape: Shape) -> Any:
    """Build the text encoder with random parameters; their names are those of OpenAI's state dict."""
    transformer = open_clip_part("transformer")
    return transformer.TextTransformer(
        context_length=MOST_TOKENS, vocab_size=_VOCABULARY, width=shape.text_width, heads=shape.text_width // _HEAD_WIDTH,
        layers=shape.text_layers, output_dim=shape.length, act_layer=transformer.QuickGELU,
    )  # fmt: skip


def _image_parameters(state: torch_networks.State) -> torch_networks.State:
    return {name.removeprefix("visual."): value for name, value in state.items() if name.startswith("visual.")}


def _text_parameters(state: torch_networks.State) -> torch_networks.State:
    return {name: value for name, value in state.items() if not name.startswith("visual.") and name not in _NO_PARAMETERS}


def _archive(path: str) -> torch_networks.State:
    """Read the tensors of a TorchScript archive, which ``torch_networks.read_state`` cannot; none of its code is run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch has deprecated TorchScript, the published format
        state: torch_networks.State = torch_networks.torch().jit.load(path, map_location="cpu").state_dict()
    return state


# Entry of `weights.toml`.
AESTHETIC_WEIGHTS = "aesthetic-linear-vit-l-14"
# Dimension of the input embeddings, which have unit length.
AESTHETIC_LENGTH = 768


def aesthetic_head(compute: Compute) -> Any:
    """Load LAION's linear head: unit-length embeddings ``float32[N, 768]`` of ViT-L/14 -> ratings ``float32[N, 1]``.

    LAION-AI/aesthetic-predictor (2022, MIT), ``sa_0_4_vit_l_14_linear.pth``: trained on ratings of 1 to 10, not bounded to them.

    Raises:
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch is not installed.
    """
    return torch_networks.network(
        "torch.nn:Linear", compute, weights_name=AESTHETIC_WEIGHTS, in_features=AESTHETIC_LENGTH, out_features=1
    )
