"""Folders of PNG frames as DEVIL (CVPR 2022) keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from inpaintbench import frozen
from inpaintbench.export.layouts.base import CLIPS, PICTURES, Chosen, Layout, Written, write_black_holes, write_frames

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
                write_frames(folder / places["truth"], _TRUTH, truth)
                write_black_holes(folder / places["hole"], _HOLE, hole)
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
