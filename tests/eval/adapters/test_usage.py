"""What programs took is what they took: their own memory and time, children with them, cards beside what lay there before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inpaintbench.eval.adapters import starting as usage
from inpaintbench.eval.adapters.starting import Usage, both, machine, start

HOLDS = "import sys, time; held = bytearray(int(sys.argv[1]) << 20); time.sleep(0.6)"
SPAWNS = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {HOLDS!r}, sys.argv[1]])"


def took(script: str, *arguments: str, folder: Path) -> Usage:
    words = [sys.executable, "-S", "-c", script, *arguments]
    return start(words, cwd=folder, env={}, log=folder / "log.txt", seconds=60, limit_seconds=60)


@pytest.mark.parametrize("script", [HOLDS, SPAWNS], ids=["its own", "of a child"])
def test_the_memory_of_a_program_is_measured(script: str, tmp_path: Path) -> None:
    small, large = (took(script, mebibytes, folder=tmp_path) for mebibytes in ("1", "301"))
    assert small.peak_mebibytes is not None
    assert large.peak_mebibytes is not None
    assert large.peak_mebibytes - small.peak_mebibytes == pytest.approx(300, abs=20)
    assert large.seconds > 0.6
    assert large.card_mebibytes is None or usage.has_card()


# Stands for NVIDIA's program: two cards, of which the second is filled while it is asked again and again.
SMI = """#!/bin/sh
case "$*" in
*name*) echo Card A; echo Card A ;;
*loop-ms*) for held in 900 5900 2900; do echo "0, 300"; echo "1, $held"; sleep 0.1; done; printf "1, 99"; sleep 60 ;;
*) echo "0, 300"; echo "1, 900" ;;
esac
"""


def test_the_memory_on_cards_is_what_came_beside_what_lay_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvidia-smi").write_text(SMI)
    (tmp_path / "nvidia-smi").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(usage, "has_card", lambda: True)
    machine.cache_clear()
    found = took(HOLDS, "1", folder=tmp_path)
    assert found.card_mebibytes == 5000
    assert found.peak_mebibytes is not None
    assert found.peak_mebibytes < 40  # the watcher does not count
    assert machine().endswith("cores, Card A")
    machine.cache_clear()


def test_programs_one_after_the_other_add_up_in_time_and_not_in_memory() -> None:
    assert both(None, Usage(1.0, 5, None)) == Usage(1.0, 5, None)
    assert both(Usage(1.0, 5, None), Usage(2.0, 3, 7)) == Usage(3.0, 5, 7)
