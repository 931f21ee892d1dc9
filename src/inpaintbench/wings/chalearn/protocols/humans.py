"""The two protocols of inpainting people, ChaLearn LAP track 1, WCCI 2018: as published, and corrected."""

from __future__ import annotations

from inpaintbench.deviations import Deviation
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.wings.chalearn.protocols.decaption import DSSIM_PUBLISHED, DSSIM_TODAY

# The challenge ran a stacked hourglass on what participants sent in; `--pose` names another estimator than this one.
_POSE = "keypoint_rcnn"

# Pictures are measured whole, as they were sent in, also where nothing was missing. The scorer was not published: that DSSIM is
# made as in track 2, and that distances are those to the annotation (the text speaks of "original joints" and of a method run
# "before and after"), is our reading.
AS_PUBLISHED = Protocol(
    name="humans/as-published",
    regions=("frame",),
    band_radius_pixels=8,
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
CORRECTED = Protocol(
    name="humans/corrected",
    regions=("frame", "hole"),
    band_radius_pixels=8,
    primary=("mse", "hole"),
    metrics={"mse": {}, "dssim": DSSIM_TODAY, "wnjd": {"pose": _POSE, "reference": "estimate", "missing_joints": "diagonal"}},
)
