"""Footage at addresses: the same bytes come of it as of a folder, whatever the server does, and no credentials stay anywhere."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from built import check_same_bytes
from footage import build_command, contents, write_sources
from object_server import KEY, SECRET, ObjectServer, object_server

from inpaintbench.curation.sources.base import local_file, quoted_path
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.errors import InputError, NetworkError, Rejected
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.stages import Cutting, SourceSpec, curate
from inpaintbench.storage import CACHE, CACHE_SIZE
from inpaintbench.types import Source
from inpaintbench.workspace import Workspace


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server("bucket") as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        yield made


def test_a_build_from_a_faulty_bucket_is_that_from_its_folder(benchmark: Path, tmp_path: Path, server: ObjectServer) -> None:
    fsspec.filesystem("s3").put(f"{benchmark.parent / 'sources'}/", "bucket/my films/", recursive=True)
    (tmp_path / "labels.csv").write_bytes((benchmark.parent / "labels.csv").read_bytes())
    log, films = tmp_path / "log", sum(path.stat().st_size for path in (benchmark.parent / "sources").iterdir())
    command = build_command(tmp_path, "workspace", workers=2)
    command[command.index("--sources") + 1] = "s3://bucket/my films"
    server.asked.clear()
    server.sent, server.every = 0, 3
    places = {CACHE: str(tmp_path / "cache"), "INPAINTBENCH_LOG": str(log), "HOME": str(tmp_path)}
    made = subprocess.run([*command, "--cache", "1GB"], capture_output=True, text=True, check=False, env={**os.environ, **places})
    assert made.returncode == 0, made.stderr
    check_same_bytes(benchmark, tmp_path / "workspace")
    assert server.faults > 3
    assert len(server.asked) < 6 * 12
    assert server.sent < 2 * films
    written = [made.stdout.encode(), made.stderr.encode(), *(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())]
    assert log.stat().st_size > 0
    assert not [text for text in written if KEY.encode() in text or SECRET.encode() in text]


def curated(folder: str, into: Path) -> Workspace:
    workspace = Workspace(into)
    with LocalExecutor(workspace, workers=0) as executor:
        spec = SourceSpec("folder", {"folder": folder, "licence": "CC-BY-4.0"})
        curate(Cutting.without_loss({"name": "as_is"}, frames=20), [spec], executor, workspace)
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
