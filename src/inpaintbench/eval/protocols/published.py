"""Protocols whose numbers papers print: on video inpainting, for benchmarks of masks that came with their clips; on pictures.

Behind them those with the columns of published benchmarks, by the code that these released, to set beside the printed numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

from inpaintbench.catalogue import Deviation
from inpaintbench.eval.protocols.base import ALEX, INCEPTION, OCCLUSION, SSIM_VARIANTS, Constant, Protocol, mean_of_decibels

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

# PROVE, ACM MM 2026: all columns of its tables. Of these RC-S and RC-T alone are in its released code. The truth of PROVE-M is
# the same place without the object; the clips of PROVE-H have none.
PROVE = Protocol(
    name="prove/as-published",
    regions=("frame",),
    band_radius_pixels=8,
    composite=False,
    known_from="input",
    primary=("rc_s", "frame"),
    metrics={
        "psnr": mean_of_decibels("keep"),
        "ssim": SSIM_VARIANTS["wang"],
        "lpips": ALEX,
        "remove": {"rule": "as-published", "crop": True, "encoder": "sam-vit-h"},
        "cfd": {},
        "rc_s": {"rule": "as-published", "backbone": "dinov2-giant"},
        "rc_t": {"rule": "as-published", "backbone": "dinov2-giant"},
    },
    follows="the tables of PROVE, ACM MM 2026: its released code of RC-S and RC-T, that of ReMOVE, and OmniPaint's CFD",
    deviations=(
        Deviation(
            "PSNR, SSIM, LPIPS",
            "not in the released code, and not stated",
            "means over whole frames: of decibels, of SSIM by a Gaussian window of 11 pixels, of LPIPS of AlexNet",
            "SSIM and LPIPS of other constants differ by more than methods do; check against a row that was printed first",
        ),
        Deviation(
            "PSNR, SSIM and LPIPS of PROVE-H, which has no truth",
            "printed: of what lies outside the masks, against the input",
            "no value",
            "none to compare",
        ),
        Deviation(
            "ReMOVE",
            "whether of crops or of whole frames is not stated",
            "of crops, of the dataset's masks, a mean over frames",
            "not measured",
        ),
        Deviation(
            "predictions of another size than the mask, and frames after the 81st",
            "resized by OpenCV's bilinear filter; left out",
            "not measured at all; counted like the others",
            "none for results of the size and length of PROVE-Bench",
        ),
    ),
)

# torchmetrics', which the code of both names: SSIM by a Gaussian window of 11 pixels, LPIPS of SqueezeNet.
_SSIM, _LPIPS = SSIM_VARIANTS["torchmetrics"], {"net": "squeeze", "version": "0.1"}
_CLIP: Mapping[str, Constant] = {"network": "ViT-L/14", "preprocess": "transformers", "portrait": "centre", "cut": True}
_LIBRARY = Deviation(
    "LPIPS",
    "torchmetrics', whose vectors are divided by the root of their squares and 1e-8",
    "the package lpips', which adds 1e-10 to their lengths",
    "below 1e-5 on stored results with made-up parameters",
)

# What is edited is black in both pictures, so that errors of what is left are averaged over all of it; papers print structure
# distance and LPIPS times 1000, MSE times 10,000, SSIM times 100.
_FIVE: Mapping[str, Constant] = {"black": "both", "levels": "exact", "stride": 8}
FIVE = Protocol(
    name="five/as-published",
    regions=("frame", "object"),
    band_radius_pixels=8,
    composite=False,
    primary=("masked_psnr", "object"),
    metrics={
        "structure_distance": {"rule": "antialiased", "backbone": "dino-vit-b-8", "stride": 8},
        "masked_psnr": {**_FIVE, **mean_of_decibels("keep")},
        "masked_lpips": {**_FIVE, **_LPIPS},
        "masked_mse": _FIVE,
        "masked_ssim": {**_FIVE, **_SSIM},
        "clip_score": {**_CLIP, "rule": "five", "stride": 8},
        "niqe": {"block_pixels": 96, "stride": 8},
        "motion_fidelity": {"rule": "as-published"},
    },
    follows="the released evaluation of FiVE (2025), which is PIE-Bench's for frames",
    deviations=(
        _LIBRARY,
        Deviation(
            "edits of another size",
            "brought to the size of their source by Pillow's bicubic filter",
            "not measured",
            "none for edits of the size of their source",
        ),
        Deviation(
            "tracks of motion fidelity",
            "CoTracker's, of a grid of 55x55 points",
            "those of a program of the user's; the form inside the object's box is left out",
            "what a program does is the user's; everything behind it is as published",
        ),
        Deviation(
            "results as films",
            "their frames are JPEG files, made by ffmpeg; for NIQE those of JPEG files are coded once more",
            "as they decode",
            "not measured; none for results as PNG files",
        ),
        Deviation(
            "FiVE-Acc",
            "Qwen2.5-VL-7B answers three questions of an edit",
            "left out: a protocol of its own asks a model of the user's the questions of the data",
            "five columns fewer",
        ),
    ),
)

# Columns of `frame` are its PSNR, SSIM and so on; those of `hole` the same with "Masked_" before them.
_VPBENCH: Mapping[str, Constant] = {"black": "prediction", "levels": "videopainter", "stride": 1}
VPBENCH = Protocol(
    name="vpbench/as-published",
    regions=("frame", "hole"),
    band_radius_pixels=8,
    composite=False,
    averaging="all_frames",
    by_item=("clip_neighbours",),
    primary=("masked_psnr", "hole"),
    metrics={
        "masked_psnr": {**_VPBENCH, **mean_of_decibels("keep")},
        "masked_ssim": {**_VPBENCH, **_SSIM},
        "masked_lpips": {**_VPBENCH, **_LPIPS},
        "masked_mse": _VPBENCH,
        "masked_mae": _VPBENCH,
        "clip_score": {**_CLIP, "rule": "videopainter", "stride": 1},
        "clip_neighbours": {"network": "ViT-B/32"},
        "vfid": {**LEGACY.metrics["vfid"], "levels": "videopainter"},
    },
    follows="the released evaluation of VideoPainter, SIGGRAPH 2025",
    deviations=(
        _LIBRARY,
        Deviation(
            "mask",
            "grown by a square of 32, 16 or 0 pixels beforehand, as the run's option says",
            "the dataset's",
            "build the benchmark with the grown masks",
        ),
        Deviation(
            "Masked_CLIP_Score",
            "of the hole, by the caption of the whole clip and by that of what fills it",
            "by the latter alone, Masked_Region_CLIP_Score",
            "one column fewer, which the paper does not print",
        ),
    ),
)

IVEBENCH = Protocol(
    name="ivebench/as-published",
    regions=("frame",),
    composite=False,
    primary=("temporal_flickering", "frame"),
    metrics={
        "subject_consistency": {"network": "dino-vit-s-16", "side_pixels": 224, "gif": False, "least_cosine": 0.0},
        "background_consistency": {
            "network": "ViT-B/32", "preprocess": "pillow", "portrait": "centre", "gif": False, "least_cosine": 0.0
        },
        "temporal_flickering": {},
    },
    follows="the released evaluation of IVEBench, ICLR 2026",
    deviations=(
        Deviation(
            "all other columns",
            "of AMT-G, Koala-36M, VideoCLIP-XL-v2, GroundingDINO, CoTracker3 and Qwen2.5-VL-72B",
            "left out",
            "three columns of sixteen",
        ),
    ),
)  # fmt: skip
