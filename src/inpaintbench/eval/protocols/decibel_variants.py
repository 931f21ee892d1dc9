"""Constants of ``Psnr`` and ``Pcons`` by which decibels are made: as corrected protocols do, and as papers have published."""

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
