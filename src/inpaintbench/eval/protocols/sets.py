"""The protocol of metrics that compare sets of items and need fewer of them than a Frechet distance."""

from __future__ import annotations

from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.protocols.devil import CORRECTED as DEVIL

_WINDOWS = {name: value for name, value in DEVIL.metrics["vfid_clips"].items() if name != "ddof"}

CORRECTED = Protocol(
    name="sets/corrected",
    regions=("frame",),
    band_radius_pixels=8,
    primary=("cmmd", "frame"),
    metrics={"cmmd": {"network": "ViT-L/14@336px"}, "second_moment": {**_WINDOWS, "estimate": "unbiased"}},
)
