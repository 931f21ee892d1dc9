"""Opaque blocks: nothing of what they cover shows, nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.wings.chalearn.degradations.corrected import lay_blocks


def test_what_is_under_a_block_does_not_show_and_the_rest_stays() -> None:
    height, width, counts = 200, 150, []
    for seed in range(30):
        white, black = (np.full((height, width, 3), value, np.uint8) for value in (255, 0))
        over_white, about = lay_blocks(white, strength=1.0, rng=np.random.default_rng(seed))
        over_black, _ = lay_blocks(black, strength=1.0, rng=np.random.default_rng(seed))
        assert (white == 255).all()  # not changed in place
        shows = (over_white.astype(int) - over_black).min(axis=2) / 255
        assert about["area_fraction"] == pytest.approx((shows < 1).mean(), abs=0.004)
        # Only at the outline does it show in part.
        assert ((shows > 0.05) & (shows < 0.95)).mean() < 0.02 * max(about["count"], 1)
        untouched = shows == 1
        assert (over_white[untouched] == 255).all()
        assert (over_black[untouched] == 0).all()
        counts.append(about["count"])
    assert set(counts) == {0, 1, 2, 3}


def test_blocks_are_5_to_22_percent_of_the_shorter_side() -> None:
    areas = []
    for seed in range(60):
        _, about = lay_blocks(np.zeros((400, 400, 3), np.uint8), strength=1.0, rng=np.random.default_rng(seed))
        if about["count"] == 1:
            areas.append(about["area_fraction"])
    assert len(areas) > 5
    assert max(areas) < 0.24**2 * 1.2
    assert max(areas) > 0.05**2


@settings(max_examples=60, deadline=None)
@given(height=st.integers(1, 60), width=st.integers(1, 60), strength=st.sampled_from([0.0, 1.0, 4.0]), seed=st.integers(0, 99))
def test_any_size(height: int, width: int, strength: float, seed: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    found, about = lay_blocks(picture, strength=strength, rng=np.random.default_rng(seed))
    assert found.shape == picture.shape
    if strength == 0:
        assert about == {"count": 0, "area_fraction": 0.0}
        np.testing.assert_array_equal(found, picture)
