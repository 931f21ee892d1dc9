"""What `export freeze --hold-back` says, and what a report of its public dataset wants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.errors import InputError
from inpaintbench.eval.held_back import held_back_words
from inpaintbench.eval.partial_runs import items_of_slices
from inpaintbench.export.exposure import exposed_words
from inpaintbench.types import Dataset


def tell_apart(public: tuple[Path, Dataset], truth: tuple[Path, Dataset]) -> None:
    """Print where both datasets lie, and warn of what the inputs show of the truth all the same."""
    (folder, dataset), (apart, kept) = public, truth
    console.out.print(
        f"{len(dataset.items)} items in {len(dataset.slices)} slices, {len(kept.items)} of them without truth: {folder}",
        markup=False,
    )
    console.out.print(f"their truth, to be kept: {apart}", markup=False)
    told = dataset.facts["held_back"]
    if seen := told.get("shown_by_other_inputs"):
        why = f"; the dataset says that it is allowed because: {told['allowed']}" if "allowed" in told else ""
        console.warn(exposed_words(seen, len(kept.items)) + why)


def check_reportable(root: Path, slices: Sequence[str]) -> None:
    """Refuse a report before anything runs where not one of the asked items can be scored.

    Args:
        root: a frozen dataset.
        slices: the items that are asked for are in these; () = all items.

    Raises:
        InputError: the truth of every asked item is held back, or no item is in the slices. UnknownNameError: no such slice.
    """
    dataset = frozen.load(root)
    asked = items_of_slices(dataset, slices) if slices else {row["item_id"] for row in dataset.items}
    words = held_back_words(dataset)
    if words and not any(row["item_id"] in asked and frozen.has_truth(row) for row in dataset.items):
        raise InputError(f"{words}; leave out --report, and send the run folder to those who hold the truth")
