"""What is said of decaptioning benchmarks."""

from __future__ import annotations

from inpaintbench.benchmarks import Benchmark
from inpaintbench.recipes.about.chalearn import CHALEARN

BENCHMARK = Benchmark(
    use="Removing subtitles from clips without being told where they are.",
    limits=(
        "Subtitles are painted by a program: fonts, places and styles of real broadcasts vary more, and real ones are compressed"
        " together with the film.",
        "The hole is where anything was painted, however transparent.",
    ),
    paper=CHALEARN,
    protocol="decaption/corrected",
    baseline="decaption_median",
    generated={"embedded": "made by a virtual camera over pictures, and by drawing water"},
)
