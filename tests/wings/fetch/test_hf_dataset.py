"""Datasets of videos and of pictures, made by the library itself and read without a network."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import datasets
import huggingface_hub.constants
import numpy as np
import pytest
from datasets import Dataset, DatasetDict, Features, Value, Video
from PIL import Image
from web_footage import HERE, clip_bytes
from web_server import Answer, WebServer

from inpaintbench.download import Limits
from inpaintbench.errors import Gone, InputError, Rejected, UnknownNameError
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.wings.fetch.hf_dataset import HuggingFaceDataset
from inpaintbench.wings.fetch.step import fetch, rows_of


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    # Without a network here and in programs that are started; the libraries read their environment when they are imported.
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def png(seed: int) -> bytes:
    target = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (16, 24, 3), dtype=np.uint8)).save(target, "PNG")
    return target.getvalue()


def video_dataset(cells: list[Any], **columns: list[Any]) -> Dataset:
    # Encoding videos would import torch, which takes longer than all of these tests.
    plain = Features({"clip": {"bytes": Value("binary"), "path": Value("string")}})
    rows = Dataset.from_dict({"clip": cells}, features=plain).cast_column("clip", Video())
    for name, values in columns.items():
        rows = rows.add_column(name, values)
    return rows


def test_bytes_and_files_of_a_saved_dataset_are_fetched(executor: LocalExecutor, tmp_path: Path) -> None:
    beside = tmp_path / "beside.mp4"
    beside.write_bytes(clip_bytes(tmp_path, 2))
    cells = [{"bytes": clip_bytes(tmp_path, 1), "path": "inside.mp4"}, {"bytes": None, "path": str(beside)}, None]
    saved = video_dataset(cells, license=["CC0-1.0", None, None], author=["Ann", "Bob", "Cy"], score=[0.5, 1.5, 2.5])
    saved.info.license = "CC-BY-4.0"
    saved.save_to_disk(tmp_path / "my clips")
    beside.write_bytes(clip_bytes(tmp_path, 2))
    fetch(executor, "hf_dataset", constants={"dataset": str(tmp_path / "my clips")}, limits=Limits())
    one, two = rows_of(executor.workspace, "hf_dataset")
    for row, seed in ((one, 1), (two, 2)):
        assert row.status == "obtained"
        assert executor.workspace.blobs.path(str(row.blob)).read_bytes() == clip_bytes(tmp_path, seed)
        assert str(tmp_path) not in row.url + str(row.final_url) + row.name
    assert (one.licence, one.author, one.details, one.http_status) == ("CC0-1.0", "Ann", {"score": 0.5}, None)
    assert (two.licence, two.author) == ("CC-BY-4.0", "Bob")


def test_pictures_of_a_parquet_folder_are_fetched(executor: LocalExecutor, tmp_path: Path) -> None:
    features = Features({"picture": datasets.Image(), "kind": datasets.ClassLabel(names=["sea", "wood"])})
    cells = [{"bytes": png(seed), "path": None} for seed in range(3)]
    folder = tmp_path / "pictures"
    folder.mkdir()
    Dataset.from_dict({"picture": cells, "kind": [0, 1, 0]}, features=features).to_parquet(folder / "train.parquet")
    fetch(executor, "hf_dataset", constants={"dataset": str(folder), "licence": "CC0-1.0"}, limits=Limits())
    rows = rows_of(executor.workspace, "hf_dataset")
    assert [row.details for row in rows] == [{"kind": "sea"}, {"kind": "wood"}, {"kind": "sea"}]
    assert {row.licence for row in rows} == {"CC0-1.0"}
    blobs = [executor.workspace.blobs.path(str(row.blob)) for row in rows]
    assert [blob.read_bytes() for blob in blobs] == [png(0), png(1), png(2)]
    assert {blob.suffix for blob in blobs} == {".png"}


def test_addresses_in_a_text_column_are_downloaded(executor: LocalExecutor, tmp_path: Path) -> None:
    with WebServer() as server:
        url = server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1), etag='"1"'))
        Dataset.from_dict({"where": [url, "/etc/hostname", ""]}, features=Features({"where": Value("string")})).save_to_disk(
            tmp_path / "addresses"
        )
        fetch(executor, "hf_dataset", constants={"dataset": str(tmp_path / "addresses"), "column": "where"}, limits=HERE)
    one, two = rows_of(executor.workspace, "hf_dataset")
    assert (one.status, one.url, one.etag) == ("obtained", url, '"1"')
    assert (two.status, two.blob) == ("refused", None)


def test_a_large_row_is_refused(tmp_path: Path) -> None:
    video_dataset([{"bytes": clip_bytes(tmp_path, 1), "path": None}]).save_to_disk(tmp_path / "large")
    leaf = HuggingFaceDataset(dataset=str(tmp_path / "large"))
    (candidate,) = leaf.candidates()
    with pytest.raises(Rejected, match="more than 10"):
        leaf.fetch(candidate, part=tmp_path / "part", limits=Limits(most_bytes=10))


def test_a_dataset_of_the_hub_reaches_no_files_of_this_machine(tmp_path: Path) -> None:
    leaf = HuggingFaceDataset(dataset="someone/some-dataset")
    own = tmp_path / "own.mp4"
    own.write_bytes(b"private")
    with pytest.raises(Rejected, match="not a file of the dataset"):
        leaf._own(str(own))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "its.mp4").write_bytes(b"fetched")
    assert leaf._own(str(tmp_path / "cache" / "its.mp4")).read_bytes() == b"fetched"


def test_the_licence_can_be_asked_for_again(tmp_path: Path) -> None:
    rows = video_dataset([{"bytes": clip_bytes(tmp_path, 1), "path": None}])
    rows.info.license = "CC-BY-4.0"
    rows.save_to_disk(tmp_path / "clips")
    leaf = HuggingFaceDataset(dataset=str(tmp_path / "clips"))
    (candidate,) = leaf.candidates()
    assert leaf.licence_of(candidate).name == "CC-BY-4.0"
    (tmp_path / "clips").rename(tmp_path / "moved")
    with pytest.raises(Gone):
        HuggingFaceDataset(dataset=str(tmp_path / "clips"), split="train", media="image").licence_of(
            type(candidate)(**{**candidate.__dict__, "name": "clips/train/0000009"})
        )


def test_the_split_is_looked_for(tmp_path: Path) -> None:
    rows = video_dataset([{"bytes": clip_bytes(tmp_path, 1), "path": None}])
    DatasetDict({"test": rows}).save_to_disk(tmp_path / "splits")
    assert HuggingFaceDataset(dataset=str(tmp_path / "splits"), split="test").media == "video"
    with pytest.raises(InputError, match="no split 'train', only test"):
        list(HuggingFaceDataset(dataset=str(tmp_path / "splits")).candidates())


@pytest.mark.parametrize(
    ("columns", "wanted", "told"),
    [
        ({"text": Value("string")}, None, "no column of videos or images; name the column, one of text"),
        ({"a": datasets.Image(), "b": Video()}, None, r"several columns of videos or images \(a, b\)"),
        ({"a": datasets.Image(), "n": Value("int64")}, "n", "holds neither media nor addresses"),
        ({"a": datasets.Image()}, "c", "or is not there"),
    ],
)
def test_the_column_must_be_clear(tmp_path: Path, columns: dict[str, Any], wanted: str | None, told: str) -> None:
    folder = tmp_path / f"columns-{len(columns)}-{wanted}"
    Dataset.from_dict({name: [None] for name in columns}, features=Features(columns)).save_to_disk(folder)
    with pytest.raises(InputError, match=told):
        list(HuggingFaceDataset(dataset=str(folder), column=wanted).candidates())


def test_what_is_no_dataset_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="cannot be loaded"):
        list(HuggingFaceDataset(dataset=str(tmp_path / "empty")).candidates())
    with pytest.raises(UnknownNameError):
        HuggingFaceDataset(dataset="x/y", media="film")
