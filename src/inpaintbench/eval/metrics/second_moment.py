"""Distance of sets of clips by the second moments of their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from inpaintbench.catalogue import known_name
from inpaintbench.eval.metrics.base import Comparison, Features
from inpaintbench.eval.metrics.i3d import VfidClips
from inpaintbench.eval.set_distances import second_moment
from inpaintbench.eval.set_distances.second_moment import Estimate

# By which JEDi prints its values.
SCALE = 100


class SecondMoment(VfidClips):
    """Squared maximum mean discrepancy, times 100, of I3D's vectors of short windows under the kernel ``(x.y / d)^2``.

    The kernel of ``jedi`` on the network of ``vfid_clips``. Unlike a Frechet distance the unbiased form does not grow as sets
    become smaller, and it is below 0 as often as chance has it. Lower is better; measured for the whole frame alone.

    Args:
        estimate: ``"unbiased"``, or ``"biased"``, which is at least 0.
        constants: those of ``VfidClips``, without ``ddof``.
    """

    name = "second_moment"
    label = "Second moment"
    version = "1"
    decimals = 6

    def __init__(self, *, estimate: Estimate, **constants: Any) -> None:
        super().__init__(ddof=1, **constants)
        known_name("estimate", estimate, get_args(Estimate))
        self.estimate: Estimate = estimate

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The value, with the numbers of vectors in the details."""
        return scaled(second_moment.compare(sets, clusters, estimate=self.estimate))


def scaled(found: Comparison) -> Comparison:
    """A comparison times 100."""
    if found.value is None:
        return found
    scaled_too = {name: SCALE * found.details[name] for name in ("unbiased",) if name in found.details}
    return Comparison(SCALE * found.value, details={**found.details, **scaled_too})
