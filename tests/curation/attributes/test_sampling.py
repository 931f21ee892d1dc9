"""Which frames are looked at."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.curation.attributes.base import evenly_spaced


@pytest.mark.parametrize(("frames", "count"), [(90, 10), (45, 10), (11, 10), (1000, 4), (2, 2), (7, 3)])
def test_from_the_first_to_the_last_at_even_distances(frames: int, count: int) -> None:
    chosen = evenly_spaced(frames, count=count)
    assert (chosen[0], chosen[-1], len(set(chosen))) == (0, frames - 1, count)
    np.testing.assert_allclose(chosen, np.linspace(0, frames - 1, count), atol=0.5)


def test_all_of_fewer_and_the_middle_one_alone() -> None:
    assert evenly_spaced(3, count=10) == [0, 1, 2]
    assert evenly_spaced(9, count=1) == [4]
