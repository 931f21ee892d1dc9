"""Rule: grades that follow no quality that others see."""

from __future__ import annotations

import math

import numpy as np

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, grades_of, share
from inpaintbench.annotate.statistics.recovery import FEWEST_RATERS, FLOOR, Reals, recovered

# Standard normal quantile of the upper end of a one-sided 99 % interval.
_NORMAL_99 = 2.3263478740408408


class ErraticRatings(ScreeningRule):
    """Correlation with the quality that the others' grades recover, by the model of ITU-T P.910 and P.913 with a variance floor.

    The quality of each task is recovered from everybody but the rater in question. Flagged is whose correlation lies below
    ``correlation`` with the upper end of its 99 % interval (Fisher's z), or who gives one grade to everything. Panels of fewer
    than 8 are left alone: there the model follows single raters.

    Args:
        correlation: that grades should reach, 0..1.
        least: graded tasks before anything is said.
    """

    name = "erratic_ratings"
    version = "1"
    title = "Grades without a pattern"

    def __init__(self, *, correlation: float = 0.7, least: int = 10) -> None:
        self.correlation = share(correlation, name="correlation")
        self.least = at_least(least, name="least", least=4)

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters whose grades tell little."""
        said: dict[str, str] = {}
        for label, raters, grades in grades_of(panel):
            if len(raters) < FEWEST_RATERS:
                continue
            question = panel.study.question_of[label]
            steps = [value for option in question.parts()[0].options if (value := question.number(option.value)) is not None]
            for rater_id, reason in self._flagged(grades, raters, step=float(np.min(np.diff(sorted(steps))))):
                said.setdefault(rater_id, reason)
        return [Finding(rater_id, said[rater_id]) for rater_id in panel.of_rater if rater_id in said]

    def _flagged(self, grades: Reals, raters: list[str], *, step: float) -> list[tuple[str, str]]:
        graded = (~np.isnan(grades)).sum(axis=1) >= 2
        grades = grades[graded]
        if not len(grades):
            return []
        model = recovered(grades, floor=FLOOR * step)
        weights = np.where(np.isnan(grades), 0.0, 1 / model.sigma**2)
        values = np.where(np.isnan(grades), 0.0, grades - model.bias)
        total, weight = (weights * values).sum(axis=1), weights.sum(axis=1)
        flagged = []
        for column, rater_id in enumerate(raters):
            own = ~np.isnan(grades[:, column]) & (weight - weights[:, column] > 0)
            if own.sum() < self.least:
                continue
            others = (total - weights[:, column] * values[:, column])[own] / (weight - weights[:, column])[own]
            grade = grades[own, column]
            if grade.std() < 1e-9:
                flagged.append((rater_id, f"all {own.sum()} grades are {grade[0]:g}"))
            elif others.std() > 1e-9:
                r = float(np.corrcoef(grade, others)[0, 1])
                reach = _NORMAL_99 / math.sqrt(own.sum() - 3)
                if math.tanh(math.atanh(max(-0.999999, min(0.999999, r))) + reach) < self.correlation:
                    flagged.append((rater_id, f"correlation {r:.2f} with the others over {own.sum()} tasks"))
        return flagged
