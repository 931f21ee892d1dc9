"""Rule: grades far from the mean on either side, as ITU-R BT.500 rejects observers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, grades_of, share
from inpaintbench.annotate.statistics.recovery import Reals

# Deviations from the mean beyond which a grade is counted: where the grades of a task look normal, and elsewhere.
_NORMAL, _OTHER = 2.0, 20**0.5
# Kurtosis (3 of a normal distribution) between which grades look normal.
_LOOKS_NORMAL = (2.0, 4.0)


class FarGrades(NamedTuple):
    """Grades of each rater far from the mean: ``int64[raters]``."""

    above: npt.NDArray[np.int64]
    below: npt.NDArray[np.int64]
    graded: npt.NDArray[np.int64]
    """Tasks that they graded."""


class Bt500(ScreeningRule):
    """The rejection of observers of ITU-R BT.500 (by kurtosis), to compare with papers that used it.

    A grade is far when it lies 2 standard deviations of its task's grades from their mean, or sqrt(20) where their kurtosis is
    not 2 to 4. Flagged is who has more than ``far`` such grades, of which about as many lie above as below: they differ by less
    than ``lean`` of them. If that were everybody, it is nobody.

    Made for laboratories, it finds erratic observers and lets spammers pass: the far grades of a reversed scale are few and lean
    to a side, one grade for everything is never far, and the mean holds the grades of whoever is judged. ``erratic_ratings`` and
    ``straight_lining`` find these.

    Args:
        far: share of a rater's grades that may be far, 0..1.
        lean: of far grades, difference of the shares above and below from which on a rater is kept, 0..1.
        least: graded tasks before anything is said.
    """

    name = "bt500"
    version = "1"
    title = "Rejected by BT.500"
    only_proposes = "it is there to compare with papers and lets spammers pass"

    def __init__(self, *, far: float = 0.05, lean: float = 0.3, least: int = 10) -> None:
        self.far, self.lean = share(far, name="far"), share(lean, name="lean")
        self.least = at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who would be rejected."""
        said: dict[str, str] = {}
        for _, raters, grades in grades_of(panel):
            counts = far_grades(grades)
            flagged = rejected(counts, far=self.far, lean=self.lean)
            for column in flagged[counts.graded[flagged] >= self.least].tolist():
                above, below = f"{counts.above[column]} far above the mean", f"{counts.below[column]} far below"
                said.setdefault(raters[column], f"of {counts.graded[column]} grades {above} and {below}")
        return [Finding(rater_id, said[rater_id]) for rater_id in panel.of_rater if rater_id in said]


def far_grades(grades: Reals) -> FarGrades:
    """Count the grades of each rater far from the mean of their task.

    Args:
        grades: ``float64[tasks, raters]``; NaN where a rater did not grade a task.
    """
    known = ~np.isnan(grades)
    number = np.maximum(known.sum(axis=1, keepdims=True), 1)
    lead = np.where(known, grades - np.where(known, grades, 0.0).sum(axis=1, keepdims=True) / number, 0.0)
    variance = np.square(lead).sum(axis=1, keepdims=True) / number
    varies = variance > 0  # of equal grades none is far
    kurtosis = (lead**4).sum(axis=1, keepdims=True) / number / np.where(varies, np.square(variance), 1.0)
    factor = np.where((kurtosis >= _LOOKS_NORMAL[0]) & (kurtosis <= _LOOKS_NORMAL[1]), _NORMAL, _OTHER)
    limit = factor * np.sqrt(variance)
    above, below = ((side >= limit) & known & varies for side in (lead, -lead))
    return FarGrades(above.sum(axis=0), below.sum(axis=0), known.sum(axis=0))


def rejected(counts: FarGrades, *, far: float = 0.05, lean: float = 0.3) -> npt.NDArray[np.int64]:
    """Columns of the raters who are rejected, with the constants as in ``Bt500``."""
    both = counts.above + counts.below
    leaning = np.abs(counts.above - counts.below) / np.maximum(both, 1)
    out: npt.NDArray[np.int64] = np.flatnonzero((both > far * counts.graded) & (both > 0) & (leaning < lean))
    return out if len(out) < len(both) else out[:0]
