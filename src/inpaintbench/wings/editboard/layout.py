"""The folders and the list that EditBoard's program takes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from inpaintbench import frozen, video
from inpaintbench.export.layouts.base import EDITS, Chosen, Layout, Written, write_pictures
from inpaintbench.files import write_atomically

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
        masks: dict[str, dict[str, str]] = {}
        listed: dict[str, list[tuple[str, ...]]] = {}
        for row in chosen.sound(chosen.rows):
            template = f"frame_%0{max(4, len(str(row['frames'] - 1)))}d.png"
            clip, mask = row["clip_id"], ""
            if row.get("object_mask_file_name"):  # edits of a clip may be about different objects
                of_clip = masks.setdefault(clip, {})
                mask = of_clip.setdefault(row["object_mask_sha256"], f"{clip}_mask{len(of_clip) + 1 if of_clip else ''}")
            if not (folder / clip).exists():
                write_pictures(folder / clip, template, video.read_frames(chosen.root / row["truth_file_name"]))
            if mask and not (folder / mask).exists():
                object_mask = frozen.input_view(chosen.root, row).object_mask
                white = (np.repeat((inside * np.uint8(255))[..., None], 3, axis=2) for inside in object_mask)
                write_pictures(folder / mask, template, white)
            cells = (clip, f"{clip}_{row['item_id']}", mask, row["source_prompt"] or "", row["target_prompt"] or "")
            listed.setdefault(row["task"], []).append(cells)
            yield Written(row, {"truth": f"{clip}/{template}"} | ({"object_mask": f"{mask}/{template}"} if mask else {}))
        everything = [edit for edits in listed.values() for edit in edits]
        for name, edits in {**{f"script-{task}.csv": edits for task, edits in listed.items()}, "script.csv": everything}.items():
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([COLUMNS, *edits])
            write_atomically(folder / name, text.getvalue().encode())
