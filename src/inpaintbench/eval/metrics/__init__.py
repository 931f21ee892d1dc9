"""Metrics: each measures one prediction in several regions and reduces many measurements to one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.eval.metrics.base import Metric

METRICS: Catalogue[type[Metric]] = Catalogue(
    "metric",
    {
        "psnr": "inpaintbench.eval.metrics.psnr:Psnr",
        "ssim": "inpaintbench.eval.metrics.ssim:Ssim",
        "mse": "inpaintbench.eval.metrics.psnr:Mse",
        "pcons": "inpaintbench.eval.metrics.pcons:Pcons",
        "hole_sharpness": "inpaintbench.eval.metrics.pcons:HoleSharpness",
        "flicker": "inpaintbench.eval.metrics.frame_changes:Flicker",
        "temporal_difference": "inpaintbench.eval.metrics.frame_changes:TemporalDifference",
        "temporal_flickering": "inpaintbench.eval.metrics.frame_changes:TemporalFlickering",
        "warp_error": "inpaintbench.eval.metrics.warp_error:WarpError",
        "lpips": "inpaintbench.eval.metrics.lpips:Lpips",
        "pvcs": "inpaintbench.eval.metrics.i3d:Pvcs",
        "fid": "inpaintbench.eval.metrics.inception:Fid",
        "kid": "inpaintbench.eval.metrics.inception:Kid",
        "vfid": "inpaintbench.eval.metrics.i3d:Vfid",
        "vfid_clips": "inpaintbench.eval.metrics.i3d:VfidClips",
        "p_ids": "inpaintbench.eval.metrics.inception:PIds",
        "u_ids": "inpaintbench.eval.metrics.inception:UIds",
        "lama_f1": "inpaintbench.eval.metrics.inception:LamaF1",
        "dssim": "inpaintbench.eval.metrics.ssim:Dssim",
        "ff_alpha": "inpaintbench.eval.metrics.edits:FfAlpha",
        "ff_beta": "inpaintbench.eval.metrics.edits:FfBeta",
        "semantic_score": "inpaintbench.eval.metrics.edits:SemanticScore",
        "success_rate": "inpaintbench.eval.metrics.clip:SuccessRate",
        "clip_similarity": "inpaintbench.eval.metrics.clip:ClipSimilarity",
        "subject_consistency": "inpaintbench.eval.metrics.dino:SubjectConsistency",
        "background_consistency": "inpaintbench.eval.metrics.clip:BackgroundConsistency",
        "aesthetic_quality": "inpaintbench.eval.metrics.clip:AestheticQuality",
        "imaging_quality": "inpaintbench.eval.metrics.musiq:ImagingQuality",
        "musiq": "inpaintbench.eval.metrics.musiq:MusiqScore",
        "niqe": "inpaintbench.eval.metrics.niqe:Niqe",
        "effect_removed": "inpaintbench.eval.metrics.removal:EffectRemoved",
        "effect_residual": "inpaintbench.eval.metrics.removal:EffectResidual",
        "background_preserved": "inpaintbench.eval.metrics.removal:BackgroundPreserved",
        "rc_s": "inpaintbench.eval.metrics.removal_coherence:RcS",
        "rc_t": "inpaintbench.eval.metrics.removal_coherence:RcT",
        "cmmd": "inpaintbench.eval.metrics.clip:Cmmd",
        "dreamsim": "inpaintbench.eval.metrics.dino:DreamSim",
        "structure_distance": "inpaintbench.eval.metrics.dino:StructureDistance",
        "remove": "inpaintbench.eval.metrics.brought:Remove",
        "cfd": "inpaintbench.eval.metrics.brought:Cfd",
        "dover": "inpaintbench.eval.metrics.brought:Dover",
        "motion_fidelity": "inpaintbench.eval.metrics.brought:MotionFidelity",
        "jedi": "inpaintbench.eval.metrics.brought_sets:Jedi",
        "second_moment": "inpaintbench.eval.metrics.i3d:SecondMoment",
        "fvmd": "inpaintbench.eval.metrics.brought_sets:Fvmd",
        "masked_psnr": "inpaintbench.eval.metrics.blackened:MaskedPsnr",
        "masked_ssim": "inpaintbench.eval.metrics.blackened:MaskedSsim",
        "masked_lpips": "inpaintbench.eval.metrics.blackened:MaskedLpips",
        "masked_mse": "inpaintbench.eval.metrics.blackened:MaskedMse",
        "masked_mae": "inpaintbench.eval.metrics.blackened:MaskedMae",
        "clip_score": "inpaintbench.eval.metrics.clip:ClipScore",
        "clip_neighbours": "inpaintbench.eval.metrics.clip:ClipNeighbours",
        "xpsnr": "inpaintbench.eval.metrics.xpsnr:Xpsnr",
        "judge": "inpaintbench.eval.metrics.judge:Judge",
        "par": "inpaintbench.eval.metrics.brought:Par",
    },
    base="inpaintbench.eval.metrics.base:Metric",
)
