"""What is said of fingerprint benchmarks."""

from __future__ import annotations

from inpaintbench.benchmarks import Benchmark
from inpaintbench.recipes.about.chalearn import CHALEARN

BENCHMARK = Benchmark(
    use="Cleaning degraded fingerprints without being told what was done to them.",
    limits=(
        "Prints and degradations are drawn by a program; that a method does well here does not show that it does on real prints,"
        " or that it keeps what identifies a person.",
    ),
    paper=CHALEARN,
    protocol="fingerprint/corrected",
    baseline="oriented_gabor",
    generated={"fingerprints": "prints of fingers that nobody has"},
)
