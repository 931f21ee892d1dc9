"""The two protocols of measures that look at a filled picture alone: MUSIQ under each of its heads, and PAR."""

from __future__ import annotations

from inpaintbench.eval.protocols.base import Protocol

_REGIONS, _BAND_RADIUS_PIXELS = ("hole", "frame"), 8

# What stands beside D in Table 5 of re-inpainting self-consistency (2024).
KONIQ = Protocol(
    name="no-reference/koniq",
    regions=_REGIONS,
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    primary=("musiq", "frame"),
    metrics={"musiq": {"head": "koniq", "picture": "composite"}, "par": {}},
)

# With the head that EditBoard's imaging quality uses.
SPAQ = Protocol(
    name="no-reference/spaq",
    regions=_REGIONS,
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    primary=("musiq", "frame"),
    metrics={"musiq": {"head": "spaq", "picture": "composite"}},
)
