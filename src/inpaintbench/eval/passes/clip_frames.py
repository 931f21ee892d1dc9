"""What CLIP says of every frame of a prediction and of its prompts: once for all metrics that ask in the same way."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from inpaintbench.compute import Compute
from inpaintbench.deviations import Deviation
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.passes.clip_pictures import kept_rows, squares_by_pillow, squares_of_tensor
from inpaintbench.eval.passes.frame_vectors import Vectors, frame_vectors, normalised, unit_length
from inpaintbench.models import torch_networks
from inpaintbench.models.clip import DEVIATION, MEAN, MOST_TOKENS, image_network, shape_of, text_network, tokens
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

SINGLE_PRECISION = Deviation(
    "precision of CLIP",
    "half precision (FP16) on graphics cards, single on processors",
    "single precision everywhere, unless a run asks for less",
    "what a card made there differs in the last printed digits; the difference was not measured",
)
# Of activations, for each number of a token.
_BYTES_PER_NUMBER = 80


def clip_vectors(view: ItemView, *, network: str, preprocess: str, portrait: str) -> Vectors:
    """The vectors of the prediction's frames, of length one, ``float64[T, d]``; remembered, so that metrics share them.

    Args:
        view: needs the prediction.
        network: one of ``inpaintbench.models.clip.NETWORKS``.
        preprocess: one of ``inpaintbench.eval.passes.clip_pictures.PREPROCESSES``.
        portrait: one of ``inpaintbench.eval.passes.clip_pictures.PORTRAITS``.

    Raises:
        NotMeasurable: the weights are missing, damaged or others.
        MissingExtraError: PyTorch or ``open_clip_torch`` is not installed.
    """
    frames = view.prediction
    key = ("clip", network, preprocess, portrait, id(frames))
    # What is remembered holds the frames, so that no other array can get their id meanwhile.
    found: tuple[Frames, Vectors] = view.shared.once(
        key, lambda: (frames, _vectors(frames, view.shared.compute, network, preprocess, portrait))
    )
    return found[1]


def _vectors(frames: Frames, compute: Compute, network: str, preprocess: str, portrait: str) -> Vectors:
    shape, module = shape_of(network), image_network(network, compute)
    side = shape.side_pixels

    def squares(some: Frames) -> Frames:
        return squares_by_pillow(some, side=side)

    def answer(pictures: Any) -> Any:
        square = pictures if preprocess == "pillow" else squares_of_tensor(pictures, side=side)
        return module(normalised(square, MEAN, DEVIATION))

    size = _BYTES_PER_NUMBER * shape.width * (1 + (side // shape.patch_pixels) ** 2)
    prepare = squares if preprocess == "pillow" else None
    found = frame_vectors(kept_rows(frames, portrait=portrait), compute, answer, picture_bytes=size, prepare=prepare)
    return unit_length(found)


def prompt_vector(view: ItemView, which: Literal["source", "target"], *, network: str) -> Vectors:
    """The vector of one of the item's prompts, of length one, ``float64[d]``; each text is encoded once a process.

    Raises:
        NotMeasurable: the item has no such prompt, or CLIP cannot take one so long; or as ``clip_vectors``.
        MissingExtraError: as ``clip_vectors``.
    """
    prompts = view.prompts if view.has("prompts") else None
    text = getattr(prompts, which, None)
    if not text or not text.strip():
        raise NotMeasurable(f"the item has no {which} prompt")
    length = len(tokens(text))
    if length > MOST_TOKENS:
        raise NotMeasurable(
            f"the {which} prompt has {length} tokens with the marks of its beginning and end, CLIP takes {MOST_TOKENS} at most"
        )
    return _text_vector(text, network, view.shared.compute)


@lru_cache(maxsize=1024)
def _text_vector(text: str, network: str, compute: Compute) -> Vectors:
    module, package = text_network(network, compute), torch_networks.torch()
    numbers = tokens(text)
    row = package.zeros((1, MOST_TOKENS), dtype=package.int64)
    row[0, : len(numbers)] = package.tensor(numbers)
    with torch_networks.running(compute) as device:
        vector: Vectors = module(row.to(device)).float().cpu().double().numpy()[0]
    found = unit_length(vector)
    found.flags.writeable = False  # others are given the same array
    return found
