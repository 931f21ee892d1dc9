"""The share of a clip that is a transition."""

from __future__ import annotations

import numpy as np
from worlds import pan_clip

from inpaintbench.curation.attributes.transition_fraction import TransitionFraction
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


def measured(frames: Frames) -> float:
    return TransitionFraction().measure(ItemView.of_arrays(truth=frames))


def test_fades_dissolves_and_cuts_count_and_one_shot_does_not() -> None:
    one, other = (pan_clip(name, pixels_per_frame=1, frames=40, width=160, height=90) for name in ("coffee", "rocket"))
    assert measured(one) == 0
    assert measured(np.concatenate([one, other])) == 1 / 80
    weight = np.linspace(0, 1, 14)[1:-1, None, None, None]
    mixed = np.rint((1 - weight) * one[28:] + weight * other[:12]).astype(np.uint8)
    assert 8 / 68 <= measured(np.concatenate([one[:28], mixed, other[12:]])) <= 14 / 68
    dark = np.rint(one[20:] * np.linspace(1, 0, 20)[:, None, None, None]).astype(np.uint8)
    assert measured(np.concatenate([one[:20], dark, np.zeros_like(one[:10])])) > 0.3
