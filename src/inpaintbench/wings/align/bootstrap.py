"""Intervals of rates and correlations that stay honest with few sources.

Answers about one source resemble each other, and so do the answers of one rater. Sources are resampled, not answers; the spread
over raters is added. With ten sources plain percentiles hold the truth in 85 to 90 % of studies instead of 95 %, so the
bootstrap gives a standard error alone, on a scale without ends (logit of a rate, Fisher's z of a correlation), widened by
sqrt(G / (G - 1)) for G sources, and Student's t with G - 1 degrees of freedom makes the interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.claims import students_t, too_few
from inpaintbench.pages.words import DASH, number
from inpaintbench.types import item_rng

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
# Share of a correlation's replicates that may be undefined; beyond it their spread says nothing.
_MOST_UNDEFINED = 0.05
# Points times replicates in memory, 32 MB of float64 for each array.
_VALUES_AT_ONCE = 4_000_000


class Bootstrap(NamedTuple):
    """Settings of an interval."""

    level: float = 0.95
    replicates: int = 2000
    seed: int = 0


BOOTSTRAP_95 = Bootstrap()


class Estimate(NamedTuple):
    """One number and how sure it is."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Answers behind a rate, points behind a correlation."""
    n_sources: int
    n_raters: int | None
    """None where raters are unknown or play no part."""
    reason: str | None
    """Reason for a missing value or interval; None when there are both."""

    @property
    def few(self) -> str | None:
        """Reason why it may not lead or be told from another: too few sources; None with enough."""
        return too_few(self.n_sources)


def share(value: float | None) -> str:
    """A share in per cent with one decimal, or a dash."""
    return DASH if value is None else f"{number(100 * value, 1)} %"


def interval_words(estimate: Estimate, *, percent: bool) -> str:
    """`` (88.1 to 95.4)`` of a rate in ``percent``, `` (0.81 to 0.97)`` of a correlation; nothing without an interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = (number(100 * end, 1) if percent else number(end, 2) for end in (estimate.low, estimate.high))
    return f" ({low} to {high})"


def rate_words(estimate: Estimate) -> str:
    """``92.5 % (88.1 to 95.4)``."""
    return share(estimate.value) + interval_words(estimate, percent=True)


def correlation_words(estimate: Estimate) -> str:
    """``0.93 (0.81 to 0.97)``."""
    return number(estimate.value, 2) + interval_words(estimate, percent=False)


class Sample(NamedTuple):
    """Answers of which some match: ``float64[n]`` matches and answers of each line, ``int64[n]`` numbers of source and rater."""

    matches: Floats
    answers: Floats
    sources: Places
    raters: Places | None


@lru_cache(maxsize=4)
def draws(count: int, replicates: int, seed: int) -> Floats:
    """Counts of draws of each of ``count`` units in each replicate, ``float64[replicates, count]``; do not write into it."""
    rng = item_rng(seed, "alignment", str(count))
    return rng.multinomial(count, np.full(count, 1 / count), size=replicates).astype(np.float64)


def rate(sample: Sample, bootstrap: Bootstrap = BOOTSTRAP_95) -> Estimate:
    """The share of answers that match, with its interval over sources and raters.

    The variance is that over sources plus that over raters less that of their cells, which both of the others hold (Cameron,
    Gelbach and Miller, Journal of Business and Economic Statistics, 2011), never below the larger of the two, nor below what
    independent answers would have. Where the rate is 0 or 1 nothing varies; the limit then is the exact binomial one with each
    source as a single trial.
    """
    total = float(sample.answers.sum())
    kept = sample.answers > 0
    sources = _numbered(sample.sources[kept])
    n_sources = int(sources.max(initial=-1)) + 1
    raters = None if sample.raters is None else _numbered(sample.raters[kept])
    n_raters = None if raters is None else int(raters.max(initial=-1)) + 1
    n = round(total)
    if not n:
        return Estimate(None, None, None, 0, 0, n_raters, "no answer can be compared")
    matches, answers = sample.matches[kept], sample.answers[kept]
    hit = float(matches.sum())
    value, odds = min(1.0, hit / total), (hit + 0.5) / (total + 1)
    if few := too_few(n_sources):
        return Estimate(value, None, None, n, n_sources, n_raters, few)
    if value in (0.0, 1.0):
        end = ((1 - bootstrap.level) / 2) ** (1 / n_sources)
        low, high = (end, 1.0) if value else (0.0, 1 - end)
        return Estimate(value, low, high, n, n_sources, n_raters, None)
    variance = _logit_variance(matches, answers, sources, bootstrap)
    if raters is not None and n_raters and n_raters > 1:
        over_raters = _logit_variance(matches, answers, raters, bootstrap)
        # To first order, with cells of source and rater independent.
        _, cells = np.unique(sources * n_raters + raters, return_inverse=True)
        residuals = np.bincount(cells, weights=matches - hit / total * answers) / total
        over_cells = float((residuals**2).sum()) / (odds * (1 - odds)) ** 2
        variance = max(variance + over_raters - over_cells, variance, over_raters)
    # Sources that agree by chance would leave nothing: never surer than answers that are trials of their own make one.
    variance = max(variance, 1 / (total * odds * (1 - odds)))
    middle = float(_logits(hit, total))
    reach = students_t(bootstrap.level, n_sources - 1) * math.sqrt(variance)
    low, high = (1 / (1 + math.exp(-min(max(end, -700.0), 700.0))) for end in (middle - reach, middle + reach))
    return Estimate(value, min(low, value), max(high, value), n, n_sources, n_raters, None)


def correlation(
    of_weights: Callable[[Floats], Floats], *, n: int, n_sources: int, bootstrap: Bootstrap = BOOTSTRAP_95
) -> Estimate:
    """A correlation with its interval over sources; raters are taken as they are.

    Args:
        of_weights: ``float64[replicates, n_sources]`` how often each source counts -> ``float64[replicates]`` correlations,
            NaN where one is undefined.
        n: points behind it.
        n_sources: sources of the points.
        bootstrap: how.
    """
    if n < 3:
        return Estimate(None, None, None, n, n_sources, None, f"a correlation takes 3 points or more, there are {n}")
    value = float(of_weights(np.ones((1, n_sources)))[0])
    if math.isnan(value):
        return Estimate(None, None, None, n, n_sources, None, "on one side all points are equal")
    value = min(1.0, max(-1.0, value))
    if few := too_few(n_sources):
        return Estimate(value, None, None, n, n_sources, None, few)
    weights, at_once = draws(n_sources, bootstrap.replicates, bootstrap.seed), max(1, _VALUES_AT_ONCE // n)
    drawn = np.concatenate([of_weights(weights[start : start + at_once]) for start in range(0, len(weights), at_once)])
    defined = drawn[np.isfinite(drawn)]
    if len(defined) < (1 - _MOST_UNDEFINED) * len(drawn):
        share = 1 - len(defined) / len(drawn)
        return Estimate(value, None, None, n, n_sources, None, f"no interval: in {share:.0%} of the resamples a side is constant")
    end = 1 - 1 / n**2  # Fisher's z of 1 is infinite
    error = float(np.std(np.arctanh(np.clip(defined, -end, end)))) * math.sqrt(n_sources / (n_sources - 1))
    if error < 1e-9:
        return Estimate(value, None, None, n, n_sources, None, "no interval: every resample gives the same")
    middle = math.atanh(min(end, max(-end, value)))
    reach = students_t(bootstrap.level, n_sources - 1) * error
    low, high = math.tanh(middle - reach), math.tanh(middle + reach)
    return Estimate(value, min(low, value), max(high, value), n, n_sources, None, None)


def _numbered(places: Places) -> Places:
    """Numbers of the same groups without gaps, ``int64[n]``."""
    return np.unique(places, return_inverse=True)[1].astype(np.int64)


def _logits(matches: npt.ArrayLike, answers: npt.ArrayLike) -> Floats:
    """Log odds with half an answer added on both sides (Haldane, Annals of Human Genetics, 1956): finite for 0 and 1 too."""
    hit = np.asarray(matches, np.float64)
    return np.asarray(np.log((hit + 0.5) / (np.asarray(answers, np.float64) - hit + 0.5)))


def _logit_variance(matches: Floats, answers: Floats, units: Places, bootstrap: Bootstrap) -> float:
    """Variance of the log odds when units are drawn with replacement."""
    count = int(units.max()) + 1
    drawn = draws(count, bootstrap.replicates, bootstrap.seed)
    hit, of = np.bincount(units, weights=matches), np.bincount(units, weights=answers)
    return float(np.var(_logits(drawn @ hit, drawn @ of))) * count / (count - 1)
