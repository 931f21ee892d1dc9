"""Vectors of the FID Inception network, 2048 numbers a frame, for all metrics that compare sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Shared
from inpaintbench.eval.passes.changed_windows import changed_windows
from inpaintbench.eval.values.measurement import Features
from inpaintbench.models import torch_networks, weights
from inpaintbench.models.inception import FEATURES, WEIGHTS, inception
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# `bilinear`: half-pixel centres, no filter before shrinking, in float32; DEVIL, CVPR 2022, and pytorch-fid's network.
RESIZES = ("bilinear",)
_VERSION = "1"
# Of activations, for each pixel of the resized picture.
_BYTES_PER_PIXEL = 150

Vectors = npt.NDArray[np.float32]
Places = Sequence[tuple[Frames, int]]


def inception_vectors(views: Sequence[ItemView], *, resize: str, side_pixels: int) -> list[Features]:
    """The vectors of the composite's frames and of the truth's, each ``float32[frames, 2048]``, for each view.

    A frame that equals the truth's in every pixel has the truth's vector. The result is remembered, so that metrics share it.

    Args:
        views: of one item; the truth is that of the first.
        resize: one of ``RESIZES``, how frames come to the size that the network takes.
        side_pixels: that size, of a square; published 299.

    Raises:
        NotMeasurable: the weights are missing, damaged or others.
        MissingExtraError: PyTorch is not installed.
    """
    composites = [view.composite for view in views]
    key = ("inception", resize, side_pixels)
    features: list[Features] = views[0].shared.once_of(composites, key, lambda: _features(views, composites, side_pixels))
    return features


def _features(views: Sequence[ItemView], composites: Sequence[Frames], side_pixels: int) -> list[Features]:
    truth, shared = views[0].truth, views[0].shared
    key = f"inception/{weights.named(WEIGHTS).sha256}/bilinear/{side_pixels}/{_VERSION}"
    known = shared.stored(key, lambda: _vectors([(truth, index) for index in range(len(truth))], shared, side_pixels))
    places = [
        (view, index)
        for view, composite in enumerate(composites)
        for index, window in enumerate(changed_windows(truth, composite, shared))
        if window is not None
    ]
    new = _vectors([(composites[view], index) for view, index in places], shared, side_pixels)
    predicted = [known.copy() for _ in composites]
    for (view, index), vector in zip(places, new, strict=True):
        predicted[view][index] = vector
    return [Features(rows, known) for rows in predicted]


def _vectors(places: Places, shared: Shared, side_pixels: int) -> Vectors:
    """One vector for each of some frames."""
    if not places:
        return np.zeros((0, FEATURES), np.float32)
    compute = shared.compute
    network = inception(compute)
    height, width = places[0][0].shape[1:3]
    together = max(1, torch_networks.batch_bytes(compute) // (_BYTES_PER_PIXEL * side_pixels**2 + 16 * height * width))
    batches = []
    with torch_networks.running(compute) as device:
        for begin in range(0, len(places), together):
            some = places[begin : begin + together]
            frames = torch_networks.torch().stack([torch_networks.resident(clip, shared, device)[index] for clip, index in some])
            small = torch_networks.torch().nn.functional.interpolate(
                torch_networks.as_pictures(frames), size=(side_pixels, side_pixels), mode="bilinear", align_corners=False
            )
            batches.append(network(2 * small - 1).float())  # -1..1
        # One copy at the end: the processor reads the next frames while the device computes.
        vectors: Vectors = torch_networks.torch().cat(batches).cpu().numpy()
    return vectors
