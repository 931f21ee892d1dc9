"""How methods are scored on a dataset."""

from __future__ import annotations

from inpaintbench import frozen
from inpaintbench.benchmarks import benchmark_of
from inpaintbench.export.card.words import code, counted, plain, table
from inpaintbench.types import Dataset


def scoring(dataset: Dataset) -> list[str]:
    """Commands, and the protocols with their fingerprints."""
    hidden = sum(not frozen.has_truth(row) for row in dataset.items)
    lines = ["## Score a method", "", *(_in_a_challenge(dataset, hidden) if hidden else _here(dataset, "PATH"))]
    protocols = dataset.facts.get("protocols", ())
    if not protocols:
        return [*lines, ""]
    rows = [
        [code(one["name"]), code(one["fingerprint"]), "unless another is asked for" if one.get("usual") else ""]
        for one in protocols
    ]
    return [
        *lines,
        "A protocol states every constant that a number depends on; numbers compare where the fingerprints are equal.",
        "",
        *table(["protocol", "fingerprint", "used"], rows),
    ]


def _here(dataset: Dataset, path: str) -> list[str]:
    """Predict and score in one place; nothing else is needed."""
    return [
        "```",
        _predicting(dataset, path),
        *_scoring(dataset, path),
        "```",
        "",
        "`--saved NAME=FOLDER` scores predictions that were made elsewhere.",
    ]


def _in_a_challenge(dataset: Dataset, hidden: int) -> list[str]:
    """Predict here, score where the truth is."""
    named = dataset.facts.get("held_back", {}).get("truth_dataset")
    where = f"the dataset {plain(named)}, here `TRUTH`" if named else "the dataset with the truth, here `TRUTH`"
    opened = len(dataset.items) - hidden
    which = "it" if hidden == 1 else "they"
    return [
        f"Of {counted(hidden, 'item')} the truth is held back, so {which} cannot be scored here. Predict:",
        "",
        "```",
        _predicting(dataset, "PATH"),
        "```",
        "",
        "Then send the folder `RUN`, or your results as files that are called like their items, to those who hold the truth."
        f" They score them with {where}:",
        "",
        "```",
        *_scoring(dataset, "TRUTH"),
        "```",
        "",
        "Files take `inpaintbench eval predict TRUTH --saved NAME=FOLDER --run RUN` first.",
        *(
            [f"With `PATH` for `TRUTH` these commands score {counted(opened, 'item')} of this dataset, whose truth is here."]
            if opened
            else []
        ),
    ]


def _predicting(dataset: Dataset, path: str) -> str:
    return f"inpaintbench eval predict {path} --run RUN --method {benchmark_of(dataset).baseline}"


def _scoring(dataset: Dataset, path: str) -> list[str]:
    second = benchmark_of(dataset).inpainted_again
    return [
        f"inpaintbench eval score   {path} --run RUN",
        *([f"inpaintbench eval reinpaint {path} --run RUN"] if second else []),
        f"inpaintbench eval report  {path} --run RUN",
    ]
