"""The bench of graphics cards where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
BENCH = Path(__file__).parent.parent / "bench" / "devil_gpu.py"


def test_without_a_card_it_says_so_in_every_row_and_ends_well() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick"], capture_output=True, text=True, check=True,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""}, timeout=120,
    )  # fmt: skip
    tables = [part.splitlines() for part in done.stdout.split("\n\n") if part.startswith("|")]
    assert len(tables) == 2
    for header, _, *rows in tables:
        assert [row.split(" | ")[0] for row in rows] == ["| tf32", "| bf16"]
        assert all("not measured: no CUDA device here" in row for row in rows)
        assert {row.count("|") for row in rows} == {header.count("|")}
