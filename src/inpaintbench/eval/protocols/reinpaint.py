"""The two protocols of re-inpainting self-consistency (2024): as the paper scores, and corrected.

The second method, its constants and the second masks are choices of a run; they stand behind a ``+`` in the fingerprint of its
scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inpaintbench.eval.protocols.base import Constant, Protocol
from inpaintbench.eval.reinpainting.engine import SUBMETRICS
from inpaintbench.eval.reinpainting.leaves import EXCESS, KNOWN, ORIGINAL, SECOND
from inpaintbench.eval.ssim_variants import SSIM_VARIANTS

_BAND_RADIUS_PIXELS = 8
"""Nothing is measured there: D compares whole frames."""


def _metrics(kinds: Sequence[str], *, composited: bool) -> Mapping[str, Mapping[str, Constant]]:
    first: dict[str, Mapping[str, Constant]] = {
        "psnr": {"data_range": 1.0, "infinite": "count"},
        "ssim": SSIM_VARIANTS["uniform_7"],
        "lpips": {"net": "alex", "version": "0.1"},
    }
    return first | {f"{kind}_{name}": {"composited": composited} for kind in kinds for name in SUBMETRICS}


AS_PUBLISHED = Protocol(
    name="reinpaint/as-published",
    regions=("frame",),
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    metrics=_metrics((SECOND, ORIGINAL), composited=False),
)
"""D of equation 1 and the two other objectives of Table 1 (0-1: ``psnr``, ``ssim``, ``lpips`` of the frame), the second result
compared as the second method gives it. That the paper does not composite it follows from its numbers alone: an SSIM of 0.72 with
at most 20 % of the pixels masked. The SSIM window and the trunk of LPIPS are not stated there."""

CORRECTED = Protocol(
    name="reinpaint/corrected",
    regions=("frame",),
    band_radius_pixels=_BAND_RADIUS_PIXELS,
    metrics=_metrics((SECOND, KNOWN, EXCESS, ORIGINAL), composited=True),
)
"""The second result differs from the first in the second hole alone, so that what a second method does to pixels that nobody hid
is no part of D. Beside D stand D over the known area, comparable between first holes of different sizes, and D less that of the
truth under the same second holes, without what the second method itself cannot repeat."""
