from __future__ import annotations

import pytest
from program import run_here


@pytest.mark.parametrize("command", ["fetch", "recheck"])
def test_commands_that_make_damaged_tables_anew_exist(command: str) -> None:
    assert run_here("curation", command, "--help").returncode == 0
