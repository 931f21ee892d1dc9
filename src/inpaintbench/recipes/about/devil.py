"""What is said of DEVIL-style benchmarks."""

from __future__ import annotations

from inpaintbench.benchmarks import Benchmark, Paper

BENCHMARK = Benchmark(
    use="Finding out which content a method for video inpainting fails on: each slice fixes one attribute of clip or hole.",
    limits=(
        "Camera motion is estimated from the pictures. Large moving things and water can be taken for a moving camera, and"
        " zooming in loses less of the view than turning.",
        "Low and high are ranks among the clips of this dataset: a low clip here need not be low elsewhere. Clips between them"
        " are in no slice of that attribute.",
        "Background scene motion is labelled, not measured: clips that nobody labelled are in no slice of it.",
    ),
    paper=Paper(
        "devil",
        "inproceedings",
        "The DEVIL is in the Details: A Diagnostic Evaluation Benchmark for Video Inpainting",
        {
            "author": "Ryan Szeto and Jason J. Corso",
            "booktitle": "CVPR",
            "year": "2022",
            "note": "Open Access version, provided by the Computer Vision Foundation",
            "url": "https://github.com/MichiganCOG/devil",
        },
    ),
    generated={"embedded": "made by a virtual camera over pictures, and by drawing water"},
)
