"""Metrics: each measures one prediction in several regions and reduces many measurements to one number."""

from inpaintbench.catalogue import Catalogue

METRICS = Catalogue(
    "metric",
    {
        "psnr": "inpaintbench.eval.metrics.psnr:Psnr",
        "ssim": "inpaintbench.eval.metrics.ssim:Ssim",
        "mse": "inpaintbench.eval.metrics.mse:Mse",
        "pcons": "inpaintbench.eval.metrics.pcons:Pcons",
        "hole_sharpness": "inpaintbench.eval.metrics.hole_sharpness:HoleSharpness",
        "flicker": "inpaintbench.eval.metrics.flicker:Flicker",
        "temporal_difference": "inpaintbench.eval.metrics.temporal_difference:TemporalDifference",
        "warp_error": "inpaintbench.eval.metrics.warp_error:WarpError",
        "lpips": "inpaintbench.eval.metrics.lpips:Lpips",
        "pvcs": "inpaintbench.eval.metrics.pvcs:Pvcs",
        "fid": "inpaintbench.eval.metrics.fid:Fid",
        "kid": "inpaintbench.eval.metrics.kid:Kid",
        "vfid": "inpaintbench.eval.metrics.vfid:Vfid",
        "vfid_clips": "inpaintbench.eval.metrics.vfid_clips:VfidClips",
        "p_ids": "inpaintbench.eval.metrics.p_ids:PIds",
        "u_ids": "inpaintbench.eval.metrics.u_ids:UIds",
        "lama_f1": "inpaintbench.eval.metrics.lama_f1:LamaF1",
    },
)
