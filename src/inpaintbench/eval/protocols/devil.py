"""The two protocols of DEVIL, CVPR 2022: as the released code scores, and corrected."""

from __future__ import annotations

from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.regions import REGIONS

_BAND_RADIUS_PIXELS = 8
"""DEVIL measures no band; at 832x480 this is wide enough to hold a seam and narrow enough to be about nothing else."""

AS_PUBLISHED = Protocol(
    name="devil/as-published",
    regions=REGIONS,
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    metrics={
        "psnr": {"data_range": 1.0, "infinite": "largest_finite"},
        # The library's guess for float images, for which it takes -1..1.
        "ssim": {"data_range": 2.0, "window_pixels": 7, "k1": 0.01, "k2": 0.03, "ddof": 1},
        "mse": {},
        "pcons": {
            "patch_pixels": 50,
            "first_offset_pixels": -20,
            "last_offset_pixels": 19,
            "random_patch_seed": 1234,
            "data_range": 1.0,
            "infinite": "largest_finite",
        },
    },
)
"""Reproduces the numbers of the released code for the whole frame (PCons: for the hole), including its SSIM range of 2, its
lopsided PCons search and infinite items that count as the largest finite one. Frames without a hole, which stop that code in the
middle of PCons, are left out."""

CORRECTED = Protocol(
    name="devil/corrected",
    regions=REGIONS,
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    metrics={
        "psnr": {"data_range": 1.0, "infinite": "count"},
        "ssim": {"data_range": 1.0, "window_pixels": 7, "k1": 0.01, "k2": 0.03, "ddof": 1},
        "mse": {},
        "pcons": {
            "patch_pixels": 50,
            "first_offset_pixels": -20,
            "last_offset_pixels": 20,
            "random_patch_seed": 1234,
            "data_range": 1.0,
            "infinite": "count",
        },
    },
)
"""SSIM with the range that intensities have, a symmetric PCons search, and infinite values counted apart. The default."""
