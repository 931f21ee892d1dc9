"""EditBoard's list and folders, read as its program does, and as `eval run --for edits` does."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from inpaintbench import frozen
from inpaintbench.export.layouts.convert import convert
from inpaintbench.types import Plain
from inpaintbench.wings.editboard.media import read_manifest

HEADER = ["original_video_path", "edited_video_path", "semantic_mask_path", "source_prompt", "target_prompt"]


@pytest.fixture
def out(frozen_of: Callable[[str], Path], tmp_path: Path) -> Path:
    return convert(frozen_of("editing"), layout="editboard", out=tmp_path / "out").folder


@pytest.fixture
def rows(frozen_of: Callable[[str], Path]) -> list[Plain]:
    return list(frozen.load(frozen_of("editing")).items)


def pictures(folder: Path) -> list[Image.Image]:
    return [Image.open(folder / name) for name in sorted(os.listdir(folder))]


def test_every_edit_is_a_row_with_exact_frames_and_mask(out: Path, rows: list[Plain], sha256: Callable[[Any], str]) -> None:
    with (out / "script.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == HEADER
    assert len(table) == len(rows)
    by_prompt = {row["target_prompt"]: row for row in rows}
    assert len({line["edited_video_path"] for line in table}) == len(rows)
    for line in table:
        row = by_prompt[line["target_prompt"]]
        assert line["source_prompt"] == row["source_prompt"]
        frames = pictures(out / line["original_video_path"])
        assert {image.mode for image in frames} == {"RGB"}
        assert sha256(np.stack(frames)) == row["truth_rgb_sha256"]
        assert bool(line["semantic_mask_path"]) == bool(row["object_mask_file_name"])
        if line["semantic_mask_path"]:
            assert line["semantic_mask_path"] == f"{line['original_video_path']}_mask"
            mask = np.stack([np.asarray(image.convert("L")) for image in pictures(out / line["semantic_mask_path"])])
            assert sha256(mask > 0) == row["object_mask_sha256"]
            assert set(np.unique(mask)) == {0, 255}
        assert not (out / line["edited_video_path"]).exists()


def test_the_rows_of_one_task_all_have_a_mask_or_none_has(out: Path, rows: list[Plain]) -> None:
    for task in ("SOSA", "SE", "SOMA", "MOA"):
        with (out / f"script-{task}.csv").open(newline="") as file:
            table = list(csv.DictReader(file))
        assert [line["target_prompt"] for line in table] == [row["target_prompt"] for row in rows if row["task"] == task]
        assert len({bool(line["semantic_mask_path"]) for line in table}) == 1


def test_once_the_edits_lie_there_the_list_is_read_without_faults(out: Path, rows: list[Plain]) -> None:
    with (out / "script.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            shutil.copytree(out / line["original_video_path"], out / line["edited_video_path"])
    listed = read_manifest(out / "script.csv")
    assert list(listed.faults) == []
    assert {edit.target_prompt for edit in listed.edits} == {row["target_prompt"] for row in rows}
    assert all(path.is_dir() for edit in listed.edits for path in (edit.original, edit.edited, edit.mask) if path)
