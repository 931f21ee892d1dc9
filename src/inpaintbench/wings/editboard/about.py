"""Words about benchmarks of edits, apart from what builds them."""

from __future__ import annotations

from inpaintbench.benchmarks import Benchmark, Paper

EDITING = Benchmark(
    use="Scoring edits by prompt in four tasks: success, faithfulness to the clip, steadiness.",
    limits=(
        "The videos and prompts of the paper were never released; footage and prompts are those of whoever built this.",
        "Nobody made the edits that are asked for: there is no truth to compare with, and scores are of networks that have their"
        " own errors.",
    ),
    paper=Paper(
        "editboard",
        "inproceedings",
        "EditBoard: Towards a Comprehensive Evaluation Benchmark for Text-Based Video Editing Models",
        {"booktitle": "AAAI", "year": "2025", "url": "https://github.com/Samchen2003/EditBoard"},
    ),
    protocol="editboard/corrected",
    baseline="edit_recolour",
    generated={"embedded_edits": "made by a virtual camera over pictures"},
)
