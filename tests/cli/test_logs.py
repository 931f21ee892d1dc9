"""The log of a command: JSON lines beside the console."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import hazards
import pytest
from footage import write_sources
from program import run_here

import inpaintbench
from inpaintbench.cli import logs
from inpaintbench.errors import WorkspaceError


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_leaves_a_log_in_its_workspace_and_the_console_is_as_it_was(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", count=2)
    (sources / "broken.mp4").write_bytes(b"no film")
    words = ("curation", "clips", "--sources", sources, "--out", tmp_path / "w", "--size", "64x48", "--workers", "0")
    done = run_here(*words)
    assert done.returncode == 0, done.stderr
    assert all(line.count(": ") == 1 for line in done.stderr.splitlines())  # progress alone: "cut: 3/3"
    (path,) = (tmp_path / "w" / "logs").iterdir()
    assert path.name.endswith(".jsonl")
    assert "-curation-clips-" in path.name
    rows = lines(path)
    assert all(row["at"].endswith("Z") and row["level"] in ("info", "warning", "error") for row in rows)
    begun, *_, ended = rows
    assert begun["event"] == "begun"
    assert begun["command"].startswith("inpaintbench curation clips --sources ")
    assert begun["version"] == inpaintbench.__version__
    assert begun["packages"]["av"]
    assert (ended["event"], ended["status"]) == ("ended", 0)
    assert ended["seconds"] > 0
    steps = {row["step"]: (row["done"], row["total"]) for row in rows if row["event"] == "step"}
    assert steps["cut"] == (3, 3)
    refused = [row for row in rows if row["event"] == "rejected"]
    assert [(row["step"], Path(row["name"]).name) for row in refused] == [("probe", "broken.mp4")]
    assert run_here(*words).returncode == 0
    again = max((tmp_path / "w" / "logs").iterdir(), key=lambda one: (one.stat().st_mtime_ns, one != path))
    assert len(list((tmp_path / "w" / "logs").iterdir())) == 2
    assert not [row for row in lines(again) if row["event"] == "rejected"] or again == path  # told once


def test_a_failed_run_says_why_in_its_log(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    for _ in range(2):
        assert run_here("--log", log, "export", "freeze", tmp_path / "none").returncode == 1
    rows = lines(log)
    assert [row["event"] for row in rows] == ["begun", "error", "ended"] * 2
    assert rows[1]["text"].endswith("is not a workspace (no workspace.json)")
    assert rows[2]["status"] == 1


@pytest.mark.long
def test_shards_that_run_at_once_leave_a_log_each(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    hazards.good(tmp_path / "sources" / "good.mp4")
    out = tmp_path / "w"
    made = run_here("curation", "clips", "--sources", tmp_path / "sources", "--out", out, "--size", "64x48", "--workers", "0")
    assert made.returncode == 0, made.stderr
    command = [sys.executable, "-m", "inpaintbench", "curation", "measure", str(out), "--attribute", "exposure"]
    shards = [[*command, "--workers", "0", "--shard", f"{number}/2"] for number in (1, 2)]
    for process in [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for words in shards]:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    found = [lines(path) for path in (out / "logs").glob("*-curation-measure-*.jsonl")]
    assert sorted(rows[0]["command"].rpartition(" ")[2] for rows in found) == ["1/2", "2/2"]
    assert [rows[-1]["event"] for rows in found] == ["ended", "ended"]


SECRETS = {
    "--database postgresql://ada:verysecret@host/name": "--database postgresql://***@host/name",
    "--from 'https://host/net.pt?key=verysecret&x=1'": "--from 'https://host/net.pt?***'",
    "--command 'mine=run --api-key verysecret --size 3'": "--command 'mine=run --api-key *** --size 3'",
    "API_TOKEN=verysecret run": "API_TOKEN=*** run",
    'the server said {"token": "verysecret"}': 'the server said {"token": "***"}',
    "hf_verysecretverysecret": "***",
    "the word verysecret-of-mine alone": "the word *** alone",
    "KeyError: 'no such thing'": "KeyError: 'no such thing'",
    "https://host/a/film.mp4 is gone": "https://host/a/film.mp4 is gone",
}


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_left_out(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "verysecret-of-mine")
    assert logs.without_secrets(text) == SECRETS[text]


def test_secrets_of_the_command_line_reach_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLICKR_API_KEY", "verysecret1")
    words = ("models", "fetch", "alexnet", "--from", "https://ada:verysecret2@127.0.0.1:1/a?key=verysecret3", "--seconds", "1")
    assert run_here("--log", tmp_path / "log", *words).returncode != 0
    assert run_here("--log", tmp_path / "log", "curation", "why", "verysecret1", "verysecret1").returncode != 0
    assert "verysecret" not in (tmp_path / "log").read_text()


def test_without_a_running_program_nothing_is_kept(tmp_path: Path) -> None:
    logs.beside(tmp_path)
    logs.note("info", "step", step="x")
    assert logs.place() is None
    assert not list(tmp_path.iterdir())


def test_a_log_that_cannot_be_written_stops_no_run_unless_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")
    with logs.of_command(["x"]):
        logs.beside(tmp_path)
        logs.note("info", "step", step="x")
        with pytest.raises(WorkspaceError, match="give --log another file"):
            logs.also_into(tmp_path / "none" / "log.jsonl")
