from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from datasets import Video, get_dataset_config_names, load_dataset
from hub_server import TOKEN, HubServer
from huggingface_hub import HfFileSystem
from publishing_data import contents

from inpaintbench import frozen, manifest
from inpaintbench.errors import InpaintBenchError, InputError, NetworkError, UnknownNameError, VerifyError
from inpaintbench.export.publishing.fetch import fetch
from inpaintbench.export.publishing.push import plan, push
from inpaintbench.export.verify import verify
from inpaintbench.files import file_sha256

NAME = "somebody/clips"


@pytest.fixture
def held(hub: HubServer, small: Path) -> dict[str, bytes]:
    """What the Hub holds: the small dataset; nothing has been asked of it yet."""
    push(plan(small, licence="CC-BY-4.0"), NAME)
    hub.seen.clear()
    return hub.files(NAME)


def brought(hub: HubServer) -> set[str]:
    """Files whose bytes were asked for."""
    return {request.path.partition("/resolve/")[2].partition("/")[2] for request in hub.asked("GET", "/resolve/")}


def test_the_whole_is_the_same_bytes(hub: HubServer, held: dict[str, bytes], tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    done = fetch(NAME, tmp_path / "got", progress=lambda *parts: told.append(parts))
    assert contents(tmp_path / "got") == held
    assert (done.folder, done.missing) == (tmp_path / "got", ())
    assert done.dataset == frozen.load(tmp_path / "got")
    assert told[-1] == ("fetch", 19, 19)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["got", "small"]


def test_all_slices_are_the_whole_and_a_part_is_not_pushed_over_it(
    hub: HubServer, held: dict[str, bytes], tmp_path: Path
) -> None:
    fetch(NAME, tmp_path / "got", slices=["alone", "high", "low"])
    assert contents(tmp_path / "got") == held
    part = fetch(NAME, tmp_path / "part", slices=["alone"]).folder
    with pytest.raises(InputError, match=r"is a part of a dataset, as its part_of.json says; publish the whole"):
        plan(part)


def test_a_slice_brings_its_own_media_alone(hub: HubServer, held: dict[str, bytes], tmp_path: Path, one_decoder: None) -> None:
    done = fetch(NAME, tmp_path / "got", slices=["high"])
    rows = [row for row in frozen.load(tmp_path / "small").items if row["item_id"] in ("i1", "i2")]
    media = {row[column] for row in rows for column in ("truth_file_name", "hole_file_name")}
    documents = {"README.md", "NOTICE", "croissant.json", "card/slices.svg", "card/items-high.jpg", "dataset.json"}
    tables = {"manifest/files.parquet", "manifest/members.parquet", "all.parquet"}
    assert brought(hub) == media | documents | tables | {"high.parquet"}

    folder = tmp_path / "got"
    assert set(contents(folder)) == media | documents | tables | {"high.parquet", "part_of.json"}
    assert all(contents(folder)[name] == held[name] for name in [*media, "high.parquet"])
    # It is a frozen dataset, and says what it is not.
    result = verify(folder)
    assert (result.problems, result.configs, result.cells) == ([], 2, 8)
    dataset = frozen.load(folder)
    assert [row["item_id"] for row in dataset.items] == ["i1", "i2"]
    assert [part.name for part in dataset.slices] == ["high"]
    assert dataset.left_out == {
        "none": "no items",
        "low": "not fetched: its 2 items are in the whole",
        "alone": "not fetched: its 1 items are in the whole",
    }
    assert done.missing == ("low", "alone")
    (tmp_path / "whole.json").write_bytes(held["dataset.json"])
    assert json.loads((folder / "part_of.json").read_text()) == {
        "repository": NAME, "revision": None, "commit": done.commit, "dataset": "small", "slices": ["high"], "items": 2,
        "items_of_the_whole": 3, "missing_slices": {"low": 2, "alone": 1}, "missing_files": 6,
        "dataset_json_sha256": file_sha256(tmp_path / "whole.json"),
    }  # fmt: skip
    assert "> Part of a dataset: `high`, 2 of 3 items. Missing: `low`, `alone`." in (folder / "README.md").read_text()


def test_what_was_fetched_loads_and_scores_as_the_whole_does(
    hub: HubServer, held: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    folder = fetch(NAME, tmp_path / "got", slices=["alone", "low"]).folder
    assert sorted(get_dataset_config_names(str(folder))) == ["all", "alone", "low"]
    rows = load_dataset(str(folder), "low", split="test")
    rows = rows.cast_column("truth", Video(decode=False)).cast_column("hole", Video(decode=False))
    assert [row["item_id"] for row in rows] == ["i1", "i0"]
    whole = {row["item_id"]: row for row in frozen.load(tmp_path / "small").items}
    for row in frozen.load(folder).items:
        one, other = frozen.truth_and_hole(folder, row), frozen.truth_and_hole(tmp_path / "small", whole[row["item_id"]])
        assert (one[0] == other[0]).all()
        assert (one[1] == other[1]).all()


def test_readers_of_the_hub_load_a_config_with_datasets_alone(
    hub: HubServer, held: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("datasets.config.HF_ENDPOINT", "huggingface_hub.constants.ENDPOINT"):  # read when they are imported
        monkeypatch.setattr(name, hub.url)
    template = f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    HfFileSystem.clear_instance_cache()
    rows = list(load_dataset(NAME, "high", split="test", streaming=True).decode(False))
    HfFileSystem.clear_instance_cache()
    assert [(row["item_id"], row["licence"]) for row in rows] == [("i1", "CC-BY-4.0"), ("i2", "CC-BY-4.0")]
    assert [row["truth"]["path"].rpartition("/")[2] for row in rows] == ["c1.mp4", "c2.mp4"]
    assert "high.parquet" in brought(hub)
    assert not [name for name in brought(hub) if name.endswith(".mp4")]


def test_a_cut_connection_goes_on_where_it_was_cut(
    hub: HubServer, held: dict[str, bytes], tmp_path: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library goes on from the last whole piece, of ten million bytes if left alone.
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 500)
    hub.spoil("GET", "/resolve/.*/truth/c1.mp4", cut_after=1000, times=2)
    fetch(NAME, tmp_path / "got", slices=["high"])
    assert contents(tmp_path / "got")["truth/c1.mp4"] == held["truth/c1.mp4"]
    ranges = [request.headers.get("range") for request in hub.asked("GET", "/truth/c1.mp4")]
    assert ranges == [None, "bytes=1000-", "bytes=2000-"]


def test_a_busy_hub_is_waited_for(hub: HubServer, held: dict[str, bytes], tmp_path: Path, waits: list[float]) -> None:
    hub.spoil("GET", "/api/datasets/somebody/clips", status=429, headers={"Retry-After": "3"})
    hub.spoil("HEAD", "/resolve/", status=503, times=3)
    hub.spoil("GET", "/resolve/", status=429, headers={"Retry-After": "3"}, times=3)
    hub.spoil("GET", "/resolve/")
    fetch(NAME, tmp_path / "got")
    assert contents(tmp_path / "got") == held
    assert 3.0 in waits
    assert all(fault.times == 0 for fault in hub.faults)


def test_bytes_that_were_spoilt_on_the_way_are_asked_for_again(hub: HubServer, held: dict[str, bytes], tmp_path: Path) -> None:
    hub.spoil("GET", "/truth/c1.mp4", change=lambda data: data[:-1] + bytes([data[-1] ^ 1]))
    fetch(NAME, tmp_path / "got")
    assert contents(tmp_path / "got") == held
    assert len(hub.asked("GET", "/truth/c1.mp4")) == 2


def test_bytes_that_the_manifest_does_not_know_are_refused_and_the_rest_is_kept(
    hub: HubServer, held: dict[str, bytes], tmp_path: Path
) -> None:
    files = hub.repositories[NAME].branches["main"]
    files["truth/c1.mp4"] = files["truth/c0.mp4"]
    with pytest.raises(VerifyError, match=r"truth/c1.mp4 of 'somebody/clips' differs from the SHA-256 in its manifest"):
        fetch(NAME, tmp_path / "got")
    assert not (tmp_path / "got").exists()
    files["truth/c1.mp4"] = held["truth/c1.mp4"]
    had = {
        path.relative_to(tmp_path / ".got.fetching/dataset").as_posix() for path in tmp_path.glob(".got.fetching/dataset/*/c*")
    }
    hub.seen.clear()
    fetch(NAME, tmp_path / "got")
    assert contents(tmp_path / "got") == held
    assert had
    assert not brought(hub) & had


def test_what_an_earlier_call_for_another_slice_left_is_not_in_the_folder(
    hub: HubServer, held: dict[str, bytes], tmp_path: Path
) -> None:
    hub.spoil("HEAD", "/low.parquet", status=403)
    with pytest.raises(NetworkError, match="HTTP 403"):
        fetch(NAME, tmp_path / "got", slices=["low"])
    folder = fetch(NAME, tmp_path / "got", slices=["alone"]).folder
    assert set(contents(folder)) == {*frozen.load(folder).files, "dataset.json"}
    assert sorted(path.name for path in (folder / "truth").iterdir()) == ["c2.mp4"]


def test_one_commit_is_fetched_though_somebody_pushes_meanwhile(hub: HubServer, held: dict[str, bytes], tmp_path: Path) -> None:
    hub.repositories[NAME].branches["v1"] = dict(hub.repositories[NAME].branches["main"])

    def push_meanwhile(request: object) -> None:
        hub.repositories[NAME].branches["v1"] = {"README.md": b"another", "dataset.json": b"{}"}

    first = hub.repositories[NAME].tree("v1")[0]
    hub.on_request = lambda request: push_meanwhile(request) if "/resolve/" in request.path else None
    assert fetch(NAME, tmp_path / "got", revision="v1").commit == first
    assert contents(tmp_path / "got") == held


def test_a_private_one_needs_the_token(
    hub: HubServer, held: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "none"))
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(NetworkError, match="run `hf auth login` or set HF_TOKEN"):
        fetch(NAME, tmp_path / "got")
    hub.repositories[NAME].private = False
    fetch(NAME, tmp_path / "got")
    assert not [request for request in hub.seen if "authorization" in request.headers]


@pytest.mark.parametrize("path", ["GET /revision/|clips$", "GET /tree/", "HEAD /resolve/", "GET /resolve/"])
def test_the_token_is_in_no_error(path: str, hub: HubServer, held: dict[str, bytes], tmp_path: Path) -> None:
    method, where = path.split()
    hub.spoil(method, where, status=422, body=lambda headers: json.dumps({"error": dict(headers)}).encode(), times=999)
    with pytest.raises(InpaintBenchError) as raised:
        fetch(NAME, tmp_path / "got")
    told = [raised.value, raised.value.__cause__, raised.value.__context__]
    assert "422" in str(told[0])
    assert TOKEN not in f"{told} {[vars(one) for one in told if one]}"


def test_what_cannot_be_fetched_is_one_sentence(hub: HubServer, held: dict[str, bytes], tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown slice 'hihg', did you mean 'high'"):
        fetch(NAME, tmp_path / "got", slices=["hihg"])
    with pytest.raises(NetworkError, match="HTTP 404: the Hub shows no such dataset, revision or file"):
        fetch("somebody/else", tmp_path / "got")
    with pytest.raises(NetworkError, match="HTTP 404"):
        fetch(NAME, tmp_path / "got", revision="v9")
    del hub.repositories[NAME].branches["main"]["dataset.json"]
    with pytest.raises(InputError, match=r"'somebody/clips' is not a frozen dataset \(no dataset.json\)"):
        fetch(NAME, tmp_path / "got")
    hub.seen.clear()
    with pytest.raises(InputError, match="is there already; give a new folder"):
        fetch(NAME, tmp_path / "small")
    with pytest.raises(InputError, match="which `datasets` takes for a pattern"):
        fetch(NAME, tmp_path / "a[b]")
    assert not hub.seen
    assert not (tmp_path / "got").exists()


@pytest.mark.parametrize(
    "name",
    ["../outside.mp4", "/etc/outside.mp4", "truth/../../outside.mp4", ".cache/huggingface/x", "truth\\..\\x", "", "a//b", "C:x"],
)
def test_a_manifest_names_no_files_outside_of_its_folder(
    name: str, hub: HubServer, held: dict[str, bytes], tmp_path: Path, small: Path
) -> None:
    dataset = frozen.load(small)
    bad = replace(dataset, files={**dataset.files, name: "0" * 64})
    hub.repositories[NAME].branches["main"]["dataset.json"] = manifest.one_file(bad)
    with pytest.raises(VerifyError, match="which cannot lie in a dataset"):
        fetch(NAME, tmp_path / "got")
    assert brought(hub) == {"dataset.json"}


def test_a_manifest_that_is_not_what_it_says_of_itself_is_refused(
    hub: HubServer, held: dict[str, bytes], tmp_path: Path, small: Path
) -> None:
    files = hub.repositories[NAME].branches["main"]
    files["dataset.json"] = held["dataset.json"].replace(b"CC-BY-4.0", b"CC-BY-3.0", 1)
    with pytest.raises(VerifyError, match="is not what its own SHA-256 says"):
        fetch(NAME, tmp_path / "got")
    dataset = frozen.load(small)
    fewer = {path: sha256 for path, sha256 in dataset.files.items() if path != "truth/c1.mp4"}
    files["dataset.json"] = manifest.one_file(replace(dataset, files=fewer))
    with pytest.raises(VerifyError, match=r"no hash of 'truth/c1.mp4', which its slices need"):
        fetch(NAME, tmp_path / "got")
