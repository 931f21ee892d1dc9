"""The protocols of object removal: whole predictions, predictions pasted over the input, and clips whose truth nobody has."""

from __future__ import annotations

from collections.abc import Mapping

from inpaintbench.eval.protocols.base import Constant, Protocol
from inpaintbench.eval.protocols.decibel_variants import POOLED
from inpaintbench.eval.protocols.ssim_variants import SSIM_VARIANTS
from inpaintbench.regions import OBJECT_REGIONS

_BAND_RADIUS_PIXELS = 8
_REGIONS = ("frame", *OBJECT_REGIONS)
_METRICS: Mapping[str, Mapping[str, Constant]] = {
    "psnr": POOLED,
    "ssim": SSIM_VARIANTS["wang"],
    "flicker": {},
    "warp_error": {
        "flow": "dis", "size_multiple": 1, "border": "leave_out", "occlusion_relative": 0.01, "occlusion_absolute": 0.5,
        "boundary_relative": 0.01, "boundary_absolute": 0.002,
    },
    "lpips": {"net": "alex", "version": "0.1"},
}  # fmt: skip

# Side effects lie outside the hole, so predictions are measured whole; one that was kept without its surroundings has those of
# the input, where the shadow still is.
PAIRED = Protocol(
    name="removal/paired",
    regions=_REGIONS,
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    composite=False,
    known_from="input",
    metrics=_METRICS,
)

# Nothing outside the hole is taken from a method: what one that only fills the mask can reach.
PASTED = Protocol(
    name="removal/pasted", regions=_REGIONS, band_radius_pixels=_BAND_RADIUS_PIXELS, known_from="input", metrics=_METRICS
)  # fmt: skip

# Nobody has the truth: networks look at the prediction alone.
UNPAIRED = Protocol(
    name="removal/unpaired",
    regions=("frame",),
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    composite=False,
    known_from="input",
    metrics={"musiq": {"head": "spaq", "picture": "prediction"}},
)
