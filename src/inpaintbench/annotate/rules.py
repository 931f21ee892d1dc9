"""Catalogue of screening rules, which a study file states by name; their base class and their files lie in ``screening``."""

from __future__ import annotations

from typing import Any

from inpaintbench.catalogue import Catalogue

RULES: Catalogue[Any] = Catalogue(
    "screening rule",
    {
        "failed_gold": "inpaintbench.annotate.screening.failed_gold:FailedGold",
        "unstable_repeats": "inpaintbench.annotate.screening.unstable_repeats:UnstableRepeats",
        "side_bias": "inpaintbench.annotate.screening.side_bias:SideBias",
        "faster_than_clip": "inpaintbench.annotate.screening.faster_than_clip:FasterThanClip",
        "straight_lining": "inpaintbench.annotate.screening.straight_lining:StraightLining",
        "against_others": "inpaintbench.annotate.screening.against_others:AgainstOthers",
        "erratic_ratings": "inpaintbench.annotate.screening.erratic_ratings:ErraticRatings",
        "bt500": "inpaintbench.annotate.screening.bt500:Bt500",
        "circular_triads": "inpaintbench.annotate.screening.circular_triads:CircularTriads",
        "annotator_model": "inpaintbench.annotate.screening.annotator_model:AnnotatorModel",
    },
    base="inpaintbench.annotate.screening.base:ScreeningRule",
)
