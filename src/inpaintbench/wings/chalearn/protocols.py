"""Protocols of ChaLearn LAP's challenges of 2018, each as it was published and corrected, and what else their tasks ask for."""

from __future__ import annotations

import math

from inpaintbench.catalogue import Deviation
from inpaintbench.eval.judging import Choice, Questions, Scale
from inpaintbench.eval.protocols.base import POOLED, SSIM_VARIANTS, Constant, Protocol, mean_of_decibels
from inpaintbench.eval.protocols.further import judged

_WANG: dict[str, Constant] = {"data_range": 1.0, "sigma": 1.5, "window_pixels": 11, "k1": 0.01, "k2": 0.03}
# Of scikit-image in 2018, whose Gaussian reached four standard deviations whatever the window was.
DSSIM_PUBLISHED: dict[str, Constant] = {**_WANG, "taps": 13, "ddof": 1}
# Of Wang et al., 2004.
DSSIM_TODAY: dict[str, Constant] = {**_WANG, "taps": 11, "ddof": 0}
# The challenge ran a stacked hourglass on what participants sent in; `--pose` names another estimator than this one.
_POSE = "keypoint_rcnn"

# Track 1, WCCI 2018. Pictures are measured whole, as they were sent in, also where nothing was missing. The scorer was not
# published: that DSSIM is made as in track 2, and that distances are those to the annotation (the text speaks of "original
# joints" and of a method run "before and after"), is our reading.
HUMANS_AS_PUBLISHED = Protocol(
    name="humans/as-published",
    regions=("frame",),
    primary=("mse", "frame"),
    composite=False,
    metrics={
        "mse": {},
        "dssim": DSSIM_PUBLISHED,
        "wnjd": {"pose": _POSE, "reference": "annotation", "missing_joints": "leave_out"},
    },
    follows="the paper of ChaLearn LAP 2018, track 1; its scorer was not published",
    deviations=(
        Deviation(
            "DSSIM",
            "not stated",
            "that of track 2: 13 taps, window of 11, range 1",
            "with 11 taps and the population's covariance, as Wang et al. have it, 0.0968 for 0.0965 on one pair of pictures",
        ),
        Deviation(
            "joints that WNJD compares with",
            'the text says "original joints" and also "before and after"',
            "the annotation; `humans/corrected` takes those found in the original",
            "an estimator's own errors count as the method's: a perfect copy does not score 0",
        ),
    ),
)

# Known pixels are those of the original, DSSIM has the window that its constants are made for, and joints are compared with those
# that the same estimator finds in the original: a perfect copy scores 0, and a joint that was made unfindable counts as lost.
HUMANS_CORRECTED = Protocol(
    name="humans/corrected",
    regions=("frame", "hole"),
    primary=("mse", "hole"),
    metrics={"mse": {}, "dssim": DSSIM_TODAY, "wnjd": {"pose": _POSE, "reference": "estimate", "missing_joints": "diagonal"}},
)

# Track 2, ECCV 2018. Reproduces the numbers of the released code: whole frames in colour, the mean over frames, then over clips.
# A clip with another number of frames than the truth, like one that is not there, is skipped, so a method loses nothing by
# leaving it out; the paper's tables print this DSSIM as "SSIM" and rank it the wrong way round, as ranks then do, and cut
# mean places off.
DECAPTION_AS_PUBLISHED = Protocol(
    name="decaption/as-published",
    regions=("frame",),
    primary=("mse", "frame"),
    composite=False,
    metrics={"mse": {}, "psnr": mean_of_decibels("keep"), "dssim": DSSIM_PUBLISHED},
    ranked_against=("dssim",),
    mean_places="truncated",
    follows="the released scorer of ChaLearn LAP 2018, track 2",
    deviations=(
        Deviation(
            "coding of clips",
            "predictions are H.264 of any kind, the truth is H.264 of 100 kbit/s",
            "predictions are kept without loss; the truth is the dataset's (`build decaption --form challenge`: 100 kbit/s)",
            "on lossless datasets nothing of the error is the codec's",
        ),
    ),
)

# Beside whole frames the pixels under the text, DSSIM with the window that its constants are made for, and PSNR of the error
# pooled over a clip, at most 58.92 dB, so that an exact clip counts like any other. Frames are still judged whole: nobody is told
# where the text is, so what is spoilt elsewhere counts.
DECAPTION_CORRECTED = Protocol(
    name="decaption/corrected",
    regions=("frame", "hole"),
    primary=("psnr", "frame"),
    composite=False,
    metrics={"mse": {}, "psnr": POOLED, "dssim": DSSIM_TODAY},
)

# What decaption is about: whether the text can still be read. Texts stay for seconds, and the detector takes most of the time.
DECAPTION_TEXT = Protocol(
    name="decaption/text",
    regions=("hole",),
    primary=("residual_text", "hole"),
    composite=False,
    metrics={"residual_text": {"frame_step": 5, "longer_side": 544, "score_threshold": 0.6}},
)

# Track 3, WCCI 2018. Reproduces the numbers of the released code: grey levels of the whole picture, SSIM with a range of 2 (the
# library's guess for float images, for which it takes -1..1), predictions of another size brought to the truth's by the nearest
# pixel, and the worst scores for predictions that are missing or cannot be read.
FINGERPRINT_AS_PUBLISHED = Protocol(
    name="fingerprint/as-published",
    regions=("frame",),
    primary=("mse", "frame"),
    colours="grey",
    resize="nearest",
    metrics={"mse": {}, "psnr": mean_of_decibels("keep"), "ssim": SSIM_VARIANTS["devil"]},
    missing={"mse": math.inf, "psnr": 0.0, "ssim": 0.0},
    mean_places="truncated",
    follows="the released scorer of ChaLearn LAP 2018, track 3",
    deviations=(
        Deviation(
            "size of the comparison",
            "275x400, whatever the truth's is",
            "the truth's",
            "none for prints of 275x400, which `build fingerprint` makes by default",
        ),
        Deviation(
            "files",
            "truths and inputs are JPEG",
            "truths without loss; inputs went through JPEG of quality 75 under `--behaviour as-published`",
            "the truth has no JPEG noise that a method would have to hit",
        ),
    ),
)

# SSIM with the range that intensities have, PSNR of at most 58.92 dB, so that a perfect print counts like any other, and no
# number where there is no prediction.
FINGERPRINT_CORRECTED = Protocol(
    name="fingerprint/corrected",
    regions=("frame",),
    primary=("psnr", "frame"),
    colours="grey",
    metrics={"mse": {}, "psnr": POOLED, "ssim": SSIM_VARIANTS["uniform_7"]},
)

_RESOLUTION = {"pixels_per_inch": 500.0}
_MATCHING = {"reach_pixels": 8.0, "angle_degrees": 15.0, **_RESOLUTION}

# What examiners and matchers go by: minutiae, and the direction and frequency of ridges.
FINGERPRINT_RIDGES = Protocol(
    name="fingerprint/ridges",
    regions=("frame",),
    primary=("minutiae", "frame"),
    colours="grey",
    metrics={
        **dict.fromkeys(("minutiae", "minutiae_precision", "minutiae_recall"), _MATCHING),
        "orientation_rmsd": _RESOLUTION,
        "ridge_frequency_error": {"grid_pixels": 16.0, **_RESOLUTION},
    },
)

# A model of the user's answers what is left of the text.
JUDGE_DECAPTION = judged("decaption")


QUESTIONS = Questions(
    shown="Each picture shows one moment of a clip twice. Left: the clip with text drawn on it. Right: the result of a program "
    "that was to remove the text.",
    questions=(
        Choice(
            name="text",
            kind="choice",
            text="In the right halves, what is left of the text that was drawn on the clip?",
            values={"nothing": 1.0, "traces": 0.5, "readable text": 0.0},
        ),
        Scale(
            name="natural",
            kind="scale",
            text="How natural does the place look where the text was? 1 is clearly wrong, 5 cannot be told from a photograph.",
            steps=5,
        ),
    ),
)
