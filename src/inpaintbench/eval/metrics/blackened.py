"""Pixel metrics of pictures in which a mask is black, as editing and inpainting benchmarks have them for one side of a mask.

FiVE (2025) and PIE-Bench (ICLR 2024) blacken the edited object in both pictures and measure the whole of them, which dilutes
errors by the object's share. VideoPainter (SIGGRAPH 2025) blackens the hole of its results alone, so that its masked columns say
mostly how bright the truth is there. Each metric is what its plain form makes of such pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import known_name
from inpaintbench.compute import Shared
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Measurement, Metric
from inpaintbench.eval.metrics.psnr import Mae
from inpaintbench.ranges import AtLeastOne, Whole
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

Black = Literal["prediction", "both"]
Levels = Literal["exact", "videopainter"]


def through_videopainter() -> npt.NDArray[np.uint8]:
    """What VideoPainter's evaluation makes of each level of its truths, ``uint8[256]``: 63 of them become one less.

    Levels go to -1..1 and back in single precision and are cut, not rounded, to whole ones.
    """
    one = np.float32(1)
    scaled = np.arange(256, dtype=np.float32) / np.float32(255)
    back = np.clip((2 * scaled - one) * np.float32(0.5) + np.float32(0.5), 0, one)
    return np.asarray(back * np.float32(255)).astype(np.uint8)


def as_levels(truth: Frames, levels: str) -> Frames:
    """A truth as one of ``Levels`` has it."""
    return truth if levels == "exact" else through_videopainter()[truth]


class _Blackened(Metric):
    """Base: truth and composite with a mask in black, handed to the metric of whole pictures.

    In ``frame`` nothing is black, in ``hole`` the hole, in ``object`` the object. Frames whose mask covers everything are left
    out.

    Args:
        black: ``"prediction"``: in the prediction alone, as VideoPainter has it; ``"both"``: in both pictures, as FiVE has it.
        levels: of the truth: ``"exact"``, or ``"videopainter"``, see ``through_videopainter``.
        stride: of frames that are looked at; FiVE takes every eighth.
        constants: those of the plain metric.
    """

    version = "1"
    follows = "VideoPainter (research only), FiVE (no licence file)"
    diagnostic = "what is black is not looked at, so that a result gains nothing by what it shows there"
    needs = ("truth", "composite")
    answers = ("frame", "hole", "object")
    plain: ClassVar[str]
    """Name of the metric of whole pictures."""

    @classmethod
    def plain_leaf(cls) -> type[Metric]:
        """The metric of that name."""
        return METRICS.get(cls.plain)

    def __init__(
        self,
        *,
        black: Black,
        levels: Levels,
        stride: AtLeastOne,
        regions: tuple[str, ...],
        band_radius_pixels: Whole,
        **constants: Any,
    ) -> None:
        super().__init__(regions=regions, band_radius_pixels=band_radius_pixels)
        self.black = known_name("picture with a black mask", black, get_args(Black))
        self.levels = known_name("levels of the truth", levels, get_args(Levels))
        self.stride = stride
        self.whole = self.plain_leaf()(regions=("frame",), band_radius_pixels=band_radius_pixels, **constants)

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """Those of the plain metric."""
        return cls.plain_leaf().weights_of(constants)

    @property
    def parts(self) -> tuple[str, ...]:
        """Truth and composite, and the masks of its regions."""
        return (*super().parts, *(("hole",) if "hole" in self.regions else ()))

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """What the plain metric gives for each region, and raises; None where every frame is all black."""
        return {region: self._measured(view, region) for region in self.regions}

    def _measured(self, view: ItemView, region: str) -> Measurement:
        truth, ours = as_levels(view.truth[:: self.stride], self.levels), view.composite[:: self.stride]
        if region != "frame":
            mask: Hole = (view.hole if region == "hole" else view.object_mask)[:: self.stride]
            shown = ~mask.all(axis=(1, 2))
            if not shown.any():
                return Measurement(None, f"no frame shows anything but the {region}")
            ours = _black(ours[shown], mask[shown])
            truth = _black(truth[shown], mask[shown]) if self.black == "both" else truth[shown]
        pictures = ItemView.of_arrays(
            shared=Shared(compute=view.shared.compute), truth=truth, composite=ours, hole=np.ones(truth.shape[:3], np.bool_)
        )
        return self.whole.measure(pictures)["frame"]


def _black(frames: Frames, mask: Hole) -> Frames:
    return np.where(mask[..., None], np.uint8(0), frames)


class MaskedPsnr(_Blackened):
    """PSNR of pictures in which a mask is black, in dB; constants as for ``Psnr``.

    With the hole black in the prediction alone, as VideoPainter's Masked_PSNR, a perfect result has a low value.
    """

    name = "masked_psnr"
    label = "Masked PSNR"
    plain = "psnr"
    unit = "dB"
    higher_is_better = True
    decimals = 2
    bounds = (0.0, np.inf)

    def reduce(self, measurements: Any) -> float | None:
        """As ``Psnr``."""
        return self.whole.reduce(measurements)


class MaskedSsim(_Blackened):
    """SSIM of pictures in which a mask is black, in -1..1; constants as for ``Ssim``."""

    name = "masked_ssim"
    label = "Masked SSIM"
    plain = "ssim"
    higher_is_better = True
    decimals = 4
    bounds = (-1.0, 1.0)


class MaskedLpips(_Blackened):
    """LPIPS of pictures in which a mask is black, at least 0; constants as for ``Lpips``."""

    name = "masked_lpips"
    label = "Masked LPIPS"
    plain = "lpips"
    higher_is_better = False
    decimals = 6
    bounds = (0.0, np.inf)


class MaskedMse(_Blackened):
    """Mean squared difference of pictures in which a mask is black, in 0..1."""

    name = "masked_mse"
    label = "Masked MSE"
    plain = "mse"
    higher_is_better = False
    decimals = 6
    bounds = (0.0, 1.0)


class MaskedMae(_Blackened):
    """Mean absolute difference of pictures in which a mask is black, in 0..1."""

    name = "masked_mae"
    label = "Masked MAE"

    @classmethod
    def plain_leaf(cls) -> type[Metric]:
        """Of no protocol by itself, so no metric that can be named."""
        return Mae

    higher_is_better = False
    decimals = 6
    bounds = (0.0, 1.0)
