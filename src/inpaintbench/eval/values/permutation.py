"""Is one method better than another by more than chance? Paired permutation tests with Holm's correction.

Two methods are compared over the items that both have a finite value for. If they were equally good, the sign of every
difference could as well be the other one; signs are flipped source by source, since items of one source resemble each other
and their differences tend to agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from inpaintbench.claims import too_few
from inpaintbench.eval.values.statistics import InfiniteRule
from inpaintbench.types import item_rng

# Sources up to which every flip is enumerated: 2^13, since flipping all of them changes no size.
MOST_ENUMERATED_SOURCES = 14
# Drawn flips beyond that: with the observed one 20,000, so that p has a step of 0.00005 and 0.05 an error of 0.0015.
RANDOM_FLIPS = 19_999
# Bounds memory: signs and sums of a thousand flips take some MB for a thousand sources.
_FLIPS_AT_ONCE = 1000
# Below it a corrected p tells two methods apart.
LEVEL = 0.05
# Line below every table with bold numbers; a line of its own says what else holds there.
BOLD = (
    "Bold: the best mean of its column and all that cannot be told from it (paired permutation test over sources, corrected over "
    f"the comparisons with the best by Holm, p ≥ {LEVEL:g}; one number for many items: intervals that meet, or none)."
)

Values = Mapping[str, Sequence[float | None]]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PairTest:
    """Two methods and how likely so large a difference between them is by chance."""

    one: str
    """The better of the two by ``difference``; in the order of their names when it is 0 or there is none."""
    other: str
    difference: float | None
    """Weighted mean of ``one`` less ``other`` over the items compared; None without such items."""
    p: float | None
    """Two-sided; None where it could never be small, see ``reason``."""
    p_holm: float | None
    """``p`` corrected for the number of pairs that were tested (Holm, Scandinavian Journal of Statistics, 1979)."""
    n: int
    """Items that both have a finite value for."""
    n_sources: int
    """Sources of these items."""
    least_p: float
    """The smallest p that flips of the sources can give; sources on which the two are equal cannot make it smaller."""
    reason: str | None = None
    """Reason why there is no p, one sentence."""
    n_infinite: int = 0
    """Items left out because a value is infinite, though both have one."""

    @property
    def told(self) -> bool:
        """Return whether ``one`` is better by more than chance."""
        return self.p_holm is not None and self.p_holm < LEVEL


def like_best(
    levels: Mapping[str, float | None], told: Callable[[str, Sequence[str]], Collection[str]], *, higher_is_better: bool
) -> set[str]:
    """Methods that cannot be told from the one of the best level, and that one; nobody where fewer than two have a level.

    Decides alone who is bold and who shares the first place, on every page and in every file. A finite level is told from an
    infinite one, which no test takes.

    Args:
        levels: method -> what it is ranked by; None where it has no place.
        told: those of some methods that are told to be worse than the first: see ``told_from``.
        higher_is_better: the direction.
    """
    known = {method: level if higher_is_better else -level for method, level in levels.items() if level is not None}
    if len(known) < 2:
        return set()
    best = max(known, key=known.__getitem__)
    alike = [method for method in known if method != best and math.isinf(known[method]) == math.isinf(known[best])]
    return {best, *alike} - set(told(best, alike))


def told_from(tests: Iterable[PairTest], best: str) -> set[str]:
    """Methods that are told to be worse than one, by tests of it against each."""
    return {test.other for test in tests if test.one == best and test.told}


def paired(
    values: Values,
    clusters: Sequence[str],
    *,
    higher_is_better: bool,
    seed: int,
    random_flips: int = RANDOM_FLIPS,
    infinite: InfiniteRule = "count",
    weights: Mapping[str, Sequence[float]] | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> list[PairTest]:
    """A test for every pair of methods, or for some, the same for any order of the items and of the methods.

    The statistic is the weighted mean difference over items. Up to ``MOST_ENUMERATED_SOURCES`` sources all flips are
    enumerated and p is the share of those that give at least as large a difference; beyond, flips are drawn and p is
    (1 + hits) / (1 + draws) (Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology, 2010).

    Args:
        values: method -> one value for each item, None or infinite where there is nothing to compare.
        clusters: the source of each item.
        higher_is_better: the metric's direction.
        seed: of the drawn flips.
        random_flips: how many are drawn.
        infinite: see ``statistics.settle_infinite``, applied to the values of each method; what is infinite after it (all values
            of a method, or the rule "keep") has no difference and leaves its item out of the pair.
        weights: method -> what each item counts for, above 0, the same for all by default; an item of a pair has both' mean.
        pairs: which methods to compare, and so how many tests p is corrected for; every two by default.
    """
    for method, column in values.items():
        if len(column) != len(clusters):
            raise ValueError(f"{method!r} has {len(column)} values for {len(clusters)} items")
    columns = {method: settled(column, infinite) for method, column in values.items()}
    tests: list[PairTest] = []
    sums = []
    for one, other in (sorted(pair) for pair in (combinations(values, 2) if pairs is None else pairs)):
        shares = None if weights is None else np.mean([weights[one], weights[other]], axis=0).tolist()
        # Source -> (weight times difference, weight) of its items.
        differences: dict[str, list[tuple[float, float]]] = {}
        n_infinite = 0
        for left, right, source, weight in zip(
            columns[one], columns[other], clusters, shares or [1.0] * len(clusters), strict=True
        ):
            if left is None or right is None:
                continue
            if math.isfinite(left) and math.isfinite(right):
                differences.setdefault(source, []).append((weight * (left - right), weight))
            else:
                n_infinite += 1
        # fsum rounds once, so the order of the items cannot change a sum.
        sums.append({source: math.fsum(product for product, _ in found) for source, found in differences.items()})
        test = _untested(one, other, list(differences.values()), higher_is_better, sums[-1], random_flips)
        tests.append(replace(test, n_infinite=n_infinite))
    testable = [index for index, test in enumerate(tests) if test.reason is None]
    p_values = _p_values([sums[index] for index in testable], sorted(set(clusters)), seed, random_flips)
    for index, p, p_holm in zip(testable, p_values, holm(p_values), strict=True):
        tests[index] = replace(tests[index], p=p, p_holm=p_holm)
    return tests


def settled(column: Sequence[float | None], infinite: InfiniteRule) -> list[float | None]:
    """Infinite values as the largest finite of the method under that rule, else as they are."""
    finite = [value for value in column if value is not None and math.isfinite(value)]
    if infinite != "largest_finite" or not finite:
        return list(column)
    largest = max(finite)
    return [None if value is None else min(value, largest) for value in column]


def _untested(
    one: str,
    other: str,
    differences: Sequence[Sequence[tuple[float, float]]],
    higher_is_better: bool,
    sums: Mapping[str, float],
    random_flips: int,
) -> PairTest:
    rows = [row for of_source in differences for row in of_source]
    if not rows:
        return PairTest(one, other, None, None, None, 0, 0, 1.0, "no item has a finite value of both")
    difference = math.fsum(product for product, _ in rows) / math.fsum(weight for _, weight in rows)
    if difference and (difference < 0) == higher_is_better:
        one, other, difference = other, one, -difference
    # Flipping a source whose sum is 0 changes nothing, so it does not make the clearest difference any rarer.
    moving = sum(total != 0 for total in sums.values())
    least_p = min(1.0, 2.0 ** (1 - moving)) if moving <= MOST_ENUMERATED_SOURCES else 0.0
    if len(sums) > MOST_ENUMERATED_SOURCES:
        least_p = max(least_p, 1 / (1 + random_flips))
    return PairTest(one, other, difference, None, None, len(rows), len(sums), least_p, too_few(len(sums)))


def _p_values(sums: Sequence[Mapping[str, float]], names: Sequence[str], seed: int, random_flips: int) -> list[float]:
    """p of each pair from its sums over the items of each source; ``names`` are all sources."""
    totals = np.array([[one.get(name, 0.0) for one in sums] for name in names]).reshape(len(names), len(sums))
    # Sums of the same numbers with other signs are equal but for rounding, and must count as equal.
    at_least = np.array([abs(math.fsum(one.values())) - 1e-12 * math.fsum(map(abs, one.values())) for one in sums])
    few = np.array([len(one) <= MOST_ENUMERATED_SOURCES for one in sums], np.bool_)
    hits = np.zeros(len(sums))
    if not few.all():
        # Flipping a source that a pair lacks changes nothing.
        for start in range(0, random_flips, _FLIPS_AT_ONCE):
            signs = _drawn_signs(len(totals), seed, random_flips)[start : start + _FLIPS_AT_ONCE].astype(np.float64)
            hits += np.count_nonzero(np.abs(signs @ totals) >= at_least, axis=0)
    p_values = (1 + hits) / (1 + random_flips)
    for index in np.flatnonzero(few).tolist():
        flipped = np.abs(_all_signs(len(sums[index])) @ [sums[index][name] for name in sorted(sums[index])])
        p_values[index] = np.mean(flipped >= at_least[index])
    return [float(p) for p in p_values]


# A report tests many quantities and slices over few numbers of sources; 20 MB for a thousand.
@lru_cache(maxsize=8)
def _drawn_signs(count: int, seed: int, random_flips: int) -> npt.NDArray[np.int8]:
    """The same flips of ``count`` sources for every test, -1 or 1."""
    rng = item_rng(seed, "flips", str(count))
    return rng.integers(0, 2, size=(random_flips, count), dtype=np.int8) * np.int8(2) - np.int8(1)


@lru_cache(maxsize=MOST_ENUMERATED_SOURCES)
def _all_signs(count: int) -> Array:
    """Every way to flip ``count`` sources but the first; flipping all of them changes no size."""
    return np.array([(1.0, *signs) for signs in product((1.0, -1.0), repeat=count - 1)])


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p corrected for all being looked at: the smallest times m, the next times m - 1, and so on; never falling."""
    corrected, so_far = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        so_far = max(so_far, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = so_far
    return corrected
