"""What is told of a program that takes long over an item."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from inpaintbench.cli import watching
from inpaintbench.cli.watching import programs_watched


def test_a_long_item_is_told_and_that_it_outlasts_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, seconds in (("_LOOK_SECONDS", 0.02), ("_FIRST_SECONDS", 0.05), ("_RAREST_SECONDS", 30.0)):
        monkeypatch.setattr(watching, name, seconds)
    for label in ("slow", "fast", "mine", "before"):
        (tmp_path / label).mkdir()
    earlier = tmp_path / "before" / "a.txt"
    earlier.write_text("$ cd /\n10%|#  | 1/10 [10:00<90:00, 600s/it]")
    os.utime(earlier, (1, 1))
    told = ""
    with programs_watched(tmp_path, {"slow": 60.0, "fast": 6000.0, "before": 60.0}):
        for label in ("slow", "fast", "mine"):  # nobody asked of the last
            (tmp_path / label / "a.txt").write_text("$ cd /\n37%|###7   | 37/100 [00:12<04:20, 3.00it/s]")
        (tmp_path / "fast" / "b.txt").write_text("$ cd /\nloading\n")
        until = time.monotonic() + 20
        while "fast, item a" not in told or "outlast" not in told:
            assert time.monotonic() < until, told
            time.sleep(0.05)
            told += capsys.readouterr().err
    told = " ".join((told + capsys.readouterr().err).split())
    assert told.count("slow, item a: 37 of 100 after") + told.count("fast, item a: 37 of 100 after") >= 2
    assert "left of this step" in told
    assert told.count("slow will outlast its limit of") == 1
    assert "--time-limit SECONDS gives it more" in told
    assert not any(word in told for word in ("mine", "before", "fast will outlast", "item b"))


def test_without_programs_nothing_is_looked_at(tmp_path: Path) -> None:
    before = threading.active_count()
    with programs_watched(tmp_path / "no folder", {}):
        assert threading.active_count() == before
