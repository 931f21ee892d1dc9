"""Constants of metrics that several protocols share, or that papers have published under one name for many numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from inpaintbench.eval.values.statistics import InfiniteRule

Constants = Mapping[str, float | str | None]

# PSNR of the error that rounding to 8 bits leaves: uniform within half a level, (1/255)^2 / 12 of squared intensity, which is 10
# log10(12 * 255^2) = 58.9226 dB. The truth itself is no nearer to the scene, so nothing is said to be better than this, and a
# perfect copy has a finite value. Two decimals, as it is printed: the last digits of a logarithm differ between machines.
CEILING_DECIBELS = 58.92

# Of the error pooled over a clip, at most the ceiling, so that nothing is infinite and nothing is left out. `keep`: were there
# something, it would stay.
POOLED: Constants = MappingProxyType(
    {"data_range": 1.0, "averaged": "errors", "ceiling_decibels": CEILING_DECIBELS, "infinite": "keep"}
)


def mean_of_decibels(infinite: InfiniteRule) -> Constants:
    """Decibels of each frame (pair of frames), then averaged, as papers have it; an exact one is infinite."""
    return {"data_range": 1.0, "averaged": "decibels", "ceiling_decibels": None, "infinite": infinite}


_UNIFORM_7: Mapping[str, float | int | str] = {
    "data_range": 1.0, "window": "uniform", "window_pixels": 7, "sigma": 0.0, "k1": 0.01, "k2": 0.03, "ddof": 1,
    "padding": "valid",
}  # fmt: skip
_GAUSSIAN_11 = {**_UNIFORM_7, "window": "gaussian", "window_pixels": 11, "sigma": 1.5, "ddof": 0}

# `uniform_7`: the default of scikit-image with the range that intensities have. `devil`: DEVIL, CVPR 2022, whose library guessed
# a range of 2, that of float images of -1..1. `wang`: Wang et al., 2004. `e2fgvi`: E2FGVI, CVPR 2022, and those who score with
# its code. `lama`: LaMa, WACV 2022. `torchmetrics`: the default of that package, 1.6 to 1.9, with which VideoPainter and FiVE
# score. The same pictures score differently under each.
SSIM_VARIANTS: Mapping[str, Mapping[str, float | int | str]] = MappingProxyType(
    {
        "uniform_7": _UNIFORM_7,
        "devil": {**_UNIFORM_7, "data_range": 2.0},
        "wang": _GAUSSIAN_11,
        "e2fgvi": {**_UNIFORM_7, "window_pixels": 65},
        "lama": {**_GAUSSIAN_11, "padding": "zero"},
        "torchmetrics": {**_GAUSSIAN_11, "padding": "mirror"},
    }
)

# Of the warping error, by Lai et al., ECCV 2018.
OCCLUSION = {"occlusion_relative": 0.01, "occlusion_absolute": 0.5, "boundary_relative": 0.01, "boundary_absolute": 0.002}
ALEX = {"net": "alex", "version": "0.1"}
# How pictures come into the network of FID.
INCEPTION: Mapping[str, str | int] = {"resize": "bilinear", "side_pixels": 299}
