"""What differs between items, as far as it rests on enough of them."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from tests.eval.diagnosis.made import (
    AXES,
    CAMERA,
    POSE,
    SIZE,
    Attributes,
    column,
    measured_items,
    noise,
    paired_items,
    results_of,
    skewed,
    standardised,
    with_attributes,
)

from inpaintbench.eval.comparing.factors import MEASURED, Factors, factors_of
from inpaintbench.masks.axes import AXES as MADE_AXES
from inpaintbench.masks.mask_errors import agreement
from inpaintbench.masks.measure import MaskMeasurements
from inpaintbench.types import Dataset


def of(made: Dataset, attributes: Attributes) -> Factors:
    return factors_of(results_of(made, noise(np.random.default_rng(0), attributes, ["m"])))


def test_each_level_of_an_axis_is_put_against_the_first_over_whole_pairs() -> None:
    items = paired_items()
    del items["f00-0-base"], items["f01-0-four"]
    found = of(with_attributes(items, axes=AXES), items)
    told = [(step.factor.name, step.low_level, step.high_level, len(step.low)) for step in found.steps]
    assert told == [("size", "low", "high", 23), ("speed", "one", "two", 23), ("speed", "one", "four", 22)]
    ids = sorted(items)
    pairs = {(ids[low], ids[high]) for low, high in zip(found.steps[0].low, found.steps[0].high, strict=True)}
    assert ("f03-1-base", "f03-1-size") in pairs
    assert all(low.removesuffix("base") == high.removesuffix("size") for low, high in pairs)
    assert found.steps[0].factor.label == "size of the hole"
    assert [(factor.name, factor.step) for factor in found.all] == [("size", "low to high"), ("speed", "one to two or four")]
    assert found.left_out[SIZE] == "changed by the axis size, whose pairs tell what that does"  # the axis changes the number
    assert not found.columns


def test_an_axis_of_too_few_sources_or_without_items_says_so() -> None:
    items = {name: own for name, own in paired_items(films=5).items() if not name.endswith(("two", "four"))}
    found = of(with_attributes(items, axes=AXES), items)
    assert not found.steps
    assert found.left_out["size"].startswith("5 sources")
    assert found.left_out["speed"].startswith("0 sources")


def test_sizes_and_motions_are_taken_by_how_many_times_as_large_they_are() -> None:
    items = measured_items(np.random.default_rng(0))
    found = of(with_attributes(items), items)
    columns = {factor.name: (factor, values) for factor, values in found.columns}
    ids = sorted(items)
    for name in (CAMERA, SIZE, POSE):
        factor, values = columns[name]
        own = np.array([float(items[item][name]) for item in ids])
        assert values == pytest.approx(standardised(own) if name == POSE else skewed(own))
        assert (factor.kind, factor.levels) == ("measured", ())
        low, high = (float(word) for word in factor.step.split()[0:3:2])
        scale = 1 if name == POSE else 100
        assert np.interp([low / scale, high / scale], np.sort(own), np.sort(values)) == pytest.approx([-0.5, 0.5], abs=0.05)
    assert columns[CAMERA][0].step.endswith("% of the view a frame")


def test_a_motion_that_somebody_gave_a_sign_is_taken_as_it_is() -> None:
    rng = np.random.default_rng(4)
    items = measured_items(rng)
    for own in items.values():
        own["bg_scene_motion"] = float(rng.normal())
    columns = {factor.name: values for factor, values in of(with_attributes(items), items).columns}
    assert columns["bg_scene_motion"] == pytest.approx(standardised(column(items, "bg_scene_motion")))


def test_a_number_that_a_few_films_decide_is_left_out() -> None:
    items = measured_items(np.random.default_rng(3), films=20)
    for item, own in items.items():
        own["hole.centroid_displacement_pixels"] = 500.0 if item.startswith(("f03", "f04")) else 10.0
    found = of(with_attributes(items), items)
    assert found.left_out["hole.centroid_displacement_pixels"].startswith("a few sources decide it, as if there were 2")


def test_a_number_that_another_tells_too_few_items_have_or_too_few_sources_bear_is_left_out() -> None:
    rng = np.random.default_rng(1)
    items = measured_items(rng, films=9)
    for at, own in enumerate(items.values()):
        own["camera_motion_per_second"] = 25 * float(own[CAMERA]) + float(rng.normal(scale=1e-3))
        own["bg_scene_motion"] = 0.1
        if at < 10:
            own["hole.centroid_displacement_pixels"] = float(at)
        own["hole.centroid_speed_pixels_per_frame"] = float(rng.normal())
        own["source_version"] = float(rng.normal())  # whatever is not on the list is no attribute of the footage
    found = of(with_attributes(items), items)
    assert [factor.name for factor, _ in found.columns] == [CAMERA, SIZE, POSE]
    assert found.left_out == {
        "camera_motion_per_second": "others that are told say nearly the same of these items",
        "hole.centroid_displacement_pixels": (
            "it and every attribute taken before it are known of only 10 of 45 items, and half are needed"
        ),
        "hole.centroid_speed_pixels_per_frame": "9 sources do not tell more than 3 attributes apart",
    }


def test_slices_are_labels_unless_their_number_is_told_or_an_axis_makes_them() -> None:
    items = measured_items(np.random.default_rng(2))
    ids = sorted(items)
    low, high = [name for name in ids if name.endswith(("0", "1"))], [name for name in ids if name.endswith("2")]
    slices = {"camera_motion-low": low, "camera_motion-high": high, "crowd-low": low, "crowd-high": high, "few-low": low[:4]}
    made = with_attributes(items, slices={**slices, "few-high": high, "all": ids})
    found = of(made, items)
    assert [(factor.name, factor.kind) for factor, _ in found.columns if factor.kind == "labelled"] == [("crowd", "labelled")]
    values = {factor.name: values for factor, values in found.columns}["crowd"]
    assert [values[ids.index(name)] for name in ("f00-0", "f00-2", "f00-3")] == [-0.5, 0.5, 0]
    assert found.beside.shape == (len(ids), 1)  # items that have no label may differ from both
    assert found.left_out["camera_motion"] == f"told by the number that it is cut from, {CAMERA}"
    assert found.left_out["few"].startswith("2 sources")


def test_what_films_show_by_themselves_is_not_missing_in_versions_of_their_clips() -> None:
    rng = np.random.default_rng(5)
    items: Attributes = {}
    for film in range(12):
        own = {CAMERA: float(rng.uniform(0, 0.02)), SIZE: float(rng.uniform(0.01, 0.2))}
        items[f"f{film:02}-base"] = {**own, "axis.speed": "one", "pair.speed": f"v{film}"}
        for level in ("two", "four"):
            items[f"f{film:02}-{level}"] = {SIZE: own[SIZE], "axis.speed": level, "pair.speed": f"v{film}"}
    low, high = ([f"f{film:02}-base" for film in films] for films in (range(6), range(6, 12)))
    made = with_attributes(items, axes=AXES[1:], slices={"crowd-low": low, "crowd-high": high, "all": sorted(items)})
    versions = replace(made, items=tuple(
        {**row, "generator_parameters": {} if str(row["item_id"]).endswith("base") else {"of_clip": "cut"}} for row in made.items
    ))  # fmt: skip
    found = of(versions, items)
    assert [(factor.name, factor.kind) for factor, _ in found.columns] == [
        (CAMERA, "measured"), (SIZE, "measured"), ("crowd", "labelled"),
    ]  # fmt: skip
    assert not found.left_out
    assert [name for name, known in zip(sorted(items), found.known, strict=True) if known] == [*low, *high]
    # Items of one clip, of which none is a version of another: there the number is missing.
    assert of(made, items).left_out[CAMERA] == "it is known of only 12 of 36 items, and half are needed"


def test_attributes_have_the_names_that_builds_give_them() -> None:
    full = np.ones((1, 2, 2), np.bool_)
    leaves = [MADE_AXES.get(name)() for name in MADE_AXES]
    of_axes = {
        name for leaf in leaves for level in leaf.levels for name in leaf.facts(level, frames=20, height=64, width=96)
    }  # fmt: skip
    facts = {*of_axes, *agreement(full, full), "share_of_frames", "known_psnr_db"}
    known = {f"mask.axis_{name}" for name in facts} | {f"hole.{field.name}" for field in fields(MaskMeasurements)}
    named = {one.name for one in MEASURED if one.name.startswith(("mask.axis_", "hole."))}
    assert named <= known
    assert "mask.axis_frame_step" in named
    assert not {one.name for one in MEASURED} & {"effect_levels", "effect_fraction"}  # holes' facts have a prefix


@pytest.mark.parametrize(("axis", "levels", "changed"), [
    ("effect_strength", ("none", "low", "high"), "mask.effect_levels"),
    ("mask_error", ("eroded", "exact", "dilated"), "mask.axis_mask_iou"),
    ("mask_error", ("eroded", "exact", "dilated"), SIZE),
    ("hole_area", ("1-10", "10-30", "30-50"), SIZE),
    ("object_size", ("small", "large"), SIZE),
    ("blocks_kept", ("one", "half", "all"), "mask.joints_hidden"),
    ("degradation", ("half", "usual", "twice"), "degradation.wear_rms"),
])  # fmt: skip
def test_what_an_axis_changes_does_not_stand_beside_it(axis: str, levels: tuple[str, ...], changed: str) -> None:
    rng = np.random.default_rng(6)
    items: Attributes = {
        f"f{film:02}-{level}": {f"axis.{axis}": level, f"pair.{axis}": f"{film}", changed: place + float(rng.uniform())}
        for film in range(12)
        for place, level in enumerate(levels)
    }
    made = with_attributes(items, axes=[{"name": axis, "levels": list(levels), "property": axis, "truth": "the clip"}])
    found = of(made, items)
    assert [factor.name for factor in found.all] == [axis]
    # Nobody misses a number that the axis states of its own levels.
    why = {} if changed.startswith("mask.axis_") else {changed: f"changed by the axis {axis}, whose pairs tell what that does"}
    assert found.left_out == why


def test_numbers_that_an_axis_states_are_missed_by_nobody() -> None:
    items = paired_items()
    for item, own in items.items():
        own["mask.axis_frame_step"] = 4.0 if item.endswith("four") else 1.0
        own |= {"mask.axis_share_of_frames": 0.5 if item.startswith("f00") else 1.0} if item.endswith("size") else {}
    found = of(with_attributes(items, axes=AXES), items)
    assert set(found.left_out) == {SIZE}
