"""`build devil --source flickr` from the search to a frozen dataset, against a Flickr of our own."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from built import check_published
from flickr_server import KEY, SECRET, FlickrServer, Trouble, Video
from footage import write_sources
from program import run_here

from inpaintbench import frozen
from inpaintbench.types import Answer, Clip, Download, Selection, Source
from inpaintbench.workspace import Workspace

SEARCH = ("--source", "flickr", "--query", "scenic", "--users", "walker", "--uploaded", "2017:2019", "--allow-private")
SMALL = ("--size", "128x80", "--least", "128x80", "--per-slice", "1")


def words(out: Path, *options: str, workers: int) -> list[str]:
    search = SEARCH[2:] if SEARCH[0] in options else SEARCH  # where another source is asked for, it is given once
    return ["build", "devil", "--out", str(out), *search, *SMALL, "--workers", str(workers), *options]


def build(out: Path, *options: str, workers: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command as people do: a process keeps one client, and so one server."""
    command = [sys.executable, "-m", "inpaintbench", *words(out, *options, workers=workers)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def offered(folder: Path) -> list[Video]:
    """Six films that can be had, one that is gone, one upright, one of too few bits, one of an unwanted licence."""
    films = sorted(write_sources(folder, count=6).iterdir())
    videos = [Video(str(place), files={"HD MP4": film}, uploaded=1_500_000_000 + place) for place, film in enumerate(films)]
    good = films[0]
    videos += [
        Video("gone", files={}, uploaded=1_510_000_000),
        Video("upright", files={"HD MP4": good}, uploaded=1_510_000_001, width=100, height=200),
        Video("broken", files={"HD MP4": b"no video"}, uploaded=1_510_000_002),
        Video("unwanted", files={"HD MP4": good}, uploaded=1_510_000_003, licence=2),
        Video("early", files={"HD MP4": good}, uploaded=1_400_000_000),
    ]
    return videos


@pytest.mark.long
def test_from_a_search_through_the_answers_of_people_to_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "workspace"
    with FlickrServer(offered(tmp_path / "films")) as server:
        server.set_environment(monkeypatch, cache=tmp_path / "cache")
        server.trouble(server.file_path("3", "HD MP4"), Trouble(status=429, headers={"Retry-After": "0"}))
        first = build(out, "--foreground-limit", "1", workers=2)
        assert (first.returncode, first.stderr.count("Traceback")) == (3, 0), first.stderr
        assert "clips wait for keep or reject" in first.stdout
        assert not (out / "exports").exists()
        asked = server.calls[server.file_path("1", "HD MP4")]

        workspace = Workspace(out, create=False)
        clips = workspace.table("clips", Clip)
        lines = list(csv.DictReader((out / "to_answer.csv").read_text().splitlines()))
        waiting = {line["clip"] for line in lines}
        assert waiting <= {clip.clip_id for clip in clips}
        assert len(waiting) >= 4
        assert (out / "review.html").read_text().count("<figure") == len(waiting)

        rejected = sorted(waiting)[0]
        answers = tmp_path / "answers.csv"
        rows = [f"{clip},{'reject' if clip == rejected else 'keep'},shaky" for clip in sorted(waiting)]
        answers.write_text("clip,answer,reason\n" + "\n".join(rows) + "\n")
        told = subprocess.run(
            [sys.executable, "-m", "inpaintbench", "curation", "answers", str(out), str(answers)], capture_output=True, text=True
        )
        assert told.stdout == f"{len(waiting)} answers\n", told.stderr
        second = build(out, "--foreground-limit", "1")
        assert second.returncode == 0, second.stderr
        assert server.calls[server.file_path("1", "HD MP4")] == asked
    check_published(out / "exports" / "devil")
    dataset = frozen.load(out / "exports" / "devil")
    assert rejected not in {row["clip_id"] for row in dataset.items}
    assert {row["licence"] for row in dataset.items} == {"CC-BY-2.0"}
    assert all(row["page_url"] for row in dataset.items)
    downloads = {row.name: row.status for row in workspace.table("downloads", Download)}
    assert downloads == dict.fromkeys("012345", "obtained") | {"gone": "refused", "broken": "refused"}
    dropped = {row.clip_id: row.reason for row in workspace.table("selection", Selection) if not row.keep}
    assert dropped[rejected] == 'answer:keep_reject "reject" is not "keep"'
    assert workspace.table("answers", Answer)[0].votes == 1
    kept = [path.read_bytes() for path in out.rglob("*") if path.is_file()]
    assert not any(secret.encode() in data for secret in (KEY, SECRET) for data in kept)


@pytest.mark.long
def test_a_narrower_search_makes_a_narrower_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    videos = offered(tmp_path / "films")
    for video in videos[:3]:
        video.licence = 9
    with FlickrServer(videos) as server:
        server.set_environment(monkeypatch, cache=tmp_path / "cache")
        wide = build(tmp_path / "workspace", "--no-review", "--foreground-limit", "1")
        assert wide.returncode == 0, wide.stderr
        check_published(tmp_path / "workspace" / "exports" / "devil")
        workspace = Workspace(tmp_path / "workspace", create=False)
        assert len(workspace.table("sources", Source)) == 6
        shutil.rmtree(tmp_path / "workspace" / "exports")
        build(tmp_path / "workspace", "--no-review", "--foreground-limit", "1", "--licence", "CC0")
    assert sorted(row.uri for row in workspace.table("sources", Source)) == ["flickr/0", "flickr/1", "flickr/2"]
    assert {row.licence for row in workspace.table("sources", Source)} == {"CC0-1.0"}
    downloads = workspace.table("downloads", Download)
    assert {row.name for row in downloads if row.status == "obtained"} == set("012345")


@pytest.mark.long
def test_ids_take_the_place_of_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    videos = offered(tmp_path / "films")
    videos[4].licence, videos[5].gone = 2, True
    (tmp_path / "ids.txt").write_text("3\n0\n1\n2\n4\n5\nupright\n")
    out = tmp_path / "workspace"
    with FlickrServer(videos) as server:
        server.set_environment(monkeypatch, cache=tmp_path / "cache")
        asked = ("--source", "flickr", "--ids", tmp_path / "ids.txt", "--allow-private", "--no-review", "--foreground-limit", "1")
        done = run_here("build", "devil", "--out", out, *asked, *SMALL, "--workers", "0")
        assert done.returncode == 0, done.stderr
        assert server.searches == []
    check_published(out / "exports" / "devil")
    workspace = Workspace(out, create=False)
    assert sorted(row.uri for row in workspace.table("sources", Source)) == ["flickr/0", "flickr/1", "flickr/2", "flickr/3"]
    downloads = {row.name: row.status for row in workspace.table("downloads", Download)}
    assert downloads == dict.fromkeys("0123", "obtained") | {"4": "refused", "5": "gone", "upright": "refused"}
    elsewhere = run_here("build", "devil", "--sources", tmp_path / "films", "--ids", "devil", "--out", tmp_path / "other")
    assert "--ids is for --source flickr alone" in elsewhere.stderr


@pytest.mark.real
@pytest.mark.long
def test_the_rule_on_foreground_objects_measures_with_the_detector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assets: Path
) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(assets / "weights"))
    with FlickrServer(offered(tmp_path / "films")) as server:
        server.set_environment(monkeypatch, cache=tmp_path / "cache")
        done = build(tmp_path / "workspace", "--no-review", "--foreground-limit", "0.9")
    assert done.returncode == 0, done.stderr
    rules = {row.rule for row in Workspace(tmp_path / "workspace").table("selection", Selection)}
    assert "no foreground objects (foreground_fraction <= 0.9)" in rules


def test_what_cannot_be_done_is_told_before_anything_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path))
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    for name in ("FLICKR_API_KEY", "FLICKR_API_SECRET"):
        monkeypatch.delenv(name, raising=False)
    keyless = run_here(*words(tmp_path / "workspace", "--foreground-limit", "1", workers=0))
    assert "FLICKR_API_KEY and FLICKR_API_SECRET not set" in keyless.stderr
    monkeypatch.setenv("FLICKR_API_KEY", "0" * 32)
    monkeypatch.setenv("FLICKR_API_SECRET", "0" * 16)
    for options, sentence in (
        ((), "foreground_fraction cannot be measured: weights missing: run `inpaintbench models fetch yolox-nano`"),
        (("--sources", "films"), "--sources names a folder, and 'flickr' is none"),
        (("--source", "flicker"), "unknown source 'flicker', did you mean 'flickr'?"),
        (("--source", "folder", "--sources", os.devnull), "--query is for --source flickr alone"),
    ):
        done = run_here(*words(tmp_path / "workspace", *options, workers=0))
        assert done.returncode == (2 if options else 1)
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "workspace").exists()
