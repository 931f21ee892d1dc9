"""Run folders at addresses hold what a folder holds, whichever machine goes on and whoever is killed; saved predictions too."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import cv2
import fsspec
import pytest
from object_server import KEY, SECRET, ObjectServer, object_server
from old_format import write_one_file
from program import run_here
from scoring_probes import write_items

from inpaintbench import mirrors, storage, video
from inpaintbench.api.runs import load
from inpaintbench.api.runs import run as run_method
from inpaintbench.cli.viewing import parse_viewed
from inpaintbench.errors import InputError
from inpaintbench.files import file_sha256
from inpaintbench.types import Prediction, Slice
from inpaintbench.workbench.finding import Folders
from inpaintbench.workbench.server import Bench
from inpaintbench.workspace import Workspace

WHERE = "s3://bucket/my run"
ITEMS = 12
METHODS = ("--method", "blank", "--method", "telea")
SOME = ("--metric", "psnr", "--metric", "ssim", "--workers", "0")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``data``, a small dataset, and ``run``, a folder with two methods that were scored on it; treat as read-only."""
    folder = tmp_path_factory.mktemp("made")
    slices = [Slice(f"half-{half}", "", tuple(f"item {place}" for place in range(half, ITEMS, 2))) for half in (0, 1)]
    dataset = write_items(folder / "data", count=ITEMS, frames=(3,) * ITEMS, slices=slices)
    files = {path.name: file_sha256(path) for path in sorted((folder / "data").iterdir())}
    write_one_file(folder / "data", replace(dataset, files=files))
    done(run_here("eval", "run", folder / "data", "--run", folder / "run", *METHODS, "--workers", "0"))
    done(run_here("eval", "run", "--for=scores", folder / "data", "--run", folder / "run", *SOME))
    return folder


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server("bucket") as found:
        for name, value in found.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(storage, "_FIRST_WAIT_SECONDS", 0.0)
        monkeypatch.setattr(mirrors, "_FRESH_SECONDS", -1.0)  # every look is a new one
        monkeypatch.setattr(mirrors, "_KNOWN", {})
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        on_machine(tmp_path, monkeypatch, "one")
        yield found


def on_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Go on as another machine would, which has a cache of its own."""
    monkeypatch.setenv(storage.CACHE, str(tmp_path / name))


def done(told: CompletedProcess[str]) -> CompletedProcess[str]:
    assert told.returncode == 0, told.stdout + told.stderr
    return told


def results(run: Path | str) -> dict[str, bytes]:
    """What results are made of: tables with their hashes, and blobs."""
    workspace = Workspace(run, create=False)
    tables = workspace.path / "tables"
    found = {path.relative_to(tables).as_posix(): path.read_bytes() for path in tables.rglob("*") if path.is_file()}
    for row in workspace.table("predictions", Prediction):
        found[row.blob] = workspace.blobs.proved(row.blob).read_bytes()
    return found


def sent_pages(run: Path) -> dict[str, bytes]:
    """Pages of a mirror, by their names."""
    folders = (run / name for name in ("report", "analysis", "compare"))
    return {path.relative_to(run).as_posix(): path.read_bytes() for one in folders for path in one.rglob("*") if path.is_file()}


def test_a_run_in_a_faulty_bucket_is_that_of_a_folder_and_every_command_reads_it_elsewhere(
    made: Path, tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, log = made / "data", ("--log", tmp_path / "log")
    server.every, server.ahead = 5, 3600
    said = [done(run_here(*log, "eval", "run", data, "--run", WHERE, *METHODS, "--workers", "2"))]
    on_machine(tmp_path, monkeypatch, "two")
    said.append(done(run_here(*log, "eval", "run", "--for=scores", data, "--run", WHERE, *SOME)))
    assert server.faults > 5
    server.every = 0
    on_machine(tmp_path, monkeypatch, "three")
    assert results(WHERE) == results(made / "run")
    for name, *more in (
        ("report",), ("report", "--for=analysis"), ("compare", "telea", "blank"), ("diagnose",), ("table",),
        ("compare", "telea", "telea", "--other-run", made / "run"), ("table", "--for=rows", "--out", tmp_path / "rows.csv"),
        ("figure", "--out", tmp_path / "a.svg"), ("report", "--for=hub", "--out", tmp_path / "hub"),
        ("paper", "--out", tmp_path / "paper", "--no-costs"),
    ):  # fmt: skip
        part = [word for word in more if str(word).startswith("--for=")]
        said.append(done(run_here("eval", name, *part, data, *more[len(part) :], "--run", WHERE)))
    assert f"Report: {WHERE}/report/report.html" in said[2].stdout
    # Pages lie where they are said to, and on every other machine; what another report leaves out goes.
    pages = sent_pages(Workspace(WHERE).path)
    system = fsspec.filesystem("s3")
    assert len(pages) > 10
    for name, data_of in pages.items():
        assert system.cat_file(f"bucket/my run/{name}") == data_of
    workspace, gone = Workspace(WHERE), next(name for name in pages if name.startswith("compare/"))
    with workspace.locked():
        (workspace.path / gone).unlink()
    assert not system.exists(f"bucket/my run/{gone}")
    on_machine(tmp_path, monkeypatch, "four")
    assert sent_pages(Workspace(WHERE).path).keys() == pages.keys() - {gone}
    texts = [text for one in said for text in (one.stdout.encode(), one.stderr.encode())]
    texts += [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not [text for text in texts if KEY.encode() in text or SECRET.encode() in text]
    assert not [text for text in texts[: 2 * len(said)] if str(tmp_path / "three").encode() in text]


def test_scoring_asks_little_for_an_item(
    made: Path, tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = fsspec.filesystem("s3")
    system.put(f"{made / 'data'}/", "bucket/data/", recursive=True)
    done(run_here("eval", "run", "s3://bucket/data", "--run", WHERE, *METHODS, "--workers", "0"))
    on_machine(tmp_path, monkeypatch, "two")
    server.asked.clear()
    # From nothing: the dataset, predictions of two methods, and vectors of a metric of sets come or go.
    told = run_here("eval", "run", "--for=scores", "s3://bucket/data", "--run", WHERE, "--metric", "psnr", "--workers", "0")
    done(told)
    assert len(server.asked) <= 6 * ITEMS
    assert not [path for method, path in server.asked if "list-type" in path and "my run" in path]
    server.asked.clear()
    done(run_here("eval", "run", "--for=scores", "s3://bucket/data", "--run", WHERE, "--metric", "psnr", "--workers", "0"))
    assert len(server.asked) <= 20


SLOW = """
import os, time, uuid
from pathlib import Path

def fill(frames, hole):
    Path(os.environ["MARKS"], f"{frames.sum()} {uuid.uuid4().hex}").touch()
    time.sleep(0.2)
    return frames * ~hole[..., None]
fill.stateless = True
"""
CHILD = """
import sys
from inpaintbench import mirrors
mirrors._DUE_SECONDS, mirrors._EXPIRES_SECONDS = 0.0, -1.0
if __name__ == "__main__":
    from inpaintbench.cli import main
    main()
"""


@pytest.mark.parametrize("kills", [1, pytest.param(4, marks=pytest.mark.long)])
def test_after_kill_9_another_machine_goes_on_from_what_is_in_the_bucket(
    made: Path, tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "child.py").write_text(CHILD)
    marks, rng = tmp_path / "marks", random.Random(kills)
    marks.mkdir()
    monkeypatch.setenv("MARKS", str(marks))
    words = ("eval", "run", made / "data", "--method", "slow:fill", "--workers", "1", "--run")
    done(run_here(*words, tmp_path / "own", cwd=tmp_path))
    done(run_here("eval", "run", "--for=scores", made / "data", "--run", tmp_path / "own", *SOME, cwd=tmp_path))
    own = [path.unlink() for path in marks.iterdir()]
    monkeypatch.setattr(mirrors, "_EXPIRES_SECONDS", -1.0)  # as after two minutes
    for number in range(kills):
        where = f"killed {number}"
        child = [sys.executable, tmp_path / "child.py", *words, WHERE]
        environment = {**os.environ, storage.CACHE: str(tmp_path / where)}
        process = subprocess.Popen(child, cwd=tmp_path, env=environment, start_new_session=True)
        while not list(marks.iterdir()) and process.poll() is None:
            time.sleep(0.02)
        time.sleep(rng.uniform(0.2, 2.5 / kills))
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        on_machine(tmp_path, monkeypatch, f"looks {number}")
        found = Workspace(WHERE, create=False)
        there, checked = (len(found.ledger(f"{step}.slow.fill").read()) for step in ("predict", "check"))
        if there:  # and everything that reads a run can read it
            assert f"after {there} of {ITEMS}" in run_here("eval", "table", made / "data", "--run", WHERE).stderr
        for path in marks.iterdir():
            path.unlink()
    on_machine(tmp_path, monkeypatch, "after")
    done(run_here(*words, WHERE, cwd=tmp_path))
    # Nothing that was in the bucket is made again.
    assert len(list(marks.iterdir())) == len(own) - there - 2 * checked
    done(run_here("eval", "run", "--for=scores", made / "data", "--run", WHERE, *SOME, cwd=tmp_path))
    assert results(WHERE) == results(tmp_path / "own")


def test_a_second_run_is_refused_by_name_and_then_goes_on(
    made: Path, tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("eval", "run", made / "data", "--run", WHERE, "--workers", "0", "--method")
    with Workspace(WHERE).locked():
        for machine in ("one", "two"):  # the same, and another
            on_machine(tmp_path, monkeypatch, machine)
            told = run_here(*words, "telea")
            assert (told.returncode, told.stdout) == (1, "")
            assert told.stderr.startswith(f"inpaintbench: workspace '{WHERE}' is in use by another run"), told.stderr
    done(run_here(*words, "telea"))
    on_machine(tmp_path, monkeypatch, "three")
    assert "blank: 12 predictions" in done(run_here(*words, "blank")).stdout
    assert {row.method for row in Workspace(WHERE, create=False).table("predictions", Prediction)} == {"blank", "telea"}
    # A run is of one dataset, whoever asks for another.
    write_one_file(tmp_path / "other", write_items(tmp_path / "other", count=2, frames=(3, 3)))
    on_machine(tmp_path, monkeypatch, "four")
    told = run_here("eval", "run", tmp_path / "other", "--run", WHERE, "--method", "telea", "--workers", "0")
    assert (told.returncode, f"'{WHERE}'" in told.stderr, str(tmp_path / "four") in told.stderr) == (1, True, False), told.stderr


@pytest.mark.parametrize("option", ["--run", "--saved"])
def test_what_cannot_be_read_is_one_sentence_before_any_work(
    made: Path, tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    def told(address: str) -> str:
        places = {
            "--run": ("--run", address, "--method", "telea"),
            "--saved": ("--run", tmp_path / "r", "--saved", f"a={address}"),
        }
        found = run_here("eval", "run", "--for=predictions", made / "data", *places[option], "--workers", "0")
        assert found.returncode in (1, 2)
        assert found.stdout == ""
        [sentence] = found.stderr.splitlines()
        assert not [secret for secret in (KEY, SECRET) if secret in sentence]
        return sentence

    assert "s3://none" in told("s3://none/there")
    assert "an address of no kind known here" in told("ftp://host/there")
    assert "to be written without credentials" in told(f"s3://{KEY}:{SECRET}@bucket/there")
    if option == "--saved":
        assert "there is nothing at s3://bucket/there to read predictions from" in told("s3://bucket/there")
        assert not (tmp_path / "r").exists()
    else:
        assert "cannot hold a workspace or a run" in told("hf://datasets/owner/name")
    monkeypatch.setattr(storage, "find_spec", lambda _: None)
    assert "[gs]" in told("gs://bucket/there")
    monkeypatch.undo()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.address)
    monkeypatch.setenv(storage.CACHE, str(tmp_path / "cache"))
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    assert "needs credentials, and there are none in this environment" in told("s3://bucket/there")


def test_saved_predictions_come_from_a_bucket_as_from_a_folder(
    made: Path, tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved, system = tmp_path / "saved", fsspec.filesystem("s3")
    saved.mkdir()
    for place in range(ITEMS):
        truth = made / "data" / f"truth {place}.mp4"
        if place == 1:  # folders of numbered pictures, and one item without
            (saved / f"item {place}").mkdir()
            for number, frame in enumerate(video.read_frames(truth)):
                cv2.imwrite(str(saved / f"item {place}" / f"{number:05}.png"), frame[..., ::-1])
        elif place != 2:
            shutil.copy(truth, saved / f"item {place}.mp4")
    shutil.copy(truth, saved / "stranger.mp4")
    (saved / "read.me").write_text("nothing to do with it")
    system.put(f"{saved}/", "bucket/my saved/", recursive=True)
    words = ("eval", "run", "--for=predictions", made / "data", "--workers", "0", "--run")
    own = done(run_here(*words, tmp_path / "own", "--saved", f"mine={saved}"))
    server.asked.clear()
    told = done(run_here(*words, WHERE, "--saved", "mine=s3://bucket/my saved"))
    # Of a film: what begins like it, it, whether it is still the same before and after; and its prediction.
    assert len([path for _, path in server.asked if "item 5" in path.replace("%20", " ").replace("+", " ")]) == 4
    assert len(server.asked) <= 6 * ITEMS + 25
    assert told.stdout.replace("s3://bucket/my saved", str(saved)).replace(f"'{WHERE}'", str(tmp_path / "own")) == own.stdout
    blobs = {name for name in results(WHERE) if name.endswith(".mp4")}
    assert blobs == {name for name in results(tmp_path / "own") if name.endswith(".mp4")}
    assert not list((tmp_path / "one").glob(".saved.*"))
    # A second run reads nothing again; what was sent anew is read again.
    server.asked.clear()
    done(run_here(*words, WHERE, "--saved", "mine=s3://bucket/my saved"))
    assert not [path for method, path in server.asked if method == "GET" and "item" in path and "list-type" not in path]
    monkeypatch.setenv(storage.CACHE_SIZE, "1B")  # nothing stays that is not in use
    system.put_file(str(saved / "item 5.mp4"), "bucket/my saved/item 1/00000.png")
    told = run_here(*words, WHERE, "--saved", "mine=s3://bucket/my saved")
    assert "'item 1' cannot be read" in told.stdout, told.stdout
    system.put_file(str(saved / "item 5.mp4"), "bucket/my saved/item 2.mp4")
    assert "mine: 11 predictions" in done(run_here(*words, WHERE, "--saved", "mine=s3://bucket/my saved")).stdout


def test_a_run_in_a_bucket_is_proved_and_mended_there(
    made: Path, tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(run_here("eval", "run", made / "data", "--run", WHERE, *METHODS, "--workers", "0"))
    done(run_here("eval", "run", "--for=scores", made / "data", "--run", WHERE, *SOME))
    assert "Verified: 13 blobs" in done(run_here("eval", "verify", WHERE)).stdout
    before, system = results(WHERE), fsspec.filesystem("s3")
    workspace = Workspace(WHERE, create=False)
    damaged, missing = (
        f"bucket/my run/blobs/{row.blob[:2]}/{row.blob}"
        for row in workspace.table("predictions", Prediction, step="predict.telea")[:2]
    )
    system.pipe_file(damaged, b"other")
    system.rm_file(missing)
    for machine in ("one", "two"):
        on_machine(tmp_path, monkeypatch, machine)
        told = run_here("eval", "verify", WHERE)
        assert (told.returncode, "2 parts of" in told.stderr, WHERE in told.stderr) == (1, True, True), told.stdout + told.stderr
    assert "Repaired" in done(run_here("eval", "verify", WHERE, "--repair", "--workers", "0")).stdout
    on_machine(tmp_path, monkeypatch, "three")
    assert "Verified: 13 blobs" in done(run_here("eval", "verify", WHERE)).stdout
    assert results(WHERE) == before


def test_programs_and_the_browser_open_a_run_in_a_bucket(
    made: Path, tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = load(made / "data")
    one = run_method(data, "telea", folder=WHERE)
    on_machine(tmp_path, monkeypatch, "two")
    again = run_method(data, "telea", folder=WHERE)
    assert again.predictions["item 0"].tobytes() == one.predictions["item 0"].tobytes()
    assert again.scores.equals(one.scores)
    done(run_here("eval", "report", made / "data", "--run", WHERE))
    on_machine(tmp_path, monkeypatch, "three")
    system = fsspec.filesystem("s3")
    system.put(f"{made / 'data'}/", "bucket/data/", recursive=True)
    roots = [parse_viewed(address) for address in (WHERE, "s3://bucket/data")]
    things = Folders(roots).things()
    assert [(thing.kind, thing.title) for thing in things] == [("run", "my run"), ("report", "probes"), ("dataset", "probes")]
    assert things[0].dataset == things[2].key
    assert parse_viewed(f"{WHERE}/report") == roots[0] / "report"
    for nothing in ("s3://bucket/none", f"{WHERE}/none"):
        with pytest.raises(InputError, match=f"there is no dataset, workspace or run at {nothing}"):
            parse_viewed(nothing)
    # What is noted beside it stays, whatever comes of the run elsewhere.
    bench = Bench(roots, tmp_path / "films")
    bench.notes.flag("item 0", "odd", "yes")
    on_machine(tmp_path, monkeypatch, "four")
    done(run_here("eval", "run", made / "data", "--run", WHERE, "--method", "blank", "--workers", "0"))
    on_machine(tmp_path, monkeypatch, "three")
    assert [row["name"] for row in bench.listed()["flags"]] == ["odd"]
    assert bench.listed()["folders"][0] == WHERE
    assert set(bench.folders.things()[0].predicted) == {"blank", "telea"}


def test_a_log_is_named_where_it_lies(made: Path, server: ObjectServer, tmp_path: Path) -> None:
    """Logs stay on the machine that ran: an address of one would lead nowhere."""
    method = f"mine={sys.executable} -c 'raise SystemExit(\"too hard\")' {{input}} {{output}}"
    words = ("--run", WHERE, "--method", method, "--despite-check", "--workers", "0")
    told = run_here("eval", "run", made / "data", *words)
    logs = re.findall(r"\(log: ([^)]*)\)", told.stdout + told.stderr)
    assert logs
    assert all(Path(log).is_file() for log in logs)
