"""Protocols whose numbers papers print: on video inpainting, for benchmarks of masks that came with their clips; on pictures."""

from __future__ import annotations

from inpaintbench.catalogue import Deviation
from inpaintbench.eval.protocols.base import INCEPTION, OCCLUSION, SSIM_VARIANTS, Protocol, mean_of_decibels

# The protocol of E2FGVI, CVPR 2022, which FuseFormer, ProPainter and others share: numbers to set beside theirs, no others.

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
    primary=("psnr", "frame"),
    size=(432, 240),
    hole_dilations=4,
    averaging="all_frames",
    metrics={
        "psnr": mean_of_decibels("keep"),
        "ssim": SSIM_VARIANTS["e2fgvi"],
        "vfid": {"input_low": 0.0, "input_high": 1.0, "batch_norm": "train", "ddof": 1, "levels": "exact"},
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


_FLOW = Deviation(
    "Ewarp",
    "FlowNet2 on frames that went through JPEG; the program that papers point to looks for .jpg where they save .png, and"
    " gives -0 then",
    "DIS optical flow on the frames of the truth, which needs no parameters",
    "other numbers, which compare with none that were printed; papers print them times 1000",
)
_OTHER_SIZES = Deviation(
    "benchmarks of another size than 432x240",
    "do not exist: methods see what is measured",
    "methods see the published frames; truth and results are then brought to 432x240",
    "none for benchmarks of 432x240, which `build benchmark` makes by default",
)

# As `e2fgvi-legacy`, but that the published hole is grown already, so that methods see what they are measured on, and with the
# warping error of Lai et al., ECCV 2018, whose means are over clips whatever their length. FuseFormer's evaluation measures the
# same.
E2FGVI = LEGACY.model_copy(
    update={
        "name": "e2fgvi",
        "hole_dilations": 0,
        "by_item": ("warp_error",),
        "metrics": {
            **LEGACY.metrics,
            "warp_error": {"flow": "dis", "size_multiple": 64, "border": "clamp", **OCCLUSION},
        },
        "follows": "the released evaluation of E2FGVI, CVPR 2022, and FuseFormer, ICCV 2021, and that of the warping error of Lai"
        " et al., ECCV 2018",
        "deviations": (_OTHER_SIZES, *(one for one in LEGACY.deviations if one.what == "levels of a fill"), _FLOW),
    }
)

# The same on another truth: its frames are shrunk by OpenCV's bilinear filter, which has no anti-aliasing.
PROPAINTER: Protocol = E2FGVI.model_copy(
    update={
        "name": "propainter",
        "resample": "opencv-linear",
        "follows": "the released evaluation of ProPainter, ICCV 2023, and that of the warping error of Lai et al., ECCV 2018",
    }
)

# LaMa, WACV 2022, for pictures; of clips every frame counts as one. Reproduces the released evaluator: SSIM with a Gaussian
# window of 11 pixels, sigma 1.5, on frames with zeros around them, LPIPS of VGG, FID of frames shrunk bilinearly without a
# filter before, and the harmonic mean of 1 - LPIPS and 1 - FID / 100. Every picture counts the same. There the method's own
# composite is judged as it is; here known pixels are those of the truth. Its shares of hole area (ten bins from 0 to 100 %) are
# slices of a benchmark, no matter of the protocol.
LAMA = Protocol(
    name="lama",
    regions=("frame",),
    primary=("lpips", "frame"),
    averaging="all_frames",
    metrics={
        "ssim": SSIM_VARIANTS["lama"],
        "lpips": {"net": "vgg", "version": "0.1"},
        "fid": {**INCEPTION, "ddof": 1},
        "lama_f1": {"net": "vgg", "version": "0.1", **INCEPTION, "ddof": 1, "fid_scale": 100.0, "epsilon": 1e-3},
    },
    follows="the released evaluator of LaMa, WACV 2022",
    deviations=(
        Deviation(
            "known pixels",
            "those of the method's own result",
            "those of the truth",
            "methods that change known pixels score better here",
        ),
    ),
)

# Can a linear machine tell the pictures apart? FID with paired and unpaired inception discriminative scores, a tie counting as a
# loss as in the released code. Made for sets of 10,000 and more pictures: with fewer than half as many as the network has
# features any two sets can be told apart.
COMODGAN = Protocol(
    name="comodgan",
    regions=("frame",),
    primary=("fid", "frame"),
    averaging="all_frames",
    metrics={
        "fid": {**INCEPTION, "ddof": 1},
        "p_ids": {**INCEPTION, "cost": 1.0, "ties": "loss"},
        "u_ids": {**INCEPTION, "cost": 1.0},
    },
    follows="the released code of CoModGAN, ICLR 2021",
    deviations=(
        Deviation(
            "Inception network",
            "the file of parameters that came with StyleGAN, run by TensorFlow",
            "the port to PyTorch of the parameters of December 2015, pictures made smaller bilinearly without a filter",
            "not measured",
        ),
    ),
)
