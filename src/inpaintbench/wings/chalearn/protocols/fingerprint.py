"""The two protocols of fingerprint denoising, ChaLearn LAP track 3, WCCI 2018: as the released code scores, and corrected."""

from __future__ import annotations

import math

from inpaintbench.deviations import Deviation
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.protocols.decibel_variants import POOLED, mean_of_decibels
from inpaintbench.eval.protocols.ssim_variants import SSIM_VARIANTS

# Nothing is measured there: every pixel of a degraded print is to be recovered, so there is no border of a hole.
_BAND_RADIUS_PIXELS = 8

# Reproduces the numbers of the released code: grey levels of the whole picture, SSIM with a range of 2, predictions of another
# size brought to the truth's by the nearest pixel, and the worst scores for predictions that are missing or cannot be read.
AS_PUBLISHED = Protocol(
    name="fingerprint/as-published",
    regions=("frame",),
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    primary=("mse", "frame"),
    colours="grey",
    resize="nearest",
    metrics={
        "mse": {},
        "psnr": mean_of_decibels("keep"),
        # The library's guess for float images, for which it takes -1..1.
        "ssim": SSIM_VARIANTS["devil"],
    },
    missing={"mse": math.inf, "psnr": 0.0, "ssim": 0.0},
    mean_places="truncated",
    follows="the released scorer of ChaLearn LAP 2018, track 3",
    deviations=(
        Deviation(
            "size of the comparison",
            "275x400, whatever the truth's is",
            "the truth's",
            "none for prints of 275x400, which `build fingerprint` makes by default",
        ),
        Deviation(
            "files",
            "truths and inputs are JPEG",
            "truths without loss; inputs went through JPEG of quality 75 under `--behaviour as-published`",
            "the truth has no JPEG noise that a method would have to hit",
        ),
    ),
)

# SSIM with the range that intensities have, PSNR of at most 58.92 dB, so that a perfect print counts like any other, and no
# number where there is no prediction.
CORRECTED = Protocol(
    name="fingerprint/corrected",
    regions=("frame",),
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    primary=("psnr", "frame"),
    colours="grey",
    metrics={
        "mse": {},
        "psnr": POOLED,
        "ssim": SSIM_VARIANTS["uniform_7"],
    },
)

_RESOLUTION = {"pixels_per_inch": 500.0}
_MATCHING = {"reach_pixels": 8.0, "angle_degrees": 15.0, **_RESOLUTION}

# What examiners and matchers go by: minutiae, and the direction and frequency of ridges.
RIDGES = Protocol(
    name="fingerprint/ridges",
    regions=("frame",),
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    primary=("minutiae", "frame"),
    colours="grey",
    metrics={
        "minutiae": _MATCHING,
        "minutiae_precision": _MATCHING,
        "minutiae_recall": _MATCHING,
        "orientation_rmsd": _RESOLUTION,
        "ridge_frequency_error": {"grid_pixels": 16.0, **_RESOLUTION},
    },
)
