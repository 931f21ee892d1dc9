from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.set_distances import feature_sets
from inpaintbench.eval.set_distances.feature_sets import Extent


def arrays(*lengths: int, d: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=(length, d)).astype(np.float32) for length in lengths]


@pytest.mark.parametrize("rows", [1, 4, 7, 100])
def test_blocks_hold_every_row_once_in_order_whatever_the_items(rows: int) -> None:
    given = arrays(5, 0, 1, 9, 2)
    found = list(feature_sets.blocks(given, rows=rows))
    assert [begin for begin, _ in found] == list(range(0, 17, rows))
    assert all(len(block) == rows for _, block in found[:-1])
    assert np.array_equal(np.concatenate([block for _, block in found]), np.concatenate(given))
    assert all(block.dtype == np.float64 for _, block in found)


def test_no_items_have_no_blocks() -> None:
    assert list(feature_sets.blocks([])) == []


def test_the_extent_counts_both_sets() -> None:
    one, two, three = arrays(2, 3, 4)
    assert feature_sets.extent([Features(one, two), Features(three, three)], ["a", "b"]) == Extent(6, 7, 3)
    assert Extent(6, 7, 3).details == {"n": 6, "n_truth": 7, "d": 3, "paired": True}
    assert Extent(6, 6, 3).details == {"n": 6, "d": 3, "paired": True}


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (np.array([[1.0, np.nan, 0.0]]), "features of the prediction of an item of source 'lake' hold NaN or infinite"),
        (np.array([[1.0, -np.inf, 0.0]]), "hold NaN or infinite values"),
        (np.zeros(6), r"have the shape \(6,\), not \(vectors, dimensions\)"),
        (np.zeros((2, 0)), "have the shape"),
        (np.zeros((2, 4)), "several lengths: 3, 4"),
    ],
)
def test_bad_features_are_named(bad: np.ndarray, text: str) -> None:
    [whole] = arrays(4)
    with pytest.raises(NotMeasurable, match=text):
        feature_sets.extent([Features(whole, whole), Features(bad, whole)], ["hill", "lake"])


def test_too_few_vectors_are_named() -> None:
    [one] = arrays(1)
    with pytest.raises(NotMeasurable, match="at least 2 vectors in each set, and there are 1"):
        feature_sets.extent([Features(one, one)], ["a"])


def test_items_of_one_source_share_a_group() -> None:
    assert feature_sets.groups(["b", "a", "b", "c"], most=9) == ([1, 0, 1, 2], 3)
    assert feature_sets.groups(["b", "a", "b", "c"], most=2) == ([1, 0, 1, 0], 2)
    assert feature_sets.row_labels(arrays(2, 0, 3), [1, 0, 2]).tolist() == [1, 1, 2, 2, 2]


def test_the_jackknife_of_a_mean_is_its_t_interval() -> None:
    values = np.random.default_rng(0).normal(size=12)
    without = [float(np.delete(values, index).mean()) for index in range(12)]
    spread = feature_sets.jackknife(float(values.mean()), without)
    assert spread.standard_error == pytest.approx(scipy.stats.sem(values))
    interval = scipy.stats.t.interval(0.95, 11, loc=values.mean(), scale=scipy.stats.sem(values))
    assert spread[1:] == pytest.approx(interval)
    assert feature_sets.jackknife(1.0, [1.0, 2.0, 3.0, 4.0, 5.0]) == (None, None, None)


def test_few_vectors_carry_a_warning() -> None:
    assert "N = 14 < d = 1024" in feature_sets.frechet_warning(Extent(14, 14, 1024))["warning"]
    assert "less than 5 times d" in feature_sets.frechet_warning(Extent(4000, 4000, 2048))["warning"]
    assert "N = 14 " in feature_sets.frechet_warning(Extent(99, 14, 20))["warning"]
    assert feature_sets.frechet_warning(Extent(5120, 5120, 1024)) == {}
