"""Protocols of whole frames, for items without a hole: one that publications could state, and one that forgives nothing else."""

from __future__ import annotations

import math

import pytest

from inpaintbench.eval import protocols
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import POOLED, SSIM_VARIANTS, Protocol, mean_of_decibels

AS_PUBLISHED = Protocol(
    name="whole/as-published",
    regions=("frame",),
    band_radius_pixels=8,
    primary=("mse", "frame"),
    colours="grey",
    resize="nearest",
    metrics={"mse": {}, "psnr": mean_of_decibels("keep"), "ssim": SSIM_VARIANTS["devil"]},
    missing={"mse": math.inf, "psnr": 0.0, "ssim": 0.0},
    mean_places="truncated",
    follows="a publication",
)
"""Gives the worst score to what is missing, and brings what has another size to that of the truth."""
CORRECTED = Protocol(
    name="whole/corrected",
    regions=("frame",),
    band_radius_pixels=8,
    primary=("psnr", "frame"),
    colours="grey",
    metrics={"mse": {}, "psnr": POOLED, "ssim": SSIM_VARIANTS["uniform_7"]},
)


def are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the program find both by name, the second as the usual one where nothing has a hole."""
    added = {AS_PUBLISHED.name: f"{__name__}:AS_PUBLISHED", CORRECTED.name: f"{__name__}:CORRECTED"}
    monkeypatch.setattr(PROTOCOLS, "_addresses", PROTOCOLS.addresses() | added)
    monkeypatch.setattr(protocols, "joined", lambda kind: {"usual": CORRECTED.name})
