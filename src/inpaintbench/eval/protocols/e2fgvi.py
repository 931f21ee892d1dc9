"""The protocol of E2FGVI, CVPR 2022, which FuseFormer, ProPainter and others share: numbers to set beside theirs, no others."""

from __future__ import annotations

from inpaintbench.deviations import Deviation
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.protocols.decibel_variants import mean_of_decibels
from inpaintbench.eval.protocols.ssim_variants import SSIM_VARIANTS

# Reproduces the released code: frames at 432x240 by Pillow's bicubic filter and holes by the nearest pixel, holes grown four
# times by a 3x3 cross, SSIM with a uniform window of 65 pixels, means over all frames of all clips (a frame without an error
# makes that of the PSNR infinite), and a VFID whose network was left in training mode, so that batch normalization takes its
# moments from the clip itself: never comparable with that of DEVIL. What it cannot reproduce: there the method sees the grown
# hole at 432x240 and its fill, cut to whole levels, is averaged over overlapping windows into fractions of a level before PSNR
# and SSIM (not before VFID). Here a method fills the published hole at the published size in whole levels; what lies around that
# hole is the truth, or, where whole frames were kept, the method's. Truths of another shape than 9:5 are squeezed, as there.
LEGACY = Protocol(
    name="e2fgvi-legacy",
    regions=("frame",),
    band_radius_pixels=8,
    primary=("psnr", "frame"),
    size=(432, 240),
    hole_dilations=4,
    averaging="all_frames",
    metrics={
        "psnr": mean_of_decibels("keep"),
        "ssim": SSIM_VARIANTS["e2fgvi"],
        "vfid": {"input_low": 0.0, "input_high": 1.0, "batch_norm": "train", "ddof": 1},
    },
    follows="the released code of E2FGVI, CVPR 2022",
    deviations=(
        Deviation(
            "what the method sees",
            "frames at 432x240 with the grown hole",
            "the published frames with the published hole; results are brought to 432x240",
            "fills differ by what a method makes of another size and another hole; not measured",
        ),
        Deviation(
            "levels of a fill",
            "cut to whole levels and averaged over overlapping windows into fractions of a level (not for VFID)",
            "whole levels",
            "less than half a level on average; PSNR and SSIM of exact fills differ most",
        ),
        Deviation(
            "ring by which the hole grows",
            "the method's",
            "the truth's, or the method's where whole frames were kept",
            "scores are better here unless the run kept whole frames",
        ),
    ),
)
