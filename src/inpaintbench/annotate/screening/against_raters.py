"""Rules that set a rater against the others: votes of the majority, grades, and comparisons by a model of all raters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.questions.leaves import TIE
from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, grades_of, share
from inpaintbench.annotate.statistics.davidson import Ints, Reals
from inpaintbench.annotate.statistics.ranking import numbered
from inpaintbench.annotate.statistics.standings import FEWEST_RATERS, FLOOR, recovered


class AgainstOthers(ScreeningRule):
    """Agreement with the majority of the others, on tasks where these are many and agree; each rater is left out of their own.

    Flagged is who stays below ``agreement`` with the upper end of Wilson's 95 % interval.

    Args:
        agreement: share of such tasks on which a rater should say what the others say, 0..1.
        least: such tasks before anything is said.
        voters: others that a task needs.
        majority: share of them that must agree, 0..1.
    """

    name = "against_others"
    version = "1"
    title = "Against the others"

    def __init__(self, *, agreement: float = 0.6, least: int = 15, voters: int = 4, majority: float = 0.75) -> None:
        self.agreement, self.majority = share(agreement, name="agreement"), share(majority, name="majority")
        self.least, self.voters = at_least(least, name="least"), at_least(voters, name="voters", least=2)

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who mostly disagree."""
        from scipy.stats import binomtest

        choices: dict[str, Counter[str]] = {}
        ordinary = [vote for votes in panel.of_question.values() for vote in votes]
        for vote in ordinary:
            choices.setdefault(vote.task_id, Counter())[vote.choice] += 1
        as_others: dict[str, list[bool]] = {}
        for vote in ordinary:
            others = choices[vote.task_id] - Counter([vote.choice])
            if others.total() < self.voters:
                continue
            answer, most = max(others.items(), key=lambda row: row[1])
            if most >= self.majority * others.total() and list(others.values()).count(most) == 1:
                as_others.setdefault(vote.rater_id, []).append(vote.choice == answer)
        return [
            Finding(rater_id, f"agrees on {sum(of)} of {len(of)} tasks on which {self.majority:.0%} of the others do")
            for rater_id in panel.of_rater
            if len(of := as_others.get(rater_id, [])) >= self.least
            and binomtest(sum(of), len(of)).proportion_ci(method="wilson").high < self.agreement
        ]


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
        return panel.findings(said)

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
        return panel.findings(said)


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


# Methods and raters of comparisons together: Crowd-BT (Chen, Bennett, Collins-Thompson and Horvitz, WSDM 2013).
#
# A rater k prefers method i to j with probability ``eta_k p + (1 - eta_k) (1 - p)``, ``p = 1 / (1 + exp(s_j - s_i))``. Ours is
# the maximum a posteriori with ``s ~ N(0, 10)`` and ``eta ~ Beta(10, 2)``, by L-BFGS with exact gradients; a tie is half a win
# each.

# Precision of the prior of strengths, and the prior of reliability.
RIDGE = 0.1
BETA = (10.0, 2.0)
# Reliabilities from which the search begins, all raters alike.
_STARTS = (0.9, 0.6)


class Judged(NamedTuple):
    """One comparison."""

    first: str
    second: str
    points: float
    """Of the first: 1 when it won, 0 when it lost, 0.5 for a tie."""
    rater: str


class CrowdBT(NamedTuple):
    """Estimate of both."""

    strengths: Mapping[str, float]
    """Logarithms around 0."""
    reliability: Mapping[str, float]
    """Rater -> eta, 0..1."""
    objective: float
    """Negative log posterior, without constants."""


def crowd_bt(comparisons: Sequence[Judged]) -> CrowdBT:
    """Estimate strengths and reliabilities from at least one comparison."""
    from scipy.optimize import minimize

    methods = sorted({name for row in comparisons for name in row[:2]})
    raters = sorted({row.rater for row in comparisons})
    first, second, points, rater = zip(*comparisons, strict=True)
    keys = np.stack([numbered(first, methods), numbered(second, methods), numbered(rater, raters)], axis=1)
    rows, row = np.unique(keys, axis=0, return_inverse=True)
    won: Reals = np.bincount(row, weights=np.array(points), minlength=len(rows)).astype(np.float64)
    lost: Reals = np.bincount(row, minlength=len(rows)).astype(np.float64) - won
    wins = np.bincount(rows[:, 0], won, len(methods)) + np.bincount(rows[:, 1], lost, len(methods))
    losses = np.bincount(rows[:, 0], lost, len(methods)) + np.bincount(rows[:, 1], won, len(methods))
    best, log_odds = None, np.log((wins + 1) / (losses + 1))
    for start in _STARTS:
        begin = np.concatenate([log_odds, np.full(len(raters), np.log(start / (1 - start)))])
        fit = minimize(
            _objective, begin, args=(rows, won, lost, len(methods)), jac=True, method="L-BFGS-B",
            options={"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-9},
        )  # fmt: skip
        best = fit if best is None or fit.fun < best.fun else best
    assert best is not None
    strengths, eta = best.x[: len(methods)], 1 / (1 + np.exp(-best.x[len(methods) :]))
    return CrowdBT(
        dict(zip(methods, strengths.tolist(), strict=True)), dict(zip(raters, eta.tolist(), strict=True)), float(best.fun)
    )


def _objective(parameters: Reals, rows: Ints, won: Reals, lost: Reals, methods: int) -> tuple[float, Reals]:
    """Negative log posterior of strengths and logits of reliability, and its gradient."""
    strengths, eta = parameters[:methods], 1 / (1 + np.exp(-parameters[methods:]))
    first, second, rater = rows.T
    p = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    own = eta[rater]
    q = np.clip(own * p + (1 - own) * (1 - p), 1e-300, 1.0)
    other = np.clip(1 - q, 1e-300, 1.0)
    value = -(won * np.log(q) + lost * np.log(other)).sum() + RIDGE / 2 * (strengths**2).sum()
    value -= ((BETA[0] - 1) * np.log(eta) + (BETA[1] - 1) * np.log1p(-eta)).sum()
    by_q = -won / q + lost / other
    by_d = by_q * (2 * own - 1) * p * (1 - p)
    by_strength = np.bincount(first, by_d, methods) - np.bincount(second, by_d, methods) + RIDGE * strengths
    by_eta = np.bincount(rater, by_q * (2 * p - 1), len(eta)) - (BETA[0] - 1) / eta + (BETA[1] - 1) / (1 - eta)
    return float(value), np.concatenate([by_strength, by_eta * eta * (1 - eta)])


class AnnotatorModel(ScreeningRule):
    """Reliability of each rater in Crowd-BT: 1 follows the common order, 0.5 tosses a coin, 0 reverses it.

    It is a diagnosis; rankings stay those of Davidson's model.

    Args:
        reliability: below it a rater is flagged, 0..1.
        least: comparisons of a rater in a question before anything is said.
    """

    name = "annotator_model"
    version = "1"
    title = "Choices by lot"

    def __init__(self, *, reliability: float = 0.6, least: int = 15) -> None:
        self.reliability, self.least = share(reliability, name="reliability"), at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters whose choices follow no common order."""
        said: dict[str, str] = {}
        for label, votes in panel.of_question.items():
            if panel.kind(label) != "pair":
                continue
            judged = [
                Judged(first, second, 0.5 if vote.choice == TIE else float(vote.choice == first), vote.rater_id)
                for vote in votes
                for first, second in [vote.candidates]
                if vote.choice == TIE or vote.choice in vote.candidates
            ]
            counts = Counter(row.rater for row in judged)
            model = crowd_bt(judged) if judged else None
            for rater_id, eta in model.reliability.items() if model else ():
                if counts[rater_id] >= self.least and eta < self.reliability:
                    said.setdefault(
                        rater_id, f"reliability {eta:.2f} over {counts[rater_id]} comparisons (1 = all, 0.5 = a coin)"
                    )
        return panel.findings(said)
