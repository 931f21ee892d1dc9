"""FiftyOne's table and script: what they say of each item, and what FiftyOne makes of them where it is installed."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from inpaintbench import frozen, video
from inpaintbench.export.layouts.convert import convert
from inpaintbench.export.layouts.folders import _fields


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "labels.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_item_has_its_truth_and_input_with_slices_and_attributes(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    root = frozen_of("benchmark")
    dataset = frozen.load(root)
    out = convert(root, layout="fiftyone", out=tmp_path / "out").folder
    listed = table(out)
    assert list(listed[0])[:4] == ["filepath", "item_id", "role", "slices"]
    by_key = {(row["item_id"], row["role"]): row for row in listed}
    assert not {"frames", "group", "id", "tags", "metadata"} & set(listed[0]), "FiftyOne keeps these names for itself"
    assert set(by_key) == {(item["item_id"], role) for item in dataset.items for role in ("truth", "input")}
    for item in dataset.items:
        truth, shown = (by_key[item["item_id"], role] for role in ("truth", "input"))
        assert (out / "data" / truth["filepath"]).read_bytes() == (root / item["truth_file_name"]).read_bytes()
        assert truth["slices"].split(",") == [part.name for part in dataset.slices if item["item_id"] in part.item_ids]
        pixels, hole = video.read_frames(out / "data" / shown["filepath"]), frozen.hole_of(root, item)
        known = ~hole[:, : pixels.shape[1], : pixels.shape[2]]
        original = video.read_frames(root / item["truth_file_name"])[:, : pixels.shape[1], : pixels.shape[2]]
        far = np.abs(pixels.astype(int) - original).mean(axis=3)
        assert far[known].mean() < 4 < far[~known].mean(), "the hole alone differs"
    numbers = {name for name, value in dataset.items[0]["attributes"].items() if isinstance(value, float)}
    assert numbers
    assert all(
        float(by_key[item["item_id"], "truth"][name.replace(".", "_").replace("-", "_")]) == item["attributes"][name]
        for item in dataset.items
        for name in numbers & set(item["attributes"])
        if item["attributes"][name] is not None
    )


def test_pictures_stay_exact(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    root = frozen_of("pictures")
    out = convert(root, layout="fiftyone", out=tmp_path / "out").folder
    item = frozen.load(root).items[0]
    shown = video.read_frames(out / f"data/{item['item_id']}_input.png")
    assert (shown == frozen.corrupted(root, item, lambda: frozen.hole_of(root, item))).all()


# The names that the script calls; the program itself brings a MongoDB, which is in no test machine.
_DOUBLE = """
import json, types
class Group:
    def element(self, name): return types.SimpleNamespace(name=name, id=id(self))
class Sample:
    def __init__(self, filepath, group, **fields): self.filepath, self.group, self.fields = filepath, group, fields
class Dataset:
    def __init__(self, name, persistent): pass
    def add_group_field(self, name, default): print(json.dumps(default))
    def add_samples(self, samples):
        print(json.dumps([[one.filepath, one.group.name, one.group.id, one.fields] for one in samples]))
"""


def test_the_script_groups_truth_input_and_predictions_and_attaches_scores(
    frozen_of: Callable[[str], Path], tmp_path: Path
) -> None:
    root = frozen_of("benchmark")
    out = convert(root, layout="fiftyone", out=tmp_path / "out").folder
    item_id = frozen.load(root).items[0]["item_id"]
    (tmp_path / "fiftyone.py").write_text(_DOUBLE)
    (tmp_path / "scores.csv").write_text(f"method,item_id,metric,region,value\nmy-own,{item_id},psnr,hole,31.5\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / f"{item_id}.mp4").touch()
    given = ["waves", "--scores", str(tmp_path / "scores.csv"), "--predictions", f"mine={tmp_path / 'mine'}"]
    done = subprocess.run(
        [sys.executable, str(out / "load.py"), *given],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    default, samples, told = done.stdout.splitlines()
    assert json.loads(default) == "truth"
    of_item = [one for one in json.loads(samples) if one[3]["item_id"] == item_id]
    assert sorted(one[1] for one in of_item) == ["input", "mine", "truth"]
    assert len({one[2] for one in of_item}) == 1, "one group"
    assert all(Path(one[0]).is_file() for one in of_item)
    truth = next(one[3] for one in of_item if one[1] == "truth")
    assert truth["my_own_psnr_hole"] == 31.5
    assert "all" in truth["slices"]
    assert truth["frame_count"] == frozen.load(root).items[0]["frames"]
    assert isinstance(truth["hole_hole_fraction"], float)
    assert told.startswith("2 items, 5 files")


def test_attributes_never_share_a_column() -> None:
    fields = _fields(["a b", "a-b", "a_b", "role", "1st", "größe"])
    assert fields == ["a_b", "a_b_", "a_b__", "attribute_role", "attribute_1st", "gr__e"]
