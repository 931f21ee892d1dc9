"""JEDi: distance of sets of clips by V-JEPA's features, with a program that the user brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack, get_args

from inpaintbench.catalogue import known_name
from inpaintbench.eval.metrics.base import Array, Comparison, Features, Measurement, SetMetric, Where
from inpaintbench.eval.metrics.i3d import scaled
from inpaintbench.eval.passes.brought_programs import BroughtProgram
from inpaintbench.eval.set_distances import second_moment
from inpaintbench.eval.set_distances.second_moment import Estimate
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

LENGTH = 1280
JEDI = BroughtProgram(
    "INPAINTBENCH_JEDI",
    f"writes V-JEPA's pooled vector of a clip, {LENGTH} numbers",
    "V-JEPA's parameters are CC-BY-NC-4.0 and not part of this program",
)


class Jedi(SetMetric):
    """Squared maximum mean discrepancy, times 100, of V-JEPA's vectors of clips under the kernel ``(x.y / d)^2``.

    Luo et al., ICLR 2025; lower is better. One vector a clip, of the attentive pooler of ViT-H/16's probe; as 100 / d^2 times
    the squared distance of both sets' raw second moments it needs no table of pairs. The network comes from the user, since its
    code and parameters are CC-BY-NC-4.0: ``INPAINTBENCH_JEDI`` is a command that writes ``array.npy``, ``float32[1280]``, for a
    folder of frames (docs/metrics.md). The published form is biased: it grows as clips become fewer.

    Args:
        estimate: ``"biased"``, as published, or ``"unbiased"``.
    """

    name = "jedi"
    label = "JEDi"
    follows = "JEDi (Apache-2.0)"
    brings = "a program with V-JEPA ViT-H (CC-BY-NC-4.0), `INPAINTBENCH_JEDI`"
    version = "1"
    higher_is_better = False
    decimals = 4
    needs = ("truth", "composite")
    answers = ("frame",)

    def __init__(self, *, estimate: Estimate, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        known_name("estimate", estimate, get_args(Estimate))
        self.estimate: Estimate = estimate

    @staticmethod
    def state() -> str:
        """The command that the user brought, with its files."""
        return JEDI.state()

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """One vector each of prediction and truth.

        Raises:
            NotMeasurable: there is no program, or it fails.
        """
        if not self.regions:
            return {}
        ours = self._vector(view, view.composite)
        truth = view.shared.stored(f"jedi {JEDI.state()}", lambda: self._vector(view, view.truth))
        return {"frame": Measurement(None, details={"vectors": 1}, features=Features(ours[None], truth[None]))}

    def _vector(self, view: ItemView, frames: Frames) -> Array:
        return JEDI.array((LENGTH,), frames, fps=view.fps, item_id=view.item_id)

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The value, with the numbers of clips in the details."""
        return scaled(second_moment.compare(sets, clusters, estimate=self.estimate))
