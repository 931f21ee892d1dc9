"""Size, pose and displacement: the flipped attribute's measured label flips, the others stay, and so do place and direction."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.axes.presets import PresetAxis, paired_blob
from inpaintbench.masks.blob_motion import PRESETS
from inpaintbench.masks.generators.devil_blobs import DevilBlobs
from inpaintbench.masks.measure import centroid_path, labels_of, measure, measured_labels
from inpaintbench.masks.render import generate
from inpaintbench.types import Hole

NAMES = ("size", "pose", "displacement")


def axis(name: str) -> PresetAxis:
    leaf = AXES.get(name)()
    assert isinstance(leaf, PresetAxis)
    return leaf


def drawn(name: str, preset: str, *, draw: str = "clip", frames: int = 90) -> Hole:
    parameters = paired_blob(preset)
    hole = generate("devil_blobs", parameters, seed=0, draw=draw, frames=frames, height=480, width=832).hole
    assert hole is not None
    return hole


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("preset", list(PRESETS)[::3])
def test_one_label_flips_by_measurement_and_the_others_stay(name: str, preset: str) -> None:
    level = {"low": "high", "high": "low"}[labels_of(preset)[name]]
    flipped = axis(name).flipped(preset, level)
    assert labels_of(flipped) == labels_of(preset) | {name: level}
    assert axis(name).flipped(preset, labels_of(preset)[name]) == preset
    for one in (preset, flipped):
        hole = drawn(name, one)
        assert measured_labels(measure(hole), width=832, height=480) == labels_of(one)


def test_paired_blobs_begin_at_one_place_and_others_do_not() -> None:
    """Of the blobs of one clip no two begin far from each other; those of several clips do."""

    def starts(draw: str) -> np.ndarray:
        return np.array([centroid_path(drawn("size", preset, draw=draw, frames=1))[0] for preset in list(PRESETS)[::3]])

    clips = np.array([starts(f"clip {number}") for number in range(4)])
    within = clips.std(axis=1).mean()
    between = clips.mean(axis=1).std(axis=0).mean()
    assert within < between / 2


def test_presets_that_differ_in_displacement_begin_as_one_blob() -> None:
    preset = next(iter(PRESETS))
    other = axis("displacement").flipped(preset, "high")
    np.testing.assert_array_equal(drawn("displacement", preset)[0], drawn("displacement", other)[0])


def test_each_clip_has_its_own_blob_and_unpaired_ones_are_as_they_were() -> None:
    preset = next(iter(PRESETS))
    assert not np.array_equal(drawn("size", preset), drawn("size", preset, draw="another clip"))
    plain = generate("devil_blobs", {"preset": preset}, seed=0, draw="clip", frames=90, height=480, width=832).hole
    assert plain is not None
    assert not np.array_equal(plain, drawn("size", preset))


def test_what_no_preset_has_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown level of size 'hihg', did you mean 'high'"):
        axis("size").flipped(next(iter(PRESETS)), "hihg")
    with pytest.raises(UnknownNameError, match="unknown blob preset"):
        axis("size").flipped("small", "high")
    with pytest.raises(InputError, match="paired blobs are corrected ones"):
        DevilBlobs(preset=next(iter(PRESETS)), behaviour="as-published", paired=True)
