"""A benchmark of small pictures, methods really run on it, and submissions of them."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from methods_run import PROTOCOL
from old_format import write_one_file

from inpaintbench import frozen, video
from inpaintbench.types import Dataset, Plain, Score, Slice
from inpaintbench.wings.leaderboard.checking import Submission
from inpaintbench.wings.leaderboard.pack import pack
from inpaintbench.workspace import Workspace

HEIGHT, WIDTH, COUNT = 48, 64, 12
CARD = """
title = "{title}"
summary = "Fills <b>holes</b> & says so."
model = "An algorithm of 2004"
preprocessing = "none"
training_data = "none"
loss = "none"
authors = ["A. Submitter", "B. Submitter"]
[links]
code = "https://example.org/code?a=1&b=2"
"""


def card(title: str = "A method", **changes: str) -> bytes:
    text = CARD.format(title=title)
    for name, value in changes.items():
        text = text.replace(name, value)
    return text.encode()


def picture(number: int) -> Any:
    """Waves, so that methods have something to lose."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    waves = [127 + 120 * np.sin(x / (3 + number) + y / (5 + channel)) for channel in range(3)]
    return np.stack(waves, axis=-1).astype(np.uint8)


def write_dataset(
    root: Path, *, count: int = COUNT, version: str = "1.0.0", facts: Plain | None = None, places: int = 0
) -> Dataset:  # fmt: skip
    """Pictures of as many sources, half of them with a small hole; and slices of as many ``places`` beside."""
    root.mkdir(parents=True)
    rows = []
    for number in range(count):
        name, size = f"item{number:02d}", 8 if number % 2 else 18
        hole = np.zeros((1, HEIGHT, WIDTH), np.bool_)
        hole[:, 12 : 12 + size, 20 : 20 + size] = True
        video.write_image(root / f"{name}.png", picture(number))
        video.write_image(root / f"{name}.hole.png", np.repeat(255 * hole[0, :, :, None].astype(np.uint8), 3, axis=2))
        rows.append({
            "item_id": name, "clip_id": name, "source_id": f"source{number}", "truth_rgb_sha256": name, "hole_sha256": name,
            "input_sha256": None, "truth_file_name": f"{name}.png", "hole_file_name": f"{name}.hole.png", "fill": 128,
            "hole_is_given": True, "frames": 1, "height": HEIGHT, "width": WIDTH, "fps": 25.0,
        })  # fmt: skip
    names = [str(row["item_id"]) for row in rows]
    slices = (
        Slice("hole_size-low", "hole_size == 'low'", tuple(names[1::2])),
        Slice("hole_size-high", "hole_size == 'high'", tuple(names[::2])),
        *(Slice(f"background-place_{at}", f"place == {at}", tuple(names[at % 4 : at % 4 + 6])) for at in range(places)),
    )
    made = Dataset(
        "small <pictures>", {"seed": 0}, tuple(rows), slices, {}, {}, {"inpaintbench": "0"}, version=version, facts=facts or {}
    )
    write_one_file(root, made)
    return frozen.load(root)


def submit(
    workspace: Workspace, root: Path, label: str, path: Path, *, predictions: bool = False, described: bytes | None = None,
    protocol: str = PROTOCOL,
) -> Submission:  # fmt: skip
    rows = [row for row in workspace.table("scores", Score) if row.method == label]
    return pack(
        path, workspace=workspace, root=root, protocol=protocol, method=label, scores=rows,
        card=described or card(f"The {label}"),
        with_predictions=predictions,
    )  # fmt: skip


Files = dict[str, bytes]


def spoilt(path: Path, target: Path, change: Callable[[Files], object], *, rehash: bool = True) -> Path:
    """A copy of a submission whose files ``change`` has changed, with hashes that are right again unless told otherwise."""
    with zipfile.ZipFile(path) as archive:
        files = {info.filename: archive.read(info) for info in archive.infolist()}
    change(files)
    if rehash and "submission.json" in files:
        header = json.loads(files["submission.json"])
        header["files"] = {name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name != "submission.json"}
        files["submission.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target
