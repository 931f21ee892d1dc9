from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.metrics import peak_signal_noise_ratio
from tests.eval.metrics.contract import MetricContract, square_hole, value, world
from tests.eval.metrics.published import metric_of, published_item

from inpaintbench import regions
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.pcons import Pcons, smallest_squared_difference
from inpaintbench.eval.protocols.base import CEILING_DECIBELS, POOLED, Constants, mean_of_decibels
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

PUBLISHED = mean_of_decibels("largest_finite")


class TestContract(MetricContract):
    name = "pcons"
    reach_pixels = 46


def metric(*names: str, patch: int = 50, first: int = -20, last: int = 19, seed: int = 1234, how: Constants = PUBLISHED) -> Pcons:
    return Pcons(
        regions=names or ("hole",),
        band_radius_pixels=8,
        patch_pixels=patch,
        first_offset_pixels=first,
        last_offset_pixels=last,
        random_patch_seed=seed,
        **how,  # type: ignore[arg-type]
    )


def loop(frames: Frames, corners: list[tuple[int, int]], *, patch: int = 50, offsets: range = range(-20, 20)) -> list[float]:
    """The definition, literally: scikit-image on float32 patches at every offset that stays in the frame."""
    frames = frames.astype(np.float32) / np.float32(255)
    height, width = frames.shape[1:3]
    best = []
    for frame, following, (top, left) in zip(frames[:-1], frames[1:], corners, strict=True):
        here = frame[top : top + patch, left : left + patch]
        candidates = [
            following[top + down : top + down + patch, left + right : left + right + patch]
            for down in offsets
            for right in offsets
            if 0 <= top + down <= height - patch and 0 <= left + right <= width - patch
        ]
        with np.errstate(divide="ignore"):
            best.append(max(peak_signal_noise_ratio(here, there, data_range=1) for there in candidates))
    return best


def corner(hole: Hole, *, patch: int = 50) -> tuple[int, int]:
    """Where the patch lies by the published definition."""
    height, width = hole.shape
    row, column = (float(np.mean(indices)) for indices in np.nonzero(hole))
    return (
        int(np.clip(np.floor(row - patch // 2), 0, height - patch)),
        int(np.clip(np.floor(column - patch // 2), 0, width - patch)),
    )


def item(top: int, left: int, *, frames: int = 3) -> dict[str, np.ndarray]:
    """Independent noise over a gradient, with an L-shaped hole."""
    rng = np.random.default_rng(top * 1000 + left)
    gradient = np.linspace(0, 200, 160)[None, None, :, None]
    composite = (gradient + rng.integers(0, 56, (frames, 120, 160, 3))).astype(np.uint8)
    hole = np.zeros((frames, 120, 160), np.bool_)
    hole[:, top : top + 31, left : left + 12] = True
    hole[:, top + 20 : top + 31, left : left + 40] = True
    return {"composite": composite, "hole": hole}


@pytest.mark.parametrize(("top", "left"), [(0, 0), (40, 60), (89, 150), (10, 148), (85, 3)])
def test_equals_the_loop_in_the_middle_and_in_every_corner(top: int, left: int) -> None:
    parts = item(top, left, frames=2)
    expected = loop(parts["composite"], [corner(parts["hole"][0])])
    assert value(metric(), "hole", **parts) == pytest.approx(expected[0], abs=1e-6)


def test_is_the_mean_over_pairs_and_each_pair_uses_the_hole_of_its_first_frame() -> None:
    parts = item(40, 60)
    parts["hole"][1] = np.roll(parts["hole"][1], (17, -23), axis=(0, 1))
    corners = [corner(hole) for hole in parts["hole"][:-1]]
    assert corners[0] != corners[1]
    assert value(metric(), "hole", **parts) == pytest.approx(np.mean(loop(parts["composite"], corners)), abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    size=st.integers(1, 9),
    rows=st.integers(0, 8),
    columns=st.integers(0, 8),
    levels=st.sampled_from([(0, 256), (254, 256), (0, 2)]),
    seed=st.integers(0, 99),
)
def test_the_smallest_difference_is_exact(size: int, rows: int, columns: int, levels: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    patch = rng.integers(*levels, (size, size, 3), dtype=np.uint8)
    window = rng.integers(*levels, (size + rows, size + columns, 3), dtype=np.uint8)
    expected = min(
        int(((window[down : down + size, right : right + size].astype(int) - patch) ** 2).sum())
        for down in range(rows + 1)
        for right in range(columns + 1)
    )
    assert smallest_squared_difference(patch, window) == expected


def test_one_level_in_one_channel_is_never_lost_nor_invented() -> None:
    rng = np.random.default_rng(9)
    for _ in range(40):
        window = rng.integers(0, 256, (90, 90, 3), dtype=np.uint8)
        patch = window[11:61, 23:73].copy()
        assert smallest_squared_difference(patch, window) == 0
        patch[tuple(rng.integers(0, (50, 50, 3)))] ^= np.uint8(1)
        assert smallest_squared_difference(patch, window) == 1


def test_the_smallest_difference_is_exact_for_the_largest_values() -> None:
    window = np.full((89, 89, 3), 255, np.uint8)
    patch = np.full((50, 50, 3), 255, np.uint8)
    patch[7, 9, 1] = 254
    assert smallest_squared_difference(patch, window) == 1
    assert smallest_squared_difference(255 - patch, window) == 255**2 * (patch.size - 1) + 254**2


@pytest.mark.parametrize(
    ("shift", "published", "corrected"), [(19, True, True), (20, False, True), (-20, True, True), (21, False, False)]
)
def test_the_corrected_search_reaches_as_far_in_both_directions(shift: int, published: bool, corrected: bool) -> None:
    composite = np.random.default_rng(5).integers(0, 256, (2, 150, 150, 3), dtype=np.uint8)
    composite[1] = np.roll(composite[0], shift, axis=1)
    hole = np.zeros((2, 150, 150), np.bool_)
    hole[:, 70:80, 70:80] = True
    found = [
        metric(first=-20, last=last).measure(ItemView.of_arrays(composite=composite, hole=hole))["hole"] for last in (19, 20)
    ]
    assert [one.value == math.inf for one in found] == [published, corrected]


def test_an_exact_repeat_is_infinite_for_its_pair_and_by_the_published_rule_for_the_item() -> None:
    parts = item(40, 60, frames=4)
    parts["composite"][2] = parts["composite"][1]
    view = ItemView.of_arrays(**parts)
    corners = [corner(hole) for hole in parts["hole"][:-1]]
    pairs = loop(parts["composite"], corners)
    assert [math.isinf(pair) for pair in pairs] == [False, True, False]
    published, corrected = (metric(how=how).measure(view)["hole"] for how in (PUBLISHED, POOLED))
    assert published.value == math.inf
    assert published.details == {"pairs": 3, "infinite_pairs": 1}
    errors = [10 ** (-pairs[0] / 10), 0.0, 10 ** (-pairs[2] / 10)]
    assert corrected.value == pytest.approx(-10 * math.log10(np.mean(errors)), abs=1e-6)
    assert corrected.details == {"pairs": 3}


def test_a_flat_fill_in_every_pair_is_infinite_as_published_and_has_the_ceiling_as_corrected() -> None:
    composite = world()
    composite[square_hole()] = 0
    view = ItemView.of_arrays(composite=composite, hole=square_hole())
    published, corrected = (metric(how=how).measure(view)["hole"] for how in (PUBLISHED, POOLED))
    assert (published.value, published.details) == (math.inf, {"pairs": 3, "infinite_pairs": 3})
    assert (corrected.value, corrected.details) == (CEILING_DECIBELS, {"pairs": 3})
    assert metric().reduce([math.inf, 40.0]) == 40
    assert metric(how=POOLED).reduce([CEILING_DECIBELS, 40.0]) == pytest.approx((CEILING_DECIBELS + 40) / 2)


def test_pairs_without_a_hole_are_left_out() -> None:
    parts = item(40, 60, frames=4)
    parts["hole"][1] = False
    found = metric().measure(ItemView.of_arrays(**parts))["hole"]
    assert found.details == {"pairs": 2}
    parts["hole"][:3] = False
    assert (
        metric().measure(ItemView.of_arrays(**parts))["hole"].reason
        == "no frame before the last has a pixel of the region 'hole'"
    )


def test_the_band_is_met_at_its_pixel_nearest_to_the_centroid() -> None:
    # The hole is 130 px square: its band is nearest to the centre, in reading order, at the top edge, 7 px inside the border.
    parts = {"composite": world(), "hole": square_hole()}
    parts["composite"] = np.random.default_rng(6).integers(0, 256, parts["composite"].shape, dtype=np.uint8)
    band = regions.boundary_band(parts["hole"], radius=8)[0]
    rows, columns = np.nonzero(band)
    distances = (rows - 124.5) ** 2 + (columns - 126.5) ** 2
    first = int(np.argmin(distances))
    corners = [(int(rows[first]) - 25, int(columns[first]) - 25)] * 3
    assert rows[first] == 67
    assert value(metric("band"), "band", **parts) == pytest.approx(np.mean(loop(parts["composite"], corners)), abs=1e-6)


def test_places_in_the_frame_depend_on_the_item_and_the_seed_alone() -> None:
    parts = {"composite": np.random.default_rng(7).integers(0, 256, (3, 90, 120, 3), dtype=np.uint8)}
    parts["hole"] = np.zeros((3, 90, 120), np.bool_)

    def found(item_id: str, *, seed: int = 1234, shade: int = 0) -> float | None:
        view = ItemView.of_arrays(item_id=item_id, composite=parts["composite"] ^ np.uint8(shade), hole=parts["hole"])
        return metric("frame", seed=seed).measure(view)["frame"].value

    assert found("a") == found("a")
    # Inverting all colours changes no difference, so a second method with other pixels is compared at the same places.
    assert found("a", shade=255) == found("a")
    assert found("a") != found("b")
    assert found("a") != found("a", seed=1)


def test_the_smallest_frame_that_holds_a_patch_works_and_a_smaller_one_says_so() -> None:
    frames = np.random.default_rng(8).integers(0, 256, (2, 50, 50, 3), dtype=np.uint8)
    hole = np.ones((2, 50, 50), np.bool_)
    assert value(metric(), "hole", composite=frames, hole=hole) == pytest.approx(loop(frames, [(0, 0)])[0], abs=1e-6)
    with pytest.raises(NotMeasurable, match="frames of 50x49 are smaller than the patch of 50x50"):
        metric().measure(ItemView.of_arrays(composite=frames[:, :49], hole=hole[:, :49]))


def test_a_still_image_has_no_next_frame() -> None:
    with pytest.raises(NotMeasurable, match="one frame has no next frame"):
        metric().measure(ItemView.of_arrays(composite=world()[:1], hole=square_hole()[:1]))


def test_offsets_must_include_no_motion() -> None:
    with pytest.raises(ValueError, match=r"offsets 1\.\.5 px must include 0"):
        metric(first=1, last=5)


@pytest.mark.real
def test_gives_the_published_value() -> None:
    found = metric_of("devil/as-published", "pcons").measure(published_item())["hole"]
    assert found.value == pytest.approx(37.590961192944334, abs=1e-6)
    assert found.details == {"pairs": 20}
