"""Frames through a network in batches that fit, and what becomes of the vectors that come out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Shared
from inpaintbench.models import torch_networks
from inpaintbench.types import Frames

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
