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


DOVER = BroughtProgram(
    "INPAINTBENCH_DOVER",
    'writes the raw answers of DOVER\'s two branches, {"technical": t, "aesthetic": a}',
    "DOVER's code and parameters are of the S-Lab licence, non-commercial, and not part of this program",
)
# Beyond it a logistic function overflows; below it the value is 0 to 300 digits.
_MOST_LOGIT = 700.0
# Of each branch: weight, mean and deviation.
TECHNICAL, AESTHETIC = (0.6104, 0.1107, 0.07355), (0.3896, -0.08285, 0.03774)


class Dover(SingleRegionMetric):
    """Quality of a clip by DOVER's technical and aesthetic branches together, 0..1; higher is better.

    Wu et al., ICCV 2023. Code and parameters are of the S-Lab licence (non-commercial), so they come from the user:
    ``INPAINTBENCH_DOVER`` is a command that writes ``numbers.json``, ``{"technical": t, "aesthetic": a}``, the raw answers of the
    branches, for a folder of frames (docs/metrics.md). Fused as in the released code:
    sigmoid(.6104 (t - .1107) / .07355 + .3896 (a + .08285) / .03774). The released code draws its fragments without a seed, so
    that two runs differ: the program should seed PyTorch. The raw answers are in the details.
    """

    name = "dover"
    follows = "DOVER (S-Lab, non-commercial)"
    brings = "a program with its code and parameters (S-Lab, non-commercial), `INPAINTBENCH_DOVER`"
    version = "1"
    diagnostic = "it knows no truth, and a frozen fill repeats a frame that may be one of the better ones"
    higher_is_better = True
    decimals = 4
    bounds = (0.0, 1.0)
    needs = ("composite",)

    @staticmethod
    def state() -> str:
        """The command that the user brought, with its files."""
        return DOVER.state()

    def measurement(self, view: ItemView) -> Measurement:
        """The fused value.

        Raises:
            NotMeasurable: there is no program, or it fails.
        """
        written = DOVER.numbers(view.composite, fps=view.fps, item_id=view.item_id)
        raw = [written.get(name) for name in ("technical", "aesthetic")]
        if not all(isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) for value in raw):
            raise Unavailable(f"the program of {DOVER.variable} wrote no numbers technical and aesthetic")
        return Measurement(fused(*raw), details={"technical": raw[0], "aesthetic": raw[1]})  # type: ignore[arg-type]


def fused(technical: float, aesthetic: float) -> float:
    """Both raw answers as one value in 0..1."""
    parts = zip((technical, aesthetic), (TECHNICAL, AESTHETIC), strict=True)
    logit = sum(weight * (value - mean) / deviation for value, (weight, mean, deviation) in parts)
    return 1 / (1 + math.exp(min(-logit, _MOST_LOGIT)))
