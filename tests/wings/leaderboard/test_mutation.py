from __future__ import annotations

import pytest
from tests.test_mutation import check_planted


def test_a_fault_that_would_mislead_is_among_the_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    check_planted("wings/leaderboard/checking", "((claim is None) and (not _same(", monkeypatch)
