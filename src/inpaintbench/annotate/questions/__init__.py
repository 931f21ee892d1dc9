"""Questions for raters; each is a leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.annotate.questions.base import Question

QUESTIONS: Catalogue[type[Question]] = Catalogue(
    "question",
    {
        "scene_motion": "inpaintbench.annotate.questions.of_clips:SceneMotion",
        "camera_motion": "inpaintbench.annotate.questions.of_clips:CameraMotion",
        "keep_reject": "inpaintbench.annotate.questions.of_clips:KeepReject",
        "pairwise": "inpaintbench.annotate.questions.of_methods:Pairwise",
        "best_of": "inpaintbench.annotate.questions.of_methods:BestOf",
        "mean_opinion": "inpaintbench.annotate.questions.of_methods:MeanOpinion",
    },
    base="inpaintbench.annotate.questions.base:Question",
)

__all__ = ["QUESTIONS"]
