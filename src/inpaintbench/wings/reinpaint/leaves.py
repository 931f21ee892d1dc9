"""The scores of re-inpainting as metrics: names, units and directions for protocols and reports.

Their values come from `eval run --for reinpainting`, which runs a method again; one look at a prediction cannot give them.
"""

from __future__ import annotations

from typing import Unpack

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, Metric, Where
from inpaintbench.view import ItemView
from inpaintbench.wings.reinpaint.engine import SUBMETRICS

# How the names begin: D, objective 0-2, D over the known area, and D less that of the truth.
SECOND, ORIGINAL, KNOWN, EXCESS = "reinpaint", "reinpaint_original", "reinpaint_known", "reinpaint_excess"
KINDS = (SECOND, ORIGINAL, KNOWN, EXCESS)


# Why D says nothing of quality by itself.
DIAGNOSTIC = "a fill that the second method would make itself, flat or blurred, comes back unchanged, whatever the truth is"


class _Again(Metric):
    """Common base of all of them.

    Args:
        composited: pixels outside the second hole are those of the first result; else as the second method gives them.
    """

    version = "1"
    command = "eval run --for reinpainting"
    needs = ()

    def __init__(self, *, composited: bool, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.composited = composited

    def measure(self, view: ItemView) -> dict[str, Measurement]:  # noqa: ARG002 - a second method has to run
        """Nothing.

        Raises:
            NotMeasurable: always.
        """
        raise NotMeasurable(f"measured by `inpaintbench {self.command}`, which inpaints the result again")


class _Decibels(_Again):
    unit, higher_is_better, decimals = "dB", True, 2


class _Similarity(_Again):
    unit, higher_is_better, decimals = "", True, 4


class _Distance(_Again):
    unit, higher_is_better, decimals = "", False, 4


class ReinpaintPsnr(_Decibels):
    """PSNR of a result inpainted again against the result itself, averaged over second holes (D, objective 1-2)."""

    name = "reinpaint_psnr"
    label = "Re-inpainting PSNR"
    diagnostic = DIAGNOSTIC


class ReinpaintSsim(_Similarity):
    """SSIM of a result inpainted again against the result itself, averaged over second holes (D, objective 1-2)."""

    name = "reinpaint_ssim"
    label = "Re-inpainting SSIM"
    diagnostic = DIAGNOSTIC


class ReinpaintLpips(_Distance):
    """LPIPS of a result inpainted again against the result itself, averaged over second holes (D, objective 1-2)."""

    name = "reinpaint_lpips"
    label = "Re-inpainting LPIPS"
    diagnostic = DIAGNOSTIC


class ReinpaintOriginalPsnr(_Decibels):
    """PSNR of a result inpainted again against the truth, averaged over second holes (objective 0-2)."""

    name = "reinpaint_original_psnr"
    label = "Re-inpainting from the original, PSNR"


class ReinpaintOriginalSsim(_Similarity):
    """SSIM of a result inpainted again against the truth, averaged over second holes (objective 0-2)."""

    name = "reinpaint_original_ssim"
    label = "Re-inpainting from the original, SSIM"


class ReinpaintOriginalLpips(_Distance):
    """LPIPS of a result inpainted again against the truth, averaged over second holes (objective 0-2)."""

    name = "reinpaint_original_lpips"
    label = "Re-inpainting from the original, LPIPS"


class ReinpaintKnownPsnr(_Decibels):
    """``reinpaint_psnr`` as if no pixel were exempt from the second holes, D + 10 log10(1 - first hole's share)."""

    name = "reinpaint_known_psnr"
    label = "Re-inpainting by known area, PSNR"
    diagnostic = DIAGNOSTIC


class ReinpaintKnownSsim(_Similarity):
    """``reinpaint_ssim`` as if no pixel were exempt from the second holes, 1 - (1 - D) / (1 - first hole's share)."""

    name = "reinpaint_known_ssim"
    label = "Re-inpainting by known area, SSIM"
    diagnostic = DIAGNOSTIC


class ReinpaintKnownLpips(_Distance):
    """``reinpaint_lpips`` as if no pixel were exempt from the second holes, D / (1 - first hole's share)."""

    name = "reinpaint_known_lpips"
    label = "Re-inpainting by known area, LPIPS"
    diagnostic = DIAGNOSTIC


class ReinpaintExcessPsnr(_Decibels):
    """``reinpaint_psnr`` less that of the truth under the same second holes; 0 = as consistent as the truth."""

    name = "reinpaint_excess_psnr"
    label = "Re-inpainting over natural, PSNR"
    diagnostic = DIAGNOSTIC


class ReinpaintExcessSsim(_Similarity):
    """``reinpaint_ssim`` less that of the truth under the same second holes; 0 = as consistent as the truth."""

    name = "reinpaint_excess_ssim"
    label = "Re-inpainting over natural, SSIM"
    diagnostic = DIAGNOSTIC


class ReinpaintExcessLpips(_Distance):
    """``reinpaint_lpips`` less that of the truth under the same second holes; 0 = as consistent as the truth."""

    name = "reinpaint_excess_lpips"
    label = "Re-inpainting over natural, LPIPS"
    diagnostic = DIAGNOSTIC


def metric_of(objective: str, submetric: str) -> str:
    """The metric that an objective with a sub-metric is stored as: ``0-1`` is the sub-metric itself."""
    return {"0-1": "", "0-2": f"{ORIGINAL}_", "1-2": f"{SECOND}_"}[objective] + submetric


def submetric_of(metric: str) -> str:
    """``lpips`` of ``reinpaint_known_lpips``."""
    return next(name for name in SUBMETRICS if metric == name or metric.endswith(f"_{name}"))
