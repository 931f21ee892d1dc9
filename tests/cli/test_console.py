"""What the console says while a command works."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from inpaintbench.cli import console


def test_without_a_terminal_long_steps_say_now_and_then_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(console, "err", Console(file=said, force_terminal=False))
    now = [100.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    told = console.StepProgress(Progress(disable=True))
    for done in range(7):
        told("score", done, 6)
        told("short", done, 3) if done <= 3 else None
        now[0] += 4.0
    lines = ["score: 3/6, 12.0 s, about 12.0 s left", "short: 3/3, 12.0 s", "score: 6/6, 24.0 s"]
    assert said.getvalue().splitlines() == lines
