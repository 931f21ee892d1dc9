"""Folders of pictures as programs of others take them: DEVIL (CVPR 2022) and FiftyOne."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

from inpaintbench import frozen, video
from inpaintbench.export.layouts.base import CLIPS, KINDS, PICTURES, Chosen, Layout, Written, copy, write_pictures
from inpaintbench.files import write_atomically
from inpaintbench.types import Plain

_TRUTH, _HOLE = "frame_%04d_gt.png", "frame_%04d_mask.png"


class Devil(Layout):
    """Truths and holes of a clip side by side, one folder a slice: what DEVIL's metrics read and its methods are given."""

    name = "devil"
    version = "1"
    takes = (CLIPS, PICTURES)
    about = """\
```
SLICE/00000/frame_0000_gt.png     the truth, RGB; what lies under the hole is there too
SLICE/00000/frame_0000_mask.png   the hole, one bit a pixel: black is hole, white is known
```

Items are numbered in the order of the slice; frames count from 0. A slice is a `gt_root` of DEVIL's metrics, and each folder is
what its methods get as their input: they have to blank the hole themselves. Both files are exact. An item of five slices lies
here five times, as in DEVIL."""
    _places: ClassVar[Mapping[str, str]] = {"truth": "{slice}/{number:05d}", "hole": "{slice}/{number:05d}"}

    def write(self, folder: Path, chosen: Chosen) -> Iterator[Written]:
        """Every slice, its items by number."""
        for part in chosen.slices:
            for number, row in enumerate(chosen.sound(chosen.of(part))):
                truth, hole = frozen.truth_and_hole(chosen.root, row)
                places = {what: place.format(slice=part.name, number=number) for what, place in self._places.items()}
                write_pictures(folder / places["truth"], _TRUTH, truth)
                write_pictures(folder / places["hole"], _HOLE, ~hole)
                files = {"truth": f"{places['truth']}/{_TRUTH}", "hole": f"{places['hole']}/{_HOLE}"}
                yield Written(row, files, part.name)

    def count(self, chosen: Chosen) -> int:
        """An item is written once for each of its slices."""
        return chosen.places


class DevilSets(Devil):
    """Truths and holes of a slice as two sets with folders of the same numbers: what DEVIL's own driver takes."""

    name = "devil_sets"
    version = "1"
    about = """\
```
SLICE/frames/00000/frame_0000_gt.png    the truth, RGB; what lies under the hole is there too
SLICE/masks/00000/frame_0000_mask.png   the hole, one bit a pixel: black is hole, white is known
```

`SLICE/frames` is a `frames_dataset_path` of DEVIL's `inpaint_videos` and `extract_evaluation_dataset`, `SLICE/masks` the
`masks_dataset_path`: they pair folders by the order of their names. Items are numbered in the order of the slice; frames count
from 0. Both files are exact. An item of five slices lies here five times."""
    _places: ClassVar[Mapping[str, str]] = {"truth": "{slice}/frames/{number:05d}", "hole": "{slice}/masks/{number:05d}"}


# Column -> the fact of the item's row. FiftyOne keeps the name `frames` for the frames of a video themselves.
_FACTS = {"split": "split", "source_id": "source_id", "licence": "licence", "frame_count": "frames"}
LABEL_COLUMNS = ("filepath", "item_id", "role", "slices", *_FACTS)
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
            writer.writerow([*LABEL_COLUMNS, *_fields(names)])
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
        field = f"attribute_{field}" if field in (*LABEL_COLUMNS, *_TAKEN) or not field[:1].isalpha() else field
        while field in fields:
            field += "_"
        fields[field] = None
    return list(fields)
