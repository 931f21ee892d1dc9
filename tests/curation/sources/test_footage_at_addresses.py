"""Footage at addresses: the same bytes come of it as of a folder, whatever the server does, and no credentials stay anywhere."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest
from coded_films import write_film
from footage import contents, write_sources
from object_server import ObjectServer, object_server

from inpaintbench import storage
from inpaintbench.curation.rules import Rule
from inpaintbench.curation.sources.base import local_file, quoted_path
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.errors import Gone, InputError, NetworkError, Rejected
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.stages import Cutting, SourceSpec, curate
from inpaintbench.storage import CACHE, CACHE_SIZE, Address
from inpaintbench.types import Attribute, Clip, Plain, Source
from inpaintbench.video.decoding import packets_of
from inpaintbench.workspace import Workspace


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server("bucket") as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        yield made


def curated(folder: str, into: Path | str, *, splitter: Plain | None = None, rules: tuple[Rule, ...] = ()) -> Workspace:
    workspace = Workspace(into)
    cutting = Cutting.without_loss({"name": "as_is"}, frames=20)
    with LocalExecutor(workspace, workers=0) as executor:
        spec = SourceSpec("folder", {"folder": folder, "licence": "CC-BY-4.0"})
        curate(replace(cutting, splitter=splitter or cutting.splitter, rules=rules), [spec], executor, workspace)
    return workspace


def laid_out(folder: Path) -> Path:
    """Three films in folders, with sidecars, a text, a broken one, and what is no footage."""
    write_sources(folder, count=3)
    deep = folder / "deep" / "er ü#1"
    deep.mkdir(parents=True)
    (folder / "pan 1.mp4").rename(deep / "pan 1.MP4")
    (folder / "deep" / "footage.toml").write_text('licence = "CC0-1.0"\nauthor = "A. N. Other"\n')
    (folder / "pan 2.mp4.toml").write_text('page = "a page"\n')
    (folder / "pan 0.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nwords\n")
    (folder / "broken.mp4").write_bytes((folder / "pan 0.mp4").read_bytes()[:300])
    (folder / "empty.mp4").write_bytes(b"")
    for name in (".hidden/a.mp4", ".b.mp4", "old/dataset.json", "old/media/c.mp4", "notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"no film")
    return folder


def test_folders_sidecars_and_damage_are_those_of_a_folder(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv(CACHE_SIZE, "1kB")  # every film is brought for every step
    films = laid_out(tmp_path / "films")
    own = curated(str(films), tmp_path / "own")
    assert {row.licence for row in own.table("sources", Source)} == {"CC0-1.0", "CC-BY-4.0"}
    for scheme, at in (("s3", "bucket/films"), ("memory", "films")):
        fsspec.filesystem(scheme).put(f"{films}/", f"{at}/", recursive=True)
        theirs = curated(f"{scheme}://{at}", tmp_path / scheme)
        assert len(contents(own.path)) > 5
        assert contents(theirs.path) == contents(own.path)
    # What was done is not done again, and costs the listing and the files beside films.
    server.asked.clear()
    curated("s3://bucket/films", tmp_path / "s3")
    assert len(server.asked) <= 1 + 2 * 3
    texts = [piece.payload.get("timed_text") for piece in FolderSource(folder="s3://bucket/films").footage()]
    assert "s3%3A//bucket/films/pan%200.srt" in texts


def test_films_that_credentials_are_refused_for_are_tried_again_and_those_that_went_are_not(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    for name in ("a?.mp4", "d//e.mp4", "d/f.mp4", "d//f.srt"):
        fsspec.filesystem("s3").pipe_file(f"bucket/films/{name}", name.encode())
    pieces = list(FolderSource(folder="s3://bucket/films").footage())
    assert len(pieces) == 3
    for piece in pieces:
        assert Path(local_file(piece.payload["path"], state=piece.payload["state"])).read_bytes().endswith(b".mp4")
    text = next(piece.payload for piece in pieces if "timed_text" in piece.payload)
    assert Path(local_file(text["timed_text"], state=text["timed_text_object"])).read_bytes() == b"d//f.srt"
    fsspec.filesystem("s3").rm_file("bucket/films/a?.mp4")
    monkeypatch.setenv(CACHE, str(tmp_path / "other cache"))
    with pytest.raises(Rejected, match="there is nothing at"):
        local_file(quoted_path("s3://bucket/films/a?.mp4"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    with pytest.raises(NetworkError, match="needs credentials"):
        local_file(quoted_path("s3://bucket/films/d//e.mp4"))


def test_a_sidecar_that_says_nothing_is_told_by_its_address(tmp_path: Path, server: ObjectServer) -> None:
    fsspec.filesystem("s3").pipe_file("bucket/films/a.mp4", b"film")
    fsspec.filesystem("s3").pipe_file("bucket/films/footage.toml", b"licens = 'x'")
    with pytest.raises(InputError, match=r"'s3://bucket/films/footage\.toml': unknown entry 'licens'"):
        list(FolderSource(folder="s3://bucket/films").footage())
    with pytest.raises(InputError, match="there is nothing at s3://bucket/none"):
        list(FolderSource(folder="s3://bucket/none").footage())


def test_the_next_film_comes_while_one_is_worked_on_one_at_a_time(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_SIZE, "1kB")
    films = write_sources(tmp_path / "films", count=4)
    fsspec.filesystem("s3").put(f"{films}/", "bucket/films/", recursive=True)
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    brought, bring = list[tuple[str, str]](), storage.fetch

    def told(address: Address, *rest: Any, **more: Any) -> None:
        brought.append((threading.current_thread().name, address.path.rpartition("/")[2]))
        bring(address, *rest, **more)

    monkeypatch.setattr(storage, "fetch", told)
    workspace = curated("s3://bucket/films", tmp_path / "w")
    # Hashed, then decoded and cut: the first of each is waited for, and all others come ahead of their turn, or are still there.
    by_thread = Counter(brought)
    assert by_thread[("MainThread", "pan 0.mp4")] == 2
    assert {name for thread, name in brought if thread == "ahead"} == {f"pan {number}.mp4" for number in (1, 2, 3)}
    assert {name for thread, name in brought if thread != "ahead"} == {"pan 0.mp4"}
    assert max(Counter(name for _, name in brought).values()) <= 4
    assert contents(workspace.path) == contents(curated(str(films), tmp_path / "own").path)


@pytest.mark.parametrize("times", [1, storage._TRIES, 99])
def test_a_film_that_another_process_removes_as_it_comes_is_brought_again(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    fsspec.filesystem("s3").pipe_file("bucket/films/a.mp4", b"film")
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    brought, bring = list[Path](), storage.fetch

    def removed(address: Address, path: Path, **more: Any) -> None:
        bring(address, path, **more)
        brought.append(path)
        if len(brought) <= times:
            path.unlink()

    monkeypatch.setattr(storage, "fetch", removed)
    if times < storage._TRIES:
        assert Path(local_file(quoted_path("s3://bucket/films/a.mp4"))).read_bytes() == b"film"
        assert len(brought) == 2
    else:
        with pytest.raises(NetworkError, match=r"s3://bucket/films/a\.mp4 left the cache 4 times as it came"):
            local_file(quoted_path("s3://bucket/films/a.mp4"))
        assert len(brought) == storage._TRIES


def test_a_film_that_cannot_come_ahead_of_its_turn_is_told_in_its_turn(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    films = write_sources(tmp_path / "films", count=3)
    fsspec.filesystem("s3").put(f"{films}/", "bucket/films/", recursive=True)
    bring = storage.fetch

    def gone(address: Address, *rest: Any, **more: Any) -> None:
        if address.path.endswith("pan 1.mp4"):
            raise Gone("there is nothing at it")
        bring(address, *rest, **more)

    monkeypatch.setattr(storage, "fetch", gone)
    workspace = curated("s3://bucket/films", tmp_path / "w")
    assert [row.subject_id for row in workspace.table("rejected", Rejection)] == ["pan%201.mp4"]
    assert len(workspace.table("sources", Source)) == 2


SAMPLES = {"name": "samples", "length_seconds": 2.0, "stride_seconds": 40.0}


@pytest.mark.parametrize("probed", ["with the cut", "before it"])
def test_of_a_long_film_whose_hash_is_known_there_little_comes(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch, probed: str
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    rules = (Rule(attribute="probe.frames", at_least=1),) if probed == "before it" else ()
    film = tmp_path / "films" / "long.mp4"
    film.parent.mkdir()
    write_film(film, frames=1500, width=320, height=180, group=25, container={"movflags": "+faststart"})
    # As `aws s3api put-object --checksum-algorithm SHA256` sends it.
    fsspec.filesystem("s3").pipe_file("bucket/films/long.mp4", film.read_bytes(), ChecksumAlgorithm="SHA256")
    server.asked.clear()
    server.sent = 0
    theirs = curated("s3://bucket/films", tmp_path / "theirs", splitter=SAMPLES, rules=rules)
    packets = packets_of(film)
    index, kept = packets[0].begin, sum(packet.bytes for packet in (*packets[:50], *packets[1000:1050]))
    assert kept < 0.1 * film.stat().st_size
    assert server.sent < 1.3 * (kept + (2 if rules else 1) * index) + 6 * (1 << 16)
    assert len(server.asked) < 24
    assert not list((tmp_path / "cache" / "files").rglob("*.mp4"))
    own = curated(str(film.parent), tmp_path / "own", splitter=SAMPLES, rules=rules)
    assert contents(theirs.path) == contents(own.path)
    # And of the film whole, but for how it was cut.
    whole = curated(str(film.parent), tmp_path / "whole", splitter={**SAMPLES, "name": "seconds"}, rules=rules)
    assert whole.table("sources", Source) == own.table("sources", Source)
    assert [clip.rgb_sha256 for clip in whole.table("clips", Clip)] == [clip.rgb_sha256 for clip in own.table("clips", Clip)]
    assert whole.table("attributes", Attribute, step="probe") == own.table("attributes", Attribute, step="probe")


def test_films_that_are_not_as_their_index_says_or_of_unknown_hash_come_whole(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    films, system = laid_out(tmp_path / "films"), fsspec.filesystem("s3")
    spoilt = write_film(films / "spoilt.mp4", frames=100, container={"movflags": "+faststart"})
    bad = packets_of(spoilt)[30]
    data = bytearray(spoilt.read_bytes())
    data[bad.begin : bad.begin + bad.bytes] = bytes(bad.bytes)
    spoilt.write_bytes(data)
    for checksum in ({}, {"ChecksumAlgorithm": "SHA256"}):
        for path in films.rglob("*"):
            if path.is_file():
                system.pipe_file(f"bucket/films/{path.relative_to(films)}", path.read_bytes(), **checksum)
        own = curated(str(films), tmp_path / f"own {len(checksum)}", splitter=SAMPLES)
        theirs = curated("s3://bucket/films", tmp_path / f"theirs {len(checksum)}", splitter=SAMPLES)
        assert len(own.table("clips", Clip)) == 4
        assert contents(theirs.path) == contents(own.path)


def test_a_film_that_changes_while_parts_of_it_are_read_is_refused(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    system = fsspec.filesystem("s3")
    for name in ("a", "b"):
        film = write_film(
            tmp_path / f"{name}.mp4", frames=100, width=320, height=180, container={"movflags": "+faststart"}, seed=ord(name)
        )
        system.pipe_file(f"bucket/films/{name}.mp4", film.read_bytes(), ChecksumAlgorithm="SHA256")
    bring = storage.read

    def changed(address: Address, *span: int) -> bytes:
        if address.path.endswith("a.mp4") and span[0]:
            system.pipe_file(address.path, (tmp_path / "b.mp4").read_bytes() + b"1")
        return bring(address, *span)

    monkeypatch.setattr("inpaintbench.curation.sources.base.read", changed)
    workspace = curated("s3://bucket/films", tmp_path / "w", splitter=SAMPLES)
    assert [row.name for row in workspace.table("rejected", Rejection, step="probe")] == ["a.mp4"]
    assert "was changed after it was listed" in workspace.table("rejected", Rejection)[0].reason
    assert {clip.source_id for clip in workspace.table("clips", Clip)} == {workspace.table("sources", Source)[1].source_id}
