"""Every axis: between its levels nothing but the stated property changes, measured on a small film."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from axes_made import FRAMES, MADE, PRESET, World, film, world
from made_once import once

from inpaintbench.masks.axes import AXES
from inpaintbench.masks.axes.base import Axis
from inpaintbench.masks.axes.presets import PresetAxis, paired_blob
from inpaintbench.masks.axis_versions import Varied, known_psnr, made_levels
from inpaintbench.masks.measure import labels_of, measure, measured_labels
from inpaintbench.masks.render import generate
from inpaintbench.types import Frames, Hole

OF_HOLES = tuple(name for name in MADE if AXES.get(name).changes == "hole")
OF_INPUTS = tuple(name for name in MADE if AXES.get(name).changes == "input")
OF_CLIPS = tuple(name for name in MADE if AXES.get(name).changes == "clip")
Measured = Callable[[Frames, Hole, Frames], float]


def _steps(truth: Frames, hole: Hole, shown: Frames) -> float:
    return float(np.abs(np.diff(truth.astype(np.int16), axis=0)).mean())


def _share_of_frames(truth: Frames, hole: Hole, shown: Frames) -> float:
    return float(hole.any(axis=(1, 2)).mean())


def _known_error(truth: Frames, hole: Hole, shown: Frames) -> float:
    return -(known_psnr(shown, truth, hole) or np.inf)


# Axis -> its property, measured on truth, hole and input.
PROPERTY: Mapping[str, Measured] = {
    "camera_path": _steps,
    "speed": _steps,
    "hole_duration": _share_of_frames,
    "whole_frames": lambda *parts: 1 - _share_of_frames(*parts),
    "known_noise": _known_error,
    "known_compression": _known_error,
    "known_blur": _known_error,
    "resolution": lambda truth, hole, shown: truth[0].size,
    "mask_error": lambda truth, hole, shown: hole.sum(),
}


@pytest.fixture(scope="module")
def made(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    """The film, its blob and all versions along all axes."""

    def make(folder: Path) -> None:
        built = world(folder)
        for axis in MADE:
            built.vary(axis)

    return world(Path(shutil.copytree(once(shared, "axes", make), tmp_path_factory.mktemp("axes") / "workspace")))


def levels(made: World, axis: str) -> dict[str, tuple[Frames, Hole, Frames]]:
    """Truth, hole and input of every level of an axis, the unchanged item among them, in order."""
    varied, leaf = made.vary(axis), AXES.get(axis)
    clips = {clip.clip_id: clip for clip in (made.clip, *varied.clips)}
    rows = {str(row.parameters["level"]): row for row in varied.corruptions}
    found = {}
    for level in leaf.levels:
        row = rows.get(level, made.base)
        truth, hole = made.frames(clips[row.clip_id].blob), made.hole(row.hole)
        shown = made.frames(row.input) if row.input else np.where(hole[..., None], np.uint8(0), truth)
        found[level] = (truth, hole, shown)
    return found


@pytest.mark.parametrize("name", list(AXES))
def test_an_axis_says_what_it_is(name: str) -> None:
    leaf = AXES.get(name)()
    assert isinstance(leaf, Axis)
    assert 2 <= len(leaf.levels) == len(set(leaf.levels))
    assert leaf.base_level is None or leaf.base_level in leaf.levels
    assert all(level.isidentifier() for level in leaf.levels)  # they stand in names of slices
    assert leaf.property
    assert leaf.truth


@pytest.mark.parametrize("name", MADE)
def test_every_level_but_that_of_the_unchanged_item_is_made_and_says_of_what(name: str, made: World) -> None:
    varied = made.vary(name)
    shared = {"axis": name, "parent": made.base.corruption_id}
    if AXES.get(name).changes == "clip":
        shared["of_clip"] = made.base.clip_id
    assert [row.parameters for row in varied.corruptions] == [
        {**shared, "level": level} for level in made_levels(AXES.get(name)())
    ]
    assert len({row.corruption_id for row in (made.base, *varied.corruptions)}) == len(varied.corruptions) + 1
    assert {row.generator for row in varied.corruptions} == {"varied"}
    assert all(fact.startswith("axis_") for row in varied.corruptions for fact in row.facts)
    assert not varied.outcome.rejected


@pytest.mark.parametrize("name", MADE)
def test_levels_are_in_the_order_of_the_property_measured(name: str, made: World) -> None:
    parts_of = levels(made, name)
    order = (
        ("eroded", "exact", "dilated") if name == "mask_error" else AXES.get(name).levels
    )  # others are compared with the exact
    found = [PROPERTY[name](*parts_of[level]) for level in order]
    assert all(low < high for low, high in pairwise(found)), found


@pytest.mark.parametrize("name", OF_HOLES)
def test_axes_of_holes_leave_the_truth_and_known_pixels(name: str, made: World) -> None:
    varied = made.vary(name)
    assert not varied.clips
    assert {row.clip_id for row in varied.corruptions} == {made.clip.clip_id}
    missing = made.hole(made.base.hole)
    for truth, hole, shown in levels(made, name).values():
        gone = hole | missing if not AXES.get(name).exact else hole
        np.testing.assert_array_equal(shown[~gone], truth[~gone])
        assert not shown[gone].any()
        if AXES.get(name).exact:
            np.testing.assert_array_equal(hole, missing & hole.any(axis=(1, 2))[:, None, None])


@pytest.mark.parametrize("name", OF_INPUTS)
def test_axes_of_inputs_leave_the_truth_and_the_hole_and_show_nothing_of_it(name: str, made: World) -> None:
    varied = made.vary(name)
    assert not varied.clips
    assert {(row.clip_id, row.hole_sha256) for row in varied.corruptions} == {(made.clip.clip_id, made.base.hole_sha256)}
    for _, hole, shown in levels(made, name).values():
        assert not shown[hole].any()


@pytest.mark.parametrize("name", OF_CLIPS)
def test_axes_of_clips_keep_the_source_and_its_span_and_fill_the_hole_alone(name: str, made: World) -> None:
    varied = made.vary(name)
    for clip in varied.clips:
        assert clip.source_id == made.clip.source_id
        seconds = np.array([clip.start_frame, clip.end_frame]) / clip.fps
        np.testing.assert_allclose(seconds, np.array([made.clip.start_frame, made.clip.end_frame]) / made.clip.fps)
        # As methods and metrics will see them, after encoding: a level that was encoded once more would be smoother than others.
        level = next(row.parameters["level"] for row in varied.corruptions if row.clip_id == clip.clip_id)
        wanted = AXES.get(name)().clip(level, made.frames(made.clip.blob), made.clip.fps)
        assert wanted is not None
        np.testing.assert_array_equal(made.frames(clip.blob), wanted[0])
    for row in varied.corruptions:
        assert row.input is None


def test_the_window_s_frames_are_cut_out_of_the_clip() -> None:
    """Whole pixels, three quarters of each side, the same first frame; a step-by-step walk to and fro says where."""
    leaf, clip = AXES.get("camera_path")(), film()
    height, width = clip.shape[1:3]
    margin, top = width // 4, height // 8
    for level, step in {"still": Fraction(), "slow": Fraction(margin, 216), "fast": Fraction(margin, 36)}.items():
        made = leaf.clip(level, clip, 24.0)
        assert made is not None
        assert made[1] == 24.0
        place = Fraction(margin, 2)
        for index, frame in enumerate(made[0]):
            left = math.floor(place + Fraction(1, 2))
            np.testing.assert_array_equal(frame, clip[index, top : top + 3 * height // 4, left : left + 3 * margin])
            if not 0 <= place + step <= margin:
                place, step = (2 * margin if step > 0 else 0) - place, -step
            place += step


@pytest.mark.parametrize(("level", "step"), [("every_second", 2), ("every_fourth", 4)])
def test_the_frames_of_another_speed_are_frames_of_the_clip(level: str, step: int) -> None:
    made = AXES.get("speed")().clip(level, film(), 24.0)
    assert made is not None
    np.testing.assert_array_equal(made[0], film()[::step])
    assert made[1] == 24 / step


@pytest.mark.parametrize("name", ["known_noise", *(pytest.param(name, marks=pytest.mark.long) for name in MADE)])
def test_equal_seeds_give_equal_rows(name: str, made: World, tmp_path: Path) -> None:
    again = world(tmp_path)
    one, other = made.vary(name), again.vary(name)
    assert [asdict(clip) for clip in one.clips] == [asdict(clip) for clip in other.clips]
    assert [asdict(row) for row in one.corruptions] == [asdict(row) for row in other.corruptions]


@pytest.mark.parametrize("name", ["size", "pose", "displacement"])
def test_presets_differ_in_the_label_of_their_axis_alone(name: str) -> None:
    leaf = AXES.get(name)()
    assert isinstance(leaf, PresetAxis)
    found = {}
    for level in leaf.levels:
        preset = leaf.flipped(PRESET, level)
        hole = generate("devil_blobs", paired_blob(preset), seed=0, draw="c", frames=90, height=240, width=416).hole
        assert hole is not None
        found[level] = measured_labels(measure(hole), width=416, height=240)
        assert found[level] == labels_of(preset)
    assert found["low"] | {name: "high"} == found["high"]


def _unused(varied: Varied) -> list[str]:
    return [row.reason for row in varied.outcome.rejected]


def test_a_level_that_cannot_be_made_leaves_the_whole_item_out(tmp_path: Path) -> None:
    short = world(tmp_path, np.ascontiguousarray(film()[:15]))
    varied = short.vary("hole_duration")
    assert not varied.corruptions
    assert _unused(varied) == ["an eighth of 15 frames is fewer than 2"]
    varied = short.vary("speed")
    assert not varied.clips
    assert not varied.corruptions
    assert FRAMES // 4 == 12  # the least that is left
