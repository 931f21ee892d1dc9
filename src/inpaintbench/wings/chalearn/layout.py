"""The folders of the three tracks of ChaLearn's challenge of 2018."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import frozen, video
from inpaintbench.errors import InputError
from inpaintbench.export.layouts.base import DEGRADED, PAINTED, PICTURES, Chosen, Layout, Written, copy, kind_of
from inpaintbench.files import write_atomically

# Split -> the challenge's name of it, in tracks 1 and 2.
_PARTS = {"train": "train", "validation": "dev", "test": "test"}
# The same in track 3.
_PRINT_PARTS = {"train": "training", "validation": "validation", "test": "test"}
_BLOCKS = "mask.block_triples"


class Chalearn(Layout):
    """Tracks 1 to 3 of the ChaLearn challenge of 2018: pictures with blocks, clips with subtitles, fingerprints."""

    name = "chalearn"
    version = "1"
    takes = (PICTURES, PAINTED, DEGRADED)
    about = """\
Pictures with missing blocks lie as in track 1, clips with subtitles as in track 2, fingerprints as in track 3:

```
PART/X/ITEM.png, PART/Y/ITEM.png   the picture with its blocks filled, and the truth; RGB; PART is train, dev or test
PART/maskdata.json                 {file name: [[row, column, size], ...]}: a block covers rows row .. row + size - 1

PART/X/X0.mp4, PART/Y/Y0.mp4       the clip with its subtitles, and the truth

PART_input/ITEM.png                the degraded print, RGB; PART is training, validation or test
PART_ground-truth/ITEM.png         the truth, grey
```

`dev` and `validation` are the split `validation`. All truths and inputs are exact: PNG, and the stored files of clips byte for
byte. The challenge itself had JPEG for prints, and compressed clips to 100 kbit/s; its readers that look for `.jpg` have to be
told. Clips are numbered in the order of the dataset, from 0 in every part."""

    def write(self, folder: Path, chosen: Chosen) -> Iterator[Written]:
        """All items, in the form of their track."""
        tracks = {PICTURES: _pictures, PAINTED: _clips, DEGRADED: _prints}
        yield from tracks[kind_of(chosen.rows[0])](folder, chosen)


def _pictures(folder: Path, chosen: Chosen) -> Iterator[Written]:
    blocks: dict[str, dict[str, Any]] = {}
    for row in chosen.sound(chosen.rows):
        part, name = _PARTS[row["split"]], f"{row['item_id']}.png"
        truth, hole = frozen.truth_and_hole(chosen.root, row)
        # Blocks that make up the hole, (row, column, size) each.
        triples, drawn = row["attributes"].get(_BLOCKS), np.zeros_like(hole)
        for top, left, size in triples or ():
            drawn[:, top : top + size, left : left + size] = True
        if triples is None or (drawn != hole).any():
            raise InputError(
                f"the hole of item {row['item_id']} is not made of square blocks, which is all that track 1 can say; "
                "take the layout 'reinpaint' for pictures with other holes"
            )
        blocks.setdefault(part, {})[name] = triples
        for side, pixels in (("X", frozen.filled(truth, hole, fill=row["fill"])), ("Y", truth)):
            (folder / part / side).mkdir(parents=True, exist_ok=True)
            video.write_image(folder / part / side / name, pixels[0])
        yield Written(row, {"input": f"{part}/X/{name}", "truth": f"{part}/Y/{name}", "blocks": f"{part}/maskdata.json"})
    for part, of_part in blocks.items():
        lines = [f"{json.dumps(name)}: {json.dumps(of_part[name])}" for name in sorted(of_part)]
        write_atomically(folder / part / "maskdata.json", ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def _clips(folder: Path, chosen: Chosen) -> Iterator[Written]:
    counted: dict[str, int] = {}
    for row in chosen.sound(chosen.rows):
        part = _PARTS[row["split"]]
        number = counted[part] = counted.get(part, -1) + 1
        files = {}
        for side, what in (("X", "input"), ("Y", "truth")):
            source = chosen.root / row[f"{what}_file_name"]
            files[what] = f"{part}/{side}/{side}{number}{source.suffix}"
            copy(source, folder / files[what])
        yield Written(row, files)


def _prints(folder: Path, chosen: Chosen) -> Iterator[Written]:
    for row in chosen.sound(chosen.rows):
        part, name = _PRINT_PARTS[row["split"]], f"{row['item_id']}.png"
        files = {"input": f"{part}_input/{name}", "truth": f"{part}_ground-truth/{name}"}
        truth = video.read_frames(chosen.root / row["truth_file_name"])[0]
        if np.ptp(truth, axis=2).any():
            raise InputError(f"the truth of item {row['item_id']} has colours, but track 3 has grey prints alone")
        copy(chosen.root / row["input_file_name"], folder / files["input"])
        (folder / files["truth"]).parent.mkdir(exist_ok=True)
        video.write_image(folder / files["truth"], truth[..., 0])
        yield Written(row, files)
