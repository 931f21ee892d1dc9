"""The protocols of structure distance, by which papers on editing say what stayed where it was."""

from __future__ import annotations

from inpaintbench.eval.protocols.base import Protocol

_BAND_RADIUS_PIXELS = 8

AS_PUBLISHED = Protocol(
    name="structure/as-published",
    regions=("frame",),
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    primary=("structure_distance", "frame"),
    composite=False,
    metrics={"structure_distance": {"rule": "as-published", "backbone": "dino-vit-b-8"}},
    follows="the released code of PIE-Bench, ICLR 2024",
)

CORRECTED = Protocol(
    name="structure/corrected",
    regions=("frame",),
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    primary=("structure_distance", "frame"),
    composite=False,
    metrics={"structure_distance": {"rule": "corrected", "backbone": "dino-vit-b-16"}},
)
