"""Pictures of items on the card: a strip of a few of each slice, as methods see them, so that they show nothing held back.

They need pixels, so they are data of a dataset, unlike all else on a card, which follows from the manifest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen, video
from inpaintbench.export.layout import finder, media_names
from inpaintbench.files import write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.types import Dataset, Plain, Slice

cv2 = lazily("cv2")

Picture = npt.NDArray[np.uint8]
_START, _END = "card/items-", ".jpg"
# Pictures of a strip, each of another source; slices that have one; ids of a slice among which they are looked for.
_PICTURES, MOST_STRIPS, _LOOKED_AT = 4, 24, 64
# Pixels: side by side they are as wide as the column of a card on the Hub.
_HEIGHT, _WIDEST, _GAP = 120, 208, 6


def strip_name(slice_name: str) -> str:
    """Path of the strip of a slice in the dataset."""
    return f"{_START}{slice_name}{_END}"


def is_strip(name: str) -> bool:
    """Return whether a file of a dataset is a strip, which is made anew with the rows."""
    return name.startswith(_START) and name.endswith(_END)


def write_strips(folder: Path, dataset: Dataset) -> None:
    """Write the strips of the first ``MOST_STRIPS`` slices of a dataset, of items whose media lie in ``folder``."""
    rows_of, seen = finder(dataset.items), dict[str, Picture]()
    for part in dataset.slices[:MOST_STRIPS]:
        rows = [row for row in rows_of(part.item_ids[:_LOOKED_AT]) if all((folder / name).exists() for name in media_names(row))]
        if pictures := [_picture(folder, row, seen) for row in _chosen(rows)]:
            (folder / strip_name(part.name)).parent.mkdir(exist_ok=True)
            write_atomically(folder / strip_name(part.name), video.jpeg_bytes(_side_by_side(pictures)))


def shown_strips(dataset: Dataset) -> list[Slice]:
    """The slices that have a strip."""
    return [part for part in dataset.slices if strip_name(part.name) in dataset.files]


def _chosen(rows: Sequence[Plain]) -> list[Plain]:
    """Rows of different sources, the first of each, as far as there are so many."""
    first = {frozen.source_of(row): row for row in reversed(rows)}
    own = [row for row in rows if first[frozen.source_of(row)] is row]
    return (own + [row for row in rows if first[frozen.source_of(row)] is not row])[:_PICTURES]


def _picture(folder: Path, row: Plain, seen: dict[str, Picture]) -> Picture:
    """The middle frame of what methods see, small; of an item in several slices decoded once."""
    if row["item_id"] not in seen:
        frames = frozen.input_view(folder, row).input
        frame = frames[len(frames) // 2]
        scale = min(_HEIGHT / frame.shape[0], _WIDEST / frame.shape[1])
        size = max(1, round(scale * frame.shape[1])), max(1, round(scale * frame.shape[0]))
        seen[row["item_id"]] = np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
    return seen[row["item_id"]]


def _side_by_side(pictures: Sequence[Picture]) -> Picture:
    return np.hstack(list(_with_gaps(pictures)))


def _with_gaps(pictures: Sequence[Picture]) -> Iterator[Picture]:
    """Pictures on white, with white between them."""
    height = max(len(picture) for picture in pictures)
    for place, picture in enumerate(pictures):
        framed = np.full((height, picture.shape[1] + _GAP * (place > 0), 3), 255, np.uint8)
        framed[(height - len(picture)) // 2 :][: len(picture), -picture.shape[1] :] = picture
        yield framed
