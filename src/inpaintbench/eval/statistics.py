"""What many values say together: means with intervals, ranks, improvements.

Values are those of items, ``None`` where an item could not be measured and infinite where frames are identical. A mean gives
every item the same weight and is the same for any order of the items. Intervals resample sources, not items: clips cut from one
video resemble each other, and treating them as independent would make intervals too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import mul
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import UnknownNameError

InfiniteRule = Literal["largest_finite", "count", "keep"]
"""What an infinite value counts as: the largest finite of the values beside it, nothing, but counted, or itself, so that one
makes the mean infinite."""

Values = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """How an interval around a mean is made."""

    level: float = 0.95
    replicates: int = 2000
    seed: int = 0


BOOTSTRAP_95 = Interval()


class Summary(NamedTuple):
    """The mean of the values of many items and how sure it is."""

    mean: float | None
    """None when no item has a finite value; infinite only under the rule ``"keep"``."""
    n: int
    """Items in the mean."""
    n_infinite: int
    """Items with an infinite value, in the mean unless the rule is ``"count"``."""
    n_missing: int
    """Items without a value."""
    n_clusters: int
    """Sources of the items in the mean."""
    standard_error: float | None
    """Of the mean over items, ddof 1; None for fewer than two and for an infinite mean."""
    interval_low: float | None
    """Percentile bootstrap over sources; None where there are fewer than two and for an infinite mean. With a handful of sources
    it is too narrow."""
    interval_high: float | None
    reason: str | None
    """Why there is no mean or no interval; None when there are both."""


def check_infinite_rule(rule: InfiniteRule) -> InfiniteRule:
    """``rule`` when it is one, else ``UnknownNameError``."""
    if rule not in get_args(InfiniteRule):
        raise UnknownNameError(unknown_name("rule for infinite values", rule, list(get_args(InfiniteRule))))
    return rule


def settle_infinite(values: Sequence[float], *, infinite: InfiniteRule) -> list[float]:
    """``values`` with infinite ones left out or replaced by the largest finite, and empty when none is finite; or all of them.

    Replacing is how DEVIL, CVPR 2022, prints its tables.

    Raises:
        ValueError: a value is NaN or minus infinity, which no metric gives.
    """
    for value in values:
        if math.isnan(value) or value == -math.inf:
            raise ValueError(f"a value is {value}; where there is nothing to measure the value is None")
    if infinite == "keep":
        return list(values)
    finite = [value for value in values if math.isfinite(value)]
    if infinite == "largest_finite" and finite:
        return [min(value, max(finite)) for value in values]
    return finite


def mean_of(values: Sequence[float], *, infinite: InfiniteRule = "count") -> float | None:
    """The mean after ``settle_infinite``; None when nothing is left."""
    settled = settle_infinite(values, infinite=infinite)
    # fsum rounds once, so the mean does not depend on the order of the values.
    return math.fsum(settled) / len(settled) if settled else None


def summarise(
    values: Sequence[float | None],
    *,
    clusters: Sequence[str],
    infinite: InfiniteRule = "count",
    interval: Interval = BOOTSTRAP_95,
    weights: Sequence[float] | None = None,
) -> Summary:
    """Mean, standard error and bootstrap interval of the values of items.

    Args:
        values: one for each item; None is counted as missing.
        clusters: the source of each item, what is resampled.
        infinite: see ``settle_infinite``.
        interval: level, replicates and seed of the bootstrap.
        weights: what each item counts for, above 0; the same for all by default.
    """
    given = weights or [1.0] * len(values)
    rows = zip(values, clusters, given, strict=True)
    measured = [(value, source, weight) for value, source, weight in rows if value is not None]
    infinite_count = sum(math.isinf(value) for value, *_ in measured)
    kept = [row for row in measured if infinite != "count" or math.isfinite(row[0])]
    settled = settle_infinite([value for value, *_ in kept], infinite=infinite)
    sources, shares = ([source for _, source, _ in kept], [share for *_, share in kept]) if settled else ([], [])
    mean = math.fsum(map(mul, shares, settled)) / math.fsum(shares) if settled else None
    endless = mean is not None and math.isinf(mean)
    low, high = (None, None) if endless else _bootstrap(settled, sources, shares, interval=interval)
    return Summary(
        mean=mean,
        n=len(settled),
        n_infinite=infinite_count,
        n_missing=len(values) - len(measured),
        n_clusters=len(set(sources)),
        standard_error=None if endless else _standard_error(settled, shares),
        interval_low=low,
        interval_high=high,
        reason=_reason(len(settled), n_clusters=len(set(sources)), n_infinite=infinite_count, endless=endless),
    )


def _standard_error(values: Sequence[float], weights: Sequence[float]) -> float | None:
    n = len(values)
    if n < 2:
        return None
    if len(set(weights)) == 1:
        return float(np.std(sorted(values), ddof=1)) / math.sqrt(n)
    # Of a ratio of two sums, to first order (Cochran, Sampling Techniques, 1977, section 6.3).
    mean = math.fsum(map(mul, weights, values)) / math.fsum(weights)
    residuals = math.fsum((weight * (value - mean)) ** 2 for weight, value in zip(weights, values, strict=True))
    return math.sqrt(residuals * n / (n - 1)) / math.fsum(weights)


def _reason(n: int, *, n_clusters: int, n_infinite: int, endless: bool) -> str | None:
    if endless:
        return "no interval: the mean is infinite"
    if n == 0:
        return f"all {n_infinite} values are infinite" if n_infinite else "no item has a value"
    return "no interval: all items come from one source" if n_clusters == 1 else None


@lru_cache(maxsize=16)
def _draws(count: int, replicates: int, seed: int) -> npt.NDArray[np.int64]:
    """How often each of ``count`` clusters is drawn in each replicate; the same for every mean of a report."""
    return np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=replicates)


def _bootstrap(
    values: Sequence[float], clusters: Sequence[str], weights: Sequence[float], *, interval: Interval
) -> tuple[float | None, float | None]:
    """Percentile interval of the mean when clusters are drawn with replacement; None, None for fewer than two."""
    names = sorted(set(clusters))
    if len(names) < 2:
        return None, None
    by_name: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for value, name, weight in zip(values, clusters, weights, strict=True):
        by_name[name].append((weight * value, weight))
    sums = np.array([math.fsum(value for value, _ in by_name[name]) for name in names])
    counts = np.array([math.fsum(weight for _, weight in by_name[name]) for name in names])
    draws = _draws(len(names), interval.replicates, interval.seed)
    means: Values = (draws @ sums) / (draws @ counts)
    tail = (1 - interval.level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


def rank(values: Mapping[str, float | None], *, higher_is_better: bool) -> dict[str, int | None]:
    """The place of each name, 1 = best; equal values share the better place and the next one is skipped (1, 2, 2, 4).

    A name without a value has no place.

    Raises:
        ValueError: a value is NaN.
    """
    known = [value for value in values.values() if value is not None]
    if any(math.isnan(value) for value in known):
        raise ValueError(f"cannot rank NaN: {dict(values)}")
    return {
        name: None if value is None else 1 + sum(other > value if higher_is_better else other < value for other in known)
        for name, value in values.items()
    }


def relative_improvement(low: float | None, high: float | None, *, higher_is_better: bool) -> float | None:
    """How much better a method is on the high slice than on the low one, as a share of the low slice's value.

    ``(high - low) / low``, negated where lower is better, so positive always means that the high slice is easier (DEVIL, CVPR
    2022, Figures 5 to 9). None when a value is missing or infinite or ``low`` is 0.
    """
    if low is None or high is None or not math.isfinite(low) or not math.isfinite(high) or low == 0:
        return None
    share = (high - low) / low
    return share if higher_is_better else -share
