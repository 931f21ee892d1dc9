"""What a network learns from: which items of a dataset, and the examples that they give, some items at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.eval.training.networks import Examples, Network
from inpaintbench.types import Dataset, Plain, item_rng

SPLIT = "train"
# After so many steps other items, or other frames of the same ones, take the place of those in memory.
STEPS_A_SET = 500
_IDENTITIES = {"item_id": "item", "source_id": "source", "truth_rgb_sha256": "true picture"}


def chosen_items(network: Network, dataset: Dataset, *, evaluated: Dataset | None = None) -> list[Plain]:
    """The items to train on: those of the split "train"; where another dataset is to be evaluated on, all.

    Args:
        network: which one.
        dataset: where it learns.
        evaluated: the dataset that the network will be judged on, where that is not ``dataset``.

    Raises:
        InputError: a dataset of another kind, no items to train on, items of several sizes, or items that share their source
            or their pixels with those that are judged.
    """
    for one in (dataset, evaluated):
        if one is not None and (kind := one.recipe.get("recipe")) != network.recipe:
            raise InputError(f"{network.name} is for datasets of the recipe {network.recipe!r}, {one.name!r} is of {kind!r}")
    mine = [row for row in dataset.items if evaluated is not None or row["split"] == SPLIT]
    if not mine:
        splits = ", ".join(sorted({str(row["split"]) for row in dataset.items})) or "no items"
        raise InputError(
            f"{dataset.name!r} has no items in the split {SPLIT!r}, only {splits}; to train on all of them, say by --evaluated "
            f"which other dataset the network is for"
        )
    judged = evaluated.items if evaluated is not None else [row for row in dataset.items if row["split"] != SPLIT]
    _check_apart(mine, judged)
    if len(sizes := sorted({(row["width"], row["height"]) for row in mine})) > 1:
        words = ", ".join(f"{width}x{height}" for width, height in sizes[:3])
        raise InputError(f"items of {dataset.name!r} have several sizes ({words} ...), a network learns from one")
    return mine


def _check_apart(trained: Sequence[Plain], judged: Sequence[Plain]) -> None:
    for field, words in _IDENTITIES.items():
        held_out = {row[field] for row in judged}
        if shared := [row for row in trained if row[field] in held_out]:
            raise InputError(
                f"{len(shared)} of {len(trained)} items to train on share their {words} with items to be judged, such as "
                f"{shared[0]['item_id']!r}; train on other ones"
            )


class Drawn:
    """Batches of examples; which ones, only the seed and the number of the step tell.

    Args:
        network: says what an item gives.
        root: folder of the dataset.
        rows: the items to train on.
        seed: of all draws.
        size: examples of a batch.
    """

    def __init__(self, network: Network, root: Path, rows: Sequence[Plain], *, seed: int, size: int) -> None:
        self._network, self._root, self._rows, self._seed, self._size = network, root, rows, seed, size
        self._held = -1
        self._examples: Examples = ()

    def batch(self, step: int) -> Examples:
        """The arrays of step ``step``, counted from 0.

        Raises:
            MediaError: a file that does not decode.
        """
        if self._held != (number := step // STEPS_A_SET):
            self._examples, self._held = self._read(number), number
        drawn = item_rng(self._seed, "training batch", str(step)).integers(0, len(self._examples[0]), self._size)
        return tuple(part[drawn] for part in self._examples)

    def _read(self, number: int) -> Examples:
        sets = -(-len(self._rows) // self._network.items_at_once)
        order = item_rng(self._seed, "training order", str(number // sets)).permutation(len(self._rows))
        read = [self._of_item(self._rows[index], number) for index in np.array_split(order, sets)[number % sets]]
        return tuple(np.concatenate(parts) for parts in zip(*read, strict=True))

    def _of_item(self, row: Plain, number: int) -> Examples:
        truth, hole = frozen.truth_and_hole(self._root, row)
        degraded = frozen.corrupted(self._root, row, lambda: hole)
        count = min(self._network.frames_of_item, len(truth))
        rng = item_rng(self._seed, f"training frames {number}", str(row["item_id"]))
        some: npt.NDArray[Any] = np.sort(rng.choice(len(truth), count, replace=False))
        return self._network.examples(truth[some], degraded[some], hole[some])
