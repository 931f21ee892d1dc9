"""The protocol of LaMa, WACV 2022, for pictures; of clips every frame counts as one."""

from __future__ import annotations

from inpaintbench.deviations import Deviation
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.protocols.ssim_variants import SSIM_VARIANTS

# Reproduces the released evaluator: SSIM with a Gaussian window of 11 pixels, sigma 1.5, on frames with zeros around them, LPIPS
# of VGG, FID of frames shrunk bilinearly without a filter before, and the harmonic mean of 1 - LPIPS and 1 - FID / 100. Every
# picture counts the same. There the method's own composite is judged as it is; here known pixels are those of the truth. Its
# shares of hole area (ten bins from 0 to 100 %) are slices of a benchmark, no matter of the protocol.
LAMA = Protocol(
    name="lama",
    regions=("frame",),
    band_radius_pixels=8,
    primary=("lpips", "frame"),
    averaging="all_frames",
    metrics={
        "ssim": SSIM_VARIANTS["lama"],
        "lpips": {"net": "vgg", "version": "0.1"},
        "fid": {"resize": "bilinear", "side_pixels": 299, "ddof": 1},
        "lama_f1": {
            "net": "vgg", "version": "0.1", "resize": "bilinear", "side_pixels": 299, "ddof": 1,
            "fid_scale": 100.0, "epsilon": 1e-3,
        },
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
)  # fmt: skip
