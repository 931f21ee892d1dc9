"""Datasets at addresses: pushed whole, once, and brought again file by file, against their hashes."""

from __future__ import annotations

import json
import shutil
import traceback
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from object_server import KEY, SECRET, ObjectServer, object_server
from program import run_here

from inpaintbench import frozen, storage
from inpaintbench.api.runs import load
from inpaintbench.errors import InputError, NetworkError, VerifyError
from inpaintbench.export.publishing.push import plan, push_to
from inpaintbench.storage import Address

WHERE = Address("s3", "bucket/sets/devil 1")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server("bucket") as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv(storage.CACHE, str(tmp_path / "cache"))
        monkeypatch.setattr(storage, "_FIRST_WAIT_SECONDS", 0.0)
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        yield made


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_dataset_goes_to_an_address_and_comes_back_through_faults(dataset: Path, tmp_path: Path, server: ObjectServer) -> None:
    server.every = 5
    words = ("export", "push", dataset, "--to", str(WHERE), "--licence", "CC0-1.0")
    told = run_here(*words)
    assert told.returncode == 0, told.stderr
    count = len(plan(dataset, licence="CC0-1.0").sha256)
    assert f"{WHERE}: {count} files sent, 0 there already" in told.stdout
    assert server.faults > 10
    assert len(server.asked) < 3 * count
    put = [path for method, path in server.asked if method == "PUT"]
    assert put[-1].startswith("/bucket/sets/devil 1/dataset.json")
    assert all("/objects/" in path for path in put if "dataset.json" not in path)
    # Once more: nothing is sent.
    assert "0 files sent" in run_here(*words).stdout
    folder = frozen.at_address(WHERE)
    own = files(dataset)
    assert {name for name, data in files(folder).items() if own[name] != data} <= {*plan(dataset, licence="CC0-1.0").rewritten}
    assert files(folder).keys() == own.keys()
    asked = len(server.asked)
    data = load(str(WHERE))
    assert len(server.asked) <= asked + 3  # the root alone
    ours = load(dataset)
    assert data["all items"][0].truth.tobytes() == ours["all items"][0].truth.tobytes()
    assert data.keys() == ours.keys()
    # What is brought from there is called by its address, and goes on to others.
    told = run_here("export", "verify", WHERE)
    assert told.returncode == 0, told.stderr
    assert f"{WHERE}: " in told.stdout
    assert f"eval run '{WHERE}' --run" in told.stdout
    told = run_here("export", "push", WHERE, "--to", "s3://bucket/sets/on")
    assert (told.returncode, f"{count} files sent" in told.stdout) == (0, True), told.stderr
    told = run_here("export", "push", WHERE, "--to", "s3://nowhere/sets")
    assert (told.returncode, "there is no bucket s3://nowhere" in told.stderr) == (1, True), told.stderr
    words_of = [told.stdout, told.stderr, *(data.decode("latin-1") for data in files(tmp_path).values())]
    assert not [text for text in words_of if KEY in text or SECRET in text]


def test_a_plain_copy_in_a_bucket_is_read_and_scored(dataset: Path, tmp_path: Path, server: ObjectServer) -> None:
    fsspec.filesystem("s3").put(f"{dataset}/", "bucket/plain/", recursive=True)
    words = ("--run", tmp_path / "run", "--method", "telea", "--slice", "camera_motion-low", "--workers", "1")
    server.asked.clear()
    made = run_here("--log", tmp_path / "log", "eval", "run", "s3://bucket/plain", *words, "--report")
    assert made.returncode == 0, made.stderr
    # All of it comes: items and tables, the files of the card among them.
    assert len(server.asked) <= 6 * len(frozen.load(dataset).items)
    assert (tmp_path / "run" / "report").is_dir()
    written = [made.stdout, made.stderr, *(data.decode("latin-1") for data in files(tmp_path).values())]
    assert not [text for text in written if KEY in text or SECRET in text]
    own = run_here("eval", "run", dataset, "--run", tmp_path / "own", *words[2:])
    assert own.returncode == 0, own.stderr
    for table in (tmp_path / "own" / "tables" / "scores").glob("*.parquet"):
        assert (tmp_path / "run" / "tables" / "scores" / table.name).read_bytes() == table.read_bytes()


def test_an_address_holds_one_dataset_for_ever(dataset: Path, server: ObjectServer, tmp_path: Path) -> None:
    push_to(plan(dataset, licence="CC0-1.0"), WHERE)
    with pytest.raises(InputError, match="holds another dataset, or another version"):
        push_to(plan(dataset, licence="CC-BY-4.0"), WHERE)
    with pytest.raises(InputError, match="nobody stated a known licence"):
        push_to(plan(dataset), WHERE / "other")
    told = run_here("export", "push", dataset, "--to", tmp_path / "folder", "--licence", "CC0-1.0")
    assert (told.returncode, "is a path, and takes an address" in told.stderr) == (2, True)
    with pytest.raises(InputError, match="is not a frozen dataset"):
        frozen.at_address(WHERE / "other")


def test_a_store_that_writes_over_is_told_before_anything_is_sent(dataset: Path, server: ObjectServer) -> None:
    server.writes_over = True
    server.asked.clear()
    with pytest.raises(InputError, match="is written over though that is asked not to be"):
        push_to(plan(dataset, licence="CC0-1.0"), WHERE)
    assert len([path for method, path in server.asked if method == "PUT"]) == 2


def test_what_was_spoilt_there_is_named_and_nothing_is_kept(dataset: Path, server: ObjectServer, tmp_path: Path) -> None:
    system = fsspec.filesystem("s3")
    spoilt = next(name for name in sorted(frozen.load(dataset).files) if name.endswith(".mp4"))
    (dataset / spoilt).write_bytes(b"other")
    system.put(f"{dataset}/", "bucket/spoilt/", recursive=True)
    with pytest.raises(VerifyError, match=f"{spoilt} of 's3://bucket/spoilt' differs from the SHA-256"):
        frozen.at_address(Address("s3", "bucket/spoilt"))
    system.rm("bucket/spoilt/" + spoilt)
    with pytest.raises(VerifyError, match=f"lacks {spoilt}"):
        frozen.at_address(Address("s3", "bucket/spoilt"))
    shutil.rmtree(dataset)
    for tables in ([1], ["a"], {"a": 1}):
        system.pipe_file("bucket/odd/dataset.json", json.dumps({"tables": tables}).encode())
        with pytest.raises(VerifyError, match="is damaged"):
            frozen.at_address(Address("s3", "bucket/odd"))


@pytest.mark.parametrize(
    "where", ["s3://bucket/none", "s3://no-bucket/none", "nowhere", "no/where", *(f"s3://bucket/{end}" for end in "abc")]
)
def test_what_is_no_dataset_is_told_in_one_sentence_with_the_address_and_no_chain_of_others(
    where: str, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for name, data in {"a": b"{broken", "b": b'{"a": 1}', "c": b"\xff\xfe"}.items():
        fsspec.filesystem("s3").pipe_file(f"bucket/{name}/dataset.json", data)
    with pytest.raises((InputError, NetworkError, VerifyError), match=where) as told:
        load(where)
    assert "".join(traceback.format_exception(told.value)).count("Traceback") == 1
    assert "cache" not in str(told.value)
    assert ("dataset.json is damaged" in str(told.value).replace("'", "")) == (where[-2] == "/")


def test_what_was_cut_short_in_the_cache_is_brought_again(dataset: Path, server: ObjectServer, tmp_path: Path) -> None:
    where = Address("s3", "bucket/short")
    fsspec.filesystem("s3").put(f"{dataset}/", "bucket/short/", recursive=True)
    folder = frozen.at_address(where)
    before, film = files(folder), next(iter(folder.rglob("*.mp4")))
    for spoil in (lambda: film.write_bytes(film.read_bytes()[:-1]), film.unlink, (folder / "all.parquet").unlink):
        spoil()
        server.asked.clear()
        assert files(frozen.at_address(where)) == before
        assert [method for method, _ in server.asked].count("GET") <= 3  # the root, and what was spoilt
    frozen.at_address(where)


def test_what_a_call_left_that_was_killed_is_not_kept(dataset: Path, server: ObjectServer, tmp_path: Path) -> None:
    fsspec.filesystem("s3").put(f"{dataset}/", "bucket/killed/", recursive=True)
    folder = frozen.at_address(Address("s3", "bucket/killed"))
    before = files(folder)
    beside = folder.rename(folder.with_name(f".{folder.name}.fetching"))
    (beside / "media" / ".a.mp4.0123abcd.part").parent.mkdir(exist_ok=True)
    (beside / "media" / ".a.mp4.0123abcd.part").write_bytes(b"half")
    assert files(frozen.at_address(Address("s3", "bucket/killed"))) == before
