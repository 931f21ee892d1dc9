"""Media with a table and a script that makes a grouped dataset of FiftyOne, which is never needed to write them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from inpaintbench import frozen, video
from inpaintbench.export.layouts.base import KINDS, Chosen, Layout, Written, copy
from inpaintbench.files import write_atomically
from inpaintbench.types import Plain

# Column -> the fact of the item's row. FiftyOne keeps the name `frames` for the frames of a video themselves.
_FACTS = {"split": "split", "source_id": "source_id", "licence": "licence", "frame_count": "frames"}
COLUMNS = ("filepath", "item_id", "role", "slices", *_FACTS)
# Fields that FiftyOne gives every sample.
_TAKEN = ("id", "tags", "metadata", "frames", "media_type", "group", "created_at", "last_modified_at")


class Fiftyone(Layout):
    """``labels.csv`` with a row for each item's truth and input, as FiftyOne's CSVDataset, and ``load.py``."""

    name = "fiftyone"
    version = "2"
    takes = KINDS
    needs_truth = False
    about = """\
```
data/ITEM_truth.mp4, data/ITEM_input.mp4   the stored files; PNG of pictures
labels.csv                                 filepath below data/, item_id, role (truth or input), slices ("a,b"), facts, attributes
load.py                                    makes a grouped dataset: slices `truth`, `input` and one for each method
```

An input that the dataset does not store is drawn: exactly as PNG, and of clips as a preview for browsers, to be looked at and not
to be scored. Truths of challenges and inputs of edits, which are the truth, are left out.

```sh
python load.py NAME --scores REPORT/scores.csv --predictions mine=FOLDER
```

attaches what `eval report` measured to each item, as `METHOD_METRIC_REGION`, and adds `FOLDER/ITEM.mp4` as a slice."""

    def write(self, folder: Path, chosen: Chosen) -> Iterator[Written]:
        """All items, then the table."""
        slices: dict[str, list[str]] = {}
        for part in chosen.slices:
            for item_id in part.item_ids:
                slices.setdefault(item_id, []).append(part.name)
        listed: list[tuple[Plain, str, str]] = []
        for row in chosen.sound(chosen.rows):
            media = dict(_media(folder, chosen.root, row))
            listed += [(row, role, name) for role, name in media.items()]
            yield Written(row, media)
        names = sorted({name for row in chosen.rows for name, value in row["attributes"].items() if _is_plain(value)})
        with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*COLUMNS, *_fields(names)])
            for row, role, name in listed:
                facts = [name.removeprefix("data/"), row["item_id"], role, ",".join(slices.get(row["item_id"], ()))]
                facts += [row[fact] for fact in _FACTS.values()]
                values = (row["attributes"].get(name) for name in names)
                writer.writerow([*facts, *(value if _is_plain(value) else "" for value in values)])
        write_atomically(folder / "load.py", files("inpaintbench.export.layouts").joinpath("fiftyone_load.txt").read_bytes())


def _media(folder: Path, root: Path, row: Plain) -> Iterator[tuple[str, str]]:
    """Role -> where its file was written."""
    for role in ("truth", "input"):
        if stored := row.get(f"{role}_file_name"):
            name = f"data/{row['item_id']}_{role}{Path(stored).suffix}"
            copy(root / stored, folder / name)
            yield role, name
        elif role == "input" and frozen.has_truth(row) and not frozen.is_edit(row):
            name = f"data/{row['item_id']}_input{'.png' if row['frames'] == 1 else '.mp4'}"
            pixels = frozen.corrupted(root, row, lambda: frozen.hole_of(root, row))
            if row["frames"] == 1:
                video.write_image(folder / name, pixels[0])
            else:
                video.write_browser(folder / name, pixels, fps=float(row["fps"]))
            yield role, name


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def _fields(names: Sequence[str]) -> list[str]:
    """For each attribute a name that a field of FiftyOne can have: none of the table's own, and none twice."""
    fields: dict[str, None] = {}
    for name in names:
        field = re.sub(r"\W", "_", name, flags=re.ASCII)
        field = f"attribute_{field}" if field in (*COLUMNS, *_TAKEN) or not field[:1].isalpha() else field
        while field in fields:
            field += "_"
        fields[field] = None
    return list(fields)
