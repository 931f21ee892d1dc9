"""Datasets of format 3, with everything in one file, are read for ever: ``format_3`` was written by the program of its time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from datasets import Video, load_dataset
from program import run_here
from publishing_data import contents

from inpaintbench import frozen, manifest
from inpaintbench.export.diff import difference
from inpaintbench.export.freeze import seal
from inpaintbench.export.publishing.fetch import limited
from inpaintbench.export.publishing.push import plan
from inpaintbench.export.verify import verify
from inpaintbench.files import file_sha256

HERE = Path(__file__).parent / "format_3"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return Path(shutil.copytree(HERE, tmp_path / "old"))


def test_it_is_proved_and_damage_is_found(old: Path) -> None:
    result = verify(old)
    assert (result.problems, result.items, result.configs, result.cells) == ([], 3, 2, 8)
    assert result.dataset_id == "small@1.0.0+0bbf2cc237ee"
    text = (old / "dataset.json").read_text()
    (old / "dataset.json").write_text(text.replace('"fill": 0', '"fill": 1', 1))
    assert "its text is not what its own SHA-256 says" in verify(old).problems[0]
    (old / "dataset.json").write_text(text)
    (old / "low.parquet").write_bytes(b"other")
    assert any(problem.startswith("low.parquet: changed") for problem in verify(old).problems)


def test_files_that_a_second_decoder_cannot_decode_are_not_called_damaged(old: Path) -> None:
    """decord raised an error of its own on the first, which ended it and made problems of them all."""
    pytest.importorskip("decord", reason="decord is not installed")
    result = verify(old, decoder="decord")
    assert (result.problems, result.second_decoder, result.largest_difference) == ([], "decord", None)
    told = "what a second decoder gives of 3 files: decord cannot decode videos that store colours as RGB"
    assert result.not_looked_at == [told]


def test_it_is_loaded_and_scored(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    rows = load_dataset(str(old), "low", split="test").cast_column("truth", Video(decode=False)).remove_columns("hole")
    assert [row["item_id"] for row in rows] == ["i1", "i0"]
    run = ("--run", tmp_path / "run")
    assert run_here("eval", "run", "--for=predictions", old, *run, "--method", "telea", "--workers", "0").returncode == 0
    done = run_here(
        "eval", "run", "--for=scores", old, *run, "--protocol", "devil/corrected", "--metric", "psnr", "--workers", "0"
    )
    assert done.returncode == 0, done.stderr


def test_the_same_dataset_in_tables_is_the_same(old: Path, tmp_path: Path) -> None:
    before = frozen.load(old)
    new = Path(shutil.copytree(old, tmp_path / "new"))
    for path in (*new.glob("*.parquet"), *new.glob("*.json"), new / "README.md", new / "NOTICE"):
        path.unlink()
    shutil.rmtree(new / "card")
    seal(new, before)
    after = frozen.load(new)
    assert (after.format_version, before.format_version) == (manifest.FORMAT_VERSION, 3)
    assert verify(new).problems == []
    assert list(after.items) == list(before.items)
    assert frozen.dataset_id(after) == frozen.dataset_id(before)
    assert difference(before, after).equal
    assert run_here("export", "diff", old, new).stdout.splitlines()[-1] == "the same items, slices and recipe"


@pytest.mark.long
def test_a_part_and_a_dataset_with_stated_licences_stay_in_its_format(old: Path, tmp_path: Path) -> None:
    made = plan(old, licence="CC-BY-4.0")
    for name, data in made.rewritten.items():
        (old / name).write_bytes(data)
    assert {path: file_sha256(old / path) for path in contents(old)} == made.sha256
    assert (verify(old).problems, json.loads((old / "dataset.json").read_text())["format_version"]) == ([], 3)
    whole = frozen.load(old)
    sizes = {name: len(data) for name, data in contents(old).items()}
    part, written = limited(whole, ["low"], sizes=sizes, whole_sha256="0" * 64, origin={"repository": "a/b"})
    kept = Path(shutil.copytree(old, tmp_path / "part"))
    for path in sorted(kept.rglob("*")):
        if path.is_file() and path.relative_to(kept).as_posix() not in part.files:
            path.unlink()
    for name, data in written.items():
        (kept / name).write_bytes(data)
    assert verify(kept).problems == []
