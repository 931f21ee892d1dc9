"""Synthetic bad fills, and who is chosen how often."""

from __future__ import annotations

import numpy as np
import pytest
from skimage import data

from inpaintbench.errors import InputError
from inpaintbench.wings.reinpaint import engine
from inpaintbench.wings.reinpaint.rows import agreement, chosen_by_people, selected

SIZE = 128


def picture() -> np.ndarray:
    return np.ascontiguousarray(data.coffee()[None, 100 : 100 + SIZE, 100 : 100 + SIZE])


def hole() -> np.ndarray:
    made = np.zeros((1, SIZE, SIZE), bool)
    made[:, 16:112, 16:112] = True
    return made


def noise(*, sigma: float = 0.1, seed: int = 0, **changes: object) -> np.ndarray:
    grey = np.full((1, SIZE, SIZE, 3), 128, np.uint8)
    return engine.noise(grey, hole(), rng=engine.noise_rng(seed, "a"), sigma=sigma, **changes)  # type: ignore[arg-type]


def test_blend_is_the_other_picture_in_the_hole() -> None:
    other = picture()[:, ::-1]
    made = engine.blend(picture(), hole(), other)
    assert (made[hole()] == other[hole()]).all()
    assert (made[~hole()] == picture()[~hole()]).all()
    with pytest.raises(InputError, match="pictures of one size"):
        engine.blend(picture(), hole(), other[:, :64])


def test_noise_lies_in_the_hole_and_repeats_for_a_seed() -> None:
    made = noise()
    assert (made[~hole()] == 128).all()
    assert (made[hole()] != 128).mean() > 0.9
    assert (made == noise()).all()
    assert (made != noise(seed=1)).any()


def test_noise_has_the_deviation_of_bilinear_interpolation() -> None:
    """Each direction scales the variance by the mean of a^2 + (1 - a)^2 for a in 0..1: by 2/3, so both scale the deviation so."""
    grey = np.full((1, 1024, 1024, 3), 128, np.uint8)
    made = engine.noise(grey, np.ones((1, 1024, 1024), bool), rng=np.random.default_rng(0), sigma=0.1)
    inside = made[0, 32:-32, 32:-32].astype(float) - 128
    assert inside.std() == pytest.approx(25.5 * 2 / 3, rel=0.05)
    assert abs(inside.mean()) < 1.0
    # Neighbours differ by a sixteenth of a grain at most: it is blurred.
    assert np.abs(np.diff(inside, axis=1)).mean() < 2.5


def test_noise_is_clipped_or_wraps_around() -> None:
    white = np.full((1, SIZE, SIZE, 3), 250, np.uint8)
    clipped, wrapped = (
        engine.noise(white, hole(), rng=np.random.default_rng(0), sigma=0.1, clip=clip)[hole()] for clip in (True, False)
    )
    assert (clipped == 255).mean() > 0.3
    assert clipped.min() > 100
    assert (wrapped < 60).mean() > 0.3


def test_partners_have_another_source_and_the_same_size() -> None:
    rows = [
        {"item_id": name, "source_id": name[0], "frames": 1, "height": 8, "width": width, "truth_rgb_sha256": name}
        for name, width in (("a1", 8), ("a2", 8), ("b1", 8), ("c1", 9))
    ]
    found = engine.partners(rows, seed=0)
    assert set(found) == {"a1", "a2", "b1"}
    assert found["a1"]["item_id"] == found["a2"]["item_id"] == "b1"
    assert found["b1"]["source_id"] == "a"
    assert engine.partners(rows[::-1], seed=0) == found
    # A copy of the picture in another file is the same source.
    copied = [{**row, "attributes": {"split_group": "a"}} if row["item_id"] == "b1" else row for row in rows]
    assert engine.partners(copied, seed=0) == {}


def test_selection_frequencies() -> None:
    values = {
        "good": {"1": 0.1, "2": 0.1, "3": 0.2, "4": 0.5},
        "fair": {"1": 0.2, "2": 0.1, "3": 0.3, "4": None},
        "poor": {"1": 0.3, "2": 0.9, "3": 0.1, "4": 0.1},
    }
    found = selected(values, higher_is_better=False)
    assert found.shares == pytest.approx({"good": 0.5, "fair": 1 / 6, "poor": 1 / 3})
    assert (found.items, found.left_out, found.tied) == (3, 1, 1)
    assert sum(selected(values, higher_is_better=True).shares.values()) == pytest.approx(1)
    assert selected(values, higher_is_better=True).shares["poor"] == pytest.approx(2 / 3)
    assert selected({"alone": {"1": None}}, higher_is_better=True).shares == {}


def test_peoples_choices_and_their_likeness() -> None:
    votes = [("1", "good"), ("1", "good"), ("2", "poor"), ("2", "unknown"), ("9", "good")]
    people = chosen_by_people(votes, methods=["good", "poor"], items=["1", "2"])
    assert people.shares == pytest.approx({"good": 2 / 3, "poor": 1 / 3})
    assert (people.items, people.left_out) == (2, 1)
    assert agreement(people.shares, people.shares) == 1.0
    assert agreement({"a": 1.0}, {"b": 1.0}) == 0.0
    assert agreement({"a": 0.5, "b": 0.5}, {"a": 1.0, "b": 0.0}) == pytest.approx(0.5)
    assert agreement({}, {"a": 1.0}) is None
