"""Rules that set a rater against the others: labels of the majority, grades, and comparisons by a model of all raters."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, grades_of, share
from inpaintbench.annotate.statistics.davidson import Reals
from inpaintbench.annotate.statistics.orders import Held, as_near, held_by
from inpaintbench.annotate.statistics.standings import FEWEST_RATERS, FLOOR, recovered
from inpaintbench.errors import InputError


class AgainstOthers(ScreeningRule):
    """Agreement with the majority of the others, on tasks where these are many and agree; each rater is left out of their own.

    Of labels and grades alone: who prefers another method than most is no worse a rater. Flagged is who stays below
    ``agreement`` with the upper end of Wilson's 95 % interval.

    Args:
        agreement: share of such tasks on which a rater should say what the others say, 0..1.
        least: such tasks before anything is said.
        voters: others that a task needs.
        majority: share of them that must agree, 0..1.
    """

    name = "against_others"
    version = "2"
    title = "Against the others"

    def __init__(self, *, agreement: float = 0.6, least: int = 15, voters: int = 4, majority: float = 0.75) -> None:
        self.agreement, self.majority = share(agreement, name="agreement"), share(majority, name="majority")
        self.least, self.voters = at_least(least, name="least"), at_least(voters, name="voters", least=2)

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who mostly disagree."""
        from scipy.stats import binomtest

        choices: dict[str, Counter[str]] = {}
        labels = [label for label in panel.of_question if panel.kind(label) not in ("pair", "best")]
        ordinary = [vote for label in labels for vote in panel.of_question[label]]
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
    ``correlation`` with the upper end of its 99 % interval (Fisher's z), and whose grades follow nothing else either: no order of
    the methods of their own (analysis of variance), and not the three raters most like them, who are found on one half of the
    tasks and held against the other; or who gives one grade to everything. Who grades by another taste than most is not flagged,
    nor whose scale is upside down: known answers find these. Panels of fewer than 8 are left alone: there the model follows
    single raters.

    Args:
        correlation: that grades should reach, 0..1.
        least: graded tasks before anything is said.
    """

    name = "erratic_ratings"
    version = "2"
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
            tasks = dict.fromkeys(vote.task_id for vote in panel.of_question[label])
            methods = np.array(["".join(panel.study.task_of[task_id].candidates) for task_id in tasks])
            for rater_id, reason in self._flagged(grades, raters, methods, step=float(np.min(np.diff(sorted(steps))))):
                said.setdefault(rater_id, reason)
        return panel.findings(said)

    def _flagged(self, grades: Reals, raters: list[str], methods: npt.NDArray[np.str_], *, step: float) -> list[tuple[str, str]]:
        graded = (~np.isnan(grades)).sum(axis=1) >= 2
        grades, methods = grades[graded], methods[graded]
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
                if _fisher(r, len(grade), _NORMAL_99) < self.correlation and not (
                    _by_method(grade, methods[own]) or _like_some(grade, np.delete(grades[own] - model.bias, column, axis=1))
                ):
                    flagged.append((rater_id, f"correlation {r:.2f} with the others over {own.sum()} tasks, and no pattern else"))
        return flagged


# Level of the tests for a pattern, of which there are two, its standard normal quantile, and raters who are taken for most like
# somebody.
_PATTERN, _NORMAL_98, _MOST_LIKE = 0.02, 2.0537489106318225, 3


def _fisher(r: float, tasks: int, normal: float) -> float:
    """End of the interval of a correlation of so many ``tasks``, ``normal`` standard errors away by Fisher's z."""
    return math.tanh(math.atanh(max(-0.999999, min(0.999999, r))) + normal / math.sqrt(tasks - 3))


def _by_method(grade: Reals, methods: npt.NDArray[np.str_]) -> bool:
    """Whether somebody's grades differ by method beyond chance."""
    from scipy.stats import f_oneway

    of = [own for name in np.unique(methods) if len(own := grade[methods == name]) > 1]
    return len(of) > 1 and any(own.std() > 0 for own in of) and bool(f_oneway(*of).pvalue < _PATTERN)


def _like_some(grade: Reals, others: Reals) -> bool:
    """Whether somebody grades like the raters who were most like them on other tasks.

    Args:
        grade: ``float64[tasks]``.
        others: ``float64[tasks, raters]`` without biases, NaN where one did not grade a task.
    """
    half, told = np.arange(len(grade)) % 2 == 0, []
    for chosen in (half, ~half):
        known = ~np.isnan(others[chosen])
        mine = np.where(known, grade[chosen, None], np.nan)
        theirs = others[chosen]
        enough = known.sum(axis=0) >= 4
        if not enough.any():
            return False
        mine, theirs = (of[:, enough] - np.nanmean(of[:, enough], axis=0) for of in (mine, theirs))
        spread = np.sqrt(np.nansum(mine**2, axis=0) * np.nansum(theirs**2, axis=0))
        like = np.nansum(mine * theirs, axis=0) / np.where(spread > 0, spread, np.inf)
        most = np.flatnonzero(enough)[np.argsort(-like, kind="stable")[:_MOST_LIKE]]
        held = others[~chosen][:, most]
        seen = ~np.isnan(held).all(axis=1)
        if seen.sum() > 1:
            mean = np.nanmean(held[seen], axis=1)
            told.append(np.stack([grade[~chosen][seen] - grade[~chosen][seen].mean(), mean - mean.mean()]))
    both = np.concatenate(told, axis=1) if told else np.zeros((2, 0))
    if both.shape[1] < 6 or not both.std(axis=1).all():
        return False
    return _fisher(float(np.corrcoef(both)[0, 1]), both.shape[1], -_NORMAL_98) > 0


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


class AnnotatorModel(ScreeningRule):
    """Evidence that a rater tosses a coin, against an order of methods that they hold, alone or with others of the panel.

    The model is that of ``statistics.orders``: up to three orders that groups of raters share, orders of one's own, and coins.
    Flagged is whose answers to all questions about pairs, repeats too, are ``factor`` times as likely of a coin as of somebody
    with an order, where of simulated people with one who are asked the same a share of ``p`` at most come as near to a coin.
    Who prefers something else than the others is not flagged; rankings stay those of Davidson's model.

    Args:
        factor: least Bayes factor of a coin against an order.
        p: share of those simulated people, a quarter of them with an order of their own, that may come as near, 0..1. With 0.1
            1.5 % of simulated minorities were wronged.
        found: share of simulated coins that must be nearer than that, 0..1. Of methods that are so close that fewer are, answers
            tell too little of anybody, and nobody is flagged.
        least: comparisons of a rater, ties apart, before anything is said; fewer tell too little of an order of one's own.
        reliability: of the first version, which held everybody against one order; read and not used.
    """

    name = "annotator_model"
    version = "3"
    title = "Choices by lot"

    def __init__(
        self, *, factor: float = 2.0, p: float = 0.1, found: float = 0.65, least: int = 25, reliability: float = 0.6
    ) -> None:
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not factor >= 1:
            raise InputError(f"factor is {factor!r}, choose a number of 1 or more")
        self.factor, self.p, self.found = float(factor), share(p, name="p"), share(found, name="found")
        self.least = at_least(least, name="least")
        share(reliability, name="reliability")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters whose choices follow no order."""
        of_rater: dict[str, list[tuple[Held, int]]] = {}
        for label in panel.of_question:
            if panel.kind(label) == "pair" and (held := held_by(panel.votes, label)):
                for place, rater_id in enumerate(held.raters):
                    of_rater.setdefault(rater_id, []).append((held, place))
        said = {}
        for rater_id, parts in of_rater.items():
            compared, repeated = (sum(column) for column in zip(*(held.asked(place) for held, place in parts), strict=True))
            log = sum(held.coin(place) for held, place in parts)
            if compared >= self.least and log >= math.log(self.factor):
                near, found = as_near(parts, log, p=self.p)
                if near <= self.p and found >= self.found:
                    said[rater_id] = (
                        f"{compared} choices and {repeated} repeats are {min(math.exp(min(log, 9)), 999):.0f} times as likely of "
                        f"a coin as of an order; of people with one {near:.1%} come as near"
                    )
        return panel.findings(said)
