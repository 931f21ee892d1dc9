"""Object storage on a real S3 server: whole and conditional writes, faults, and the cache that processes share."""

from __future__ import annotations

import multiprocessing
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from object_server import KEY, SECRET, ObjectServer, object_server
from program import run_here

from inpaintbench import storage
from inpaintbench.errors import Gone, InputError, MissingExtraError, NetworkError, UsageError
from inpaintbench.storage import Address, brought, bytes_of, check_path, check_paths_within, is_there, listed, place, read, write

ROOT = Address("s3", "bucket/some films")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server("bucket") as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv(storage.CACHE, str(tmp_path / "cache"))
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        yield made
        while storage._HELD:
            storage._HELD.pop()


def cached(folder: Path) -> list[Path]:
    return [path for path in (folder / "cache" / "files").rglob("*") if path.is_file()]


def test_places_are_paths_or_addresses() -> None:
    assert place("a/b") == Path("a/b")
    assert place("S3://bucket/a b/") == Address("s3", "bucket/a b")
    assert str(place("memory://a") / "b.mp4") == "memory://a/b.mp4"  # type: ignore[operator] # it is an address
    for text, why in (
        ("ftp://host/a", "of no kind known here"),
        ("s3://key:hush@bucket/a", "without credentials"),
        ("s3://AKIA:wJal/hush/rXUtn@bucket/films", "without credentials"),
        ("s3://key:h@hush@bucket", "without credentials"),
        ("s3://key:hush/a?b@bucket/films", "without credentials"),
        ("s3://key:hush", "without credentials"),
        ("s3://hush@bucket/films", "without credentials"),
        ("s3://bucket/films?versionId=1", "without queries"),
        ("s3://", "no bucket"),
    ):
        with pytest.raises(UsageError, match=why) as told:
            place(text)
        assert "hush" not in str(told.value)
    for secret in ("AKIA:wJal/hush/rXUtn", "key:h@hush", "key:a,hush", "key:a?hush"):
        for check in (check_path, check_paths_within):
            with pytest.raises(UsageError, match=r"'s3://\*\*\*@bucket/films' is an address") as told:
                check(f"s3://{secret}@bucket/films", called="--out")
            assert "hush" not in str(told.value)
    for name in ("s3://bucket/films@2x/a.mp4", "hf://datasets/a/b@main/films", "s3://bucket/a@b/at 10:30"):
        with pytest.raises(UsageError, match=re.escape(f"{name!r} is an address")):
            check_path(name, called="--out")
    assert place("hf://datasets/a/b@main/films") == Address("hf", "datasets/a/b@main/films")


def test_a_driver_that_is_not_installed_is_told_with_its_extra() -> None:
    with pytest.raises(MissingExtraError, match='gs:// needs the extra "gs"'):
        place("gs://bucket/a")


def test_sizes() -> None:
    assert [bytes_of(text) for text in ("50GB", "1.5 kb", "2MiB", "7")] == [50_000_000_000, 1500, 2 << 20, 7]
    with pytest.raises(UsageError, match="no size"):
        bytes_of("much")


def test_objects_are_written_whole_once_and_listed_by_name(server: ObjectServer, tmp_path: Path) -> None:
    (tmp_path / "film").write_bytes(b"film")
    assert write(ROOT / "b/film ü#1.mp4", tmp_path / "film")
    assert write(ROOT / "a.txt", b"text")
    assert len(server.asked) == 2
    assert write(ROOT / "dataset.json", b"first", once=True)
    assert not write(ROOT / "dataset.json", b"second", once=True)
    assert read(ROOT / "dataset.json") == b"first"
    assert [(one.name, one.bytes) for one in listed(ROOT)] == [("a.txt", 4), ("b/film ü#1.mp4", 4), ("dataset.json", 5)]
    assert is_there(ROOT / "a.txt")
    assert not is_there(ROOT / "a")
    before = {one.name: one.state for one in listed(ROOT)}
    write(ROOT / "a.txt", b"TEXT")
    assert {name for name, state in {one.name: one.state for one in listed(ROOT)}.items() if state != before[name]} == {"a.txt"}


def test_what_is_not_there_or_not_allowed_is_told_without_the_servers_words(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert listed(ROOT) == []
    with pytest.raises(Gone, match="nothing at s3://bucket/some films/x"):
        read(ROOT / "x")
    with pytest.raises(Gone):
        read(Address("s3", "no-such-bucket/x"))
    server.every, server.kinds = 1, ("500", "503")
    server.asked.clear()
    monkeypatch.setattr(storage, "_FIRST_WAIT_SECONDS", 0.0)
    with pytest.raises(NetworkError, match="could not be reached in 4 tries") as told:
        listed(ROOT)
    assert len(server.asked) <= 100
    assert KEY not in str(told.value)
    assert SECRET not in str(told.value)


def test_what_is_asked_for_is_counted(server: ObjectServer, tmp_path: Path) -> None:
    storage.traffic()
    server.asked.clear()
    where = Address("s3", "bucket/counted")
    write(where, b"12345")
    write(where, b"other", once=True)
    assert read(where) == b"12345"
    storage.fetch(where, tmp_path / "file")
    told = storage.traffic()
    assert {name: told[name] for name in ("requests", "bytes_in", "bytes_out")} == {"requests": 4, "bytes_in": 10, "bytes_out": 5}
    assert len(server.asked) == 4
    assert storage.traffic()["requests"] == 0


def test_a_refusal_to_write_over_is_known_by_its_code(server: ObjectServer) -> None:
    server.every, server.kinds = 1, ("taken",)
    assert not write(Address("s3", "bucket/a"), b"second", once=True)
    assert len(server.asked) == 1


def test_an_upload_that_the_server_has_lost_begins_again(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_FIRST_WAIT_SECONDS", 0.0)
    server.asked.clear()
    server.every, server.kinds = 2, ("lost",)
    assert write(Address("s3", "bucket/first"), b"1")
    assert write(Address("s3", "bucket/a"), b"2")
    assert [path for _, path in server.asked] == ["/bucket/first?", "/bucket/a?", "/bucket/a?"]
    server.every = 1
    with pytest.raises(NetworkError, match="could not be reached in 4 tries"):
        write(Address("s3", "bucket/a"), b"3")


def test_a_clock_that_is_wrong_is_told(server: ObjectServer) -> None:
    server.every, server.kinds = 1, ("skewed",)
    with pytest.raises(InputError, match="s3://bucket/a is refused as the clock of this machine is wrong"):
        read(Address("s3", "bucket/a"))


def test_a_write_that_finds_nothing_there_is_told_of_its_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise FileNotFoundError("no-bucket/x")  # as gcsfs says it

    monkeypatch.setattr(fsspec.filesystem("memory"), "pipe_file", refused)
    with pytest.raises(Gone, match=r"there is no bucket memory://no-bucket$"):
        write(Address("memory", "no-bucket/x"), b"1")


@pytest.mark.parametrize("kind", ["key", "secret"])
def test_wrong_keys_are_told_with_the_address_that_was_typed_and_where_keys_come_from(server: ObjectServer, kind: str) -> None:
    server.every, server.kinds = 1, (kind,)
    sentence = r"access to s3://bucket/ws is refused: the credentials .* \(AWS_ACCESS_KEY_ID .* profile or role\) are wrong"
    for words in (
        ("curation", "rejected", "s3://bucket/ws"),
        ("export", "verify", "s3://bucket/ws"),
        ("build", "devil", "--sources", "s3://bucket/ws", "--out", "s3://bucket/ws"),
    ):
        server.asked.clear()
        told = run_here(*words)
        [line] = told.stderr.splitlines()
        assert (told.returncode, bool(re.search(sentence, line)), server.asked[1:]) == (1, True, [])
        assert not [secret for secret in (KEY, SECRET) if secret in line]


@pytest.mark.parametrize(
    ("status", "kind", "sentence"),
    [(403, InputError, r"access to az://bucket/ws is refused: .* \(AZURE_STORAGE_"), (404, Gone, "no bucket az://bucket$")],
)
def test_what_azure_answers_by_its_status_is_told_at_once(status: int, kind: type[Exception], sentence: str) -> None:
    class HttpResponseError(Exception):
        status_code = status

    calls = []

    def refused() -> None:
        calls.append(1)
        raise HttpResponseError

    with pytest.raises(kind, match=sentence):
        storage._tried(Address("az", "bucket/ws") / "heads/1.json", refused)
    assert len(calls) == 1


def test_without_credentials_nothing_is_tried_twice(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(InputError, match="needs credentials"):
        read(ROOT / "x")
    assert server.asked == []


def test_a_file_is_brought_once_and_again_when_it_was_changed(server: ObjectServer) -> None:
    write(ROOT / "a.mp4", b"one")
    [entry] = listed(ROOT)
    server.asked.clear()
    first = brought(ROOT / "a.mp4", state=entry.state)
    assert (first.read_bytes(), first.suffix) == (b"one", ".mp4")
    assert [method for method, _ in server.asked] == ["HEAD", "GET", "HEAD"]
    assert brought(ROOT / "a.mp4", state=entry.state) == first
    assert len(server.asked) == 3
    first.write_bytes(b"o")  # as a machine leaves it that stopped before all was on its disk
    assert brought(ROOT / "a.mp4", state=entry.state).read_bytes() == b"one"
    write(ROOT / "a.mp4", b"two")
    assert brought(ROOT / "a.mp4").read_bytes() == b"two"
    with pytest.raises(Gone, match="was changed after it was listed"):
        brought(ROOT / "a.mp4", state="3:something else")


def test_what_is_changed_while_it_comes_is_not_kept(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(ROOT / "a.mp4", b"one")
    [entry] = listed(ROOT)
    system = storage._system(ROOT)[0]
    get_file = system.get_file

    def changed_before(name: str, path: str) -> None:
        write(ROOT / "a.mp4", b"two")
        get_file(name, path)

    monkeypatch.setattr(system, "get_file", changed_before)
    with pytest.raises(Gone, match="was changed after it was listed"):
        brought(ROOT / "a.mp4", state=entry.state)
    assert cached(tmp_path) == []


def test_names_of_objects_may_hold_anything(server: ObjectServer) -> None:
    names = ["a?.mp4", "d//e.mp4", "x::y.mp4", "x:y@z.mp4"]
    for root in (ROOT, Address("memory", "names")):
        if root.scheme == "memory":  # which takes `::` for the address of another one
            names.remove("x::y.mp4")
        for name in names:
            fsspec.filesystem(root.scheme).pipe_file(f"{root.path}/{name}", name.encode())
        assert [one.name for one in listed(root)] == names
        for name in names:
            where = place(str(root / name), listed=True)
            assert where == root / name
            assert brought(root / name).read_bytes() == read(root / name) == name.encode()


def test_faults_cost_tries_and_change_no_byte(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_FIRST_WAIT_SECONDS", 0.0)
    data = bytes(range(256)) * 4096
    for number in range(12):
        write(ROOT / f"{number}.mp4", data)
    server.every = 5
    server.asked.clear()
    for number in range(12):
        assert brought(ROOT / f"{number}.mp4").read_bytes() == data
    assert server.faults > 4
    assert len(server.asked) < 2 * 36


def test_the_cache_is_bounded_and_spares_what_was_used_last(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(storage.CACHE_SIZE, "45KB")
    for number in range(6):
        write(ROOT / f"{number}.mp4", bytes([number]) * 10_000)
    made = []
    for number in range(6):
        made.append(brought(ROOT / f"{number}.mp4"))
        time.sleep(0.01)  # times of use tell apart
        assert made[0] == brought(ROOT / "0.mp4")
    assert sum(path.stat().st_size for path in cached(tmp_path)) <= 45_000
    assert [path.exists() for path in made] == [True, False, False, True, True, True]
    assert brought(ROOT / "1.mp4").read_bytes() == bytes([1]) * 10_000


def test_what_a_killed_run_left_of_saved_predictions_goes(server: ObjectServer, tmp_path: Path) -> None:
    folders = [storage.cache_folder() / name for name in (".saved.old", ".saved.in use")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "film.mp4").write_bytes(b"x")
    os.utime(folders[0], (0, 0))
    storage.make_room(storage.cache_folder(), 10**12)
    assert [folder.exists() for folder in folders] == [False, True]


def test_a_film_that_is_given_again_is_the_last_again(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(storage.CACHE_SIZE, "1kB")
    for number in range(4):
        write(ROOT / f"{number}.mp4", bytes([number]) * 10_000)
    first, second, _, again, _ = (brought(ROOT / f"{number}.mp4") for number in (0, 1, 2, 0, 3))
    assert first == again
    assert first.exists()
    assert not second.exists()


def _hold(name: str, held: multiprocessing.synchronize.Event, done: multiprocessing.synchronize.Event) -> None:
    brought(ROOT / name)
    held.set()
    done.wait(60)


def test_what_another_process_uses_stays(server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(storage.CACHE_SIZE, "25KB")
    for number in range(5):
        write(ROOT / f"{number}.mp4", bytes([number]) * 10_000)
    context = multiprocessing.get_context("spawn")
    held, done = context.Event(), context.Event()
    other = context.Process(target=_hold, args=("0.mp4", held, done))
    other.start()
    try:
        assert held.wait(60)
        [theirs] = cached(tmp_path)
        for number in range(1, 5):
            brought(ROOT / f"{number}.mp4")
        assert theirs.exists()
    finally:
        done.set()
        other.join()
    brought(ROOT / "1.mp4")
    assert not theirs.exists()


def _bring(name: str) -> bytes:
    return brought(ROOT / name).read_bytes()


def test_processes_that_want_one_file_bring_it_once(server: ObjectServer) -> None:
    write(ROOT / "a.mp4", b"film" * 100_000)
    server.asked.clear()
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert set(pool.map(_bring, ["a.mp4"] * 8, chunksize=1)) == {b"film" * 100_000}
    assert [method for method, _ in server.asked].count("GET") == 1
