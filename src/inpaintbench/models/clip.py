"""CLIP of OpenAI: pictures and texts as vectors whose cosine says how well they fit together.

Radford et al., "Learning Transferable Visual Models From Natural Language Supervision", ICML 2021. The layers and the tokens are
those of the package ``open_clip`` (MIT), the parameters OpenAI's own archives, checked by their SHA-256 before they are opened;
nothing of that package that could fetch anything is called. How pictures come to their size is the caller's business.
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

# Of the channels in 0..1, that pictures are brought to.
MEAN, DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
# Of a text, with the marks of its beginning and its end.
MOST_TOKENS = 77
_VOCABULARY = 49408
_HEAD_WIDTH = 64
# Entries of the archives that neither part of the network has.
_NO_PARAMETERS = ("input_resolution", "context_length", "vocab_size", "logit_scale")


@dataclass(frozen=True)
class Shape:
    """What one network is made of."""

    weights: str
    """The entry of ``weights.toml``."""
    length: int
    """Of the vectors of pictures and texts."""
    layers: int
    width: int
    patch_pixels: int
    text_layers: int
    text_width: int
    side_pixels: int = 224
    """Of the square pictures that go in."""


# By the names in publications.
NETWORKS: Mapping[str, Shape] = {
    "ViT-B/32": Shape("clip-vit-b-32", 512, layers=12, width=768, patch_pixels=32, text_layers=12, text_width=512),
    "ViT-L/14": Shape("clip-vit-l-14", 768, layers=24, width=1024, patch_pixels=14, text_layers=12, text_width=768),
}


def shape_of(name: str) -> Shape:
    """The network ``name``.

    Raises:
        UnknownNameError: there is none; the text suggests the nearest.
    """
    if name not in NETWORKS:
        raise UnknownNameError(unknown_name("network of CLIP", name, list(NETWORKS)))
    return NETWORKS[name]


def image_network(name: str, compute: Compute) -> Any:
    """The part for pictures, ready to run: normalised ``float32[N, 3, side, side]`` -> ``float32[N, length]``, of any length.

    Raises:
        UnknownNameError: no such network.
        NotMeasurable: its weights are missing, damaged or others.
        MissingExtraError: PyTorch or the package ``open_clip_torch`` is not installed.
    """
    return _network(_IMAGE_BUILDERS, shape_of(name), compute)


def text_network(name: str, compute: Compute) -> Any:
    """The part for texts, ready to run: ``int64[N, 77]`` as ``tokens`` gives them, zeros behind -> ``float32[N, length]``.

    Raises:
        As ``image_network``.
    """
    return _network(_TEXT_BUILDERS, shape_of(name), compute)


def tokens(text: str) -> list[int]:
    """The numbers that stand for a text, with those of the marks of its beginning and its end.

    Raises:
        MissingExtraError: the package ``open_clip_torch`` is not installed.
    """
    splitter = _tokenizer()
    return [splitter.sot_token_id, *splitter.encode(text), splitter.eot_token_id]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    return open_clip_part("tokenizer").SimpleTokenizer()


def open_clip_part(name: str) -> Any:
    """A module of the package ``open_clip``.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module(f"open_clip.{name}")
    except ImportError as error:
        raise MissingExtraError("CLIP (the package open_clip_torch)", "eval") from error


def build_images(shape: Shape) -> Any:
    """The part for pictures with the names of OpenAI's state dict behind ``visual.``, and made-up parameters."""
    transformer = open_clip_part("transformer")
    return transformer.VisionTransformer(
        image_size=shape.side_pixels, patch_size=shape.patch_pixels, width=shape.width, layers=shape.layers,
        heads=shape.width // _HEAD_WIDTH, mlp_ratio=4.0, output_dim=shape.length, act_layer=transformer.QuickGELU,
    )  # fmt: skip


def build_texts(shape: Shape) -> Any:
    """The part for texts with the names of OpenAI's state dict, and made-up parameters."""
    transformer = open_clip_part("transformer")
    return transformer.TextTransformer(
        context_length=MOST_TOKENS, vocab_size=_VOCABULARY, width=shape.text_width, heads=shape.text_width // _HEAD_WIDTH,
        layers=shape.text_layers, output_dim=shape.length, act_layer=transformer.QuickGELU,
    )  # fmt: skip


def _of_images(state: torch_networks.State) -> torch_networks.State:
    return {name.removeprefix("visual."): value for name, value in state.items() if name.startswith("visual.")}


def _of_texts(state: torch_networks.State) -> torch_networks.State:
    return {name: value for name, value in state.items() if not name.startswith("visual.") and name not in _NO_PARAMETERS}


Translation = Callable[[torch_networks.State], torch_networks.State]


@lru_cache(maxsize=8)
def _builder(build: Callable[[Shape], Any], shape: Shape) -> Callable[[], Any]:
    """Networks are remembered by this, so it has to be one object."""
    return partial(build, shape)


_IMAGE_BUILDERS: tuple[Callable[[Shape], Any], Translation] = build_images, _of_images
_TEXT_BUILDERS: tuple[Callable[[Shape], Any], Translation] = build_texts, _of_texts


def _network(part: tuple[Callable[[Shape], Any], Translation], shape: Shape, compute: Compute) -> Any:
    builder = _builder(part[0], shape)
    if compute.random_weights is not None:
        return torch_networks.network(builder, compute, weights_name=shape.weights)
    return _trained(builder, part[1], str(weights.path_of(shape.weights)), str(torch_networks.device_of(compute)))


@lru_cache(maxsize=4)
def _trained(builder: Callable[[], Any], translate: Translation, path: str, device: str) -> Any:
    made, name = builder(), path.rsplit("/", 1)[-1]
    try:
        made.load_state_dict(translate(_archive(path)))  # copies 16-bit numbers into the 32-bit ones of the network
    except RuntimeError as error:
        first = (str(error).splitlines() or [""])[0].rstrip(".:")
        raise NotMeasurable(f"{name} holds no parameters of this network: {first}") from error
    return made.eval().requires_grad_(False).to(device)


def _archive(path: str) -> torch_networks.State:
    """The tensors of an archive of TorchScript, which ``torch_networks.read_state`` does not read; none of its code is run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # TorchScript is old, and so are the archives
        state: torch_networks.State = torch_networks.torch().jit.load(path, map_location="cpu").state_dict()
    return state
