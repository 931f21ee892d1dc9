"""Second holes: where they lie, how large they are, what they depend on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError, MaskShapeError
from inpaintbench.masks.generators.shapes import Patches as PatchGenerator
from inpaintbench.types import Hole
from inpaintbench.view import ItemView
from inpaintbench.wings.reinpaint.setting import (
    Patches,
    mean_area,
    patch_mask,
    second_hole,
)


def mask(patches: Patches, *, item: str = "item", number: int = 0, size: int = 96, frames: int = 1) -> np.ndarray:
    return patch_mask(patches, item_id=item, number=number, frames=frames, height=size, width=size)


def disc(size: int = 96) -> np.ndarray:
    rows, columns = np.mgrid[:size, :size]
    return ((rows - 40) ** 2 + (columns - 50) ** 2 < 30**2)[None]


def test_cells_are_whole_and_the_last_ones_cut() -> None:
    made = patch_mask(Patches(ratio=0.5, size_pixels=16), item_id="a", number=3, frames=1, height=40, width=50)[0]
    for top in range(0, 40, 16):
        for left in range(0, 50, 16):
            cell = made[top : top + 16, left : left + 16]
            assert cell.all() or not cell.any()


def test_no_pixel_of_the_first_hole_is_hidden_again() -> None:
    first = disc()
    patch = mask(Patches(ratio=0.6, size_pixels=8))
    hidden = second_hole(patch, first)
    assert not (hidden & first).any()
    assert (hidden | (patch & first) == patch).all()
    # The paper's formula, where 1 is known.
    assert ((1 - (1 - (1 - patch.astype(int))) * (1 - first.astype(int))) == ~hidden).all()
    with pytest.raises(MaskShapeError, match="second mask"):
        second_hole(patch, first[:, :50])


def expected_area(first_area: float, ratio: float) -> float:
    """Mean share of the frame that M2 hides: P (1 - r1)."""
    return ratio * (1 - first_area)


def area_deviation(first: Hole, patches: Patches) -> float:
    """Standard deviation of the share of the frame that M2 hides, for cells hidden independently at one fixed ratio.

    Cells count by their known share: sqrt(P (1 - P) sum of squared shares); for whole cells without a first hole that is
    sqrt(P (1 - P) / cells).
    """
    ratio = math.fsum(patches.interval) / 2
    size = patches.size_pixels
    known = np.add.reduceat(np.add.reduceat(~first[0], range(0, first.shape[1], size), axis=0, dtype=np.float64),
                            range(0, first.shape[2], size), axis=1)  # fmt: skip
    return math.sqrt(ratio * (1 - ratio) * float(((known / first[0].size) ** 2).sum()))


@pytest.mark.parametrize("ratio", [0.2, 0.4, 0.6])
def test_the_mean_area_is_the_ratio_of_what_the_first_hole_left(ratio: float) -> None:
    patches, first, count = Patches(ratio=ratio, size_pixels=8), disc(), 400
    areas = [mean_area([second_hole(mask(patches, number=k), first)]) for k in range(count)]
    deviation = area_deviation(first, patches)
    assert np.mean(areas) == pytest.approx(expected_area(first.mean(), ratio), abs=4 * deviation / math.sqrt(count))
    assert np.std(areas) == pytest.approx(deviation, rel=0.15)


def test_without_a_first_hole_the_deviation_is_that_of_independent_cells() -> None:
    empty = np.zeros((1, 512, 512), bool)
    found = [area_deviation(empty, Patches(ratio=0.4, size_pixels=size)) for size in (16, 32, 64)]
    assert found == pytest.approx([0.0153, 0.0306, 0.0612], abs=5e-5)


def test_an_exact_count_hides_that_many_cells() -> None:
    for number in range(5):
        assert mask(Patches(ratio=0.4, size_pixels=8, count="exact"), number=number).mean() == round(0.4 * 144) / 144


def test_a_ratio_between_two_numbers_is_drawn_for_each_mask() -> None:
    areas = [mask(Patches(ratio=(0.2, 0.6), size_pixels=4), number=k).mean() for k in range(60)]
    assert 0.12 < min(areas) < 0.3
    assert 0.5 < max(areas) < 0.68
    assert np.mean(areas) == pytest.approx(0.4, abs=0.06)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 5), st.text(max_size=5), st.integers(0, 20), st.sampled_from([4, 16, 96]))
def test_masks_depend_on_seed_item_and_number(seed: int, item: str, number: int, size: int) -> None:
    patches = Patches(size_pixels=size, seed=seed, ratio=0.5)
    assert (mask(patches, item=item, number=number) == mask(Patches.of(patches.plain()), item=item, number=number)).all()
    if size == 4:
        assert (mask(patches, item=item, number=number) != mask(patches, item=item, number=number + 1)).any()
        assert (mask(patches, item=item, number=number) != mask(patches, item=item + "x", number=number)).any()


def test_ratios_of_0_and_1_hide_nothing_and_everything() -> None:
    assert not mask(Patches(ratio=0.0)).any()
    assert mask(Patches(ratio=1.0)).all()


def test_tubes_hold_their_cells_for_as_long_as_asked() -> None:
    made = mask(Patches(size_pixels=8, tube_frames=3), frames=8)
    assert (made[0] == made[2]).all()
    assert (made[3] == made[5]).all()
    assert (made[6] == made[7]).all()
    assert (made[2] != made[3]).any()
    assert (made[5] != made[6]).any()
    still = mask(Patches(size_pixels=8), frames=8)
    assert (still == still[:1]).all()


def test_published_masks_are_drawn_alike() -> None:
    """The generator of the recipe and this one have the same cells and shares."""
    view = ItemView.of_arrays(input=np.zeros((1, 96, 96, 3), np.uint8))
    drawn = [PatchGenerator(size=16, ratio=0.4).generate(view, np.random.default_rng(k)).hole for k in range(200)]
    own = [mask(Patches(size_pixels=16), number=k) for k in range(200)]
    assert np.mean([one.mean() for one in drawn]) == pytest.approx(np.mean([one.mean() for one in own]), abs=0.03)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ratio": 1.2}, "second ratio 1.2"),
        ({"ratio": (0.6, 0.2)}, r"second ratio \(0.6, 0.2\)"),
        ({"size_pixels": 0}, "patches of 0 pixels"),
        ({"tube_frames": -1}, "tubes of -1 frames"),
        ({"count": "some"}, "unknown patch count 'some'"),
    ],
)
def test_what_cannot_be_is_told(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Patches(**changes)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="smaller than one patch of 128"):
        mask(Patches(size_pixels=128))


def test_settings_in_words() -> None:
    assert Patches().words == "P 40%, S 32"
    assert Patches(ratio=(0.2, 0.6), size_pixels=8, count="exact", tube_frames=4).words == (
        "P 20-60%, S 8, exact count, tubes of 4 frames"
    )
