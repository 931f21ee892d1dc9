"""CFD: how much was hallucinated where an object was removed, by a program that the user brings."""

from __future__ import annotations

import math

from inpaintbench.errors import Unavailable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, mean_over_clip
from inpaintbench.eval.passes.brought_programs import BroughtProgram
from inpaintbench.view import ItemView

CFD = BroughtProgram(
    "INPAINTBENCH_CFD",
    'writes the CFD of every frame, {"scores": [...]}',
    "the code of CFD has no licence and is not part of this program",
)


class Cfd(SingleRegionMetric):
    """Context-aware feature deviation of what fills the hole, averaged over frames that have one, 0..4; lower is better.

    Yu et al. (OmniPaint), 2025. Its code has no licence, so nothing of it is built here: ``INPAINTBENCH_CFD`` is a command that
    writes ``numbers.json``, ``{"scores": [...]}`` with a number or null for each frame, for frames and their masks
    (docs/metrics.md). Known of the released code: the mask of DINOv2's tokens is off by one, and resized otherwise than the
    picture; an empty mask divides by zero, so such frames are left out here.
    """

    name = "cfd"
    follows = "OmniPaint (no licence file)"
    brings = "a program with its code, `INPAINTBENCH_CFD`"
    version = "1"
    diagnostic = "it knows no truth, and a flat fill has no part that could be taken for an object"
    higher_is_better = False
    decimals = 4
    bounds = (0.0, 4.0)
    needs = ("composite", "hole")

    @staticmethod
    def state() -> str:
        """The command that the user brought, with its files."""
        return CFD.state()

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames with a hole; those that the program gives no number for are left out and counted.

        Raises:
            NotMeasurable: there is no program, or it fails.
        """
        with_hole = view.hole.any(axis=(1, 2))
        if not with_hole.any():
            return Measurement(None, "no frame has a hole")
        written = CFD.numbers(
            view.composite[with_hole], view.hole[with_hole], fps=view.fps, item_id=view.item_id
        ).get("scores")  # fmt: skip
        count = int(with_hole.sum())
        if not isinstance(written, list) or len(written) != count or not all(map(_is_score, written)):
            raise Unavailable(f"the program of {CFD.variable} wrote no list of {count} scores of 0..4 or null")
        values = [float(value) for value in written if value is not None]
        found = mean_over_clip(values, parts="frames", missing="the program has a score for no frame")
        return Measurement(found.value, found.reason, {**found.details, "frames_without_value": view.frames - len(values)})


def _is_score(value: object) -> bool:
    return value is None or (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 4
    )
