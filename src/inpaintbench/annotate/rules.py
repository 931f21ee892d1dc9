"""Catalogue of screening rules, which a study file states by name; their base class and their files lie in ``screening``."""

from __future__ import annotations

from typing import Any

from inpaintbench.catalogue import Catalogue

RULES: Catalogue[Any] = Catalogue(
    "screening rule",
    {
        "failed_gold": "inpaintbench.annotate.screening.own_answers:FailedGold",
        "unstable_repeats": "inpaintbench.annotate.screening.own_answers:UnstableRepeats",
        "side_bias": "inpaintbench.annotate.screening.own_answers:SideBias",
        "faster_than_clip": "inpaintbench.annotate.screening.own_answers:FasterThanClip",
        "straight_lining": "inpaintbench.annotate.screening.own_answers:StraightLining",
        "against_others": "inpaintbench.annotate.screening.against_raters:AgainstOthers",
        "erratic_ratings": "inpaintbench.annotate.screening.against_raters:ErraticRatings",
        "bt500": "inpaintbench.annotate.screening.against_raters:Bt500",
        "circular_triads": "inpaintbench.annotate.screening.own_answers:CircularTriads",
        "annotator_model": "inpaintbench.annotate.screening.against_raters:AnnotatorModel",
    },
    base="inpaintbench.annotate.screening.base:ScreeningRule",
)
