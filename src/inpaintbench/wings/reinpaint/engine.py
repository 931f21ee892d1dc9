"""D(F1): a first result is inpainted again under K second holes, and the results are compared with it.

"Assessing Image Inpainting via Re-Inpainting Self-Consistency Evaluation" (2024), equation 1: D(F1) = 1/K sum_k d(X1, X2_k)
with X2_k = F2(X1 M2_k, M2_k). Known pixels of X1 are those of the truth.

First results that no method made are the truth itself, and two kinds of bad fills (section 4.5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from inpaintbench import frozen
from inpaintbench.compute import Shared
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Measurement, mean_over_clip
from inpaintbench.eval.scoring.predict import run
from inpaintbench.frozen import source_of
from inpaintbench.lazily import lazily
from inpaintbench.types import Frames, Hole, Plain, content_id, item_rng
from inpaintbench.view import ItemView, composite

cv2 = lazily("cv2")

NATURAL, BLEND, NOISE = "natural", "blend", "noise"
FILLS = (NATURAL, BLEND, NOISE)
# Of intensities in 0..1.
NOISE_SIGMA = 0.5
# Noise is drawn at a sixteenth of the size, so that enlarging blurs it (section 4.5).
NOISE_SHRINK = 16


def blend(truth: Frames, hole: Hole, other: Frames) -> Frames:
    """Another picture of the set in the hole: locally consistent, globally wrong.

    Raises:
        InputError: pictures of different sizes.
    """
    if other.shape != truth.shape:
        raise InputError(f"blend takes pictures of one size, not {other.shape} for {truth.shape}")
    return composite(truth, hole, other)


def noise(
    truth: Frames,
    hole: Hole,
    *,
    rng: np.random.Generator,
    sigma: float = NOISE_SIGMA,
    shrink: int = NOISE_SHRINK,
    clip: bool = True,
) -> Frames:
    """The truth under blurred Gaussian noise in the hole: X + N', N' drawn at 1/16 of the size and enlarged bilinearly.

    Args:
        truth: ``uint8[T, H, W, 3]``.
        hole: ``bool[T, H, W]``.
        rng: of the noise; every frame has its own.
        sigma: of intensities in 0..1, before it is enlarged. Drawing at full size and shrinking by area would divide it by 16.
        shrink: how many times smaller the noise is drawn.
        clip: hold the sum in 0..255; else it wraps around, as in programs that cast without clipping.
    """
    height, width = truth.shape[1:3]
    small = (-(-height // shrink), -(-width // shrink), 3)
    noisy = np.empty_like(truth)
    for target, frame in zip(noisy, truth, strict=True):
        grains = rng.standard_normal(small, dtype=np.float32) * np.float32(255 * sigma)
        levels = np.rint(frame + cv2.resize(grains, (width, height), interpolation=cv2.INTER_LINEAR))
        target[...] = (np.clip(levels, 0, 255) if clip else np.mod(levels, 256)).astype(np.uint8)
    return composite(truth, hole, noisy)


def noise_rng(seed: int, item_id: str) -> np.random.Generator:
    """The generator of the noise of one item."""
    return item_rng(seed, "reinpaint.noise", item_id)


def partners(rows: Sequence[Plain], *, seed: int) -> dict[str, Plain]:
    """Item id -> the row of the item whose truth fills its hole under ``blend``: one of another source and of the same size.

    Items without such a partner are not there. The choice depends on the seed and the items alone, not on their order.
    """
    ordered = sorted(rows, key=lambda row: row["item_id"])
    found = {}
    for row in ordered:
        fitting = [one for one in ordered if _shape(one) == _shape(row) and _source(one) != _source(row)]
        if fitting:
            number = int(item_rng(seed, "reinpaint.blend", row["item_id"]).integers(len(fitting)))
            found[row["item_id"]] = fitting[number]
    return found


def _shape(row: Plain) -> tuple[int, int, int]:
    return row["frames"], row["height"], row["width"]


def _source(row: Plain) -> str:
    return source_of(row) if row.get("source_id") else content_id(row["truth_rgb_sha256"])


# Original with first, original with second, first with second result; the last is D.
OBJECTIVES = ("0-1", "0-2", "1-2")
SUBMETRICS = ("psnr", "ssim", "lpips")
# Where all pictures are compared.
REGION = "frame"
# Sub-metric -> its constants, less its region.
Constants = Mapping[str, Mapping[str, Any]]


def inpaint_again(
    leaf: Any, first: Frames, hole: Hole, *, fill: int, composited: bool, item_id: str = "item", fps: float = 30.0
) -> Frames:
    """X2 = F2(X1 M2, M2), ``uint8[T, H, W, 3]``.

    Args:
        leaf: a method, F2.
        first: X1, ``uint8[T, H, W, 3]``.
        hole: M2, ``bool[T, H, W]``, True = hidden again.
        fill: level of the hidden pixels in what F2 sees, 0..255.
        composited: take the pixels outside ``hole`` from ``first``. The paper's results are as F2 gives them.
        item_id: what F2 may seed its own chance with.
        fps: frames a second of a clip.
    """
    if composited and not hole.any():
        return first
    view = ItemView.of_arrays(item_id=item_id, fps=fps, input=frozen.filled(first, hole, fill=fill), hole=hole)
    second = run(leaf, view)
    if second.shape != first.shape:
        raise InputError(f"method {leaf.name!r} gave frames {second.shape} for {first.shape}; as F2 it has to keep their size")
    return composite(first, hole, second) if composited else second


def distances(
    one: Frames, others: Sequence[Frames], *, metrics: Constants, shared: Shared | None = None
) -> dict[str, list[Measurement]]:
    """d between ``one`` and each of ``others`` over whole frames.

    Args:
        one: ``uint8[T, H, W, 3]``; what the others are measured against.
        others: frames of the same shape.
        metrics: sub-metrics, by their names in the catalogue of metrics, with their constants.
        shared: how networks are run.

    Returns:
        Sub-metric -> one measurement for each of ``others``; of clips the mean over frames.
    """
    shared = shared or Shared()
    everywhere = np.ones(one.shape[:3], np.bool_)
    views = [ItemView.of_arrays(truth=one, composite=other, hole=everywhere, shared=shared) for other in others]
    return {name: _of_views(name, constants, views) for name, constants in metrics.items()}


def _of_views(name: str, constants: Plain, views: Sequence[ItemView]) -> list[Measurement]:
    metric = METRICS.get(name)(regions=(REGION,), band_radius_pixels=1, **constants)
    try:
        return [found[REGION] for found in metric.measure_together(views)]
    except NotMeasurable as error:
        return [Measurement(None, str(error)) for _ in views]


def mean_over_masks(found: Sequence[Measurement]) -> Measurement:
    """D: the mean of d over the K second holes; where one of them has no value there is no mean.

    Infinite values (of PSNR, where a result is repeated exactly) are left out and counted, unless all are infinite. The details
    hold K as ``masks`` and the values as ``values``, infinite ones as None.
    """
    if not found:
        return Measurement(None, "there is no second mask to inpaint again under")
    for one in found:
        if one.value is None:
            return Measurement(None, one.reason)
    values = [float(one.value) for one in found if one.value is not None]
    mean = mean_over_clip(values, parts="masks", missing="", infinite="count")
    kept = [value if math.isfinite(value) else None for value in values]
    return Measurement(mean.value, mean.reason, {**mean.details, "values": kept})


def per_known_area(submetric: str, value: float, first_area: float) -> float | None:
    """D for a picture whose every known pixel could be hidden: without the share P r1 that the first hole takes from M2.

    LPIPS: D / (1 - r1). SSIM: 1 - (1 - D) / (1 - r1). PSNR, a mean squared error in decibels: D + 10 log10(1 - r1). None where
    nothing is known.
    """
    known = 1 - first_area
    if known <= 0:
        return None
    if submetric == "psnr":
        return value + 10 * math.log10(known)
    return 1 - (1 - value) / known if submetric == "ssim" else value / known


def excess(value: float, natural: float) -> float | None:
    """D(F1) - D(truth) under the same second holes: what F2 itself cannot repeat is taken off. None where that is undefined."""
    if math.isinf(value) and math.isinf(natural):
        return 0.0
    return None if math.isinf(natural) else value - natural
