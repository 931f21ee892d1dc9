"""First results that no method made: the truth itself, and two kinds of bad fills (section 4.5 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.frozen import source_of
from inpaintbench.types import Frames, Hole, Plain, content_id, item_rng
from inpaintbench.view import composite

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
