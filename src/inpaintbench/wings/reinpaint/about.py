"""Words about benchmarks of re-inpainting, apart from what builds them."""

from __future__ import annotations

from inpaintbench.benchmarks import Benchmark, Paper

REINPAINT = Benchmark(
    use="Scoring inpainting without a reference, by inpainting results again, and against the truth by area.",
    limits=(
        "Consistency is not correctness: a method can repeat itself and be wrong.",
        "The paper states neither its patch size nor the ranges of its strokes: those of the recipe are a choice.",
    ),
    paper=Paper(
        "reinpainting",
        "misc",
        "Assessing Image Inpainting via Re-Inpainting Self-Consistency Evaluation",
        {"author": "Tianyi Chen and Jianfu Zhang and Yan Hong and Yiyi Zhang and Liqing Zhang", "year": "2024"},
    ),
    protocol="reinpaint/corrected",
    scored_besides="inpaintbench eval run --for reinpainting",
    generated={"embedded_photographs": "the few photographs that come with the program"},
)
