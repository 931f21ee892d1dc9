"""Statistics of the values of many items: means with intervals, ranks, improvements.

Values are those of items, ``None`` where an item could not be measured and infinite where frames are identical. A mean gives
every item the same weight and is the same for any order of the items. Standard errors and intervals are by source, not by item:
clips cut from one video resemble each other, and treating them as independent would make intervals too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import mul
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import known_name
from inpaintbench.claims import effective_degrees, jackknife_error, students_t, too_few

# What an infinite value counts as: the largest finite of the values beside it, nothing, but counted, or itself, so that one makes
# the mean infinite.
InfiniteRule = Literal["largest_finite", "count", "keep"]

Values = npt.NDArray[np.float64]


# Confidence level of intervals.
LEVEL = 0.95
# Resamples of sources; a hundred of them lie beyond the percentile that is read.
_REPLICATES = 2000
# How much wider than Student's t the resamples may make an interval: unbounded they would make it endless where most sources have
# the same value, and more than this hardly holds more truths (`bench/intervals.py`).
_WIDEST = 1.5
# How the interval of a mean is made, in words.
INTERVAL = (
    "mean ± the wider of two multiples of a standard error that leaves out one source at a time: Student's t with one degree of "
    "freedom less than there are sources, counted as fewer where some hold more items than others (Kish), and the bootstrap-t "
    f"over sources ({_REPLICATES:,} resamples, both sides alike, at most {_WIDEST} times the first)"
)


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
    """Standard error of the mean, by leaving out one source at a time.

    None for an infinite mean and where ``claims.too_few`` says so.
    """
    interval_low: float | None
    """See ``INTERVAL``; None where there is no standard error."""
    interval_high: float | None
    reason: str | None
    """Reason why there is no mean or no interval; None when there are both."""


class Spread(NamedTuple):
    """The mean of several means, and how far these lie apart."""

    mean: float | None
    standard_error: float | None
    """Sample deviation (n - 1) over the root of n; None for fewer than two."""
    n: int
    """Finite means in it."""


def spread_of(means: Sequence[float | None]) -> Spread:
    """Mean and standard error of means, such as those of several methods, each taken for independent of the others."""
    known = sorted(mean for mean in means if mean is not None and math.isfinite(mean))
    error = float(np.std(known, ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else None
    return Spread(mean_of(known), error, len(known))


def check_infinite_rule(rule: InfiniteRule) -> InfiniteRule:
    """``rule`` when it is one, else ``UnknownNameError``."""
    known_name("rule for infinite values", rule, get_args(InfiniteRule))
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
    weights: Sequence[float] | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Summary:
    """Mean, standard error and 95 % interval of the values of items.

    Args:
        values: one for each item; None is counted as missing.
        clusters: the source of each item, what is left out and resampled.
        infinite: see ``settle_infinite``.
        weights: what each item counts for, above 0; the same for all by default.
        bounds: least and greatest value that there can be. The interval ends there, which leaves out no mean that there can be.
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
    n_clusters = len(set(sources))
    if endless:
        reason: str | None = "no interval: the mean is infinite"
    elif not settled:
        reason = f"all {infinite_count} values are infinite" if infinite_count else "no item has a value"
    else:
        reason = too_few(n_clusters)
    sure = mean is not None and reason is None
    error, reach = _error_and_reach(settled, sources, shares) if sure else (None, None)
    return Summary(
        mean=mean,
        n=len(settled),
        n_infinite=infinite_count,
        n_missing=len(values) - len(measured),
        n_clusters=n_clusters,
        standard_error=error,
        interval_low=None if mean is None or reach is None else min(mean, max(bounds[0], mean - reach)),
        interval_high=None if mean is None or reach is None else max(mean, min(bounds[1], mean + reach)),
        reason=reason,
    )


def _error_and_reach(values: Sequence[float], clusters: Sequence[str], weights: Sequence[float]) -> tuple[float, float]:
    """The standard error of the mean, and how far its interval reaches to either side."""
    parts: dict[str, list[tuple[float, float]]] = {name: [] for name in sorted(set(clusters))}
    for value, name, weight in zip(values, clusters, weights, strict=True):
        parts[name].append((weight * value, weight))
    # fsum rounds once, so that the order of the items changes nothing.
    sums = np.array([math.fsum(value for value, _ in part) for part in parts.values()])
    counts = np.array([math.fsum(weight for _, weight in part) for part in parts.values()])
    whole, count = math.fsum(sums), math.fsum(counts)
    error = jackknife_error(((whole - sums) / (count - counts)).tolist())
    t = students_t(LEVEL, effective_degrees(counts.tolist()))
    if error <= 1e-12 * float(np.abs(sums / counts).max()):  # rounding, of which resamples would make anything
        return error, t * error
    return error, min(max(_studentised(sums, counts), t), _WIDEST * t) * error


@lru_cache(maxsize=16)
def _draws(count: int) -> Values:
    """Return how often each of ``count`` sources is drawn in each resample; the same for every mean of a report."""
    # Of the type that they are multiplied as, to which every product would bring them anew.
    return np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=_REPLICATES).astype(np.float64)


def _studentised(sums: Values, counts: Values) -> float:
    """The 95th percentile of how many of its own standard errors the mean of a resample is off, to either side.

    Symmetric bootstrap-t over sources (Hall, The Bootstrap and Edgeworth Expansion, 1992, section 3.6): where few sources lie far
    off on one side, resamples without them are too sure of themselves, and this says how much.
    """
    mean, drawn = sums.sum() / counts.sum(), _draws(len(sums))
    residuals, weights = sums - mean * counts, drawn @ counts
    means = drawn @ residuals / weights
    squares = drawn @ residuals**2 - 2 * means * (drawn @ (residuals * counts)) + means**2 * (drawn @ counts**2)
    errors = np.sqrt(np.maximum(squares, 0) * len(sums) / (len(sums) - 1)) / weights
    vague = errors <= 1e-9 * float(np.abs(residuals / counts).max())  # one source alone, or sources that are all the same
    ratios = np.where(vague, np.where(np.abs(means) > 0, np.inf, 0.0), np.abs(means) / np.where(vague, 1.0, errors))
    return float(np.quantile(ratios, LEVEL, method="higher"))


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


def best_of(places: Mapping[str, int | None]) -> set[str]:
    """Return who is in first place; nobody where fewer than two have a place: whoever is alone in a column is not its best."""
    held = [place for place in places.values() if place is not None]
    return {name for name, place in places.items() if place == 1 and len(held) > 1}


def share_first(places: Mapping[str, int | None], alike: Collection[str]) -> dict[str, int | None]:
    """Places of which some, which cannot be told from the best, share the first; the others stand behind all of these."""
    ahead = [places[name] or 0 for name in alike]
    return {
        name: None if place is None else 1 if name in alike else place + sum(one >= place for one in ahead)
        for name, place in places.items()
    }


def apart(one: Summary, other: Summary) -> bool:
    """Return whether both have intervals that do not meet."""
    ends = (one.interval_low, one.interval_high, other.interval_low, other.interval_high)
    if any(end is None for end in ends):
        return False
    low, high, other_low, other_high = (float(end or 0) for end in ends)
    return high < other_low or other_high < low


def relative_improvement(low: float | None, high: float | None, *, higher_is_better: bool) -> float | None:
    """Return how much better a method is on the high slice than on the low one, as a share of the low slice's value.

    ``(high - low) / low``, negated where lower is better, so positive always means that the high slice is easier (DEVIL, CVPR
    2022, Figures 5 to 9). None when a value is missing or infinite or ``low`` is 0.
    """
    if low is None or high is None or not math.isfinite(low) or not math.isfinite(high) or low == 0:
        return None
    share = (high - low) / low
    return share if higher_is_better else -share


def best_of_row(values: Mapping[str, float | None], *, higher_is_better: bool) -> dict[str, float]:
    """Best methods of one row of results, each with an equal part of the row; empty where a value is missing."""
    known = {method: value for method, value in values.items() if value is not None}
    if not known or len(known) < len(values):
        return {}
    best = max(known.values()) if higher_is_better else min(known.values())
    winners = [method for method, value in known.items() if value == best]
    return {method: 1 / len(winners) for method in winners}


def shares_of(rows: Collection[Mapping[str, float]], methods: Iterable[str]) -> dict[str, float]:
    """Method -> mean of its parts over rows, 0..1; empty without rows."""
    return {method: sum(parts.get(method, 0.0) for parts in rows) / len(rows) for method in methods} if rows else {}
