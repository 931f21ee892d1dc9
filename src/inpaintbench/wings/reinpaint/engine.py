"""D(F1): a first result is inpainted again under K second holes, and the results are compared with it.

"Assessing Image Inpainting via Re-Inpainting Self-Consistency Evaluation" (2024), equation 1:
D(F1) = 1/K sum_k d(X1, X2_k) with X2_k = F2(X1 M2_k, M2_k). Known pixels of X1 are those of the truth.
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
from inpaintbench.types import Frames, Hole, Plain
from inpaintbench.view import ItemView, composite

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
    views = [ItemView.of_arrays(truth=one, composite=other, hole=_everywhere(one), shared=shared) for other in others]
    return {name: _of_views(name, constants, views) for name, constants in metrics.items()}


def _of_views(name: str, constants: Plain, views: Sequence[ItemView]) -> list[Measurement]:
    metric = METRICS.get(name)(regions=(REGION,), band_radius_pixels=1, **constants)
    try:
        return [found[REGION] for found in metric.measure_together(views)]
    except NotMeasurable as error:
        return [Measurement(None, str(error)) for _ in views]


def _everywhere(frames: Frames) -> Hole:
    return np.ones(frames.shape[:3], np.bool_)


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
