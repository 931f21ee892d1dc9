"""The manifest in tables: what is read of it, in how many files it lies, and what does not change with their number."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from datasets import Video, load_dataset
from publishing_data import contents, make_dataset
from torch.utils.data import DataLoader

from inpaintbench import frozen, manifest, video
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.export import layout
from inpaintbench.export.freeze import seal
from inpaintbench.export.verify import verify
from inpaintbench.files import file_sha256
from inpaintbench.streaming import stream
from inpaintbench.types import Slice, canonical_json, content_id

ITEMS = 11


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture
def in_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes the same dataset with so many rows in a file, and in a group of rows."""

    def make(rows: int, group: int, name: str = "small") -> Path:
        for module in ("inpaintbench.manifest", "inpaintbench.export.freeze", "inpaintbench.export.gathering"):
            monkeypatch.setattr(f"{module}.SHARD_ROWS", rows)
        monkeypatch.setattr("inpaintbench.manifest.GROUP_ROWS", group)
        return make_dataset(tmp_path / f"{rows}-{group}", licences=("CC0-1.0",) * ITEMS, name=name)

    return make


def test_the_number_of_files_changes_neither_rows_nor_identity(in_shards: Callable[..., Path]) -> None:
    one, many = frozen.load(in_shards(100, 100)), frozen.load(in_shards(4, 3))
    assert list(one.items) == list(many.items)
    assert one.items == many.items
    assert one.slices == many.slices
    assert (one.recipe, one.left_out, one.facts) == (many.recipe, many.left_out, many.facts)
    assert frozen.dataset_id(one) == frozen.dataset_id(many)
    assert manifest.computed_content(one) == manifest.computed_content(many) == manifest.content_of(one)
    assert {name for name in many.files if name.startswith(("all", "manifest/"))} == {
        *manifest.shard_names("all", ITEMS), *manifest.shard_names("manifest/files", many.files._table.rows),
        *manifest.shard_names("manifest/members", 5),
    }  # fmt: skip
    assert len(manifest.shard_names("all", ITEMS)) == 3


def test_the_content_is_that_of_the_canonical_json_of_everything(in_shards: Callable[..., Path]) -> None:
    made = frozen.load(in_shards(4, 2))
    slices = [{"name": part.name, "rule": part.rule, "item_ids": list(part.item_ids)} for part in made.slices]
    assert manifest.content_of(made) == content_id(list(made.items), slices, dict(made.left_out), dict(made.recipe))
    other = replace(made, items=tuple({**row, "fill": 7} for row in made.items))
    assert manifest.content_of(other) not in ("", manifest.content_of(made))


ODD_WORDS = ['say "so"', "a\\b", "\u202e", "tab\t", "\x7f", "", None, "plain"]


def test_rows_as_they_lie_there_have_the_content_of_their_canonical_json(tmp_path: Path) -> None:
    dataset = frozen.load(make_dataset(tmp_path))
    rows = [
        dict(dataset.items[0]) | {"item_id": f"i{place}", "author": word, "frames": 1 + place, "encode_psnr_db": 10.0**-place}
        | {"attributes": {"word": word}, "hole_is_given": bool(place % 2), "second_hole_file_names": []}
        for place, word in enumerate(ODD_WORDS)
    ]  # fmt: skip
    table = pa.Table.from_pylist([layout.flat(row) for row in rows], layout.row_schema(rows))
    for start in (0, 3):
        texts = bytes(manifest._joined(manifest._texts_of_rows(table.slice(start)))).decode()
        assert texts == "".join(f",{canonical_json(row)}" for row in rows[start:])


@pytest.mark.parametrize(
    ("column", "value"),
    [("item_id", "a/b"), ("clip_id", ".."), ("frames", 0), ("fps", math.inf), ("fps", math.nan), ("fill", 256),
     ("split", "other"), (frozen.SHOWN, 1.5), ("hole_file_name", "../x.mp4"), ("hole_file_name", "./"),
     ("second_hole_file_names", ["holes/x.mp4"]), ("attributes", {"joints": ["knee"]}),
     ("attributes", {"second_holes": [{"area": 1.0}]}), ("attributes", {"second_holes": [{"hole_sha256": "d"}]})],
)  # fmt: skip
def test_rows_that_could_not_be_read_are_not_written(tmp_path: Path, column: str, value: Any) -> None:
    rows = [dict(row) | {"second_hole_file_names": []} for row in frozen.load(make_dataset(tmp_path)).items]
    rows[1][column] = value
    table = pa.Table.from_pylist([layout.flat(row) for row in rows], layout.row_schema(rows))
    with pytest.raises(VerifyError, match=r"is damaged|cannot lie in a dataset"):
        manifest._texts_of_rows(table)


def test_equal_contents_are_equal_bytes(in_shards: Callable[..., Path], tmp_path: Path) -> None:
    first = contents(in_shards(4, 2))
    assert contents(in_shards(4, 2)) == first


def test_the_root_stays_small_and_proves_all_the_rest(in_shards: Callable[..., Path]) -> None:
    folder = in_shards(4, 2)
    stated = json.loads((folder / "dataset.json").read_text())
    assert stated["format_version"] == manifest.FORMAT_VERSION
    assert not any(row["item_id"] in (folder / "dataset.json").read_text() for row in frozen.load(folder).items)
    assert stated["items"] == ITEMS
    assert stated["files"] == len(contents(folder)) - 1
    assert verify(folder).problems == []
    for name in stated["tables"]:
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        assert verify(folder).problems == [f"{name}: missing or changed (SHA-256 differs from the manifest)"]
        (folder / name).unlink()
        assert verify(folder).problems == [f"{name}: missing or changed (SHA-256 differs from the manifest)"]
        (folder / name).write_bytes(whole)
    shard = folder / "all-00001-of-00003.parquet"
    shard.unlink()
    assert verify(folder).problems == [f"{shard.name}: missing or changed (SHA-256 differs from the manifest)"]


def test_only_what_is_asked_for_is_read(in_shards: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = in_shards(4, 2)
    read: list[tuple[str, Any]] = []
    real = manifest._Shards._read

    def watched(shards: Any, group: Any, columns: Any) -> Any:
        read.append((group.path.name, columns))
        return real(shards, group, columns)

    monkeypatch.setattr(manifest._Shards, "_read", watched)
    made = frozen.load(folder)
    assert (len(made.items), len(made.files) > 20, [len(part.item_ids) for part in made.slices]) == (ITEMS, True, [2, 2, 1])
    assert frozen.dataset_id(made)
    assert not read
    assert made.items.find("i5")["clip_id"] == "c5"
    of_rows = [columns for name, columns in read if name.startswith("all")]  # the rest looks the hashes of their files up
    assert of_rows == [["item_id"]] * 6 + [None]  # a single group has its rows read
    read.clear()
    assert manifest.column(made, "frames") == [3] * ITEMS
    assert {tuple(columns) for _, columns in read} == {("frames",)}
    read.clear()
    assert list(made.slices[1].item_ids) == ["i1", "i2"]
    assert {name.partition("-")[0] for name, _ in read} == {"members"}  # ids of rows, which it may have, are known by now


def test_a_file_is_looked_up_in_one_group_of_rows(in_shards: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = in_shards(5, 2)
    listed = dict(frozen.load(folder).files)
    read: list[tuple[str, int]] = []
    real = manifest._Shards._read

    def watched(shards: Any, group: Any, columns: Any) -> Any:
        read.append((group.path.name, group.number))
        return real(shards, group, columns)

    monkeypatch.setattr(manifest._Shards, "_read", watched)
    for name, sha256 in listed.items():
        read.clear()
        assert frozen.load(folder).files[name] == sha256
        assert len(read) == (not manifest.is_table(name))
    for name in ("", "holes/i0", "zzz"):
        read.clear()
        assert name not in frozen.load(folder).files
        assert len(read) <= 1


def test_rows_are_a_sequence(in_shards: Callable[..., Path]) -> None:
    made = frozen.load(in_shards(4, 2))
    rows = list(made.items)
    assert [row["item_id"] for row in rows] == sorted(f"i{place}" for place in range(ITEMS))
    assert made.items[-1] == rows[-1]
    assert made.items[2:7] == tuple(rows[2:7])
    assert made.items[::-3] == tuple(rows[::-3])
    assert pickle.loads(pickle.dumps(made)).items == made.items
    with pytest.raises(IndexError):
        made.items[ITEMS]
    with pytest.raises(KeyError):
        made.items.find("i99")
    ids = made.slices[0].item_ids
    assert (list(ids), ids[0], ids[-1], ids[:1]) == (["i1", "i0"], "i1", "i0", ("i1",))
    assert made.files.get("nothing") is None
    assert dict(made.files.items()) == dict(made.files)


def test_splits_lie_in_files_of_their_own_and_rows_come_by_id(in_shards: Callable[..., Path], tmp_path: Path) -> None:
    whole = frozen.load(in_shards(3, 2))
    split = ("train", "validation", "test")
    rows = tuple({**row, "split": split[place % 3]} for place, row in enumerate(whole.items))
    (tmp_path / "split").mkdir()
    made = seal(tmp_path / "split", replace(whole, items=rows, files={}))
    names = {name for name in made.files if name.startswith("all.")}
    assert names == {*manifest.shard_names("all.train", 4), *manifest.shard_names("all.validation", 4), "all.test.parquet"}
    again = frozen.load(tmp_path / "split")
    assert list(again.items) == list(rows)
    assert again.items.columns(["item_id", "split"]).to_pylist() == [
        {"item_id": row["item_id"], "split": row["split"]} for row in rows
    ]
    assert manifest.computed_content(again) == manifest.content_of(again) == manifest.content_of(made)


def test_datasets_loads_all_files_of_a_config(in_shards: Callable[..., Path]) -> None:
    folder = in_shards(4, 2, name="loaded")
    rows = load_dataset(str(folder), "all", split="test").cast_column("truth", Video(decode=False))
    assert sorted(row["item_id"] for row in rows.remove_columns(["hole"])) == [
        row["item_id"] for row in frozen.load(folder).items
    ]
    assert all(video.read_frames(row["truth"]["path"]).shape == (3, 32, 48, 3) for row in rows.remove_columns(["hole"]))


def test_two_workers_stream_the_files_of_a_config(in_shards: Callable[..., Path]) -> None:
    folder = in_shards(2, 2, name="streamed")
    rows = stream(folder)
    assert rows.num_shards == 6
    expected = {row["item_id"]: row for row in frozen.load(folder).items}
    plain = list(rows.decode(False))
    assert [row["item_id"] for row in plain] == list(expected)
    for row in plain:
        assert row["truth"]["path"] == str(folder / expected[row["item_id"]]["truth_file_name"])
        assert row["attributes"] == canonical_json(expected[row["item_id"]]["attributes"])
    first = next(iter(stream(folder)))
    frames = first["truth"].get_frames_in_range(0, 3).data.numpy().transpose(0, 2, 3, 1)
    assert (frames == frozen.truth_and_hole(folder, expected[first["item_id"]])[0]).all()
    read = list(DataLoader(rows.decode(False).select_columns(["item_id"]), num_workers=2, batch_size=None))
    assert sorted(row["item_id"] for row in read) == list(expected)
    # The first file is one worker's, the second the other's: both are at work from the beginning.
    assert {read[0]["item_id"], read[1]["item_id"]} != {plain[0]["item_id"], plain[1]["item_id"]}


def test_streams_name_what_is_not_there(in_shards: Callable[..., Path]) -> None:
    folder = in_shards(4, 2, name="named")
    with pytest.raises(InputError, match="has no split 'train', only test"):
        stream(folder, "low", split="train")
    with pytest.raises(InputError, match="'lowest'"):
        stream(folder, "lowest")


def test_a_slice_called_all_has_every_item(in_shards: Callable[..., Path], tmp_path: Path) -> None:
    whole = frozen.load(in_shards(100, 100))
    ids = [row["item_id"] for row in whole.items]
    (tmp_path / "made").mkdir()
    turned = replace(whole, slices=(Slice("all", "each", ids[::-1]),), files={})
    seal(tmp_path / "made", turned)
    again = frozen.load(tmp_path / "made")
    assert list(again.slices[0].item_ids) == ids[::-1]  # a slice keeps its order, the config has that of the rows
    assert [row["item_id"] for row in again.items] == ids
    with pytest.raises(InputError, match="a slice called 'all' has every item"):
        seal(tmp_path / "made", replace(whole, slices=(Slice("all", "few", ids[:2]),), files={}))


@pytest.mark.parametrize("name", ["../out.mp4", "/etc/passwd", "truth/../../out.mp4", "..\\out.mp4", "", ".", "a\0b"])
def test_tables_that_name_files_outside_are_refused(name: str, in_shards: Callable[..., Path], tmp_path: Path) -> None:
    whole = frozen.load(in_shards(100, 100))
    bad = replace(whole, files={name: "0" * 64}, slices=())
    for path, data in manifest.tables(bad, {}):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    tables = {path: file_sha256(tmp_path / path) for path in ("manifest/files.parquet", "manifest/members.parquet")}
    (tmp_path / "dataset.json").write_bytes(manifest.root(replace(bad, files={**bad.files, **tables}), item_tables={}))
    with pytest.raises(VerifyError, match="which cannot lie in a dataset"):
        list(frozen.load(tmp_path).files)
