"""What to cite, and how the dataset is made again."""

from __future__ import annotations

import json

from inpaintbench.benchmarks import benchmark_of
from inpaintbench.export.card.words import plain
from inpaintbench.frozen import dataset_id
from inpaintbench.types import Dataset


def citation(dataset: Dataset) -> list[str]:
    """The paper whose benchmark is re-created, and how to name the data themselves."""
    paper = benchmark_of(dataset).paper
    named = plain(dataset_id(dataset))
    lines = ["## Citation", ""]
    if paper is not None:
        lines += [
            "The benchmark is that of this paper; the entry states what the text of the paper states.",
            "",
            "```bibtex",
            paper.bibtex,
            "```",
            "",
        ]
    return [*lines, f"Name these data as “{named}”: other digits behind the plus sign mean other items, slices or options.", ""]


def how_it_was_made(dataset: Dataset) -> list[str]:
    """The resolved recipe, folded. The versions of packages are in the manifest alone: another version makes no other card."""
    return [
        "## How it was made",
        "",
        "The resolved recipe; with the same sources and versions it gives this dataset again, byte for byte (per platform).",
        "",
        "<details><summary>Recipe</summary>",
        "",
        "```json",
        json.dumps(dict(dataset.recipe), indent=1, sort_keys=True).replace("```", "\\u0060\\u0060\\u0060"),
        "```",
        "",
        f"inpaintbench {plain(dataset.versions.get('inpaintbench', ''))}; the versions of packages stand in `dataset.json`.",
        "",
        "</details>",
        "",
    ]
