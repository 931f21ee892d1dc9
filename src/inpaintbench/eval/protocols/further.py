"""Protocols of one kind of measure each: without a truth, of structure, of sets, by programs or models of the user's."""

from __future__ import annotations

from inpaintbench.catalogue import Deviation
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.protocols.devil import CORRECTED as DEVIL

# What stands beside D in Table 5 of re-inpainting self-consistency (2024).
KONIQ = Protocol(
    name="no-reference/koniq",
    regions=("hole", "frame"),
    primary=("musiq", "frame"),
    metrics={"musiq": {"head": "koniq", "picture": "composite"}, "par": {}},
)

# With the head that EditBoard's imaging quality uses.
SPAQ = Protocol(
    name="no-reference/spaq",
    regions=("hole", "frame"),
    primary=("musiq", "frame"),
    metrics={"musiq": {"head": "spaq", "picture": "composite"}},
)

# Papers on editing say by structure distance what stayed where it was.
STRUCTURE_AS_PUBLISHED = Protocol(
    name="structure/as-published",
    regions=("frame",),
    primary=("structure_distance", "frame"),
    composite=False,
    metrics={"structure_distance": {"rule": "as-published", "backbone": "dino-vit-b-8", "stride": 1}},
    follows="the released code of PIE-Bench, ICLR 2024",
)

STRUCTURE_CORRECTED = Protocol(
    name="structure/corrected",
    regions=("frame",),
    primary=("structure_distance", "frame"),
    composite=False,
    metrics={"structure_distance": {"rule": "corrected", "backbone": "dino-vit-b-16", "stride": 1}},
)

# Metrics that compare sets of items and need fewer of them than a Frechet distance.
_WINDOWS = {name: value for name, value in DEVIL.metrics["vfid_clips"].items() if name != "ddof"}
SETS_CORRECTED = Protocol(
    name="sets/corrected",
    regions=("frame",),
    primary=("cmmd", "frame"),
    metrics={"cmmd": {"network": "ViT-L/14@336px"}, "second_moment": {**_WINDOWS, "estimate": "unbiased"}},
)

# Metrics whose networks users bring as programs.
BROUGHT_AS_PUBLISHED = Protocol(
    name="brought/as-published",
    regions=("frame",),
    primary=("remove", "frame"),
    composite=False,
    metrics={
        "remove": {"rule": "as-published", "crop": True, "encoder": "program"},
        "cfd": {},
        "dover": {},
        "jedi": {"estimate": "biased"},
        "fvmd": {"rule": "as-published"},
    },
    follows="the released code of each metric: ReMOVE's `remove`, OmniPaint's `cfd`, DOVER's `dover`, JEDi's `jedi`, and FVMD's "
    "`fvmd`",
    deviations=(
        Deviation(
            "networks",
            "part of the released code",
            "programs that the user brings",
            "what a program does is the user's; everything before and after it is as published",
        ),
    ),
)

BROUGHT_CORRECTED = Protocol(
    name="brought/corrected",
    regions=("frame",),
    primary=("remove", "frame"),
    composite=False,
    metrics={
        "remove": {"rule": "corrected", "crop": True, "encoder": "program"},
        "cfd": {},
        "dover": {},
        "jedi": {"estimate": "unbiased"},
        "fvmd": {"rule": "corrected"},
    },
)


def judged(questions: str) -> Protocol:
    """The protocol of a set of questions that a model of the user's answers; none is ever the usual one of a benchmark."""
    return Protocol(
        name=f"judge/{questions}",
        regions=("frame",),
        primary=("judge", "frame"),
        composite=questions == "inpainting",
        metrics={"judge": {"questions": questions, "moments": 3, "longer_side": 512, "seed": 0}},
    )


JUDGE_REMOVAL, JUDGE_INPAINTING, JUDGE_EDITING = map(judged, ("removal", "inpainting", "editing"))
