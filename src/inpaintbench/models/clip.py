"""OpenAI's CLIP: embeddings of pictures and texts whose cosine similarity measures how well they match.

Radford et al., "Learning Transferable Visual Models From Natural Language Supervision", ICML 2021. The layers and the tokens are
those of the package ``open_clip`` (MIT), the parameters OpenAI's own archives, checked by their SHA-256 before they are opened;
no function of that package that downloads is called. Resizing pictures is left to the caller.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from inpaintbench.catalogue import unknown_name
from inpaintbench.compute import Compute
from inpaintbench.errors import MissingExtraError, NotMeasurable, UnknownNameError
from inpaintbench.models import torch_networks, weights

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
    if name not in NETWORKS:
        raise UnknownNameError(unknown_name("network of CLIP", name, list(NETWORKS)))
    return NETWORKS[name]


def image_network(name: str, compute: Compute) -> Any:
    """Load the image encoder: normalised ``float32[N, 3, side, side]`` -> embeddings ``float32[N, length]``, not normalised.

    Raises:
        UnknownNameError: no such network.
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch or the package ``open_clip_torch`` is not installed.
    """
    return _network(_IMAGE_BUILDERS, shape_of(name), compute)


def text_network(name: str, compute: Compute) -> Any:
    """Load the text encoder: ``tokens`` padded with zeros, ``int64[N, 77]`` -> embeddings ``float32[N, length]``.

    Raises the errors of ``image_network``.
    """
    return _network(_TEXT_BUILDERS, shape_of(name), compute)


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


Translation = Callable[[torch_networks.State], torch_networks.State]


@lru_cache(maxsize=8)
def _builder(build: Callable[[Shape], Any], shape: Shape) -> Callable[[], Any]:
    """Builder of a network; cached, since it is part of the key of the cache of loaded networks."""
    return partial(build, shape)


_IMAGE_BUILDERS: tuple[Callable[[Shape], Any], Translation] = build_images, _image_parameters
_TEXT_BUILDERS: tuple[Callable[[Shape], Any], Translation] = build_texts, _text_parameters


def _network(part: tuple[Callable[[Shape], Any], Translation], shape: Shape, compute: Compute) -> Any:
    builder = _builder(part[0], shape)
    if compute.random_weights is not None:
        return torch_networks.network(builder, compute, weights_name=shape.weights)
    return _trained(builder, part[1], str(weights.path_of(shape.weights)), str(torch_networks.device_of(compute)))


@lru_cache(maxsize=4)
def _trained(builder: Callable[[], Any], translate: Translation, path: str, device: str) -> Any:
    module, name = builder(), path.rsplit("/", 1)[-1]
    try:
        module.load_state_dict(translate(_archive(path)))  # converts the archive's float16 to the network's float32
    except RuntimeError as error:
        first = (str(error).splitlines() or [""])[0].rstrip(".:")
        raise NotMeasurable(f"{name} holds no parameters of this network: {first}") from error
    return module.eval().requires_grad_(False).to(device)


def _archive(path: str) -> torch_networks.State:
    """Read the tensors of a TorchScript archive, which ``torch_networks.read_state`` cannot; none of its code is run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch has deprecated TorchScript, the published format
        state: torch_networks.State = torch_networks.torch().jit.load(path, map_location="cpu").state_dict()
    return state
