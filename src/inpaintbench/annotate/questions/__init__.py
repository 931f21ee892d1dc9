"""Questions for raters; each is a leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.annotate.questions.base import Question

QUESTIONS: Catalogue[type[Question]] = Catalogue(
    "question",
    {
        "scene_motion": "inpaintbench.annotate.questions.scene_motion:SceneMotion",
        "camera_motion": "inpaintbench.annotate.questions.camera_motion:CameraMotion",
        "keep_reject": "inpaintbench.annotate.questions.keep_reject:KeepReject",
        "pairwise": "inpaintbench.annotate.questions.pairwise:Pairwise",
        "best_of": "inpaintbench.annotate.questions.best_of:BestOf",
        "mean_opinion": "inpaintbench.annotate.questions.mean_opinion:MeanOpinion",
    },
    base="inpaintbench.annotate.questions.base:Question",
)

__all__ = ["QUESTIONS"]
