"""Protocols whose numbers papers on video inpainting print, for benchmarks of masks that came with their clips."""

from __future__ import annotations

from inpaintbench.deviations import Deviation
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.protocols.e2fgvi import LEGACY

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
            "warp_error": {
                "flow": "dis", "size_multiple": 64, "border": "clamp", "occlusion_relative": 0.01, "occlusion_absolute": 0.5,
                "boundary_relative": 0.01, "boundary_absolute": 0.002,
            },
        },
        "follows": "the released evaluation of E2FGVI, CVPR 2022, and FuseFormer, ICCV 2021, and that of the warping error of Lai"
        " et al., ECCV 2018",
        "deviations": (_OTHER_SIZES, *(one for one in LEGACY.deviations if one.what == "levels of a fill"), _FLOW),
    }
)  # fmt: skip

# The same on another truth: its frames are shrunk by OpenCV's bilinear filter, which has no anti-aliasing.
PROPAINTER: Protocol = E2FGVI.model_copy(
    update={
        "name": "propainter",
        "resample": "opencv-linear",
        "follows": "the released evaluation of ProPainter, ICCV 2023, and that of the warping error of Lai et al., ECCV 2018",
    }
)
