"""How to cite the papers that the recipes re-create: what their own texts say of themselves, and where they appeared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inpaintbench.types import Dataset


@dataclass(frozen=True)
class Paper:
    """A paper; what its text does not state is not here."""

    key: str
    kind: str
    """Of BibTeX entry."""
    title: str
    fields: Mapping[str, str]
    """Further fields of the entry, in order."""

    @property
    def bibtex(self) -> str:
        """The entry, one field a line."""
        told = {"title": f"{{{self.title}}}", **self.fields}
        width = max(map(len, told))
        lines = [f"  {name:<{width}} = {{{value}}}," for name, value in told.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


_DEVIL = Paper(
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
)
_REINPAINT = Paper(
    "reinpainting",
    "misc",
    "Assessing Image Inpainting via Re-Inpainting Self-Consistency Evaluation",
    {"author": "Tianyi Chen and Jianfu Zhang and Yan Hong and Yiyi Zhang and Liqing Zhang", "year": "2024"},
)
_CHALEARN = Paper(
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
_EDITBOARD = Paper(
    "editboard",
    "inproceedings",
    "EditBoard: Towards a Comprehensive Evaluation Benchmark for Text-Based Video Editing Models",
    {"booktitle": "AAAI", "year": "2025", "url": "https://github.com/Samchen2003/EditBoard"},
)
PAPERS: Mapping[str, Paper] = {
    "devil": _DEVIL,
    "reinpaint": _REINPAINT,
    "humans": _CHALEARN,
    "decaption": _CHALEARN,
    "fingerprint": _CHALEARN,
    "editing": _EDITBOARD,
}
"""Recipe -> the paper whose benchmark it re-creates."""


def paper_of(dataset: Dataset) -> Paper | None:
    """The paper whose benchmark a dataset re-creates; None where its recipe follows none."""
    return PAPERS.get(str(dataset.recipe.get("recipe")))
