"""Tables 4 and 5 of the re-inpainting paper, as printed: what its arithmetic is held against."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Judged(NamedTuple):
    """One row of Table 5: scores with their selection frequencies, in per cent."""

    musiq: float
    musiq_chosen: float
    par: float
    par_chosen: float
    ours: float
    ours_chosen: float
    people_chosen: float


# Bin of first masks -> method -> what is printed.
TABLE_5: Mapping[str, Mapping[str, Judged]] = MappingProxyType(
    {
        "0-20%": {
            "DeepFillv2": Judged(64.62, 14, 72.60, 35, 0.2859, 5, 8.72),
            "EdgeConnect": Judged(64.89, 18, 81.39, 16, 0.2911, 2, 5.39),
            "CoModGAN": Judged(65.85, 27, 83.30, 15, 0.2823, 6, 16.91),
            "StableDiffusion": Judged(65.86, 18, 87.58, 11, 0.2760, 73, 45.53),
            "LaMa": Judged(65.61, 23, 74.42, 23, 0.2815, 14, 23.45),
        },
        "20-40%": {
            "DeepFillv2": Judged(61.53, 10, 24.38, 41, 0.2634, 1, 1.23),
            "EdgeConnect": Judged(62.74, 17, 35.04, 16, 0.2789, 0, 1.39),
            "CoModGAN": Judged(65.24, 24, 33.48, 13, 0.2552, 1, 20.67),
            "StableDiffusion": Judged(65.73, 30, 36.72, 11, 0.2382, 97, 58.03),
            "LaMa": Judged(63.94, 19, 30.10, 19, 0.2581, 1, 18.68),
        },
        "40-60%": {
            "DeepFillv2": Judged(58.96, 8, 16.35, 50, 0.2432, 0, 0.60),
            "EdgeConnect": Judged(61.19, 14, 26.99, 3, 0.2670, 0, 0.21),
            "CoModGAN": Judged(64.96, 29, 23.55, 22, 0.2325, 2, 27.61),
            "StableDiffusion": Judged(65.07, 27, 26.88, 12, 0.2089, 98, 59.39),
            "LaMa": Judged(62.18, 22, 23.56, 13, 0.2418, 0, 12.19),
        },
    }
)

# D of synthetic fills by bin of first masks, F2 StableDiffusion, LPIPS, second ratio uniform in 20-60 %.
TABLE_4: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "natural": {"0-20%": 0.2773, "20-40%": 0.2450, "40-60%": 0.2204},
        "blend": {"0-20%": 0.2794, "20-40%": 0.2484, "40-60%": 0.2279},
        "noise": {"0-20%": 0.2795, "20-40%": 0.2480, "40-60%": 0.2208},
    }
)
