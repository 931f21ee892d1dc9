"""Questions for raters; each is a leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.annotate.questions.base import Question

QUESTIONS: Catalogue[type[Question]] = Catalogue(
    "question",
    {
        "scene_motion": "inpaintbench.annotate.questions.leaves:SceneMotion",
        "camera_motion": "inpaintbench.annotate.questions.leaves:CameraMotion",
        "keep_reject": "inpaintbench.annotate.questions.leaves:KeepReject",
        "pairwise": "inpaintbench.annotate.questions.leaves:Pairwise",
        "best_of": "inpaintbench.annotate.questions.leaves:BestOf",
        "mean_opinion": "inpaintbench.annotate.questions.leaves:MeanOpinion",
    },
    base="inpaintbench.annotate.questions.base:Question",
)

__all__ = ["QUESTIONS"]
