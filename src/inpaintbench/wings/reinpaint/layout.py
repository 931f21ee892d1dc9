"""Pictures and masks of both passes, a folder a bin of area."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from inpaintbench.export.layouts.base import PICTURES, Chosen, Layout, Written, copy
from inpaintbench.types import Slice

_BIN = "area-"


class Reinpaint(Layout):
    """Pictures, first and second masks as PNG, one folder a bin of area."""

    name = "reinpaint"
    version = "1"
    takes = (PICTURES,)
    about = """\
```
BIN/images/ITEM.png            the truth, RGB: the stored file
BIN/masks/ITEM.png             the hole, grey: 255 is hole; the stored file
BIN/second_masks/ITEM/00.png   the holes of the second pass, where the dataset has them; stored files
```

Bins are the slices `area-...`; slices that were asked for by name take their place, and a dataset without bins has all its slices
here. All files are copies of the dataset's own, byte for byte."""

    def write(self, folder: Path, chosen: Chosen) -> Iterator[Written]:
        """Every bin, its items by id."""
        for part in _bins(chosen):
            for row in chosen.sound(chosen.of(part)):
                item = row["item_id"]
                files: dict[str, Any] = {"truth": f"{part.name}/images/{item}.png", "hole": f"{part.name}/masks/{item}.png"}
                copies = {target: row[f"{what}_file_name"] for what, target in files.items()}
                second = row.get("second_hole_file_names") or ()
                targets = {f"{part.name}/second_masks/{item}/{place:02d}.png": name for place, name in enumerate(second)}
                for target, name in (copies | targets).items():
                    copy(chosen.root / name, folder / target)
                yield Written(row, files | ({"second_hole": list(targets)} if targets else {}), part.name)

    def count(self, chosen: Chosen) -> int:
        """An item is written once for each of its bins."""
        return sum(len(part.item_ids) for part in _bins(chosen))


def _bins(chosen: Chosen) -> Sequence[Slice]:
    bins = [part for part in chosen.slices if part.name.startswith(_BIN)]
    return chosen.slices if chosen.named or not bins else bins
