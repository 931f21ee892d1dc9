"""`curation fetch flickr` from the search to the workspace, against a Flickr of our own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import typer
from flickr_server import KEY, SECRET, FlickrServer, Video
from typer.testing import CliRunner

from inpaintbench import video
from inpaintbench.cli.options import expanded
from inpaintbench.types import Download
from inpaintbench.wings.fetch.commands import flickr
from inpaintbench.workspace import Workspace

app = typer.Typer()
app.command("flickr")(expanded(flickr))
SEARCH = ["--query", "scenic", "--user", "walker", "--uploaded", "2017:2019", "--orientation", "landscape"]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_search_becomes_a_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    film = tmp_path / "film.mp4"
    video.write_lossless(film, np.random.default_rng(0).integers(0, 255, (8, 48, 64, 3), dtype=np.uint8), fps=25.0)
    videos = [
        Video("1", files={"HD MP4": film}, uploaded=1_500_000_000),
        Video("2", files={}, uploaded=1_500_000_001),
        Video("3", files={"HD MP4": b"no video"}, uploaded=1_500_000_002),
        Video("4", files={"HD MP4": film}, uploaded=1_400_000_000),
        Video("5", files={"HD MP4": film}, uploaded=1_500_000_003, width=100, height=200),
        Video("6", files={"HD MP4": film}, uploaded=1_500_000_003, licence=2),
    ]
    with FlickrServer(videos) as server:
        server.set_environment(monkeypatch, cache=tmp_path / "cache")
        command = [*SEARCH, "--out", str(tmp_path / "workspace"), "--allow-private", "--workers", str(workers)]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        assert "1 obtained, 0 gone, 2 refused, 0 failed" in done.output
        again = CliRunner().invoke(app, command)
        assert again.exit_code == 0, again.output
        assert server.calls[server.file_path("1", "HD MP4")] == 1
    rows = {row.name: row for row in Workspace(tmp_path / "workspace").table("downloads", Download)}
    assert {name: row.status for name, row in rows.items()} == {"1": "obtained", "2": "refused", "3": "refused"}
    assert (rows["1"].licence, rows["1"].rendition, rows["1"].author) == ("CC-BY-2.0", "HD MP4 1920x1080", "walker")
    assert rows["1"].licence_history["changes"][0]["old"] == "CC-BY-2.0"
    assert rows["1"].blob is not None
    assert Workspace(tmp_path / "workspace").blobs.path(rows["1"].blob).read_bytes() == film.read_bytes()
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(secret.encode() in data for secret in (KEY, SECRET) for data in kept)


def test_without_a_key_nothing_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLICKR_API_KEY", raising=False)
    monkeypatch.delenv("FLICKR_API_SECRET", raising=False)
    done = CliRunner().invoke(app, [*SEARCH, "--out", str(tmp_path / "workspace")])
    assert done.exit_code == 1
    assert "FLICKR_API_KEY and FLICKR_API_SECRET not set" in str(done.exception)
