"""Base of layouts: what a layout is given, what it has to do, and frames and holes as numbered PNG files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from inpaintbench import frozen, video
from inpaintbench.catalogue import Leaf
from inpaintbench.export.layout import media_names
from inpaintbench.files import copy_file
from inpaintbench.types import Dataset, Plain, Slice

CLIPS, PICTURES = "clips with holes", "pictures with holes"
PAINTED = "clips that something was painted on"
DEGRADED = "pictures degraded as a whole"
EDITS = "clips to be edited"
# What items can be.
KINDS = (CLIPS, PICTURES, PAINTED, DEGRADED, EDITS)


def kind_of(row: Plain) -> str:
    """Return which of ``KINDS`` an item is."""
    if frozen.is_edit(row):
        return EDITS
    if row.get("alpha_file_name"):
        return PAINTED
    if not frozen.has_hole(row):
        return DEGRADED
    return PICTURES if row["frames"] == 1 else CLIPS


@dataclass(frozen=True)
class Written:
    """An item that a layout has written."""

    row: Plain
    files: Mapping[str, Any]
    """Kind of file -> path in the new folder, or a list of them; ``%04d`` stands for the number of a frame, from 0."""
    slice: str | None = None
    """The slice that these files are of, where a layout writes an item once a slice."""


class Chosen:
    """The part of a frozen dataset that is converted.

    Args:
        root: folder of the dataset.
        dataset: its manifest.
        slices: those to convert, in their order; all where none is named.
        named: whether slices were named.
    """

    def __init__(self, root: Path, dataset: Dataset, slices: Sequence[Slice], *, named: bool) -> None:
        self.root, self.dataset, self.slices, self.named = root, dataset, tuple(slices), named
        wanted = {item_id for part in slices for item_id in part.item_ids} if named else None
        self.rows = [row for row in dataset.items if wanted is None or row["item_id"] in wanted]
        """Every item once, in the order of the manifest."""
        self._row_of = {row["item_id"]: row for row in self.rows}

    @property
    def places(self) -> int:
        """Number of items in slices: an item counts once for each of its slices."""
        return sum(len(part.item_ids) for part in self.slices)

    def of(self, part: Slice) -> list[Plain]:
        """The items of a slice, in its order."""
        return [self._row_of[item_id] for item_id in part.item_ids]

    def sound(self, rows: Sequence[Plain]) -> Iterator[Plain]:
        """The rows, each when all of its files were found to be what the manifest says.

        Raises:
            VerifyError: one is missing or was changed.
        """
        for row in rows:
            for name in media_names(row):
                frozen.proved_file(self.root, name, of=f"item {row['item_id']}: ")
            yield row


class Layout(Leaf, ABC):
    """A layout of a dataset. It writes into an empty folder; reading, checking and replacing belong to ``convert``."""

    takes: tuple[str, ...]
    """Members of ``KINDS`` that it has a place for."""
    needs_truth: bool = True
    """True when it has nothing to write where the truth is held back."""
    lists_items: bool = True
    """True when its files leave out what is known of items, so that ``items.jsonl`` has to hold it."""
    about: str
    """Markdown on where files lie, and which of them are exact."""

    @abstractmethod
    def write(self, folder: Path, chosen: Chosen) -> Iterator[Written]:
        """Write the items one after the other.

        Raises:
            InputError: they do not fit, for a reason that ``takes`` does not tell.
        """

    def count(self, chosen: Chosen) -> int:
        """Number of items that ``write`` will give."""
        return len(chosen.rows)

    def front_matter(self, chosen: Chosen) -> Mapping[str, Any]:  # noqa: ARG002
        """The fields at the head of README.md that make `datasets` load the folder; none where it cannot."""
        return {}


def write_pictures(folder: Path, template: str, pictures: Iterable[npt.NDArray[Any]]) -> None:
    """Write ``uint8[T, H, W, 3]`` as RGB, or ``bool[T, H, W]`` with one bit a pixel, white where it is True.

    ``template`` names a file by its number, such as ``frame_%04d.png``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for index, picture in enumerate(pictures):
        video.write_image(folder / (template % index), picture)


def copy(source: Path, target: Path) -> None:
    """Copy the bytes of a file, and nothing of its times and rights."""
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_file(source, target)
