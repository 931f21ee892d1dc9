"""Re-inpainting self-consistency: a result is inpainted again under patches of its known pixels, and the two are compared."""

from __future__ import annotations

from collections.abc import Mapping

JOINS: Mapping[str, Mapping[str, str]] = {
    "recipe": {"reinpaint": "inpaintbench.wings.reinpaint.recipe:ReinpaintRecipe"},
    "benchmark": {"reinpaint": "inpaintbench.wings.reinpaint:about.toml"},
    "command of build": {"reinpaint": "inpaintbench.wings.reinpaint.build:build_reinpaint"},
    "metric": {
        "reinpaint_psnr": "inpaintbench.wings.reinpaint.leaves:ReinpaintPsnr",
        "reinpaint_ssim": "inpaintbench.wings.reinpaint.leaves:ReinpaintSsim",
        "reinpaint_lpips": "inpaintbench.wings.reinpaint.leaves:ReinpaintLpips",
        "reinpaint_original_psnr": "inpaintbench.wings.reinpaint.leaves:ReinpaintOriginalPsnr",
        "reinpaint_original_ssim": "inpaintbench.wings.reinpaint.leaves:ReinpaintOriginalSsim",
        "reinpaint_original_lpips": "inpaintbench.wings.reinpaint.leaves:ReinpaintOriginalLpips",
        "reinpaint_known_psnr": "inpaintbench.wings.reinpaint.leaves:ReinpaintKnownPsnr",
        "reinpaint_known_ssim": "inpaintbench.wings.reinpaint.leaves:ReinpaintKnownSsim",
        "reinpaint_known_lpips": "inpaintbench.wings.reinpaint.leaves:ReinpaintKnownLpips",
        "reinpaint_excess_psnr": "inpaintbench.wings.reinpaint.leaves:ReinpaintExcessPsnr",
        "reinpaint_excess_ssim": "inpaintbench.wings.reinpaint.leaves:ReinpaintExcessSsim",
        "reinpaint_excess_lpips": "inpaintbench.wings.reinpaint.leaves:ReinpaintExcessLpips",
    },
    "protocol": {
        "reinpaint/as-published": "inpaintbench.wings.reinpaint:protocols.toml",
        "reinpaint/corrected": "inpaintbench.wings.reinpaint:protocols.toml",
    },
    "layout": {"reinpaint": "inpaintbench.wings.reinpaint.layout:Reinpaint"},
    "command of eval": {
        "run --for reinpainting": "inpaintbench.wings.reinpaint.commands.scoring:score",
        "run --for stability": "inpaintbench.wings.reinpaint.commands.testing:stability",
        "table --for reinpainting": "inpaintbench.wings.reinpaint.commands.scoring:grid",
        "table --for reinpainting-paper": "inpaintbench.wings.reinpaint.commands.testing:paper",
        "table --for selection": "inpaintbench.wings.reinpaint.commands.testing:selection",
        "reinpaint": "inpaintbench.wings.reinpaint.commands:app",
    },
    "options of eval run": {"second pass": "inpaintbench.wings.reinpaint.commands.options:SecondPass"},
    "table of results": {"reinpaint": "inpaintbench.wings.reinpaint.step:TABLE"},
    "former command of eval": {"reinpaint": ""},
}
