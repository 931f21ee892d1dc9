"""How much faster the trace term of the Frechet distance is than a matrix square root, and how far the values are apart.

python bench/frechet.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import numpy.typing as npt
import scipy
import scipy.linalg

from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.set_distances import frechet, samples
from inpaintbench.eval.set_distances.frechet import Moments

Matrix = npt.NDArray[np.float64]


def vectors(n: int, d: int, *, seed: int) -> Matrix:
    """Non-negative vectors with correlated entries and a spectrum that falls off, as pooled features have."""
    mixing = np.random.default_rng(7).normal(size=(d, d)) / np.sqrt(np.arange(1, d + 1))[:, None] / np.sqrt(d)
    return np.abs(np.random.default_rng(seed).normal(size=(n, d)) @ mixing + 0.3)


def moments_of(rows: Matrix) -> Moments:
    moments = Moments()
    moments.add(rows)
    return moments


def straightforward(one: Matrix, other: Matrix) -> tuple[float, Callable[[], float]]:
    """What does not involve the root, and the trace of the root by SciPy from covariances made before."""
    covariances = [np.cov(rows, rowvar=False) for rows in (one, other)]
    gap = one.mean(axis=0) - other.mean(axis=0)
    return float(gap @ gap + sum(map(np.trace, covariances))), lambda: float(
        np.trace(scipy.linalg.sqrtm(covariances[0] @ covariances[1])).real
    )


def seconds(make: Callable[[], float], *, times: int) -> tuple[float, float]:
    """Median processor seconds of a call, and what it gave."""
    taken, value = [], 0.0
    for _ in range(times):
        start = time.process_time()
        value = make()
        taken.append(time.process_time() - start)
    return statistics.median(taken), value


def one_size(n: int, d: int, *, ours_times: int, theirs_times: int) -> None:
    one, other = vectors(n, d, seed=0), 1.1 * vectors(n, d, seed=1)
    moments = moments_of(one), moments_of(other)
    rest, root = straightforward(one, other)
    # Ours begins from the moments and makes the whole distance; theirs from finished covariances and makes the trace alone.
    ours, value = seconds(lambda: frechet.distance(*moments, ddof=1), times=ours_times)
    theirs, trace = seconds(root, times=theirs_times)
    apart = abs(value - (rest - 2 * trace)) / value
    print(
        f"- {n} x {d}: {1000 * ours:.1f} ms for the distance against {1000 * theirs:.0f} ms for the trace by "
        f"`scipy.linalg.sqrtm` {scipy.__version__}: {theirs / ours:.0f} times faster; {value:.6f}, apart by {apart:.1e} of it"
    )
    copy = frechet.distance(moments[0], moments_of(one), ddof=1)
    print(f"  - between a set and itself: {copy:.1e}")


def machine(n: int, d: int) -> None:
    truth = vectors(n, d, seed=0).astype(np.float32)
    prediction = (truth + np.random.default_rng(3).normal(0.01, 0.2, truth.shape)).astype(np.float32)
    sets = [Features(prediction, truth)]
    taken, value = seconds(lambda: samples.unpaired(sets, ["all"], cost=1.0).value or 0.0, times=1)
    print(f"- support vector machine of U-IDS and P-IDS, 2 x {n} x {d}: {taken:.1f} s, U-IDS {value:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="150 x 1024 alone")
    quick = parser.parse_args().quick
    print("Processor seconds on one core, both in one run.\n")
    one_size(150, 1024, ours_times=21, theirs_times=3)
    if not quick:
        one_size(4000, 2048, ours_times=1, theirs_times=1)
    machine(*(600, 256) if quick else (6000, 2048))


if __name__ == "__main__":
    main()
