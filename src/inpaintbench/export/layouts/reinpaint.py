"""Pictures and masks by bin of area, for re-inpainting."""

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
        for part in _parts(chosen):
            for row in chosen.sound(chosen.of(part)):
                stored = {
                    "truth": (row["truth_file_name"], f"{part.name}/images/{row['item_id']}.png"),
                    "hole": (row["hole_file_name"], f"{part.name}/masks/{row['item_id']}.png"),
                }
                second = [
                    (name, f"{part.name}/second_masks/{row['item_id']}/{place:02d}.png")
                    for place, name in enumerate(row.get("second_hole_file_names") or ())
                ]
                for source, target in [*stored.values(), *second]:
                    copy(chosen.root / source, folder / target)
                files: dict[str, Any] = {what: target for what, (_, target) in stored.items()}
                yield Written(row, files | ({"second_hole": [target for _, target in second]} if second else {}), part.name)

    def count(self, chosen: Chosen) -> int:
        """An item is written once for each of its bins."""
        return sum(len(part.item_ids) for part in _parts(chosen))


def _parts(chosen: Chosen) -> Sequence[Slice]:
    bins = [part for part in chosen.slices if part.name.startswith(_BIN)]
    return chosen.slices if chosen.named or not bins else bins
