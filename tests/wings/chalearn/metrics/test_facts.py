"""What tables and ranks go by of the metrics of this wing."""

from __future__ import annotations

import pytest

from inpaintbench.eval.metrics import METRICS
from inpaintbench.wings.chalearn import JOINS

FACTS = {
    "wnjd": (False, 4, 1),
    "residual_text": (False, 3, 1),
    "minutiae": (True, 4, 1),
    "minutiae_precision": (True, 4, 1),
    "minutiae_recall": (True, 4, 1),
    "orientation_rmsd": (False, 2, 1),
    "ridge_frequency_error": (False, 2, 1),
}
"""Metric -> whether higher is better, decimals, the fewest frames of an item that it measures."""


def test_every_metric_is_told_of() -> None:
    assert set(FACTS) == set(JOINS["metric"])


@pytest.mark.parametrize("name", FACTS)
def test_a_metric_states_what_is_expected_of_it(name: str) -> None:
    leaf = METRICS.get(name)
    assert (leaf.higher_is_better, leaf.decimals, leaf.fewest_frames) == FACTS[name]
