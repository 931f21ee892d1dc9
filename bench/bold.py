"""How often is one of equal methods alone in bold? Tables under a null, and under one method that is better.

python bench/bold.py [--quick]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from itertools import product

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from inpaintbench.eval.values.permutation import like_best, paired, told_from

TABLES, QUICK = 1000, 100
METHODS, SOURCES, SHAPES = (2, 4, 8), (8, 12, 24), ("normal", "skewed")
ITEMS_A_SOURCE = 2
# What a source is easier by, beside what methods differ by: items of one source resemble each other.
SPREAD = 4.0


def table(rng: np.random.Generator, methods: int, sources: int, shape: str, lead: float) -> set[str]:
    """Who is bold: method -> its value of each item, of which the first is better by ``lead`` standard deviations.

    What a method does on a source beside its level is normal, or exponential, which lies far off on one side.
    """

    def noise(*size: int) -> np.ndarray:
        return rng.normal(size=size) if shape == "normal" else rng.exponential(size=size) - 1

    easy = np.repeat(SPREAD * rng.normal(size=sources), ITEMS_A_SOURCE)
    of_source = np.repeat(noise(methods, sources), ITEMS_A_SOURCE, axis=1)
    values = easy + of_source + 0.5 * noise(methods, sources * ITEMS_A_SOURCE)
    values[0] += lead
    columns = {f"method {at}": row.tolist() for at, row in enumerate(values)}
    clusters = np.repeat([f"source {at}" for at in range(sources)], ITEMS_A_SOURCE).tolist()

    def told(best: str, others: Sequence[str]) -> set[str]:
        tests = paired(columns, clusters, higher_is_better=True, seed=0, pairs=[(best, other) for other in others])
        return told_from(tests, best)

    return like_best({name: float(np.mean(row)) for name, row in columns.items()}, told, higher_is_better=True)


def shares(methods: int, sources: int, shape: str, *, tables: int, lead: float = 0.0) -> tuple[float, float]:
    """Shares of tables in which one method alone is bold, and in which the first is not bold though nobody is better."""
    rng = np.random.default_rng([methods, sources, SHAPES.index(shape), int(10 * lead)])
    bold = [table(rng, methods, sources, shape, lead) for _ in range(tables)]
    return float(np.mean([len(one) == 1 for one in bold])), float(np.mean(["method 0" not in one for one in bold]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the tables")
    tables = QUICK if parser.parse_args().quick else TABLES
    print("## One alone in bold\n")
    print(
        f"{tables:,} tables a row, {ITEMS_A_SOURCE} items a source. Methods are equal but for chance; in the last\n"
        "column the first one is better by 2 standard deviations of what a method does on a source. One standard error\n"
        f"of a share of 5 %: {100 * (0.05 * 0.95 / tables) ** 0.5:.1f} points.\n"
    )
    print("| methods | sources | shape | one alone in bold | the first not bold | one alone, of one that is better |")
    print(f"|{'---|' * 6}")
    for methods, sources, shape in product(METHODS, SOURCES, SHAPES):
        alone, lost = shares(methods, sources, shape, tables=tables)
        found, _ = shares(methods, sources, shape, tables=tables // 5, lead=2.0)
        print(f"| {methods} | {sources} | {shape} | {alone:.1%} | {lost:.1%} | {found:.0%} |", flush=True)


if __name__ == "__main__":
    main()
