"""The share of a clip that is a transition."""

from __future__ import annotations

import numpy as np
from worlds import pan_clip

from inpaintbench.curation.attributes.changes import TransitionFraction
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
    assert 8 / 68 <= measured(np.concatenate([one[:28], mixed, other[12:]])) <= 20 / 68
    dark = np.rint(one[20:] * np.linspace(1, 0, 20)[:, None, None, None]).astype(np.uint8)
    assert measured(np.concatenate([one[:20], dark, np.zeros_like(one[:10])])) > 0.3


def test_a_transition_of_the_film_counts_where_the_clip_shows_its_end() -> None:
    frames = pan_clip("coffee", pixels_per_frame=1, frames=40, width=160, height=90)

    def measured_near(*spans: tuple[int, int]) -> float:
        view = ItemView.of_arrays(truth=frames)
        parts = {"truth": lambda: frames, "transitions": lambda: spans}
        return TransitionFraction().measure(view.having(parts).declaring("transition_fraction", TransitionFraction.needs))

    assert measured_near() == 0
    assert measured_near((-12, 4)) == 8 / 40  # and four faint frames
    assert measured_near((36, 60)) == 10 / 40
    assert measured_near((-16, -4)) == measured_near((44, 60)) == 0
    assert measured_near((20, 20)) == 1 / 40
    assert measured_near((0, 0)) == measured_near((40, 40)) == 0  # cuts beside it
