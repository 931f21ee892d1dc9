"""Uncertainty of means over items that cluster by source: standard errors, intervals, and the fewest sources for either.

Items of one source resemble each other: clips cut from one video, prints of one finger. Only sources are independent, so the
number of sources, not that of items, says how sure anybody can be.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

# With five even the clearest difference has a sign-flip p of 2 / 2^5 = 0.0625, so that nothing could be told from chance;
# `bench/intervals.py` measures what intervals hold from six on.
ENOUGH_SOURCES = 6


def too_few(n_sources: int) -> str | None:
    """Reason, one clause, against an interval, rank or lead from so few independent sources; None where there are enough.

    Gate of everything beyond the number itself: intervals, standard errors, ranks, best marks, tests and findings.

    Args:
        n_sources: number of sources of the items that a number rests on.
    """
    if n_sources >= ENOUGH_SOURCES:
        return None
    return f"{n_sources} source{'' if n_sources == 1 else 's'}: an interval, rank or lead needs at least {ENOUGH_SOURCES}"


def tells_nothing(films_of: Mapping[str, int], *, films: int) -> list[str]:
    """Sentences on slices and axes of a benchmark that rest on too few films for any claim, and why; none where all have enough.

    For whoever builds it, before holes are rendered.

    Args:
        films_of: name of a slice or an axis -> films that its clips are of.
        films: that all clips which may be drawn are of.
    """
    least = f"an interval, rank or lead needs at least {ENOUGH_SOURCES}"
    if too_few(films):
        kept = f"the clips that are kept are of {films} film{'' if films == 1 else 's'}"
        return [f"{kept}, and {least}: no slice or axis will tell anything; add films"]
    return [
        f"{name} will tell nothing: {own} of {films} films {'has' if own == 1 else 'have'} clips for it, and {least}; "
        "add films of that kind"
        for name, own in films_of.items()
        if too_few(own)
    ]


def jackknife_error(without_each: Sequence[float]) -> float:
    """Standard error from the values without one source each, at least two: ``se^2 = (k - 1) / k sum (v_i - mean)^2``."""
    count = len(without_each)
    mean = math.fsum(without_each) / count
    return math.sqrt((count - 1) / count * math.fsum((value - mean) ** 2 for value in without_each))


def effective_degrees(sizes: Sequence[float]) -> float:
    """Degrees of freedom of Student's t over sources, at least 1: Kish's effective number of sources, less one.

    A source with most of the items leaves little freedom, however many others there are.

    Args:
        sizes: what each source counts for, such as its number of items, above 0.
    """
    return max(1.0, math.fsum(sizes) ** 2 / math.fsum(size**2 for size in sizes) - 1)


def jackknife_reach(without_each: Sequence[float], *, sizes: Sequence[float], level: float = 0.95) -> float:
    """Half the width of an interval: the jackknife's standard error times Student's t.

    It takes values on a scale on which they scatter alike on both sides, such as Fisher's z of a correlation.
    `bench/intervals.py` measures how often such intervals hold the truth.

    Args:
        without_each: the values without one source each, at least two.
        sizes: see ``effective_degrees``; in the same order.
        level: confidence level of the interval, 0..1.
    """
    return students_t(level, effective_degrees(sizes)) * jackknife_error(without_each)


@lru_cache(maxsize=256)
def students_t(level: float, degrees: float) -> float:
    """Quantile of Student's t: half the width of a two-sided interval, in standard errors.

    Args:
        level: confidence level, 0..1, e.g. 0.95.
        degrees: degrees of freedom, above 0; need not be whole.
    """
    from scipy.special import stdtrit  # a third of a second of importing that commands without intervals should not wait for

    return float(stdtrit(degrees, (1 + level) / 2))


class Estimate(NamedTuple):
    """Estimate with its confidence interval."""

    value: float
    low: float | None
    high: float | None
    n: int
    """Number of items, tasks or answers."""
    n_sources: int
    reason: str | None
    """Reason why there is no interval; None when there is one."""


def clustered_mean(values: Sequence[float], sources: Sequence[str]) -> tuple[float, float | None, int]:
    """Mean, its cluster-robust standard error (None for ``too_few`` sources), and the number of sources.

    Args:
        values: one per item, at least one.
        sources: source of each item.
    """
    mean = math.fsum(values) / len(values)
    sums: dict[str, float] = defaultdict(float)
    for value, source in zip(values, sources, strict=True):
        sums[source] += value - mean
    count = len(sums)
    if too_few(count):
        return mean, None, count
    variance = count / (count - 1) * math.fsum(part**2 for part in sums.values()) / len(values) ** 2
    return mean, math.sqrt(variance), count


def share_interval(values: Sequence[float], sources: Sequence[str], *, level: float = 0.95) -> Estimate:
    """Proportion with Wilson's score interval (1927), at the effective sample size given by the spread between sources.

    The quantile is that of Student's t with one degree of freedom less than there are sources.

    Args:
        values: 0..1, one per item, at least one: 1 = counts, 0 = does not.
        sources: source of each item.
        level: confidence level of the interval, 0..1.
    """
    share, error, count = clustered_mean(values, sources)
    if error is None:
        return Estimate(share, None, None, len(values), count, too_few(count))
    quantile = students_t(level, count - 1)
    # Where all items agree the spread is 0 and says nothing of the sample size; then each source counts as one observation.
    effective_n = share * (1 - share) / error**2 if error > 0 else count
    shrinkage = 1 + quantile**2 / effective_n
    centre = (share + quantile**2 / (2 * effective_n)) / shrinkage
    half_width = quantile / shrinkage * math.sqrt(share * (1 - share) / effective_n + quantile**2 / (4 * effective_n**2))
    return Estimate(share, max(0.0, centre - half_width), min(1.0, centre + half_width), len(values), count, None)
