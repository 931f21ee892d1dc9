"""Ctrl-C in `bench`, at whatever moment: one sentence, nothing lost, and the same command goes on to the same table."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from trees_made import make

from inpaintbench.wings.named.definition import named

CLIPS = 3
# How lines on progress begin.
STEPS = ("find", "cut", "object_masks", "measure", "render", "check", "predict", "score", "compare")
# Copies the frames, and leaves a mark for each call.
PROGRAM = """
import pathlib, shutil, sys, time
given, wanted, marks = map(pathlib.Path, sys.argv[1:])
(marks / str(time.time_ns())).touch()
time.sleep(0.2)
for path in given.glob("frame_*.png"):
    shutil.copy(path, wanted)
"""


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def started(folder: Path, name: str) -> subprocess.Popen[str]:
    """`bench` in a process group of its own, as a shell starts it."""
    (folder / f"{name}-marks").mkdir(exist_ok=True)
    mine = shlex.join([sys.executable, str(folder / "mine.py"), "{input}", "{output}", str(folder / f"{name}-marks")])
    words = ["bench", "davis-432", "--data", "data", "--method", f"mine={mine}", "--method", "telea", "--despite-check"]
    words += ["--out", f"{name}.tex", "--workspace", name, "--workers", "2"]
    env = {**os.environ, "INPAINTBENCH_CACHE": str(folder / "cache")}
    return subprocess.Popen(
        [sys.executable, "-m", "inpaintbench", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env=env, start_new_session=True,
    )  # fmt: skip


@pytest.mark.long
def test_ctrl_c_is_one_sentence_and_the_same_command_goes_on_to_the_same_table(tmp_path: Path) -> None:
    make(tmp_path / "data", named("davis-432").tree[0], clips=CLIPS)
    (tmp_path / "mine.py").write_text(PROGRAM)
    place, marks = tmp_path / "stopped", tmp_path / "stopped-marks"
    ledger = place / "run" / "ledger"
    moments: dict[str, Callable[[], bool]] = {
        "build": lambda: any(place.glob("ledger/*.jsonl")),
        "export": lambda: any(place.glob("exports/.*.tmp")) or (place / "exports" / "benchmark").exists(),
        "check": lambda: any(marks.iterdir()),
        "run": lambda: lines(ledger / "predict.mine.jsonl") > 1,
        "score": lambda: any(lines(path) > 1 for path in ledger.glob("score*.jsonl")),
        "report": lambda: any(place.glob("run/.report.*.tmp")),
    }
    for name, is_now in moments.items():
        process = started(tmp_path, "stopped")
        while not is_now():
            assert process.poll() is None, f"{name}: {process.communicate()}"
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=120)
        assert process.returncode == 130, told
        assert "was stopped" not in told
        assert [line for line in told.splitlines() if not line.startswith(STEPS)] == [
            "inpaintbench: stopped; the same command goes on where it was"
        ], name
        assert not (tmp_path / "stopped.tex").exists()
    for name in ("stopped", "whole"):
        process = started(tmp_path, name)
        _, told = process.communicate(timeout=600)
        assert process.returncode == 0, told
        assert "was stopped" not in told
    assert (tmp_path / "stopped.tex").read_bytes() == (tmp_path / "whole.tex").read_bytes()
    assert not list(place.rglob(".*.tmp")), "nothing is left beside"
    # The check calls the program four times; only what was under way is made again: those calls, and two items.
    calls = [len(list((tmp_path / f"{name}-marks").iterdir())) for name in ("whole", "stopped")]
    assert calls[0] == 4 + CLIPS
    assert calls[0] <= calls[1] <= calls[0] + 6
