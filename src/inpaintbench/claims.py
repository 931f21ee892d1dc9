"""What so many sources can bear: how few bear no claim at all, and the standard error of leaving each out in turn.

Items of one source resemble each other: clips cut from one video, prints of one finger. Only sources are independent, so the
number of sources, not that of items, says how sure anybody can be.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

ENOUGH_SOURCES = 6
"""With five even the clearest difference has a sign-flip p of 2 / 2^5 = 0.0625, so that nothing could be told from chance;
`bench/intervals.py` measures what intervals hold from six on."""


def too_few(n_sources: int) -> str | None:
    """Why items of so few sources bear no interval, rank or lead, one clause; None where they bear them.

    Everything that says more than a number asks this: intervals, standard errors, ranks, best marks, tests and findings.

    Args:
        n_sources: of the items that a number rests on.
    """
    if n_sources >= ENOUGH_SOURCES:
        return None
    return f"{n_sources} source{'' if n_sources == 1 else 's'}: an interval, rank or lead needs at least {ENOUGH_SOURCES}"


def jackknife_error(without_each: Sequence[float]) -> float:
    """Standard error from the values without one source each, at least two: ``se^2 = (k - 1) / k sum (v_i - mean)^2``."""
    count = len(without_each)
    mean = math.fsum(without_each) / count
    return math.sqrt((count - 1) / count * math.fsum((value - mean) ** 2 for value in without_each))


@lru_cache(maxsize=256)
def students_t(level: float, degrees: float) -> float:
    """Half the width of a two-sided interval, in standard errors.

    Args:
        level: 0..1, such as 0.95.
        degrees: of freedom, above 0; need not be whole.
    """
    from scipy.special import stdtrit  # a third of a second of importing that commands without intervals should not wait for

    return float(stdtrit(degrees, (1 + level) / 2))


class Estimated(NamedTuple):
    """A number with its interval."""

    value: float
    low: float | None
    high: float | None
    n: int
    """Items, tasks or answers that the number is of."""
    n_sources: int
    reason: str | None
    """Why there is no interval; None when there is one."""


def clustered_mean(values: Sequence[float], sources: Sequence[str]) -> tuple[float, float | None, int]:
    """Mean of at least one value, its standard error where sources are drawn (None for ``too_few``), and how many there are.

    Args:
        values: one an item.
        sources: of each item.
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


def share_interval(values: Sequence[float], sources: Sequence[str], *, level: float = 0.95) -> Estimated:
    """A share with the interval of Wilson (1927), for as many independent items as would spread like these sources do.

    The quantile is that of Student's t with one degree of freedom less than there are sources.

    Args:
        values: 0..1, one an item: 1 where it counts in, 0 where it does not. At least one.
        sources: of each item.
        level: of the interval, 0..1.
    """
    share, error, count = clustered_mean(values, sources)
    if error is None:
        return Estimated(share, None, None, len(values), count, too_few(count))
    quantile = students_t(level, count - 1)
    # Where every item agrees the spread says nothing; the sources are the independent ones then.
    independent = share * (1 - share) / error**2 if error > 0 else count
    shrink = 1 + quantile**2 / independent
    middle = (share + quantile**2 / (2 * independent)) / shrink
    reach = quantile / shrink * math.sqrt(share * (1 - share) / independent + quantile**2 / (4 * independent**2))
    return Estimated(share, max(0.0, middle - reach), min(1.0, middle + reach), len(values), count, None)
