"""DOVER: the fusion of two raw answers, and a program that gives them."""

from __future__ import annotations

import math
from pathlib import Path

import brought
import numpy as np
import pytest

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.brought import Dover, fused
from inpaintbench.view import ItemView

VIEW = ItemView.of_arrays(composite=np.zeros((2, 8, 8, 3), np.uint8))


def test_the_fusion() -> None:
    assert fused(0.1107, -0.08285) == 0.5
    technical, aesthetic = 0.05, -0.02
    x = (technical - 0.1107) / 0.07355 * 0.6104 + (aesthetic + 0.08285) / 0.03774 * 0.3896
    assert fused(technical, aesthetic) == pytest.approx(1 / (1 + np.exp(-x)), abs=1e-15)
    low, high = Dover.bounds
    assert (low, high) == (0, 1)
    assert fused(-1e6, 0) == pytest.approx(low, abs=1e-300)
    assert fused(1e6, 0) == high
    assert low < fused(-1, -1) < fused(1, 1) <= high


def test_a_program_gives_both_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = '(target / "numbers.json").write_text(json.dumps({"technical": 0.1107, "aesthetic": -0.08285}))'
    brought.give(Dover.brought, body, tmp_path, monkeypatch)
    found = Dover(regions=("frame",), band_radius_pixels=8).measure(VIEW)["frame"]
    assert (found.value, found.details) == (0.5, {"technical": 0.1107, "aesthetic": -0.08285})
    assert not math.isnan(found.value or 0)


def test_other_answers_and_no_program_have_reasons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = Dover(regions=("frame",), band_radius_pixels=8)
    brought.give(Dover.brought, '(target / "numbers.json").write_text("{\\"technical\\": 1}")', tmp_path, monkeypatch)
    with pytest.raises(NotMeasurable, match="wrote no numbers technical and aesthetic"):
        metric.measure(VIEW)
    monkeypatch.delenv(Dover.brought.variable)
    with pytest.raises(NotMeasurable, match="S-Lab licence, non-commercial, and not part of this program"):
        metric.measure(VIEW)
