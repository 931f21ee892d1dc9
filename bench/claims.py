"""How often a page tells something where there is nothing, and how often it finds what is there.

A study has sources of two items each. A value is a level of 30 and four parts of equal variance, 1 together: the source's, the
source's by the method, the item's, the item's by the method; normal, or log-normal with a deviation of the logarithm of 1
(skewness 6.2). Each pair of slices puts a half of the sources, drawn anew, into its low slice and the others into its high one,
so that with 12 sources a slice has the fewest that count. Looked at is what a report looks at: every method's change in every
pair, every slice against the items outside of it, every method's lead over every other.

Told where there is nothing: any of these, beside the rule of before: a change whose two intervals of 95 % do not meet. Found: one
method loses 3 standard deviations in one pair, and the headline names both; before, the largest relative change of those told.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.eval.comparing.simultaneous import simultaneous
from inpaintbench.eval.values.permutation import LEVEL
from inpaintbench.eval.values.statistics import summarise

SOURCES, METHODS, PAIRS = (12, 24), (2, 4, 8), (2, 5, 12)
SHAPES = {"normal": 0.0, "log-normal, 1": 1.0}
QUANTITIES = 6
"""Of the study of several quantities, independent of each other, of which the first is the primary one."""
ITEMS = 2
LOSS = 3.0
RUNS, RUNS_BEFORE = 500, 100
"""The rule of before takes most of the time."""
Numbers = npt.NDArray[np.float64]


class Study(NamedTuple):
    values: Numbers
    """``float64[sources, items, methods, quantities]``."""
    high: npt.NDArray[np.bool_]
    """``bool[pairs, sources]``; the others are low."""


class Looked(NamedTuple):
    estimates: Numbers
    without: Numbers
    alike: list[tuple[str, int]]
    """Kind and quantity of each."""


def drawn(rng: np.random.Generator, shape: float, *size: int) -> Numbers:
    """Mean 0 and variance 1."""
    normal = rng.standard_normal(size)
    if not shape:
        return normal
    square = shape * shape
    return np.asarray((np.exp(shape * normal) - np.exp(square / 2)) / np.sqrt((np.exp(square) - 1) * np.exp(square)))


def study(rng: np.random.Generator, sources: int, methods: int, pairs: int, shape: float, quantities: int = 1) -> Study:
    """Where there is nothing."""
    sizes = [(sources, 1, 1), (sources, 1, methods), (sources, ITEMS, 1), (sources, ITEMS, methods)]
    parts = [drawn(rng, shape, *size, quantities) for size in sizes]
    values = 30 + 0.5 * (parts[0] + parts[1] + parts[2] + parts[3])
    high = np.zeros((pairs, sources), np.bool_)
    for row in high:
        row[rng.permutation(sources)[: sources // 2]] = True
    return Study(values, high)


def planted(made: Study) -> Study:
    """The same, but that the first method loses in the first pair by the first quantity."""
    values = made.values.copy()
    values[made.high[0], :, 0, 0] -= LOSS
    return made._replace(values=values)


def means(values: Numbers, inside: npt.NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Of the items of some sources: ``float64[methods, quantities]``, and the same without each source, that first."""
    sums, count = values[inside].sum(axis=(0, 1)), ITEMS * int(inside.sum())
    own = np.where(inside[:, None, None], values.sum(axis=1), 0.0)
    left = count - ITEMS * inside[:, None, None]
    return sums / count, (sums - own) / left


def looked(made: Study) -> Looked:
    """Everything of a report, as `eval/comparing/looked_at.py` looks at it."""
    values, quantities = made.values, made.values.shape[-1]
    estimates: list[float] = []
    without: list[Numbers] = []
    alike: list[tuple[str, int]] = []

    def add(kind: str, of: Numbers, each: Numbers) -> None:
        for quantity in range(quantities):
            estimates.append(float(of[quantity]))
            without.append(each[:, quantity])
            alike.append((kind, quantity))

    for high in made.high:
        (low, low_each), (top, top_each) = means(values, ~high), means(values, high)
        for method in range(values.shape[2]):
            add("change", (top - low)[method], (top_each - low_each)[:, method])
        for sign in (1, -1):  # either slice against the items outside of it
            add("slice", sign * (top - low).mean(axis=0), sign * (top_each - low_each).mean(axis=1))
    whole, each = means(values, np.ones(len(values), np.bool_))
    for one, other in combinations(range(values.shape[2]), 2):
        add("lead", whole[one] - whole[other], each[:, one] - each[:, other])
    return Looked(np.array(estimates), np.stack(without, axis=1), alike)


def told(made: Study) -> tuple[npt.NDArray[np.bool_], int | None]:
    """What is told, and the place of the headline among it: the change by the primary quantity that is surest to be large."""
    of = looked(made)
    primary = np.array([quantity == 0 for _, quantity in of.alike])
    shares = np.full_like(of.without, 1 / len(of.without))
    found = simultaneous(of.estimates, of.without, alike=of.alike, shares=shares, first=primary)
    sure = found.p < LEVEL
    changes = [at for at, (kind, quantity) in enumerate(of.alike) if sure[at] and kind == "change" and quantity == 0]
    return sure, max(changes, key=lambda at: float(abs(of.estimates[at]) - found.reach[at]), default=None)


def before(made: Study) -> tuple[int, int] | None:
    """Pair and method of the headline by the rule of before."""
    names = [f"{source:02}" for source in range(len(made.values))]
    shares = {}
    for pair, high in enumerate(made.high):
        for method in range(made.values.shape[2]):
            low, top = (
                summarise(
                    made.values[part, :, method, 0].ravel().tolist(),
                    clusters=[name for name, inside in zip(names, part, strict=True) if inside for _ in range(ITEMS)],
                )
                for part in (~high, high)
            )
            ends = (low.interval_low, low.interval_high, top.interval_low, top.interval_high)
            if low.mean and top.mean and None not in ends and (ends[1] < ends[2] or ends[3] < ends[0]):  # type: ignore[operator]
                shares[pair, method] = abs(top.mean - low.mean) / low.mean
    return max(shares, key=shares.__getitem__, default=None)


def lines(sizes: argparse.Namespace, runs: int, runs_before: int) -> Iterator[str]:
    """The table, a row for each size of study."""
    yield "| sources | methods | pairs | values | told where there is nothing | before | found | before |"
    yield "|---|---|---|---|---|---|---|---|"
    worst, least = 0.0, np.inf
    for sources in sizes.sources:
        for methods in sizes.methods:
            for pairs in sizes.pairs:
                for name, shape in SHAPES.items():
                    rng = np.random.default_rng([sources, methods, pairs, round(shape)])
                    counts = np.zeros(4)
                    for run in range(runs):
                        made = study(rng, sources, methods, pairs, shape)
                        counts[:2] += told(made)[0].any(), told(planted(made))[1] == 0
                        if run < runs_before:
                            counts[2:] += before(made) is not None, before(planted(made)) == (0, 0)
                    nothing, found = 100 * counts[:2] / runs
                    spoke, named = 100 * counts[2:] / runs_before
                    worst, least = max(worst, nothing), min(least, found / max(named, 1e-9))
                    size = f"{sources} | {methods} | {pairs} | {name}"
                    yield f"| {size} | {nothing:.1f} | {spoke:.0f} | {found:.1f} | {named:.0f} |"
    yield ""
    yield f"Told where there is nothing in at most {worst:.1f} %; found at least {least:.2f} times as often as before."


def of_several(runs: int) -> Iterator[str]:
    """Studies of several quantities: whatever is told of any of them."""
    yield f"| sources | methods | pairs | values | told by any of {QUANTITIES} quantities |"
    yield "|---|---|---|---|---|"
    for sources in SOURCES:
        for methods, pairs in ((2, 2), (8, 2), (4, 5)):
            for name, shape in SHAPES.items():
                rng = np.random.default_rng([sources, methods, pairs, round(shape), QUANTITIES])
                made = (study(rng, sources, methods, pairs, shape, QUANTITIES) for _ in range(runs))
                share = 100 * sum(bool(told(one)[0].any()) for one in made) / runs
                yield f"| {sources} | {methods} | {pairs} | {name} | {share:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few studies")
    for name, every in (("sources", SOURCES), ("methods", METHODS), ("pairs", PAIRS)):
        parser.add_argument(f"--{name}", type=int, nargs="+", default=every, help="of the first table")
    parser.add_argument("--before", type=int, default=RUNS_BEFORE, help="studies a row by the rule of before, of the first ones")
    parser.add_argument("--alone", action="store_true", help="without the table of several quantities")
    asked = parser.parse_args()
    runs, runs_before = (10, 2) if asked.quick else (RUNS, asked.before)
    print("## Claims where there is nothing, and where there is something\n")
    twice = 200 * (0.05 * 0.95 / runs) ** 0.5
    print(f"Per cent of {runs} studies a row (before: {runs_before}); two standard errors of 5 % are {twice:.1f}.\n")
    for table in (lines(asked, runs, runs_before), iter([""]), iter(()) if asked.alone else of_several(runs)):
        for line in table:
            print(line, flush=True)


if __name__ == "__main__":
    main()
