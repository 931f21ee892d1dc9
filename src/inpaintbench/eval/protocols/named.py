"""Protocols with the columns of published benchmarks, by the code that these released, for a look beside the printed numbers."""

from __future__ import annotations

from collections.abc import Mapping

from inpaintbench.catalogue import Deviation
from inpaintbench.eval.protocols.base import ALEX, SSIM_VARIANTS, Constant, Protocol, mean_of_decibels
from inpaintbench.eval.protocols.published import LEGACY

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
