"""`inpaintbench leaf check` on leaves that lie in the current folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from program import run_here

MINE = '''
import numpy as np
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric


class Worst(SingleRegionMetric):
    """The largest difference of a level in the hole."""

    name, version, unit, higher_is_better, decimals = "worst", "1", "levels", False, 0
    needs, answers = ("truth", "composite", "hole"), ("hole",)

    def __init__(self, *, times=1, **where):
        super().__init__(**where)
        self.times = times

    def measurement(self, view):
        return Measurement(self.times * float(np.abs(view.truth.astype(int) - view.composite)[view.hole].max()))


class Plain:
    """A metric that inherits from nothing, and for which more is better though it is not."""

    name, version, unit, higher_is_better, decimals, needs = "plain", "1", "", True, 1, ("truth", "prediction")

    def __init__(self, *, regions, band_radius_pixels):
        self.regions = regions[:1]

    def measure(self, view):
        return {"frame": Measurement(float(np.abs(view.truth.astype(int) - view.prediction).mean()))}
'''


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)


def test_a_leaf_that_keeps_the_contract_is_told_so() -> None:
    done = run_here("leaf", "check", "mine:Worst", "times=2")
    assert done.returncode == 0, done.stderr
    assert "metric worst" in done.stdout
    assert "broken" not in done.stdout
    assert done.stdout.count("holds") == 7


def test_a_leaf_that_breaks_it_is_told_what_and_the_status_says_so() -> None:
    done = run_here("leaf", "check", "mine:Plain", "--kind", "metric")
    assert done.returncode == 1
    assert "mine:Plain breaks 1 of 7 rules of its kind: is best on a perfect copy" in done.stderr
    assert "broken" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("mine:Plain",), "inherits from no base class of a kind; say with --kind what it is"),
        (("mine:Wrost",), "'mine:Wrost' cannot be imported: module 'mine' has no attribute 'Wrost'"),
        (("mine:np",), "is no class"),
        (("nowhere:Leaf",), "No module named 'nowhere'"),
        (("mine:Plain", "--kind", "metrics"), "unknown kind of leaf 'metrics', did you mean 'metric'?"),
        (("mine:Worst", "tims=2"), "cannot be built with {'tims': 2}"),
    ],
)
def test_what_cannot_be_tried_says_why(words: tuple[str, ...], told: str) -> None:
    done = run_here("leaf", "check", *words)
    assert done.returncode != 0
    assert told in done.stderr
