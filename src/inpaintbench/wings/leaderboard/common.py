"""Items that versions of a dataset have in common, and what a submission says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inpaintbench.errors import InputError
from inpaintbench.eval.scoring.parts import everything
from inpaintbench.frozen import dataset_id
from inpaintbench.types import Dataset, Plain
from inpaintbench.wings.leaderboard.unpack import Submission

# Columns of an item that say what is scored: with equal ones, the same prediction has the same scores.
_SCORED = ("item_id", "truth_rgb_sha256", "hole_sha256", "input_sha256", "fill", "frames", "height", "width")


def common_part(dataset: Dataset, versions: Sequence[Dataset]) -> Dataset:
    """``dataset`` with the items alone that all ``versions`` have with the same truth, hole and input, and slices of those.

    Raises:
        InputError: there is no such item.
    """
    inside = set.intersection(*({_what(row) for row in one.items} for one in (dataset, *versions)))
    items = tuple(row for row in dataset.items if _what(row) in inside)
    if not items:
        raise InputError(
            f"the versions {', '.join(map(dataset_id, versions))} have no item in common, so nothing can be compared"
        )
    if len(items) == len(dataset.items):
        return dataset
    there = {row["item_id"] for row in items}
    slices = [replace(part, item_ids=tuple(item for item in part.item_ids if item in there)) for part in dataset.slices]
    return replace(dataset, items=items, slices=tuple(part for part in slices if part.item_ids))


def _what(row: Plain) -> tuple[object, ...]:
    return tuple(row.get(column) for column in _SCORED)


def within(submission: Submission, version: Dataset, common: Dataset) -> Submission:
    """What a submission says of ``common`` items.

    Args:
        submission: that was checked.
        version: of the dataset that it was scored on.
        common: what ``common_part`` gave. Numbers of sets stay for slices that hold the same items in both.
    """
    inside = {row["item_id"] for row in common.items}
    before, now = ({part.name: set(part.item_ids) for part in (*one.slices, everything(one))} for one in (version, common))
    same = {name for name, items in now.items() if before.get(name) == items}
    header = submission.header
    return replace(
        submission,
        header=replace(
            header,
            predictions={item: fact for item, fact in header.predictions.items() if item in inside},
            failures={item: why for item, why in header.failures.items() if item in inside},
            measured={item: hashes for item, hashes in header.measured.items() if item in inside},
        ),
        scores=tuple(row for row in submission.scores if row.item_id in inside),
        slice_scores=tuple(row for row in submission.slice_scores if row.slice in same),
    )
