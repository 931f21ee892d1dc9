"""The bench of large tables in a small form: its made-up tables are those that the steps read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "bench" / "million_rows.py"


@pytest.mark.long
def test_every_step_runs_on_its_made_up_tables() -> None:
    # Its status says whether the bars are met, which a machine that does other things may miss.
    done = subprocess.run([sys.executable, str(BENCH), "--quick"], capture_output=True, text=True, check=False, timeout=1200)
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ") and " MiB |" in line]
    assert len(rows) == 10, done.stderr
    assert "6,000 items" in done.stdout
    assert done.stdout.count("2,640 means") == 2
