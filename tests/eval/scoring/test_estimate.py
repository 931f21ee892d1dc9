"""How long scoring will take."""

from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench import frozen
from inpaintbench.eval.scoring import precision as estimating


@pytest.mark.long
def test_a_large_benchmark_has_one_item_scored_and_a_small_one_none(benchmark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = benchmark / "exports" / "devil"
    dataset = frozen.load(root)
    assert estimating.estimate(dataset, root) is None
    monkeypatch.setattr(estimating, "SMALL", 0)
    measured = estimating.estimate(dataset, root)
    assert measured is not None
    assert measured.protocol == "devil/corrected"
    assert measured.seconds > 0
    assert "lpips" in measured.networks
