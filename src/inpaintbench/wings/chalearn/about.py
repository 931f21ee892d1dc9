"""Words about the benchmarks of the challenges, apart from what builds them."""

from __future__ import annotations

from inpaintbench.benchmarks import Benchmark, Drawn, Paper

# Of the challenges that three recipes re-create.
CHALEARN = Paper(
    "chalearn_inpainting",
    "incollection",
    "ChaLearn Looking at People: Inpainting and Denoising challenges",
    {
        "author": "Sergio Escalera and Marti Soler and Stephane Ayache and Umut Guclu and Jun Wan and Meysam Madadi and "
        "Xavier Bar{\\'o} and Hugo Jair Escalante and Isabelle Guyon",
        "booktitle": "Inpainting and Denoising Challenges",
        "series": "The Springer Series on Challenges in Machine Learning",
        "publisher": "Springer, Cham",
        "eprint": "2106.13071",
        "archiveprefix": "arXiv",
    },
)

HUMANS = Benchmark(
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

DECAPTION = Benchmark(
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

FINGERPRINT = Benchmark(
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
DRAWN_PRINTS = Drawn(
    apart="every finger is grown from a number of its own, and prints look alike by a hash of 64 bits: 1 % of pairs do",
    called="fingerprints of nobody",
    of_seed=True,
)
