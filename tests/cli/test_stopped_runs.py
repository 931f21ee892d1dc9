"""Runs that a signal ended midway: what they had finished is used by the commands that follow, which say what is missing."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from old_format import write_one_file
from program import run_here
from scoring_probes import write_items

from inpaintbench.eval.scoring import score_item
from inpaintbench.types import Prediction, Score
from inpaintbench.workspace import Workspace

ITEMS, DONE = 6, 4
# Calls of the check before the first item: two for the made clip, two for that item.
CHECKS = 4
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
# Copies the frames; from the fifth item on it waits, so that the run is stopped where the test wants it.
PROGRAM = f"""
import pathlib, shutil, sys, time
given, wanted, marks = map(pathlib.Path, sys.argv[1:])
if len(list(marks.iterdir())) >= {CHECKS + DONE}:
    time.sleep(120)
for path in given.glob("frame_*.png"):
    shutil.copy(path, wanted)
(marks / str(time.time_ns())).touch()
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stopped") / "data"
    folder.mkdir()
    made = write_items(folder, count=ITEMS, frames=(2,) * ITEMS)
    write_one_file(folder, made)
    return folder


def stop(number: signal.Signals, *words: str | Path, when: Callable[[], bool]) -> None:
    """Run the program and send it a signal as soon as ``when`` holds."""
    begun = subprocess.Popen([sys.executable, "-m", "inpaintbench", *map(str, words)], stderr=subprocess.PIPE, text=True)
    latest = time.monotonic() + 60
    try:
        while not when():
            assert begun.poll() is None
            assert time.monotonic() < latest
            time.sleep(0.02)
        begun.send_signal(number)
        begun.communicate(timeout=60)
    finally:
        begun.kill()
    assert begun.returncode == (-number if number == signal.SIGKILL else 130)


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n{") + path.read_bytes().startswith(b"{") if path.exists() else 0


def stopped_prediction(dataset: Path, folder: Path, number: signal.Signals) -> Path:
    """A run folder with the predictions of four of six items in the ledger."""
    marks, run = folder / "marks", folder / "run"
    marks.mkdir()
    (folder / "method.py").write_text(PROGRAM)
    program = shlex.join([sys.executable, str(folder / "method.py"), "{input}", "{output}", str(marks)])
    words = (
        "eval",
        "run",
        "--for=predictions",
        dataset,
        "--run",
        run,
        "--workers",
        "1",
        "--command",
        f"mine={program}",
        "--despite-check",
    )
    ledger = run / "ledger" / "predict.mine.jsonl"
    before = lines(ledger)
    stop(number, *words, when=lambda: lines(ledger) == before + DONE)
    return run


@pytest.mark.parametrize("number", SIGNALS)
def test_what_was_predicted_before_a_signal_is_scored_and_the_rest_is_said(
    dataset: Path, tmp_path: Path, number: signal.Signals
) -> None:
    run = stopped_prediction(dataset, tmp_path, number)
    done = run_here("eval", "run", "--for=scores", dataset, "--run", run, "--metric", "psnr", "--workers", "0")
    assert done.returncode == 0, done.stderr
    assert "predict.mine was stopped after 4 of 6" in done.stderr
    assert "mine was not run on 2 of 6 items" in done.stdout
    scores = [row for row in Workspace(run).table("scores", Score) if row.region == "hole"]
    assert len([row for row in scores if row.value is not None]) == DONE
    assert {row.reason for row in scores if row.value is None} == {"the method was not run on this item"}
    assert run_here("eval", "report", dataset, "--run", run).returncode == 0


@pytest.mark.long
def test_the_same_command_goes_on_and_then_nothing_is_said_any_more(dataset: Path, tmp_path: Path) -> None:
    run = stopped_prediction(dataset, tmp_path, signal.SIGKILL)
    assert "predict.mine was stopped after 4 of 6" in run_here("eval", "run", "--for=scores", dataset, "--run", run).stderr
    assert (
        "predict.mine was stopped after 4 of 6" in run_here("eval", "table", "--for=ranks", dataset, "--run", run).stderr
    )  # while it is so
    for path in (tmp_path / "marks").iterdir():
        path.unlink()
    program = shlex.join([sys.executable, str(tmp_path / "method.py"), "{input}", "{output}", str(tmp_path / "marks")])
    again = (
        "eval",
        "run",
        "--for=predictions",
        dataset,
        "--run",
        run,
        "--workers",
        "0",
        "--command",
        f"mine={program}",
        "--despite-check",
    )
    assert run_here(*again).returncode == 0
    assert len(list((tmp_path / "marks").iterdir())) == ITEMS - DONE
    assert len(Workspace(run).table("predictions", Prediction)) == ITEMS
    assert "stopped" not in run_here("eval", "run", "--for=scores", dataset, "--run", run).stderr


@pytest.mark.long
def test_a_stopped_run_takes_nothing_from_what_an_earlier_one_left(dataset: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert (
        run_here("eval", "run", "--for=predictions", dataset, "--run", run, "--method", "mine=telea", "--workers", "0").returncode
        == 0
    )
    before = Workspace(run).table("predictions", Prediction)
    assert stopped_prediction(dataset, tmp_path, signal.SIGKILL) == run
    done = run_here("eval", "run", "--for=scores", dataset, "--run", run, "--metric", "psnr", "--workers", "0")
    assert done.returncode == 0
    assert "predict.mine was stopped after 4 of 6" in done.stderr
    assert "earlier run" in done.stderr
    assert Workspace(run).table("predictions", Prediction) == before


def test_what_was_scored_before_an_interrupt_is_reported_but_not_for_other_predictions(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, calls = tmp_path / "run", []

    def score_some(*arguments: object, **named: object) -> object:
        calls.append(arguments)
        if len(calls) > DONE:
            raise KeyboardInterrupt
        return score_together(*arguments, **named)

    score_together = score_item.score_together
    predict = ("eval", "run", "--for=predictions", dataset, "--run", run, "--workers", "0", "--method")
    assert run_here(*predict, "telea").returncode == 0
    monkeypatch.setattr(score_item, "score_together", score_some)
    assert run_here("eval", "run", "--for=scores", dataset, "--run", run, "--metric", "psnr", "--workers", "0").returncode == 130
    monkeypatch.undo()
    done = run_here("eval", "report", dataset, "--run", run)
    assert done.returncode == 0, done.stderr
    assert "score.devil.corrected.telea was stopped after 4 of 6" in done.stderr
    written = json.loads((run / "report" / "report.json").read_text())
    assert [(one["item_id"], one["reason"]) for one in written["failures"]] == [
        ("item 4", "not scored"), ("item 5", "not scored")
    ]  # fmt: skip
    assert run_here(*predict, "telea,radius_pixels=9").returncode == 0
    assert "older than its predictions" in run_here("eval", "report", dataset, "--run", run).stderr
