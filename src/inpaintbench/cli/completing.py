"""Completions of options for shells: names of catalogues, and what lies in the folders named before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from inpaintbench.steps import predicted_label

# Environment variable that shells set when they ask for completions.
_PROMISE = "_INPAINTBENCH_COMPLETE"


def complete_names(known: Iterable[str]) -> Callable[[str], list[str]]:
    """Completes with some of ``known``: a catalogue or any collection of names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in known if name.startswith(incomplete)]

    return complete


def complete_slices(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes with the slices and splits of the frozen dataset that the command line names."""
    try:
        from inpaintbench import manifest

        dataset = manifest.load(str(ctx.params.get("dataset")))
        splits = dict.fromkeys(f"split-{split or 'test'}" for split in manifest.column(dataset, "split"))
        candidates = [*(part.name for part in dataset.slices), *splits]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [name for name in candidates if name.startswith(incomplete)]


def complete_labels(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes with the methods that the run folder of the command line holds predictions or scores of."""
    tables = Path(str(ctx.params.get("run"))) / "tables" / "predictions"
    labels = sorted(label for path in tables.glob("*.parquet") if (label := predicted_label(path.stem)) is not None)
    return [name for name in labels if name.startswith(incomplete)]


def parse_dataset(text: str) -> Path:
    """The dataset that ``frozen_or_hub`` finds, which asks the Hub nothing while a shell completes."""
    if _PROMISE in os.environ:
        return Path(text)
    from inpaintbench.eval.hub import frozen_or_hub  # the help of the program imports no room

    return frozen_or_hub(text)
