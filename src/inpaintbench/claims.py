"""What so many sources can bear: how few bear no claim at all, and the standard error of leaving each out in turn.

Items of one source resemble each other: clips cut from one video, prints of one finger. Only sources are independent, so the
number of sources, not that of items, says how sure anybody can be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

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
