"""Pictures in the form of the paper's Fig. 8: for each method its first result and what became of it under second masks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen, video
from inpaintbench.errors import InpaintBenchError
from inpaintbench.files import write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.pages import data_uri, method_styles, page
from inpaintbench.types import Dataset, Frames, Hole, Plain
from inpaintbench.wings.reinpaint import step
from inpaintbench.wings.reinpaint.grid import bins_of
from inpaintbench.wings.reinpaint.setting import Setting, mean_area
from inpaintbench.workspace import Blobs

cv2 = lazily("cv2")

# Second masks that are shown, as in the paper.
SAMPLES = 5
PAGE = "gallery.html"
# Longer side of a picture in the page, so that seven stand side by side.
_SIDE_PIXELS = 176
# What is left of hidden pixels where a mask is shown.
_SHADE = 0.25


class Shown(NamedTuple):
    """One picture, or why there is none."""

    picture: str = ""
    """An address."""
    reason: str = ""


class Item(NamedTuple):
    """The pictures of one item."""

    title: str
    heads: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Shown, ...]], ...]
    """Name of the line, and its pictures."""


def write(
    folder: Path,
    dataset: Dataset,
    *,
    root: Path | str,
    blobs: Blobs,
    firsts: Sequence[step.First],
    setting: Setting,
    pictures: int,
) -> Path:
    """One HTML file that needs no network: some items, spread over the bins of first masks.

    Args:
        folder: where it goes.
        dataset: the frozen dataset.
        root: its folder.
        blobs: where predictions lie.
        firsts: the rows of each item.
        setting: how they are inpainted again.
        pictures: how many items.
    """
    items = [_item(row, dataset, root=root, blobs=blobs, firsts=firsts, setting=setting) for row in chosen(dataset, pictures)]
    words = f"{dataset.name}, {setting.words(dataset)}. Hidden pixels are dark."
    styles = method_styles(first.label for first in firsts)
    data = {"styles": {name: look._asdict() for name, look in styles.items()}}
    text = page("wings/reinpaint/gallery.html", title="Inpainted again", subtitle=words, items=items, styles=styles, data=data)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / PAGE, text.encode())
    return folder / PAGE


def chosen(dataset: Dataset, count: int) -> list[Plain]:
    """Items in turn from each bin of first masks, of different sources as far as they last."""
    rows = {row["item_id"]: row for row in dataset.items}
    columns = [[rows[item] for item in items] for items in bins_of(dataset).values()]
    found: list[Plain] = []
    while len(found) < count and any(columns):
        for column in columns:
            seen = {frozen.source_of(row) for row in found}
            if column and len(found) < count:
                fresh = next((row for row in column if frozen.source_of(row) not in seen), column[0])
                column.remove(fresh)
                found.append(fresh)
    return found


def _item(
    row: Plain, dataset: Dataset, *, root: Path | str, blobs: Blobs, firsts: Sequence[step.First], setting: Setting
) -> Item:
    truth, hole = frozen.truth_and_hole(root, row)
    files = step.second_files(dataset, row, setting)[0]
    holes = step.second_holes(root, row, hole, setting, files=files)[:SAMPLES]

    def results(first: step.First) -> Iterator[Shown]:
        """The first result and the second ones, or why there are none."""
        try:
            given = step.givens(dataset, first)[row["item_id"]]
            frames = step.first_result(root, row, given, truth, hole, blobs=blobs)
            yield _tile(frames)
            yield from map(_tile, step.again(frames, holes, row, setting))
        except InpaintBenchError as error:
            yield Shown(reason=str(error))

    heads = ("original", "first", *(f"second {k}" for k in range(1, len(holes) + 1)))
    masks = (_tile(truth), _tile(_dark(truth, hole)), *(_tile(_dark(truth, second | hole)) for second in holes))
    lines = [("masks", masks), *((first.label, (_tile(truth), *results(first))) for first in firsts)]
    area, again = hole.mean(), mean_area(holes) or 0.0
    title = f"{row['item_id']}: first mask {area:.0%}, second masks {again:.0%} of the frame on average"
    return Item(title, heads, tuple(lines))


def _tile(frames: Frames) -> Shown:
    """The middle frame, at most 176 pixels wide or high."""
    frame: npt.NDArray[Any] = frames[len(frames) // 2]
    scale = min(1.0, _SIDE_PIXELS / max(frame.shape[:2]))
    if scale < 1:
        size = (max(1, round(frame.shape[1] * scale)), max(1, round(frame.shape[0] * scale)))
        frame = cv2.resize(frame, size, interpolation=cv2.INTER_AREA)
    return Shown(data_uri(video.png_bytes(frame.astype(np.uint8)), "image/png"))


def _dark(frames: Frames, hole: Hole) -> Frames:
    return np.where(hole[..., None], (frames * _SHADE).astype(np.uint8), frames)
