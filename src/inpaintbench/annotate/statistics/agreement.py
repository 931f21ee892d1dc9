"""How far raters agree: Krippendorff's alpha with an interval, raw agreement, confusion.

A *unit* is what several raters judge, a task. Everything is computed from how many raters gave which value to which unit, so the
cost grows with the number of answers, not with its square.

With ``s(n) = sum over pairs of values of n_c n_k d(c, k) / (N - 1)`` for counts ``n`` of sum ``N``, alpha is one less the sum of
``s`` of all units over ``s`` of their totals (Krippendorff, Content Analysis, 2004, chapter 11, put in counts). Squared distances
``d``: 0 or 1 on a nominal scale; of the numbers on an interval scale; of the mean ranks on an ordinal one, which are those of the
totals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.questions.base import Scale
from inpaintbench.annotate.statistics.ratings import Answers, Scheme, counted
from inpaintbench.claims import too_few
from inpaintbench.types import item_rng

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
# Share of the bootstrap replicates without an alpha; beyond it the quantiles of the others say nothing.
_MOST_UNDEFINED = 0.05
# Numbers held at once while replicates are drawn: 32 MB.
_CHUNK = 4_000_000


class Measure(NamedTuple):
    """How far values lie from each other."""

    scale: Scale
    numbers: Floats
    """``[values]``, centred; read on interval scales."""
    alike: tuple[int, ...] = ()
    """Places of values that chance gives equally often; on nominal scales."""


class Blocks(NamedTuple):
    """Blocks that are resampled: kinds of units, or clusters of units."""

    totals: Floats
    """``[blocks, values]``."""
    within: Floats
    """``[blocks, 1]``, sum of ``s`` of the units; on an ordinal scale ``[blocks, values * values]``, before distances."""
    times: Counts
    """``[blocks]``, how many blocks are of this kind."""


def unit_blocks(counts: Counts, measure: Measure) -> Blocks:
    """Every unit a block; units with equal counts are one kind. ``counts`` is ``[units, values]``, each unit has two or more."""
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    return Blocks(kinds.astype(np.float64), _within(kinds.astype(np.float64), measure), times.astype(np.int64))


def cluster_blocks(counts: Counts, measure: Measure, *, clusters: Counts) -> Blocks:
    """Every cluster a block; ``clusters`` says for each unit which, counted from 0."""
    each = counts.astype(np.float64)
    within = _within(each, measure)
    sums = [np.zeros((int(clusters.max()) + 1, columns)) for columns in (each.shape[1], within.shape[1])]
    np.add.at(sums[0], clusters, each)
    np.add.at(sums[1], clusters, within)
    return Blocks(sums[0], sums[1], np.ones(len(sums[0]), np.int64))


def alphas(blocks: Blocks, measure: Measure, *, times: Floats) -> Floats:
    """``[replicates]``, alpha where block ``b`` is taken ``times[replicate, b]`` times; NaN where nothing varies."""
    totals, within = times @ blocks.totals, times @ blocks.within
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


def replicates(blocks: Blocks, measure: Measure, *, count: int, rng: np.random.Generator) -> Floats:
    """``[count]``, alphas of as many draws of as many blocks, with replacement."""
    total = int(blocks.times.sum())
    step = max(1, _CHUNK // (len(blocks.times) + blocks.within.shape[1]))
    sizes = (min(step, count - start) for start in range(0, count, step))
    times = (rng.multinomial(total, blocks.times / total, size=size).astype(np.float64) for size in sizes)
    return np.concatenate([alphas(blocks, measure, times=drawn) for drawn in times])


def _within(counts: Floats, measure: Measure) -> Floats:
    if measure.scale != "ordinal":
        return _spread(counts, measure._replace(alike=()))[:, None]
    pairs = counts[:, :, None] * counts[:, None, :] / np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None]
    return np.asarray(pairs.reshape(len(counts), -1), np.float64)


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


class Bootstrap(NamedTuple):
    """How an interval is made: percentiles over replicates."""

    level: float = 0.95
    replicates: int = 2000
    seed: int = 0


class Alpha(NamedTuple):
    """Krippendorff's alpha: 1 = perfect, 0 = as by chance, below 0 = less than by chance, which is legal."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None
    """Why there is no value or no interval; None when there are both."""
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


def krippendorff_alpha(
    answers: Answers, scheme: Scheme, *, bootstrap: Bootstrap | None = None, clusters: Mapping[str, str] | None = None
) -> Alpha:
    """Krippendorff's alpha (Content Analysis, 2004, chapter 11), with missing data and any number of raters for a unit.

    With one label everywhere it is undefined (nothing varies, so chance would agree as well): None and the reason. The interval
    resamples units, or ``clusters`` (unit -> source) when units of one source resemble each other; see ``claims.too_few``.

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
    if clusters is None:
        blocks = unit_blocks(counts, measure)
    else:
        places = np.unique([clusters[name] for name in names], return_inverse=True)[1]
        blocks = cluster_blocks(counts, measure, clusters=places.astype(np.int64))
    value = float(alphas(blocks, measure, times=blocks.times[None, :].astype(np.float64))[0])
    return Alpha(value, *_interval(blocks, measure, bootstrap), len(names), n, left_out)


def raw_agreement(answers: Answers, scheme: Scheme) -> Share:
    """Share of the pairs of raters of a unit that gave the same value, averaged over units."""
    counts = counted(answers, scheme)[2].astype(np.float64)
    raters = counts.sum(axis=1)
    counts, raters = counts[raters >= 2], raters[raters >= 2]
    if not len(raters):
        return Share(None, 0)
    return Share(float(np.mean((counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1)))), len(raters))


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
    """How often raters gave the value of a column to units whose reference (gold, or the machine's answer) is that of the row."""
    compared = {unit: {**of_unit, "": reference[unit]} for unit, of_unit in answers.items() if unit in reference}
    values, units, counts, _ = counted(compared, scheme._replace(missing=frozenset()))
    matrix = np.zeros((len(values), len(values)))
    for row, unit in enumerate(units):
        right = values.index(reference[unit])
        matrix[right] += counts[row]
        matrix[right, right] -= 1  # the reference itself
    return Confusion(values, matrix)


def _interval(blocks: Blocks, measure: Measure, bootstrap: Bootstrap | None) -> tuple[float | None, float | None, str | None]:
    if bootstrap is None:
        return None, None, "no interval: none was asked for"
    if few := too_few(int(blocks.times.sum())):
        return None, None, few
    rng = item_rng(bootstrap.seed, "agreement", "alpha")
    drawn = replicates(blocks, measure, count=bootstrap.replicates, rng=rng)
    defined = drawn[np.isfinite(drawn)]
    if len(defined) < (1 - _MOST_UNDEFINED) * len(drawn):
        return None, None, f"no interval: in {1 - len(defined) / len(drawn):.0%} of the replicates nothing varies"
    outside = (1 - bootstrap.level) / 2
    low, high = np.quantile(defined, [outside, 1 - outside]).tolist()
    return low, high, None
