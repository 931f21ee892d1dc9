"""The protocols in which a model of the user's answers questions; none is ever the usual one of a benchmark."""

from __future__ import annotations

from inpaintbench.eval.protocols.base import Protocol


def _protocol(questions: str) -> Protocol:
    return Protocol(
        name=f"judge/{questions}",
        regions=("frame",),
        band_radius_pixels=8,
        primary=("judge", "frame"),
        composite=questions == "inpainting",
        metrics={"judge": {"questions": questions, "moments": 3, "longer_side": 512, "seed": 0}},
    )


REMOVAL, INPAINTING, EDITING, DECAPTION = map(_protocol, ("removal", "inpainting", "editing", "decaption"))
