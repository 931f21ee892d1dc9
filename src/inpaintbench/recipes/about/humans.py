"""What is said of benchmarks of people under blocks."""

from __future__ import annotations

from inpaintbench.benchmarks import Benchmark
from inpaintbench.recipes.about.chalearn import CHALEARN

BENCHMARK = Benchmark(
    use="Recovering parts of people under blocks; and whether a pose estimator finds the joints again.",
    limits=(
        "Joints come from the annotations or drawings, whose errors are in the scores. Blocks lie around joints, keep away from"
        " the edges and say nothing about holes elsewhere.",
    ),
    paper=CHALEARN,
    protocol="humans/corrected",
    generated={"drawn_people": "people drawn over photographs"},
    extends=("people",),
)
