"""Sibling folders of frames and the list of edits, as EditBoard (AAAI 2025) takes them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from inpaintbench import frozen, video
from inpaintbench.export.layouts.base import EDITS, Chosen, Layout, Written, write_frames, write_objects
from inpaintbench.files import write_atomically
from inpaintbench.types import Plain

# Those of EditBoard's `--script`.
COLUMNS = ("original_video_path", "edited_video_path", "semantic_mask_path", "source_prompt", "target_prompt")


class Editboard(Layout):
    """Folders of frames and object masks, and ``script.csv`` with the five columns of EditBoard's program."""

    name = "editboard"
    version = "1"
    takes = (EDITS,)
    about = """\
```
CLIP/frame_0000.png        the clip that is to be edited, RGB, exact
CLIP_mask/frame_0000.png   the object that the edit is about, RGB, white; of edits that have one
CLIP_ITEM/                 where the edited frames belong; not here yet
script.csv                 one row an edit, in EditBoard's five columns
script-TASK.csv            the rows of one task: EditBoard's semantic score stops at the first row without a mask
```

Paths begin in this folder, so run EditBoard here. Frames count from 0, with as many digits as keep them in order of name; an edit
needs as many. A clip with several edits lies here once. An empty cell means that nobody stated it. Frames keep their size, and
EditBoard squashes them to 512x512 by itself."""

    def write(self, folder: Path, chosen: Chosen) -> Iterator[Written]:
        """The clips, each with the first of its edits, and then the lists."""
        masks: dict[tuple[str, str], str] = {}
        listed: dict[str, list[dict[str, str]]] = {}
        for row in chosen.sound(chosen.rows):
            template = f"frame_%0{max(4, len(str(row['frames'] - 1)))}d.png"
            clip, mask = row["clip_id"], _mask_folder(row, masks)
            if not (folder / clip).exists():
                write_frames(folder / clip, template, video.read_frames(chosen.root / row["truth_file_name"]))
            if mask and not (folder / mask).exists():
                write_objects(folder / mask, template, frozen.input_view(chosen.root, row).object_mask)
            cells = (clip, f"{clip}_{row['item_id']}", mask or "", row["source_prompt"] or "", row["target_prompt"])
            listed.setdefault(row["task"], []).append(dict(zip(COLUMNS, cells, strict=True)))
            files = {"truth": f"{clip}/{template}"} | ({"object_mask": f"{mask}/{template}"} if mask else {})
            yield Written(row, files)
        for task, edits in listed.items():
            write_atomically(folder / f"script-{task}.csv", _table(edits))
        write_atomically(folder / "script.csv", _table([edit for edits in listed.values() for edit in edits]))


def _mask_folder(row: Plain, known: dict[tuple[str, str], str]) -> str | None:
    """The folder of an item's object mask; edits of a clip may be about different objects."""
    if not row.get("object_mask_file_name"):
        return None
    clip = row["clip_id"]
    of_clip = sum(owner == clip for owner, _ in known)
    return known.setdefault((clip, row["object_mask_sha256"]), f"{clip}_mask{of_clip + 1 if of_clip else ''}")


def _table(edits: list[dict[str, str]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(edits)
    return text.getvalue().encode()
