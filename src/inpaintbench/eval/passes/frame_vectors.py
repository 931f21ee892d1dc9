"""Frames through a network in batches that fit, and what becomes of the vectors that come out; CLIP's of frames and prompts.

Frames come to the square pictures that CLIP takes in the ways of publications. ``"pillow"``: CLIP's own, by Pillow's bicubic
filter, which smooths before it shrinks and gives whole levels. ``"transformers"``: the same, that package's slow processor, which
rounds an odd pixel down. ``"tensor"``: that of VBench, bicubic without anti-aliasing on
real numbers, whose overshoot stays. In all the shorter side comes to the side of the square, the longer one to the whole number
below its share, and the middle is kept, an odd pixel rounded half to even in the others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.models import torch_networks
from inpaintbench.models.clip import DEVIATION, MEAN, MOST_TOKENS, image_network, shape_of, text_network, tokens
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

Vectors = npt.NDArray[np.float64]
# Of a frame as it comes: 8 bits, 32 bits, and being scaled.
_BYTES_PER_PIXEL = 48


def frame_vectors(
    frames: Frames,
    shared: Shared,
    answer: Callable[[Any], Any],
    *,
    picture_bytes: int,
    prepare: Callable[[Frames], Frames] | None = None,
) -> Vectors:
    """Return what a network says of every frame.

    Args:
        frames: ``uint8[T, H, W, 3]`` RGB.
        shared: of the item; says where and how it runs, and keeps the frames there.
        answer: ``float32[N, 3, H, W]`` in 0..1 -> ``[N, d]`` or ``[N]``, on the device.
        picture_bytes: about what the activations of one frame take.
        prepare: what becomes of some frames on the processor before.

    Returns:
        ``float64[T, d]`` or ``float64[T]``.
    """
    height, width = frames.shape[1:3]
    compute = shared.compute
    together = max(1, torch_networks.batch_bytes(compute) // (picture_bytes + _BYTES_PER_PIXEL * height * width))
    batches = []
    with torch_networks.running(compute) as device:
        clip: Any = None if prepare else torch_networks.resident(frames, shared, device)
        for some in (slice(begin, begin + together) for begin in range(0, len(frames), together)):
            given = torch_networks.on_device(prepare(frames[some]), device) if prepare else clip[some]
            batches.append(answer(torch_networks.as_pictures(given)).float())
        # One copy at the end: the processor reads the next frames while the device computes.
        vectors: Vectors = torch_networks.torch().cat(batches).cpu().double().numpy()
    return vectors


def unit_length(vectors: Vectors) -> Vectors:
    """``float64[..., d]`` divided by their lengths; a vector of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Vectors = vectors / np.maximum(lengths, 1e-12)
    return unit


def normalised(pictures: Any, mean: tuple[float, ...], deviation: tuple[float, ...]) -> Any:
    """``float32[N, 3, H, W]`` less ``mean``, over ``deviation``, channel by channel."""
    shift, scale = (pictures.new_tensor(values).reshape(1, -1, 1, 1) for values in (mean, deviation))
    return (pictures - shift) / scale


def consistency(vectors: Vectors, *, least_cosine: float = 0.0) -> list[float]:
    """Return how alike a clip stays: for every frame but the first, the mean of its cosines with the first frame and the one
    before.

    VBench (Huang et al., CVPR 2024), whose code lets cosines below 0 count as 0.

    Args:
        vectors: of length one, ``float64[T, d]``.
        least_cosine: what a smaller cosine counts as; -1 takes all as they are.

    Returns:
        ``T - 1`` values in ``least_cosine``..1.

    Raises:
        ValueError: ``least_cosine`` is not in -1..1.
    """
    if not -1 <= least_cosine <= 1:
        raise ValueError(f"least_cosine is {least_cosine}, it must be from -1 to 1")
    with_first = vectors[1:] @ vectors[0]
    with_previous = np.einsum("td,td->t", vectors[1:], vectors[:-1])
    cosines = np.clip(np.stack([with_first, with_previous]), least_cosine, 1)
    return [float(value) for value in cosines.mean(axis=0)]


PREPROCESSES = ("pillow", "transformers", "tensor")
# What is kept of frames that are taller than wide: the bottom square, as in FateZero's and EditBoard's code, or the middle.
PORTRAITS = ("bottom", "centre")


def check_way(preprocess: str, portrait: str) -> None:
    """Raise ``UnknownNameError`` unless both are known."""
    known_name("preprocessing for CLIP", preprocess, PREPROCESSES)
    known_name("part of portrait frames", portrait, PORTRAITS)


def kept_rows(frames: Frames, *, portrait: str) -> Frames:
    """``uint8[T, H, W, 3]`` -> the bottom square of frames that are taller than wide, if that is what is kept."""
    height, width = frames.shape[1:3]
    return frames[:, height - width :] if portrait == "bottom" and height > width else frames


def squares_by_pillow(frames: Frames, *, side: int, down: bool = False) -> Frames:
    """``uint8[T, H, W, 3]`` -> ``uint8[T, side, side, 3]``; ``down``: an odd pixel of the margin is rounded down."""
    height, width = scaled_size(*frames.shape[1:3], side=side)
    top, left = ((length - side) // 2 if down else middle(length, side) for length in (height, width))
    box = (left, top, left + side, top + side)
    scaled = (Image.fromarray(frame).resize((width, height), Image.Resampling.BICUBIC) for frame in frames)
    return np.stack([np.asarray(picture.crop(box)) for picture in scaled])


def squares_of_tensor(pictures: Any, *, side: int) -> Any:
    """``float32[N, 3, H, W]`` -> ``float32[N, 3, side, side]``."""
    height, width = scaled_size(*pictures.shape[-2:], side=side)
    scaled = short_side_scaled(pictures, side=side, mode="bicubic")
    top, left = middle(height, side), middle(width, side)
    return scaled[..., top : top + side, left : left + side]


def short_side_scaled(pictures: Any, *, side: int, mode: str) -> Any:
    """``float32[N, 3, H, W]`` with ``side`` pixels along the shorter side, without anti-aliasing.

    Args:
        pictures: of any size.
        side: pixels.
        mode: "bilinear" or "bicubic".
    """
    size = scaled_size(*pictures.shape[-2:], side=side)
    if size == tuple(pictures.shape[-2:]):
        return pictures
    return torch_networks.torch().nn.functional.interpolate(pictures, size=size, mode=mode, align_corners=False)


def scaled_size(height: int, width: int, *, side: int) -> tuple[int, int]:
    """Height and width with ``side`` pixels along the shorter one; the longer one is cut to a whole number, not rounded."""
    if height <= width:
        return side, int(side * width / height)
    return int(side * height / width), side


def middle(length: int, side: int) -> int:
    """Return where the middle ``side`` of ``length`` pixels begin."""
    return round((length - side) / 2)


# Vectors

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
        preprocess: one of ``inpaintbench.eval.passes.frame_vectors.PREPROCESSES``.
        portrait: one of ``inpaintbench.eval.passes.frame_vectors.PORTRAITS``.

    Raises:
        NotMeasurable: the weights are missing, damaged or others.
        MissingExtraError: PyTorch or ``open_clip_torch`` is not installed.
    """
    frames = view.prediction
    way = {"network": network, "preprocess": preprocess, "portrait": portrait}
    vectors: Vectors = view.shared.once_of(
        [frames], ("clip", *way.values()), lambda: frame_clip_vectors(frames, view.shared, **way)
    )
    return vectors


def frame_clip_vectors(frames: Frames, shared: Shared, *, network: str, preprocess: str, portrait: str) -> Vectors:
    """The vectors of any frames ``uint8[T, H, W, 3]``; arguments and errors as ``clip_vectors``."""
    shape, module = shape_of(network), image_network(network, shared.compute)
    side = shape.side_pixels

    def answer(pictures: Any) -> Any:
        square = squares_of_tensor(pictures, side=side) if preprocess == "tensor" else pictures
        return module(normalised(square, MEAN, DEVIATION))

    prepare = None if preprocess == "tensor" else partial(squares_by_pillow, side=side, down=preprocess == "transformers")
    size = picture_bytes(network)
    found = frame_vectors(kept_rows(frames, portrait=portrait), shared, answer, picture_bytes=size, prepare=prepare)
    return unit_length(found)


def picture_bytes(network: str) -> int:
    """About what the activations of one picture take in a network of CLIP."""
    shape = shape_of(network)
    return _BYTES_PER_NUMBER * shape.width * (1 + (shape.side_pixels // shape.patch_pixels) ** 2)


def prompt_vector(view: ItemView, which: Literal["source", "target", "hole"], *, network: str, cut: bool = False) -> Vectors:
    """The vector of one of the item's prompts, of length one, ``float64[d]``; each text is encoded once a process.

    Args:
        view: of the item.
        which: the prompt.
        network: one of ``inpaintbench.models.clip.NETWORKS``.
        cut: of a text that is too long the first 77 tokens are taken, its end's among those that are left out. CLIP reads a text
            at its highest token, which is then that of the beginning: every such text has the same vector.

    Raises:
        NotMeasurable: the item has no such prompt, or CLIP cannot take one so long; or as ``clip_vectors``.
        MissingExtraError: as ``clip_vectors``.
    """
    prompts = view.prompts if view.has("prompts") else None
    text = getattr(prompts, which, None)
    if not text or not text.strip():
        raise NotMeasurable(f"the item has no {which} prompt")
    length = len(tokens(text))
    if length > MOST_TOKENS and not cut:
        raise NotMeasurable(
            f"the {which} prompt has {length} tokens with the marks of its beginning and end, CLIP takes {MOST_TOKENS} at most"
        )
    return _text_vector(text, network, view.shared.compute)


@lru_cache(maxsize=1024)
def _text_vector(text: str, network: str, compute: Compute) -> Vectors:
    module, package = text_network(network, compute), torch_networks.torch()
    numbers = tokens(text)[:MOST_TOKENS]
    row = package.zeros((1, MOST_TOKENS), dtype=package.int64)
    row[0, : len(numbers)] = package.tensor(numbers)
    with torch_networks.running(compute) as device:
        vector: Vectors = module(row.to(device)).float().cpu().double().numpy()[0]
    found = unit_length(vector)
    found.flags.writeable = False  # others are given the same array
    return found
