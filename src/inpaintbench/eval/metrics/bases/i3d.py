"""What metrics of I3D's features have in common: one answer, for whole frames, and none for a single frame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Unpack

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Comparison, Features, Measurement, SetMetric, TogetherMetric, Where
from inpaintbench.eval.set_distances import frechet
from inpaintbench.models import weights
from inpaintbench.models.i3d import WEIGHTS
from inpaintbench.view import ItemView


class I3dMetric(TogetherMetric):
    """Base of metrics of the features that I3D gives for clips; for the frame alone, since features see far beyond any region."""

    unit = ""
    higher_is_better = False
    decimals = 4
    needs = ("truth", "composite")
    answers = ("frame",)
    fewest_frames = 2
    weights = (WEIGHTS,)

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """The answers for the frame.

        Raises:
            NotMeasurable: there is a single frame, or as ``models.i3d.i3d``.
            MissingExtraError: PyTorch is not installed.
        """
        if not self.regions:
            return [{} for _ in views]
        if views[0].frames < self.fewest_frames:
            raise NotMeasurable("one frame has no next frame")
        return [{"frame": one} for one in self._measured(views)]

    @abstractmethod
    def _measured(self, views: Sequence[ItemView]) -> Sequence[Measurement]:
        """One for each of ``views``."""


class I3dSets(I3dMetric, SetMetric):
    """Base of metrics that compare sets of I3D's vectors by their Frechet distance.

    Args:
        ddof: covariances are divided by n - ``ddof``.
    """

    def __init__(self, *, ddof: int, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.ddof = ddof

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The distance between the vectors of all composites and those of all true clips."""
        return frechet.compare(sets, clusters, ddof=self.ddof)


def stored_key(kind: str, version: str, constants: Any) -> str:
    """Under which vectors of the truth are kept: everything that decides their numbers."""
    return f"{kind} {version} {weights.named(WEIGHTS).sha256} {constants}"
