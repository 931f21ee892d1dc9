"""The protocols of metrics whose networks users bring as programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inpaintbench.deviations import Deviation
from inpaintbench.eval.protocols.base import Constant, Protocol

_BAND_RADIUS_PIXELS = 8


def _protocol(name: str, metrics: Mapping[str, Mapping[str, Constant]], **further: Any) -> Protocol:
    return Protocol(
        name=f"brought/{name}", regions=("frame",), band_radius_pixels=_BAND_RADIUS_PIXELS, composite=False, metrics=metrics,
        primary=("remove", "frame"), **further,
    )  # fmt: skip


AS_PUBLISHED = _protocol(
    "as-published",
    {
        "remove": {"rule": "as-published", "crop": True},
        "cfd": {},
        "dover": {},
        "jedi": {"estimate": "biased"},
        "fvmd": {"rule": "as-published"},
    },
    follows="the released code of each metric: ReMOVE's `remove`, OmniPaint's `cfd`, DOVER's `dover`, JEDi's `jedi`, and FVMD's "
    "`fvmd`",
    deviations=(
        Deviation(
            "networks",
            "part of the released code",
            "programs that the user brings",
            "what a program does is the user's; everything before and after it is as published",
        ),
    ),
)

CORRECTED = _protocol(
    "corrected",
    {
        "remove": {"rule": "corrected", "crop": True},
        "cfd": {},
        "dover": {},
        "jedi": {"estimate": "unbiased"},
        "fvmd": {"rule": "corrected"},
    },
)
