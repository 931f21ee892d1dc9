"""What a method author does first: `datasets.load_dataset` on an export."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from datasets import Video, get_dataset_config_names, load_dataset
from footage import HEIGHT, WIDTH, write_sources
from program import run_here

from inpaintbench import frozen, video

SLICES = {
    f"{name}-{level}"
    for name in ("camera_motion", "bg_scene_motion", "size", "pose", "displacement")
    for level in ("low", "high")
} | {"all"}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def test_every_slice_loads_and_decodes_to_the_truth(benchmark: Path) -> None:
    folder = benchmark / "exports" / "devil"
    assert set(get_dataset_config_names(str(folder))) == SLICES
    rows = {row["item_id"]: row for row in frozen.load(folder).items}
    loaded = load_dataset(str(folder), "camera_motion-high", split="test")
    assert len(loaded) >= 1
    for row in loaded:
        truth, hole = frozen.truth_and_hole(folder, rows[row["item_id"]])
        decoded = row["truth"].get_frames_in_range(0, row["frames"]).data.numpy().transpose(0, 2, 3, 1)
        assert (decoded == truth).all()
        levels = row["hole"].get_frames_in_range(0, row["frames"]).data.numpy()
        assert ((levels[:, 0] > 127) == hole).all()
        assert set(np.unique(levels)) <= {0, 255}


def test_without_decoding_the_cells_are_paths(benchmark: Path) -> None:
    folder = benchmark / "exports" / "devil"
    for name in sorted(SLICES):
        loaded = load_dataset(str(folder), name, split="test").cast_column("truth", Video(decode=False))
        for row in loaded.remove_columns("hole"):
            assert video.read_frames(row["truth"]["path"]).shape == (row["frames"], HEIGHT, WIDTH, 3)


def test_streaming_gives_the_same_rows(benchmark: Path) -> None:
    folder = str(benchmark / "exports" / "devil")
    kept = [row["item_id"] for row in load_dataset(folder, "size-low", split="test").remove_columns(["truth", "hole"])]
    streamed = load_dataset(folder, "size-low", split="test", streaming=True).remove_columns(["truth", "hole"])
    assert [row["item_id"] for row in streamed] == kept


@pytest.mark.long
def test_workspaces_of_one_name_and_re_exports_never_share_rows(tmp_path: Path) -> None:
    """`datasets` keys its cache by folder name: the content hash in every config keeps two contents apart."""
    seen = []
    for turn, count in enumerate((3, 4)):
        sources = write_sources(tmp_path / str(turn) / "sources", count=count, frames=50 - turn)
        seen += [(tmp_path / str(turn) / "workspace", sources, 0)]
    rows = []
    for workspace, sources, seed in [*seen, (seen[0][0], seen[0][1], 1)]:
        small = ("--size", "64x48", "--per-slice", "2", "--seed", str(seed), "--workers", "0")
        done = run_here("build", "devil", "--sources", sources, "--out", workspace, *small, "--replace")
        assert done.returncode == 0, done.stderr
        folder = workspace / "exports" / "devil"
        loaded = load_dataset(str(folder), "size-low", split="test").cast_column("truth", Video(decode=False))
        loaded = loaded.remove_columns("hole")
        expected = next(part.item_ids for part in frozen.load(folder).slices if part.name == "size-low")
        assert [row["item_id"] for row in loaded] == list(expected)
        assert all(Path(row["truth"]["path"]).is_relative_to(folder) for row in loaded)
        rows.append(expected)
    assert len(set(rows)) == 3
