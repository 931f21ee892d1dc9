"""Qualities from grades: the published iteration to all its digits, where it collapses, and the floor."""

from __future__ import annotations

import numpy as np
import pytest
from voted_studies import grades_with_two_strange_raters

from inpaintbench.annotate.statistics.standings import Reals, recovered
from inpaintbench.errors import InputError


def grades_of_nine() -> Reals:
    clip, rater = np.arange(26)[:, None], np.arange(9)[None]
    seen = 3.07 + 1.5 * np.sin(0.7 * clip) + 0.5 * np.cos(0.8 * rater)
    noise = (0.35 + 0.08 * rater) * np.sin(2.1 * clip * rater + 1.7 * rater + 0.9 * clip)
    return np.clip(np.floor(seen + noise + 0.5), 1, 5)


def test_without_a_floor_it_is_the_published_iteration() -> None:
    grades = grades_with_two_strange_raters()
    assert grades.sum() == 909
    model = recovered(grades, floor=0)
    assert model.quality[:5] == pytest.approx([3.2372353, 3.8474779, 4.5902263, 4.4867749, 3.1716425], abs=1e-7)
    assert model.error[:3] == pytest.approx([0.1995320, 0.2985758, 0.2034808], abs=1e-7)
    assert model.bias[:3] == pytest.approx([0.4687500, 0.1354167, -0.1979167], abs=1e-7)
    assert model.sigma[[0, 10, 11]] == pytest.approx([0.4250372, 1.0713662, 2.2936329], abs=1e-7)
    assert model.quality.mean() == pytest.approx(3.15625)


def test_a_floor_keeps_one_rater_from_deciding_alone() -> None:
    grades = grades_of_nine()
    assert grades.sum() == 742
    collapsed = recovered(grades, floor=0)
    assert collapsed.sigma[0] < 1e-6
    assert np.diff(collapsed.quality) == pytest.approx(np.diff(grades[:, 0]), abs=1e-6)
    model = recovered(grades, floor=0.25)
    assert model.quality[:5] == pytest.approx([3.3446782, 4.1061133, 4.5573547, 4.3200860, 3.5701445], abs=1e-7)
    assert (model.bias[0], model.rounds, model.floored) == (pytest.approx(0.4829060, abs=1e-7), 21, 1)


def test_the_floor_ends_the_collapse_of_small_panels() -> None:
    rng, collapsed, ours = np.random.default_rng(5), 0, 0
    for _ in range(40):
        noise, bias = rng.uniform(0.3, 1.0, 8), rng.normal(0, 0.4, 8)
        grades = rng.normal(3, 1, 40)[:, None] + bias + noise * rng.normal(size=(40, 8))
        grades = np.clip(np.floor(grades + 0.5), 1, 5)
        collapsed += recovered(grades, floor=0).sigma.min() < 0.05
        model = recovered(grades, floor=0.25)
        ours += np.abs(model.quality - grades.mean(axis=1)).max() > 1.5
    assert collapsed >= 5
    assert ours == 0


def test_missing_grades_are_left_out_and_small_panels_refused() -> None:
    grades = grades_with_two_strange_raters()
    few = grades.copy()
    few[::3, 4] = np.nan
    with_all, with_few = recovered(grades, floor=0.25).quality, recovered(few, floor=0.25).quality
    assert np.corrcoef(with_all, with_few)[0, 1] > 0.95
    assert not np.isnan(with_few).any()
    with pytest.raises(InputError, match="7 raters are too few"):
        recovered(grades[:, :7], floor=0.25)
    few[:, 4] = np.nan
    with pytest.raises(InputError, match="has no grade"):
        recovered(few, floor=0.25)
