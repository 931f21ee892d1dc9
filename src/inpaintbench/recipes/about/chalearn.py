"""The paper of the challenges that three recipes re-create."""

from __future__ import annotations

from inpaintbench.benchmarks import Paper

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
