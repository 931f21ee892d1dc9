"""Metrics: each measures one prediction in several regions and reduces many measurements to one number."""

from inpaintbench.catalogue import Catalogue

METRICS = Catalogue(
    "metric",
    {
        "psnr": "inpaintbench.eval.metrics.psnr:Psnr",
        "ssim": "inpaintbench.eval.metrics.ssim:Ssim",
        "mse": "inpaintbench.eval.metrics.mse:Mse",
        "pcons": "inpaintbench.eval.metrics.pcons:Pcons",
    },
)
