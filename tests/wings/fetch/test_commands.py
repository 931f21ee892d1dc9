"""The commands that fetch, as people call them."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from program import run_here
from typer.testing import CliRunner, Result
from web_footage import clip_bytes, write_list
from web_server import Answer, WebServer

from inpaintbench.cli.options import expanded
from inpaintbench.errors import InputError
from inpaintbench.wings.fetch import commands as fetching
from inpaintbench.wings.fetch.step import rows_of
from inpaintbench.workspace import Workspace


def run(*arguments: str | Path) -> Result:
    app = typer.Typer()
    app.add_typer(fetching.fetch_app, name="fetch")
    app.command()(expanded(fetching.recheck))
    app.command()(expanded(fetching.attribution))
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    return tmp_path / "beaches.csv"


def test_a_list_is_fetched_asked_about_and_named(tmp_path: Path, listed: Path) -> None:
    out = tmp_path / "workspace"
    with WebServer() as server:
        good = server.say("/good.mp4", Answer(clip_bytes(tmp_path, 1)))
        gone = server.say("/gone.mp4", Answer(status=404))
        write_list(listed, f"{good},CC-BY-4.0,Ann", f"{gone},CC0-1.0,Bob", columns="url,licence,author")
        fetched = run("fetch", "urls", listed, "--out", out, "--allow-private", "--workers", "0", "--contact", "me")
        assert fetched.exit_code == 0, fetched.output
        assert f"1 obtained, 1 gone, 0 refused, 0 failed; 0.1 MB in {out}" in fetched.output
        assert "gone.mp4 is not there (HTTP 404)" in fetched.output.replace("\n", "")
        again = run("recheck", out, "--workers", "0")
        assert "1 of 1 licences are as they were" in again.output
        server.say("/good.mp4", Answer(status=410))
        again = run("recheck", out, "--workers", "0")
        assert "0 of 1 licences are as they were" in again.output
    text = run("attribution", out).output
    assert "https://creativecommons.org/licenses/by/4.0/" in text
    assert "by Ann" in text
    assert run("attribution", out, "--out", tmp_path / "NOTICE").exit_code == 0
    assert (tmp_path / "NOTICE").read_text() == text


def test_a_narrower_call_tells_what_it_leaves_out(tmp_path: Path, listed: Path) -> None:
    out = tmp_path / "workspace"
    with WebServer() as server:
        urls = [server.say(f"/{n}.mp4", Answer(clip_bytes(tmp_path, n))) for n in range(2)]
        write_list(listed, f"{urls[0]},CC-BY-4.0", f"{urls[1]},CC0-1.0", columns="url,licence")
        options = ("--out", out, "--allow-private", "--workers", "0")
        assert "2 obtained, 0 gone, 0 refused, 0 failed; " in run("fetch", "urls", listed, *options).output
        narrow = run("fetch", "urls", listed, *options, "--licence", "CC0")
    assert "1 obtained, 0 gone, 1 refused, 0 failed, 1 of earlier calls not asked for now; " in narrow.output
    assert "'CC-BY-4.0' is not among those asked for" in narrow.output.replace("\n", "")


def test_shards_fetch_their_part_and_a_run_without_puts_them_together(tmp_path: Path, listed: Path) -> None:
    out, whole = tmp_path / "workspace", tmp_path / "whole"
    with WebServer() as server:
        write_list(listed, *(server.say(f"/{n}.mp4", Answer(clip_bytes(tmp_path, n))) for n in range(4)), columns="url")
        options = ("--allow-private", "--workers", "0")
        told = []
        for number in (1, 2):
            done = run("fetch", "urls", listed, "--out", out, *options, "--shard", f"{number}/2")
            assert done.exit_code == 0, done.output
            told.append(int(done.output.partition(" obtained")[0].split()[-1]))
            assert f"of shard {number}/2" in done.output
        assert sum(told) == 4
        assert not (out / "tables").exists()
        server.seen.clear()
        assert "4 obtained" in run("fetch", "urls", listed, "--out", out, *options).output
        assert server.seen == []
        run("fetch", "urls", listed, "--out", whole, *options)
    rows = [sorted((row.name, row.sha256) for row in rows_of(Workspace(path), "urls", "beaches")) for path in (out, whole)]
    assert rows[0] == rows[1]
    with pytest.raises(InputError, match="shard '3/2' is not i/N"):
        run("fetch", "urls", listed, "--out", out, "--shard", "3/2")


@pytest.mark.parametrize("option", ["--most-megabytes", "--seconds"])
def test_limits_are_finite(tmp_path: Path, listed: Path, option: str) -> None:
    with pytest.raises(InputError, match=f"{option} inf is no limit"):
        run("fetch", "urls", listed, "--out", tmp_path / "workspace", option, "inf")
    assert not (tmp_path / "workspace").exists()


def test_nothing_obtained_is_a_failure(tmp_path: Path, listed: Path) -> None:
    with WebServer() as server:
        write_list(listed, server.say("/good.mp4", Answer(clip_bytes(tmp_path, 1))), columns="url")
        result = run("fetch", "urls", listed, "--out", tmp_path / "workspace", "--workers", "0")
    assert result.exit_code == 1
    assert "0 obtained, 0 gone, 1 refused, 0 failed" in result.output
    assert "loopback address" in result.output


@pytest.mark.parametrize("command", ["urls", "site", "dataset", "flickr"])
def test_what_cannot_be_listed_leaves_no_folder(tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "empty").mkdir()
    asked = {"urls": ["nowhere.csv"], "site": ["nowhere.txt"], "dataset": [str(tmp_path / "empty")], "flickr": []}[command]
    done = run_here("curation", "fetch", command, *asked, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("inpaintbench: ")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
