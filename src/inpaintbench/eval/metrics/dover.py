"""DOVER: technical and aesthetic quality of a clip, by a program that the user brings."""

from __future__ import annotations

import math

from inpaintbench.errors import Unavailable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric
from inpaintbench.eval.passes.brought_programs import BroughtProgram
from inpaintbench.view import ItemView

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
