"""Protocols with the columns of published benchmarks, by the code that these released, for a look beside the printed numbers."""

from __future__ import annotations

from inpaintbench.deviations import Deviation
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.protocols.variants import ALEX, SSIM_VARIANTS, mean_of_decibels

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
            "printed; of what is not stated (by their order, the input)",
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
