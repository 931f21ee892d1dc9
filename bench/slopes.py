"""How often a slope of a measured attribute is told where there is none, and how often one is found that is there.

A study has films of 2 to 7 items each. A score is a level of its film (standard deviation 2), what the film adds for a method
(1), what the item adds (0.5) and what it adds for a method (0.7); normal, or log-normal with a deviation of the logarithm of 1
(skewness 6.2). Four columns: one is its film's, skewed as camera motion is, and differs a little within it; three are the items'.
Looked at are the slopes of three methods on each, and of their differences, as `eval/comparing/factor_effects.py` does.

Found: one method loses 1 a standard deviation of the film's column, or of an item's; told of the method or of a difference that
it is in. Beside it: least squares that take all items as if each were a film of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from inpaintbench.eval.comparing.simultaneous import simultaneous
from inpaintbench.eval.comparing.slopes import regression_on
from inpaintbench.eval.values.permutation import LEVEL

FILMS, SHAPES, METHODS, RUNS = (12, 18, 24, 50), {"normal": 0.0, "log-normal, 1": 1.0}, 3, 500
Array = npt.NDArray[np.float64]
PAIRS = list(combinations(range(METHODS), 2))


def drawn(rng: np.random.Generator, shape: float, *size: int) -> Array:
    """Mean 0 and variance 1."""
    normal = rng.standard_normal(size)
    return np.asarray((np.exp(normal) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)) if shape else normal


def study(rng: np.random.Generator, films: int, shape: float) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Columns ``float64[items, 4]`` in standard deviations, scores ``float64[items, methods]``, and the film of each item."""
    film = np.repeat(np.arange(films), rng.integers(2, 8, films))
    camera = np.exp(rng.normal(size=films))[film] * np.exp(0.3 * rng.normal(size=len(film)))
    columns = np.column_stack([np.log(camera + np.median(camera)), rng.normal(size=(len(film), 3))])
    scores = 2 * drawn(rng, shape, films, 1)[film] + drawn(rng, shape, films, METHODS)[film]
    scores = scores + 0.5 * drawn(rng, shape, len(film), 1) + 0.7 * drawn(rng, shape, len(film), METHODS)
    return (columns - columns.mean(axis=0)) / columns.std(axis=0), scores, film


def told(columns: Array, scores: Array, film: npt.NDArray[np.int64], resemblance: float | None) -> npt.NDArray[np.bool_]:
    """``bool[columns, methods and their differences]``."""
    regression = regression_on(np.zeros((len(film), 0)), list(columns.T), film, int(film.max()) + 1)
    everything, equal = np.ones(len(film), np.bool_), np.ones(len(film))
    apart = np.stack([scores[:, one] - scores[:, other] for one, other in PAIRS], axis=1)
    fits = [regression.fit(values, everything, equal, resemblance=resemblance) for values in (scores, apart)]
    found = simultaneous(
        np.concatenate([fit.coefficients[1:].ravel() for fit in fits]),
        np.concatenate([fit.without[:, 1:].reshape(len(fit.without), -1) for fit in fits], axis=1),
        alike=[kind for kind in ("method", "difference") for _ in range(columns.shape[1] * METHODS)],
        shares=np.concatenate([fit.shares[:, 1:].repeat(METHODS, axis=1) for fit in fits], axis=1),
    )
    return np.concatenate((found.p < LEVEL).reshape(2, columns.shape[1], METHODS), axis=1)


def lines(runs: int) -> Iterator[str]:
    """The table, a row for each size of study."""
    heads = ("told where there is nothing", "found: film's", "found: item's")
    yield "| films | values | " + " | ".join(f"{head} | least squares" for head in heads) + " |"
    yield "|---|---|---|---|---|---|---|---|"
    own = [0, *(METHODS + at for at, pair in enumerate(PAIRS) if 0 in pair)]
    for films in FILMS:
        for name, shape in SHAPES.items():
            counts = np.zeros((3, 2))
            for run in range(runs):
                columns, scores, film = study(np.random.default_rng([films, round(shape), run]), films, shape)
                for way, resemblance in enumerate((None, 0.0)):
                    counts[0, way] += told(columns, scores, film, resemblance).any()
                    for row, column in ((1, 0), (2, 1)):
                        lost = scores - columns[:, [column]] * (np.arange(METHODS) == 0)
                        counts[row, way] += told(columns, lost, film, resemblance)[column, own].any()
            yield f"| {films} | {name} | " + " | ".join(f"{100 * count / runs:.1f}" for count in counts.ravel()) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few studies")
    runs = 10 if parser.parse_args().quick else RUNS
    print("## Slopes of measured attributes\n")
    print(f"Per cent of {runs} studies a row; two standard errors of 5 % are {200 * (0.05 * 0.95 / runs) ** 0.5:.1f}.\n")
    for line in lines(runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
