"""The protocols of object removal: whole predictions, predictions pasted over the input, and clips whose truth nobody has."""

from __future__ import annotations

from collections.abc import Mapping

from inpaintbench.catalogue import Deviation
from inpaintbench.eval.protocols.base import (
    ALEX,
    CEILING_DECIBELS,
    OCCLUSION,
    POOLED,
    SSIM_VARIANTS,
    Constant,
    Protocol,
    mean_of_decibels,
)
from inpaintbench.regions import OBJECT_REGIONS

_REGIONS = ("frame", *OBJECT_REGIONS)
BACKGROUND: Mapping[str, Constant] = {"pixels": "rest", **POOLED}
XPSNR: Mapping[str, Constant] = {"begin": "next", "mean_of_small": False, "ceiling_decibels": CEILING_DECIBELS}
_METRICS: Mapping[str, Mapping[str, Constant]] = {
    "psnr": POOLED,
    "ssim": SSIM_VARIANTS["wang"],
    "flicker": {},
    "warp_error": {"flow": "dis", "size_multiple": 1, "border": "leave_out", **OCCLUSION},
    "lpips": ALEX,
    "dreamsim": {"branch": "dino-vit-b-16"},
    "effect_removed": {},
    "effect_residual": {},
    "background_preserved": BACKGROUND,
    "xpsnr": XPSNR,
}

# Side effects lie outside the hole, so predictions are measured whole; one that was kept without its surroundings has those of
# the input, where the shadow still is.
PAIRED = Protocol(
    name="removal/paired",
    regions=_REGIONS,
    composite=False,
    known_from="input",
    primary=("psnr", "object"),
    metrics=_METRICS,
)

# Nothing outside the hole is taken from a method: what one that only fills the mask can reach.
PASTED = Protocol(
    name="removal/pasted", regions=_REGIONS, known_from="input",
    primary=("psnr", "object"), metrics=_METRICS,
)  # fmt: skip

# Nobody has the truth: networks look at the prediction alone, and what was not to change is compared with the input.
UNPAIRED = Protocol(
    name="removal/unpaired",
    regions=("frame", "rest"),
    composite=False,
    known_from="input",
    primary=("rc_s", "frame"),
    metrics={
        "musiq": {"head": "spaq", "picture": "prediction"},
        "background_preserved": BACKGROUND,
        "rc_s": {"rule": "corrected", "backbone": "dino-vit-b-16"},
        "rc_t": {"rule": "corrected", "backbone": "dino-vit-b-16"},
    },
)

# The same measurements by the constants of the code that others released, for a look beside their numbers.
AS_PUBLISHED = Protocol(
    name="removal/as-published",
    regions=_REGIONS,
    composite=False,
    known_from="input",
    primary=("xpsnr", "object"),
    metrics={
        "background_preserved": {"pixels": "zeroed", **mean_of_decibels("keep")},
        "xpsnr": {"begin": "black", "mean_of_small": True, "ceiling_decibels": None},
        "rc_s": {"rule": "as-published", "backbone": "dino-vit-b-16"},
        "rc_t": {"rule": "as-published", "backbone": "dino-vit-b-16"},
        "cmmd": {"network": "ViT-L/14@336px"},
    },
    follows="the released code of each metric: PIE-Bench's `background_preserved`, FFmpeg's `xpsnr`, PROVE's `rc_s` and `rc_t`, "
    "CMMD's `cmmd`",
    deviations=(
        Deviation(
            "form of the data",
            "pictures and videos of several codecs",
            "frames without loss, as the dataset has them",
            "no noise of a codec; the rules are the same",
        ),
    ),
)
