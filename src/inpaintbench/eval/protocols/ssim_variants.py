"""Constants of ``Ssim`` under which papers have published, by name. The same pictures score differently under each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

Constants = Mapping[str, float | int | str]

_UNIFORM_7: Constants = {
    "data_range": 1.0, "window": "uniform", "window_pixels": 7, "sigma": 0.0, "k1": 0.01, "k2": 0.03, "ddof": 1,
    "padding": "valid",
}  # fmt: skip
_GAUSSIAN_11: Constants = {**_UNIFORM_7, "window": "gaussian", "window_pixels": 11, "sigma": 1.5, "ddof": 0}

# `uniform_7`: the default of scikit-image with the range that intensities have. `devil`: DEVIL, CVPR 2022, whose library guessed
# a range of 2. `wang`: Wang et al., 2004. `e2fgvi`: E2FGVI, CVPR 2022, and those who score with its code. `lama`: LaMa, WACV
# 2022.
SSIM_VARIANTS: Mapping[str, Constants] = MappingProxyType(
    {
        "uniform_7": _UNIFORM_7,
        "devil": {**_UNIFORM_7, "data_range": 2.0},
        "wang": _GAUSSIAN_11,
        "e2fgvi": {**_UNIFORM_7, "window_pixels": 65},
        "lama": {**_GAUSSIAN_11, "padding": "zero"},
    }
)
