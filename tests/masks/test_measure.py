"""Measurements of shapes whose motion is known, and of the published masks against their table."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laid_out import everywhere
from scipy import ndimage

from inpaintbench.errors import UnknownNameError
from inpaintbench.masks.generators.devil_blobs import PRESETS, DevilBlobs
from inpaintbench.masks.measure import (
    DISPLACEMENT_THRESHOLD_PIXELS,
    EXPECTED_INTERVALS,
    MaskMeasurements,
    centroid_path,
    check_labels,
    displacement_scale,
    labels_of,
    measure,
    measured_labels,
    within_intervals,
)
from inpaintbench.types import Hole
from inpaintbench.view import ItemView


def disks(centres: list[tuple[float, float]], radii: list[float], *, height: int = 120, width: int = 200) -> Hole:
    rows, columns = np.mgrid[:height, :width]
    return np.stack(
        [np.hypot(rows - row, columns - column) <= radius for (row, column), radius in zip(centres, radii, strict=True)]
    )


def test_a_disk_that_moves_steadily() -> None:
    hole = disks([(30 + frame, 40 + 2 * frame) for frame in range(41)], [15] * 41)
    found = measure(hole)
    assert found.centroid_speed_pixels_per_frame == pytest.approx(np.sqrt(5))
    assert found.centroid_displacement_pixels == pytest.approx(40 * np.sqrt(5))
    assert found.pose_change == pytest.approx(0)
    assert found.hole_fraction == pytest.approx(hole[0].mean())
    assert found.union_coverage == hole.any(axis=0).mean()
    assert (found.frames, found.empty_frames, dict(found.reasons)) == (41, 0, {})


def test_measurements_do_not_depend_on_where_the_hole_lies_in_memory() -> None:
    hole = disks([(30 + frame, 40 + 2 * frame) for frame in range(21)], [15] * 21, width=189)
    assert all(measure(held) == measure(hole) for (held,) in everywhere([hole]))


def test_a_disk_that_goes_and_comes_back_is_displaced_by_its_farthest_point() -> None:
    hole = disks([(50, 40 + min(frame, 40 - frame)) for frame in range(41)], [10] * 41)
    found = measure(hole)
    assert found.centroid_displacement_pixels == pytest.approx(20)
    assert found.centroid_speed_pixels_per_frame == pytest.approx(1)


def test_a_disk_that_grows_changes_its_pose_by_the_ratio_of_areas() -> None:
    radii = [10 + 0.5 * frame for frame in range(21)]
    hole = disks([(60, 100)] * 21, radii)
    areas = hole.sum(axis=(1, 2))
    found = measure(hole)
    assert found.pose_change == pytest.approx(np.mean([1 - areas[0] / areas[10], 1 - areas[10] / areas[20]]))
    assert found.centroid_speed_pixels_per_frame == pytest.approx(0, abs=1e-12)


def test_what_the_aligned_hole_loses_at_the_frame_edge_does_not_count() -> None:
    # The second disk, shifted back by 30 columns, has its left third pushed out of the frame.
    hole = np.zeros((11, 40, 80), bool)
    hole[:10, 10:30, 0:20] = True
    hole[10, 10:30, 20:60] = True
    shift = round(39.5 - 9.5)
    before, after = hole[0], np.zeros((40, 80), bool)
    after[:, : 80 - shift] = hole[10][:, shift:]
    wanted = 1 - (before & after).sum() / (before | after).sum()
    assert measure(hole).pose_change == pytest.approx(wanted)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_everything_agrees_with_a_plain_computation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    blurred = ndimage.gaussian_filter(rng.normal(size=(23, 24, 31)), (1, 3, 3))
    hole = blurred > np.quantile(blurred, 0.8)
    hole[rng.random(23) < 0.15] = False
    found = measure(hole)
    path = [None if not frame.any() else np.array(ndimage.center_of_mass(frame)) for frame in hole]
    known = [point for point in path if point is not None]
    speeds = [np.linalg.norm(b - a) for a, b in pairwise(path) if a is not None and b is not None]
    poses = [
        _aligned_change(hole[t], hole[t + 10], path[t], path[t + 10])
        for t in (0, 10)
        if path[t] is not None and path[t + 10] is not None
    ]
    assert found.empty_frames == len(path) - len(known)
    assert found.centroid_speed_pixels_per_frame == (pytest.approx(np.mean(speeds)) if speeds else None)
    assert found.centroid_displacement_pixels == (
        pytest.approx(max(np.linalg.norm(point - known[0]) for point in known)) if len(known) > 1 else None
    )
    assert found.pose_change == (pytest.approx(np.mean(poses)) if poses else None)
    assert found.hole_fraction == pytest.approx(hole.mean())


def _aligned_change(before: np.ndarray, after: np.ndarray, centre: np.ndarray, other: np.ndarray) -> float:
    shift = np.rint(other - centre).astype(int)
    aligned = ndimage.shift(after.astype(float), -shift, order=0, cval=0) > 0.5
    return 1 - np.count_nonzero(before & aligned) / np.count_nonzero(before | aligned)


def test_nothing_is_measured_of_an_empty_hole() -> None:
    found = measure(np.zeros((12, 8, 9), bool))
    assert (found.hole_fraction, found.union_coverage, found.empty_frames) == (0, 0, 12)
    assert found.centroid_speed_pixels_per_frame is None
    assert found.centroid_displacement_pixels is None
    assert found.pose_change is None
    assert set(found.reasons) == {"centroid_speed_pixels_per_frame", "centroid_displacement_pixels", "pose_change"}


def test_short_clips_have_no_pose_change_and_stills_no_motion() -> None:
    hole = disks([(60, 100)] * 10, [9] * 10)
    short, still = measure(hole), measure(hole[:1])
    assert short.centroid_speed_pixels_per_frame == 0
    assert set(short.reasons) == {"pose_change"}
    assert "10 apart" in short.reasons["pose_change"]
    assert set(still.reasons) == {"centroid_speed_pixels_per_frame", "centroid_displacement_pixels", "pose_change"}


def test_empty_frames_are_counted_and_skipped() -> None:
    hole = disks([(50, 40 + frame) for frame in range(31)], [10] * 31)
    hole[[0, 7, 8]] = False
    found = measure(hole)
    assert found.empty_frames == 3
    assert found.centroid_speed_pixels_per_frame == pytest.approx(1)
    assert found.centroid_displacement_pixels == pytest.approx(29), "from the first frame that has a hole"
    assert np.isnan(centroid_path(hole)[[0, 7, 8]]).all()


def found(*, size: float, pose: float | None, displacement: float | None, frames: int = 90) -> MaskMeasurements:
    return MaskMeasurements(
        frames=frames,
        hole_fraction=size,
        centroid_speed_pixels_per_frame=1.0,
        centroid_displacement_pixels=displacement,
        pose_change=pose,
        union_coverage=0.1,
        empty_frames=0,
    )


def test_labels_follow_the_measurements() -> None:
    small = found(size=0.02, pose=0.2, displacement=50)
    assert measured_labels(small, width=832, height=480) == {"size": "low", "pose": "high", "displacement": "low"}
    large = found(size=0.1, pose=None, displacement=200)
    assert measured_labels(large, width=832, height=480) == {"size": "high", "pose": None, "displacement": "high"}


def test_displacement_is_judged_by_the_size_and_length_of_the_clip() -> None:
    assert displacement_scale(frames=90, width=832, height=480) == 1
    assert displacement_scale(frames=200, width=832, height=480) == 1
    assert displacement_scale(frames=90, width=416, height=240) == pytest.approx(0.5)
    assert displacement_scale(frames=90, width=480, height=480) == 1, "covering the clip scales the canvas alike"
    assert displacement_scale(frames=45, width=832, height=480) == pytest.approx(44 / 89)
    moved = found(size=0.02, pose=0.01, displacement=DISPLACEMENT_THRESHOLD_PIXELS - 1)
    assert measured_labels(moved, width=832, height=480)["displacement"] == "low"
    assert measured_labels(moved, width=416, height=240)["displacement"] == "high"


def test_labels_that_are_not_confirmed_are_told_in_a_sentence() -> None:
    preset = "size-low_pose-low_displacement-high"
    assert check_labels(preset, found(size=0.02, pose=0.01, displacement=200), width=832, height=480) == {}
    doubts = check_labels(preset, found(size=0.1, pose=None, displacement=200), width=832, height=480)
    assert doubts == {
        "size": "size is low by preset but high by measurement",
        "pose": "pose is low by preset but not measurable by measurement",
    }


def test_every_preset_has_intervals_and_three_labels() -> None:
    assert list(EXPECTED_INTERVALS) == list(PRESETS)
    assert labels_of("size-low_pose-high_displacement-low") == {"size": "low", "pose": "high", "displacement": "low"}
    assert len({tuple(labels_of(name).items()) for name in PRESETS}) == 8
    for function in (labels_of, lambda name: within_intervals(found(size=0.1, pose=0.1, displacement=1), name)):
        with pytest.raises(UnknownNameError, match="unknown blob preset 'size-mid', choose from"):
            function("size-mid")


def test_a_measurement_outside_its_interval_or_missing_is_not_within() -> None:
    preset = "size-low_pose-low_displacement-low"
    assert within_intervals(found(size=0.02, pose=0.9, displacement=93), preset)
    assert not within_intervals(found(size=0.02, pose=0.01, displacement=94), preset)
    assert not within_intervals(found(size=0.032, pose=0.01, displacement=50), preset)
    assert not within_intervals(found(size=0.02, pose=0.01, displacement=None), preset)


@pytest.mark.parametrize("preset", PRESETS)
def test_published_masks_lie_where_the_published_table_says(preset: str) -> None:
    view = ItemView(item_id="item", frames=90, height=480, width=832, fps=30.0, parts={})
    masks = [
        measure(DevilBlobs(preset=preset, behaviour="as-published", index=index).generate(view, np.random.default_rng(0)).hole)
        for index in range(6)
    ]
    # Three intervals of 90 % each hold about 75 % of the masks; the chance that 3 of 6 fit is above 0.96 in every preset.
    assert sum(within_intervals(mask, preset) for mask in masks) >= 3
    size_doubts = [doubts for mask in masks if "size" in (doubts := check_labels(preset, mask, width=832, height=480))]
    assert size_doubts == []
    assert sum(bool(check_labels(preset, mask, width=832, height=480)) for mask in masks) <= 2
    assert all(mask.empty_frames == 0 for mask in masks)
