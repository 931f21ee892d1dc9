"""Answers as data on a scale, and how far raters agree: Krippendorff's alpha with an interval, raw agreement, confusion.

A *unit* is what several raters judge, a task. Everything is computed from how many raters gave which value to which unit, so the
cost grows with the number of answers, not with its square.

With ``s(n) = sum over pairs of values of n_c n_k d(c, k) / (N - 1)`` for counts ``n`` of sum ``N``, alpha is one less the sum of
``s`` of all units over ``s`` of their totals (Krippendorff, Content Analysis, 2004, chapter 11, put in counts). Squared distances
``d``: 0 or 1 on a nominal scale; of the numbers on an interval scale; of the mean ranks on an ordinal one, which are those of the
totals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.questions.base import Question, Scale, number
from inpaintbench.annotate.questions.leaves import BOTH_BAD, TIE
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.study import Study
from inpaintbench.claims import jackknife_reach, too_few
from inpaintbench.errors import InputError

# Answers of raters as plain data, and how their values compare.

# Unit -> rater -> value.
Answers = Mapping[str, Mapping[str, str]]
# What the choice of one of two candidates is called when pairs of different methods are taken together.
FIRST, SECOND = "first", "second"


class Scheme(NamedTuple):
    """Order and distances of the values of one question."""

    scale: Scale = "nominal"
    values: tuple[str, ...] | None = None
    """All there are, in order; what occurs, sorted, by default. An ordinal scale needs them."""
    missing: frozenset[str] = frozenset()
    """Values that count as no answer."""
    alike: tuple[str, ...] = ()
    """Values whose names are arbitrary, such as the first and second of a pair: chance is taken to give them equally often. For
    nominal scales."""


def scheme_of(question: Question, *, part: str | None = None) -> Scheme:
    """Return how the answers of ``answers_of`` to a question compare; ``part`` names another part of its form than the main one.

    What a question calls ``unsure`` is missing, and on an interval scale whatever is no number. Parts that offer the same as the
    main one have its scale; others are nominal.
    """
    if question.kind == "pair":
        return Scheme(values=(FIRST, SECOND, TIE, BOTH_BAD), alike=(FIRST, SECOND))
    if question.kind == "best":
        return Scheme()
    parts = question.parts()
    offered = {form_part.name: tuple(option.value for option in form_part.options) for form_part in parts}
    main = offered[parts[0].name]
    values = main if part is None else offered[part]
    scale: Scale = question.scale if values == main else "nominal"
    unsure = {value for value in question.unsure if value in values}
    if scale == "interval":
        unsure |= {value for value in values if number(value) is None}
    return Scheme(scale, values, frozenset(unsure))


def answers_of(
    votes: Iterable[Vote], question: str, *, part: str | None = None, pairs: bool = False
) -> dict[str, dict[str, str]]:
    """Task -> rater -> choice, of the ordinary votes: gold tasks are chosen for being clear, and repeats have the same rater.

    With ``part`` the value of that part of the form, of those who were asked for it. With ``pairs`` the choice of a candidate
    becomes ``first`` or ``second``.
    """
    answers: dict[str, dict[str, str]] = {}
    for vote in votes:
        if vote.question != question or vote.purpose != "vote":
            continue
        value = vote.choice if part is None else vote.given.get(part)
        if pairs:
            value = dict(zip(vote.candidates, (FIRST, SECOND), strict=True)).get(vote.choice, vote.choice)
        if value is not None:
            answers.setdefault(vote.task_id, {})[vote.rater_id] = value
    return answers


def counted(answers: Answers, scheme: Scheme) -> tuple[tuple[str, ...], list[str], npt.NDArray[np.int64], int]:
    """Values in order, units, how many raters gave which value ``[units, values]``, and answers left out."""
    if scheme.scale == "ordinal" and scheme.values is None:
        raise InputError("an ordinal scale needs its values in order")
    if scheme.alike and scheme.scale != "nominal":
        raise InputError(f"values are alike on nominal scales only, not on {scheme.scale} ones")
    occurring = {value for of_unit in answers.values() for value in of_unit.values()}
    values = tuple(value for value in (scheme.values or sorted(occurring)) if value not in scheme.missing)
    if scheme.scale == "interval" and (words := [value for value in values if number(value) is None]):
        raise InputError(f"{words[0]!r} is no number; an interval scale needs numbers, or count it as missing")
    place = {value: index for index, value in enumerate(values)}
    rows: list[int] = []
    columns: list[int] = []
    left_out = 0
    for row, (unit, of_unit) in enumerate(answers.items()):
        for rater, value in of_unit.items():
            if value in place:
                rows.append(row)
                columns.append(place[value])
            elif value in scheme.missing:
                left_out += 1
            else:
                raise InputError(f"{rater!r} answered {value!r} to {unit!r}, which is none of {', '.join(values)}")
    counts = np.zeros((len(answers), len(values)), np.int64)
    np.add.at(counts, (rows, columns), 1)
    return values, list(answers), counts, left_out


Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
# No alpha is below: within units squared distances can at most be twice what they are over all answers.
LEAST = -1.0
# Differences that sums in floating point may leave of none.
_ROUNDING = 1e-9


class Measure(NamedTuple):
    """Distances between values."""

    scale: Scale
    numbers: Floats
    """``[values]``, centred; read on interval scales."""
    alike: tuple[int, ...] = ()
    """Places of values that chance gives equally often; on nominal scales."""


class Blocks(NamedTuple):
    """Clusters of units, of which one at a time is left out."""

    totals: Floats
    """``[blocks, values]``."""
    within: Floats
    """``[blocks, 1]``, sum of ``s`` of the units; on an ordinal scale ``[blocks, values * values]``, before distances."""


def blocks_of(counts: Counts, measure: Measure, *, clusters: Counts) -> Blocks:
    """Every cluster a block; ``clusters`` says for each unit which, counted from 0.

    ``counts`` is ``[units, values]``, each unit has two or more.
    """
    each = counts.astype(np.float64)
    if measure.scale == "ordinal":
        pairs = each[:, :, None] * each[:, None, :] / np.maximum(each.sum(axis=1) - 1, 1)[:, None, None]
        within = np.asarray(pairs.reshape(len(each), -1), np.float64)
    else:
        within = _spread(each, measure._replace(alike=()))[:, None]
    sums = [np.zeros((int(clusters.max()) + 1, columns)) for columns in (each.shape[1], within.shape[1])]
    np.add.at(sums[0], clusters, each)
    np.add.at(sums[1], clusters, within)
    return Blocks(*sums)


def alphas(totals: Floats, within: Floats, measure: Measure) -> Floats:
    """``[n]``, alpha of each row: ``totals`` and ``within`` as in ``Blocks``, summed over units; NaN where nothing varies."""
    if measure.scale == "ordinal":
        ranks = np.cumsum(totals, axis=1) - totals / 2  # mean ranks, which the ranks of a scale's values are
        distances = (ranks[:, :, None] - ranks[:, None, :]) ** 2
        within = np.einsum("rij,rij->r", within.reshape(distances.shape), distances)[:, None]
        expected = np.einsum("ri,rj,rij->r", totals, totals, distances) / np.maximum(totals.sum(axis=1) - 1, 1)
    else:
        expected = _spread(totals, measure)
    varies = np.count_nonzero(totals, axis=1) > 1
    alpha: Floats = np.where(varies, 1 - within[:, 0] / np.where(varies, expected, 1.0), np.nan)
    return alpha


def _spread(counts: Floats, measure: Measure) -> Floats:
    """``s`` of each row, without going over pairs."""
    if measure.alike:
        counts = counts.copy()
        counts[:, measure.alike] = counts[:, measure.alike].mean(axis=1, keepdims=True)
    number = counts.sum(axis=1)
    if measure.scale == "nominal":
        pairs = number**2 - (counts**2).sum(axis=1)
    else:
        pairs = 2 * (number * (counts @ measure.numbers**2) - (counts @ measure.numbers) ** 2)
    spread: Floats = pairs / np.maximum(number - 1, 1)
    return spread


class Alpha(NamedTuple):
    """Krippendorff's alpha: 1 = perfect, 0 = as by chance, below 0 = less than by chance, which is legal."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None
    """Reason why there is no value or no interval; None when there are both."""
    units: int
    """With two answers or more; the others say nothing."""
    answers: int
    """To those units."""
    left_out: int
    """Answers that count as missing, to any unit."""


class Share(NamedTuple):
    """A mean share and over how many units."""

    value: float | None
    """0..1; None where there are no units."""
    units: int


class Confusion(NamedTuple):
    """``counts[row, column]``, ``float64[k, k]``."""

    values: tuple[str, ...]
    counts: Floats


def krippendorff_alpha(answers: Answers, scheme: Scheme, *, clusters: Mapping[str, str] | None = None) -> Alpha:
    """Krippendorff's alpha (Content Analysis, 2004, chapter 11), with missing data and any number of raters for a unit.

    With one label everywhere it is undefined (nothing varies, so chance would agree as well): None and the reason. The 95 %
    interval is that of ``claims.jackknife_reach`` on the scale of ``log(1 - alpha)``. It leaves out one unit at a time, or one of
    ``clusters`` (unit -> source) when units of one source resemble each other; see ``claims.too_few``.

    Raises:
        InputError: a value that is neither known nor missing, no number on an interval scale, an ordinal scale without values.
    """
    values, units, counts, left_out = counted(answers, scheme)
    shared = counts.sum(axis=1) >= 2
    counts, names = counts[shared], [units[place] for place in np.flatnonzero(shared)]
    n = int(counts.sum())
    if not n:
        return Alpha(None, None, None, "no unit has answers of two raters", 0, 0, left_out)
    if np.count_nonzero(counts.sum(axis=0)) == 1:
        single = values[int(counts.sum(axis=0).argmax())]
        reason = f"all {n:,} answers are {single!r}: where nothing varies, agreement beyond chance cannot be measured"
        return Alpha(None, None, None, reason, len(names), n, left_out)
    numbers = np.array([float(value) for value in values] if scheme.scale == "interval" else [0.0] * len(values))
    measure = Measure(scheme.scale, numbers - numbers.mean(), tuple(values.index(value) for value in scheme.alike))
    sources = names if clusters is None else [clusters[name] for name in names]
    blocks = blocks_of(counts, measure, clusters=np.unique(sources, return_inverse=True)[1].astype(np.int64))
    totals, within = blocks.totals.sum(axis=0), blocks.within.sum(axis=0)
    value = float(alphas(totals[None], within[None], measure)[0])
    without = alphas(totals - blocks.totals, within - blocks.within, measure)
    apart = 1 - np.array([value, *without])
    if not (why := too_few(len(without))):
        if np.isnan(without).any():
            why = "no interval: without one source nothing varies"
        elif apart.min() <= _ROUNDING:
            why = f"no interval: in {'all sources' if apart[0] <= _ROUNDING else 'all sources but one'} raters agree wholly"
    reach = 0.0 if why else jackknife_reach(np.log(apart[1:]).tolist(), sizes=blocks.totals.sum(axis=1).tolist())
    if reach <= _ROUNDING:
        why = why or "no interval: without any one source alpha is the same"
        return Alpha(value, None, None, why, len(names), n, left_out)
    low, high = max(LEAST, 1 - float(apart[0]) * math.exp(reach)), 1 - float(apart[0]) * math.exp(-reach)
    return Alpha(value, low, high, None, len(names), n, left_out)


def raw_agreement(answers: Answers, scheme: Scheme) -> Share:
    """Share of the pairs of raters of a unit that gave the same value, averaged over units."""
    shares = list(agreement_by_unit(answers, scheme).values())
    return Share(float(np.mean(shares)) if shares else None, len(shares))


def agreement_by_unit(answers: Answers, scheme: Scheme) -> dict[str, float]:
    """Unit -> share of its pairs of raters that gave the same value; units with fewer than two answers are left out."""
    _, units, counts, _ = counted(answers, scheme)
    raters = counts.sum(axis=1)
    same = (counts * (counts - 1)).sum(axis=1)
    return {units[place]: float(same[place] / (raters[place] * (raters[place] - 1))) for place in np.flatnonzero(raters >= 2)}


def agreement_by_rater(answers: Answers, scheme: Scheme) -> dict[str, Share]:
    """Rater -> share of the others of a unit that gave the same value, averaged over the units the rater shares with others."""
    by_rater: dict[str, list[float]] = {}
    for of_unit in answers.values():
        given = {rater: value for rater, value in of_unit.items() if value not in scheme.missing}
        times = Counter(given.values())
        for rater, value in given.items():
            shares = by_rater.setdefault(rater, [])
            if len(given) > 1:
                shares.append((times[value] - 1) / (len(given) - 1))
    return {rater: Share(float(np.mean(shares)) if shares else None, len(shares)) for rater, shares in sorted(by_rater.items())}


def confusion(answers: Answers, scheme: Scheme) -> Confusion:
    """Krippendorff's coincidence matrix: symmetric; rows sum to how often a value was given to units with two answers or more."""
    values, _, counts, _ = counted(answers, scheme)
    counts = counts[counts.sum(axis=1) >= 2].astype(np.float64)
    weighted = counts / np.maximum(counts.sum(axis=1, keepdims=True) - 1, 1)
    return Confusion(values, counts.T @ weighted - np.diag(weighted.sum(axis=0)))


def confusion_with(answers: Answers, scheme: Scheme, *, reference: Mapping[str, str]) -> Confusion:
    """Return how often raters gave the value of a column to units whose reference (gold, or the machine's answer) is that of the
    row.
    """
    compared = {unit: {**of_unit, "": reference[unit]} for unit, of_unit in answers.items() if unit in reference}
    values, units, counts, _ = counted(compared, scheme._replace(missing=frozenset()))
    matrix = np.zeros((len(values), len(values)))
    for row, unit in enumerate(units):
        right = values.index(reference[unit])
        matrix[right] += counts[row]
        matrix[right, right] -= 1  # the reference itself
    return Confusion(values, matrix)


class PartAgreement(NamedTuple):
    """Agreement of raters on one part of one question."""

    question: str
    part: str
    alpha: Alpha
    raw: Share
    confusion: Confusion
    raters: int
    as_named: float | None
    """Alpha with chance by how often each answer was given, also of those that are alike: what other programs give."""


def as_named(answers: Answers, scheme: Scheme) -> float | None:
    """Krippendorff's alpha without ``alike``, as the package ``krippendorff`` gives it."""
    return krippendorff_alpha(answers, scheme._replace(alike=())).value


def part_agreements(study: Study, votes: Sequence[Vote]) -> list[PartAgreement]:
    """Agreement on every decision that raters made by choosing; of the further ones of a form where anybody was asked."""
    clusters = {task.task_id: task.cluster for task in study.tasks}
    agreements = []
    for label, question in study.question_of.items():
        for place, part in enumerate(part.name for part in question.parts() if part.options):
            further = part if place else None
            answers = answers_of(votes, label, part=further, pairs=question.kind == "pair" and not place)
            if place and not answers:
                continue
            scheme = scheme_of(question, part=further)
            alpha, raters = krippendorff_alpha(answers, scheme, clusters=clusters), {who for of in answers.values() for who in of}
            of_raw, matrix = raw_agreement(answers, scheme), confusion(answers, scheme)
            named = as_named(answers, scheme)
            agreements.append(PartAgreement(label, part, alpha, of_raw, matrix, len(raters), named))
    return agreements
