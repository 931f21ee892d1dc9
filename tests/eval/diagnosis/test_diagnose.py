"""Planted effects are found with their size and sign, and where there is nothing little is told."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.eval.diagnosis.made import (
    AXES,
    CAMERA,
    POSE,
    SIZE,
    column,
    measured_items,
    noise,
    paired_items,
    results_of,
    skewed,
    with_attributes,
)

from inpaintbench.eval.comparing.looked_at import Effect
from inpaintbench.eval.diagnosis import EFFECT_COLUMNS, diagnose, effect_rows, effects_csv, plain
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.figures import paper_figure, versus_figure
from inpaintbench.eval.report.page import parts_of, render
from inpaintbench.eval.report.two_methods import compare, markdown
from inpaintbench.eval.results.quantity import Quantity

CORRECTED = PROTOCOLS.get("devil/corrected")
PSNR = Quantity("psnr", "hole")
Key = tuple[str, str, str, str]


def by_key(effects: tuple[Effect, ...]) -> dict[Key, Effect]:
    return {(one.factor.name, one.levels[1], one.one, one.other): one for one in effects}


def test_an_effect_of_pairs_is_their_mean_difference_in_which_the_clip_cancels() -> None:
    items = paired_items()
    ids = sorted(items)
    values = noise(np.random.default_rng(0), items, ["a", "b"])
    large, fourth = (np.array([name.endswith(end) for name in ids]) for end in ("size", "four"))
    values["a"][large] -= 3
    values["b"][fourth] += 1.5
    found = by_key(diagnose(results_of(with_attributes(items, axes=AXES), values)).effects)
    own = found["size", "high", "a", ""]
    base = np.array([name.endswith("base") for name in ids])
    assert own.value == pytest.approx(values["a"][large].mean() - values["a"][base].mean())
    assert (own.n[0], own.n_sources[0], own.levels[0], own.told, own.better) == (24, 12, "low", True, False)
    assert own.low < -3 < own.high
    assert own.high - own.low < 1.5  # clips alone differ by a standard deviation of 2.8
    assert {key for key, one in found.items() if one.told} == {
        ("size", "high", "a", ""), ("size", "high", "a", "b"), ("speed", "four", "b", ""), ("speed", "four", "a", "b"),
    }  # fmt: skip
    assert found["size", "high", "a", "b"].value == pytest.approx(own.value - found["size", "high", "b", ""].value)
    assert found["speed", "four", "a", "b"].better is False


def test_slopes_of_one_regression_and_those_of_the_differences_of_methods() -> None:
    rng = np.random.default_rng(11)
    items = measured_items(rng)
    values = noise(rng, items, ["a", "b"])
    camera, size = skewed(column(items, CAMERA)), skewed(column(items, SIZE))
    values["a"] += -2 * camera - 3 * size
    values["b"] += -3 * size
    found = by_key(diagnose(results_of(with_attributes(items), values)).effects)
    # Holes differ within films, where these cancel: films alone differ by a standard deviation of 2.8, items by 0.5.
    assert found[SIZE, "", "a", ""].value == pytest.approx(-3, abs=0.2)
    assert found[SIZE, "", "a", ""].reach < 1.2
    assert (found[SIZE, "", "a", ""].n[0], found[SIZE, "", "a", ""].n_sources[0]) == (70, 14)
    # A camera that is its film's is told where the films' own difficulty cancels: of the difference.
    told = {key for key, one in found.items() if one.told}
    assert {(CAMERA, "", "a", "b"), (SIZE, "", "a", ""), (SIZE, "", "b", "")} <= told
    assert not {key for key in told if key[0] == POSE or key[:3] == (CAMERA, "", "b")}
    assert found[CAMERA, "", "a", "b"].low < -2 < found[CAMERA, "", "a", "b"].high


def test_who_lacks_items_has_no_effect_of_its_own_and_is_compared_over_the_items_of_both() -> None:
    items = paired_items()
    values = noise(np.random.default_rng(2), items, ["a", "b"])
    made = with_attributes(items, axes=AXES)
    results = results_of(made, values)
    scores = [one for one in results.scores if not (one.method == "b" and one.item_id.startswith("f00-0"))]
    found = by_key(diagnose(type(results)(made, scores, protocol=CORRECTED)).effects)
    assert {key[2:] for key in found} == {("a", ""), ("a", "b")}
    assert (found["size", "high", "a", ""].n[0], found["size", "high", "a", "b"].n[0]) == (24, 23)


@pytest.mark.parametrize("value", [None, math.inf])
def test_who_has_no_finite_value_has_no_effect_and_no_curve_and_the_others_have_theirs(value: float | None) -> None:
    rng = np.random.default_rng(16)
    items = measured_items(rng)
    made = with_attributes(items)
    results = results_of(made, noise(rng, items, ["a", "b"]))
    rows = [replace(one, value=value, reason="failed") if one.method == "b" else one for one in results.scores]
    broken = type(results)(made, rows, protocol=CORRECTED)
    found = diagnose(broken)
    assert {one.one for one in found.effects} == {"a"}
    assert {one.method for part in (found.curves, found.explained) for one in part} == {"a"}
    curve = next(iter(found.curves))
    assert curve == next(one for one in diagnose(results).curves if one[:3] == curve[:3])
    for name in ("fingerprint", "response"):
        assert paper_figure(broken, name, PSNR)["datasets"]
    [row] = compare(broken, "a", "b", quantities=[PSNR], slices=[broken.everything])
    assert row.difference is None
    assert "effect of each attribute" in markdown([row], one="a", other="b", results=broken, pictures={PSNR: "a.svg"})
    assert versus_figure(broken, "a", "b", PSNR)
    assert render(parts_of(broken, [], title="t"), [])


def test_where_nobody_has_a_finite_value_nothing_is_said() -> None:
    items = measured_items(np.random.default_rng(17))
    made = with_attributes(items)
    results = results_of(made, noise(np.random.default_rng(17), items, ["a", "b"]))
    failed = [replace(one, value=None, reason="failed") for one in results.scores]
    found = diagnose(type(results)(made, failed, protocol=CORRECTED))
    assert not any((found.effects, found.curves, found.together, found.explained, found.unexplained))


def test_a_curve_goes_through_the_means_of_steps_of_enough_sources() -> None:
    rng = np.random.default_rng(3)
    items = measured_items(rng, films=20)
    values = noise(rng, items, ["a"])
    size = column(items, SIZE)
    values["a"] -= 4 * skewed(size)
    curves = [one for one in diagnose(results_of(with_attributes(items), values)).curves if one.factor.name == SIZE]
    [curve] = curves
    assert 2 < len(curve.at) <= 8
    assert list(curve.at) == sorted(curve.at)
    assert curve.mean[0] > curve.mean[-1] + 8
    assert all(low < mean < high for low, mean, high in zip(curve.low, curve.mean, curve.high, strict=True))
    weights = np.diff(np.searchsorted(np.sort(size), [0, *curve.at, 1]))
    assert weights.sum() == len(curve.points) == len(items)
    assert {name: (x, y) for name, x, y in curve.points}["f00-0"] == (items["f00-0"][SIZE], values["a"][0])
    camera = next(one for one in diagnose(results_of(with_attributes(items), values)).curves if one.factor.name == CAMERA)
    assert len(camera.at) <= 5  # the camera is its film's, but for a little, and every step has to have six of the twenty


def test_what_an_axis_changes_has_a_curve_all_the_same() -> None:
    items = paired_items()
    for name, own in items.items():
        if name.endswith(("two", "four")):  # as builds do: the unchanged item has no fact of its axes
            own["mask.axis_frame_step"] = 2.0 if name.endswith("two") else 4.0
    values = noise(np.random.default_rng(18), items, ["a"])
    values["a"][[name.endswith("four") for name in sorted(items)]] -= 6
    found = diagnose(results_of(with_attributes(items, axes=AXES), values))
    assert {one.factor.name for one in found.effects} == {"size", "speed"}
    curves = {one.factor.name: one for one in found.curves}
    assert set(curves) == {SIZE, "mask.axis_frame_step"}
    assert curves["mask.axis_frame_step"].at == (1.0, 2.0, 4.0)
    first, _, last = curves["mask.axis_frame_step"].mean
    assert first - last == pytest.approx(6, abs=0.5)
    of_base = {name: at for name, at, _ in curves["mask.axis_frame_step"].points if name.endswith("base")}
    assert of_base.keys() == {name for name in items if name.endswith("base")}
    assert curves[SIZE].at == pytest.approx((0.02, 0.08))


def test_attributes_that_say_the_same_have_one_curve() -> None:
    rng = np.random.default_rng(19)
    items = measured_items(rng)
    for own in items.values():
        own["mask.overlay_fraction"] = own[SIZE]
    found = diagnose(results_of(with_attributes(items), noise(rng, items, ["a"])))
    assert "mask.overlay_fraction" in found.left_out
    assert {one.factor.name for one in found.curves} == {CAMERA, SIZE, POSE}


def test_factors_that_hurt_together_are_confirmed_on_the_other_half_and_no_others() -> None:
    rng = np.random.default_rng(4)
    items = measured_items(rng, films=40)
    camera, size = skewed(column(items, CAMERA)), skewed(column(items, SIZE))
    values = noise(rng, items, ["a", "b"])
    for own in values.values():
        own -= 2 * camera + 2 * size
    values["a"] -= 2 * camera * size
    [both] = diagnose(results_of(with_attributes(items), values)).together
    assert (both.one.name, both.other.name, both.method, both.quantity) == (CAMERA, SIZE, "a", PSNR)
    assert both.value == pytest.approx(-2, abs=both.reach)
    assert (both.p < 0.05, both.n_sources) == (True, 20)


def test_pairs_hurt_more_on_clips_whose_camera_moves() -> None:
    items = paired_items(films=30)
    ids, rng = sorted(items), np.random.default_rng(15)
    motion = {name: float(rng.uniform(0, 0.02)) for name in sorted({item.rpartition("-")[0] for item in ids})}
    for item in ids:
        items[item][CAMERA] = motion[item.rpartition("-")[0]]
    camera = skewed(column(items, CAMERA))
    values = noise(rng, items, ["a"])
    values["a"] -= np.array([item.endswith("size") for item in ids]) * (2 + 1.5 * camera)
    [both] = diagnose(results_of(with_attributes(items, axes=AXES), values)).together
    assert (both.one.name, both.other.name) == ("size", CAMERA)
    assert both.value == pytest.approx(-1.5, abs=both.reach)


def test_what_is_explained_holds_for_films_that_were_left_out_and_what_is_not_is_named() -> None:
    rng = np.random.default_rng(6)
    items = measured_items(rng, films=20)
    size = skewed(column(items, SIZE))
    values = noise(rng, items, ["a", "b"])
    values["b"] = 30 - 3 * size + rng.normal(scale=0.5, size=len(size))
    odd = sorted(items).index("f07-3")
    values["b"][odd] -= 6
    values["b"][odd + 1] -= 5  # of the same film, which is named once
    values["b"][odd - 1] += 6  # better than expected: no failure
    found = diagnose(results_of(with_attributes(items), values))
    shares = {one.method: one.share for one in found.explained}
    assert shares["b"] > 0.75
    assert shares["a"] < 0.05
    worst, *others = (one for one in found.unexplained if one.method == "b")
    assert worst.item_id == "f07-3"
    assert worst.residual == pytest.approx(worst.score - worst.expected)
    assert worst.residual < -4
    assert not any(one.item_id.startswith("f07") for one in others)
    assert len(others) < 5


def test_where_nothing_differs_nothing_is_said() -> None:
    items = {f"f{film:02}-{item}": {} for film in range(8) for item in range(3)}
    found = diagnose(results_of(with_attributes(items), noise(np.random.default_rng(7), items, ["a", "b"])))
    assert not any(found[:-1])
    assert found.left_out == {}


def test_a_slope_needs_nine_sources() -> None:
    items = measured_items(np.random.default_rng(9), films=8)
    found = diagnose(results_of(with_attributes(items), noise(np.random.default_rng(9), items, ["a"])))
    assert found.left_out[CAMERA] == "8 sources: a slope needs at least 9"
    assert not found.effects


@pytest.mark.parametrize("films", [12, 24])
def test_where_there_is_nothing_little_is_told(films: int) -> None:
    """Of 40 studies of pairs and 40 of slopes, with all their differences; 5 % are 2, and 6 or more have a chance of 1 %."""
    told = np.zeros(2, np.int64)
    for study in range(40):
        rng = np.random.default_rng([films, study])
        pairs, slopes = paired_items(films), measured_items(rng, films)
        for at, made in enumerate((with_attributes(pairs, axes=AXES), with_attributes(slopes))):
            items = (pairs, slopes)[at]
            told[at] += any(one.told for one in diagnose(results_of(made, noise(rng, items, ["a", "b", "c"]))).effects)
    assert (told < 6).all(), told


def test_files_hold_every_effect_and_no_item_of_a_curve() -> None:
    items = measured_items(np.random.default_rng(8))
    results = results_of(with_attributes(items), noise(np.random.default_rng(8), items, ["a", "b"]))
    found = diagnose(results)
    assert diagnose(results) is found
    lines = effects_csv(found.effects, CORRECTED).decode().splitlines()
    assert lines[0] == ",".join(EFFECT_COLUMNS)
    assert len(lines) == 1 + len(found.effects) == 1 + 3 * 3
    row = effect_rows(found.effects, CORRECTED)[0]
    assert (row["metric"], row["standing"], row["other"], row["interval_low"]) == ("psnr", "primary", None, found.effects[0].low)
    data = json.loads(json.dumps(plain(found, CORRECTED)))
    assert {name: len(part) for name, part in data.items() if part} == {
        "factors": 3, "effects": 9, "curves": len(found.curves), "explained": 2,
        **({"unexplained": len(found.unexplained)} if found.unexplained else {}),
    }  # fmt: skip
    assert set(data["curves"][0]) == {"factor", "metric", "region", "method", "at", "mean", "interval_low", "interval_high"}
