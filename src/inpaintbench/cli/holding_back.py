"""What `export freeze --hold-back` says."""

from __future__ import annotations

from pathlib import Path

from inpaintbench.cli import console
from inpaintbench.types import Dataset


def tell_apart(public: tuple[Path, Dataset], truth: tuple[Path, Dataset]) -> None:
    """Print where both datasets lie, and warn of what the inputs show of the truth all the same."""
    (folder, dataset), (apart, kept) = public, truth
    console.out.print(
        f"{len(dataset.items)} items in {len(dataset.slices)} slices, {len(kept.items)} of them without truth: {folder}",
        markup=False,
    )
    console.out.print(f"their truth, to be kept: {apart}", markup=False)
    if seen := dataset.facts["held_back"].get("shown_by_other_inputs"):
        console.warn(
            f"{seen['items']} of {len(kept.items)} held-back items share their clip with others whose holes lie elsewhere: the "
            f"inputs together show {100 * seen['hole_pixels']:.1f} % of what lies under the holes"
        )
