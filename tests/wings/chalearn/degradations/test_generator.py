"""Degraded prints: input and truth share everything but the degradation, every constant at both ends, bad input."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from inpaintbench import video
from inpaintbench.errors import InputError, Rejected, UnknownNameError
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.degradations.backgrounds import MATERIALS
from inpaintbench.wings.chalearn.degradations.generator import EFFECTS, MOST_STRENGTH, FingerprintDegradation
from inpaintbench.wings.chalearn.fingerprints.fields import elastic_field, warp
from inpaintbench.wings.chalearn.fingerprints.records import Elastic, Finger, Impression, Print

HEIGHT, WIDTH = 200, 138
RECIPES = ("corrected", "as-published")
SIZES = {"height": st.integers(1, 70), "width": st.integers(1, 70)}
Picture = npt.NDArray[np.uint8]


def print_of(height: int, width: int, *, pixels_per_inch: float = 500.0, elastic: Elastic | None = None) -> Print:
    return Print(
        Finger("arch", width, height, pixels_per_inch, (), (), (), (2.0, 1.0, 1.0), 1),
        Impression(0, 0.0, 0.5, (60.0, 60.0, 80.0, 90.0), (0.0, 0.0), 0.0, (0.0, 0.0), 2.0, 1.0, 0, 1),
        elastic or Elastic(7, 2.0 * max(height, width), 0.08 * max(height, width)),
    )


def ridges(height: int = HEIGHT, width: int = WIDTH) -> Picture:
    """An oval of arched ridges on white paper."""
    rows, columns = np.mgrid[:height, :width]
    far = ((rows - height / 2) / (0.46 * height)) ** 2 + ((columns - width / 2) / (0.46 * width)) ** 2
    wave = np.cos(2 * np.pi * (rows + 18 * np.cos(np.pi * (columns / width - 0.5))) / 9)
    return np.where(far < 1, np.clip(127.5 + 250 * wave, 0, 255), 255).astype(np.uint8)


def view_of(undistorted: Picture, print_: Print, *, frames: int = 1) -> ItemView:
    pictures = np.repeat(np.repeat(undistorted[None, ..., None], 3, axis=-1), frames, axis=0)
    parts = {"undistorted": lambda: pictures, "print": lambda: json.loads(json.dumps(asdict(print_)))}
    height, width = undistorted.shape
    view = ItemView(item_id="item", frames=frames, height=height, width=width, fps=30.0, parts=parts)
    return view.declaring("fingerprint_degradation", FingerprintDegradation.needs)


def draw(leaf: FingerprintDegradation, seed: int = 0, *, picture: Picture | None = None, print_: Print | None = None) -> Drawn:
    picture = ridges() if picture is None else picture
    print_ = print_of(*picture.shape) if print_ is None else print_
    drawn = leaf.generate(view_of(picture, print_), np.random.default_rng(seed))
    assert drawn.hole is None
    assert drawn.input is not None
    assert drawn.input.shape == (1, *picture.shape, 3)
    assert drawn.input.dtype == np.uint8
    json.dumps(drawn.facts, allow_nan=False)
    return drawn


def truth_of(picture: Picture, print_: Print) -> Picture:
    elastic = print_.elastic
    field = elastic_field(*picture.shape, seed=elastic.seed, strength=elastic.strength, reach=elastic.reach)
    return np.repeat(warp(picture, field)[..., None], 3, axis=-1)


@settings(max_examples=40, deadline=None)
@given(**SIZES, seed=st.integers(0, 999), nothing=st.sampled_from([{"strength": 0.0}, {"effects": ()}]))
@pytest.mark.parametrize(("recipe", "backgrounds"), [("corrected", "white"), ("corrected", "none"), ("as-published", "none")])
def test_no_effect_and_no_background_gives_the_truth(
    recipe: Any, backgrounds: str, height: int, width: int, seed: int, nothing: dict[str, Any]
) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)
    print_ = print_of(height, width, elastic=Elastic(seed, 2.0 * max(height, width), 0.08 * max(height, width)))
    drawn = draw(FingerprintDegradation(recipe=recipe, backgrounds=backgrounds, **nothing), seed, picture=picture, print_=print_)
    np.testing.assert_array_equal(drawn.input[0], truth_of(picture, print_))  # type: ignore[index]
    assert drawn.facts["change_rms"] == drawn.facts["wear_rms"] == 0
    assert drawn.facts["lines"] == drawn.facts["blocks"] == 0


@settings(max_examples=60, deadline=None)
@given(
    **SIZES,
    recipe=st.sampled_from(RECIPES),
    strength=st.sampled_from([0.0, 1e-9, 1.0, MOST_STRENGTH]),
    backgrounds=st.sampled_from(["procedural", "white", "none", *MATERIALS]),
    jpeg_quality=st.sampled_from([None, 1, 100]),
    pixels_per_inch=st.sampled_from([72.0, 500.0, 2000.0]),
    elastic=st.sampled_from([Elastic(0, 0.0, 5.0), Elastic(3, 500.0, 0.5), Elastic(2**62, 40.0, 60.0)]),
    seed=st.integers(0, 999),
)
def test_every_constant_at_both_ends_at_any_size(
    height: int, width: int, recipe: Any, strength: float, backgrounds: str, jpeg_quality: int | None, pixels_per_inch: float,
    elastic: Elastic, seed: int,
) -> None:  # fmt: skip
    leaf = FingerprintDegradation(recipe=recipe, strength=strength, backgrounds=backgrounds, jpeg_quality=jpeg_quality)
    print_ = print_of(height, width, pixels_per_inch=pixels_per_inch, elastic=elastic)
    drawn = draw(leaf, seed, picture=ridges(height, width), print_=print_)
    again = draw(leaf, seed, picture=ridges(height, width), print_=print_)
    np.testing.assert_array_equal(drawn.input, again.input)
    assert drawn.facts == again.facts
    assert 0 <= drawn.facts["change_rms"] <= 1


@pytest.mark.parametrize(("recipe", "effect"), [(recipe, effect) for recipe in RECIPES for effect in EFFECTS[recipe]])
def test_each_effect_alone_changes_the_print_and_only_it(recipe: Any, effect: str) -> None:
    leaf = FingerprintDegradation(recipe=recipe, effects=[effect], backgrounds="none")
    facts = [draw(leaf, seed).facts for seed in range(8)]
    assert all(one["order"] == [effect] for one in facts)
    assert max(one["change_rms"] for one in facts) > 0.01


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_effect_comes_once_lines_first_the_others_in_any_order(recipe: Any) -> None:
    leaf = FingerprintDegradation(recipe=recipe, backgrounds="none")
    orders = [draw(leaf, seed).facts["order"] for seed in range(25)]
    for order in orders:
        assert sorted(order) == sorted(EFFECTS[recipe])
        assert order[0] == "lines"
        assert recipe == "as-published" or order[-1] == "blocks"
    assert len({order[1] for order in orders}) >= 4
    assert len({tuple(order) for order in orders}) > 15


def test_effects_do_not_change_what_is_drawn_for_the_others() -> None:
    few = draw(FingerprintDegradation(effects=["wet", "blur"]), 5).facts
    every = draw(FingerprintDegradation(strength=0.5), 5).facts
    halves = {one["name"]: one for one in every["effects"]}
    for one in few["effects"]:
        for name, value in one.items():
            assert name == "name" or halves[one["name"]][name] == pytest.approx(value / 2)
    assert few["background"] == every["background"]


def test_strength_makes_it_worse() -> None:
    for recipe in RECIPES:
        means = [
            np.mean(
                [
                    draw(FingerprintDegradation(recipe=recipe, strength=s, backgrounds="none"), seed).facts["change_rms"]  # type: ignore[arg-type]
                    for seed in range(12)
                ]
            )
            for s in (0.0, 0.3, 1.0, 3.0)
        ]
        assert (np.diff(means) > 0).all()


@pytest.mark.parametrize("recipe", RECIPES)
def test_input_and_truth_are_bent_alike(recipe: Any) -> None:
    # A few lines change little: what is left must lie where the truth has it, far better than where the undistorted print has.
    picture, print_ = ridges(), print_of(HEIGHT, WIDTH)
    drawn = draw(FingerprintDegradation(recipe=recipe, effects=["lines"], backgrounds="none", strength=0.3), 1)
    found = drawn.input[0, ..., 0].astype(float)  # type: ignore[index]
    to_truth = np.abs(found - truth_of(picture, print_)[..., 0]).mean()
    to_undistorted = np.abs(found - picture).mean()
    assert to_truth < 0.3 * to_undistorted


def test_the_published_composite_hides_white_and_keeps_grey() -> None:
    picture = np.full((60, 40), 255, np.uint8)
    picture[:, 20:] = 128
    plain = Elastic(1, 0.0, 4.0)
    options: dict[str, Any] = {"effects": (), "backgrounds": "white"}
    print_ = print_of(60, 40, elastic=plain)
    published = draw(FingerprintDegradation(recipe="as-published", **options), picture=picture, print_=print_)
    # bg f/255 + f (1 - f/255) with a white background
    assert published.input[0, 0, 0].tolist() == [255] * 3  # type: ignore[index]
    assert published.input[0, 0, 30].tolist() == pytest.approx([128 + 128 * (1 - 128 / 255)] * 3, abs=1)  # type: ignore[index]
    corrected = draw(FingerprintDegradation(**options), picture=picture, print_=print_)
    np.testing.assert_array_equal(corrected.input[0, ..., 0], picture)  # type: ignore[index]


def test_wear_is_that_of_the_print_and_change_that_of_the_input() -> None:
    picture, print_ = ridges(), print_of(HEIGHT, WIDTH)
    drawn = draw(FingerprintDegradation(backgrounds="wood"), 4)
    grey = np.asarray(Image.fromarray(drawn.input[0]).convert("L"), float) / 255  # type: ignore[index]
    expected = math.sqrt(((grey - truth_of(picture, print_)[..., 0] / 255) ** 2).mean())
    assert drawn.facts["change_rms"] == pytest.approx(expected, rel=1e-5)
    bare = draw(FingerprintDegradation(backgrounds="none", effects=[e for e in EFFECTS["corrected"] if e != "blocks"]), 4)
    assert drawn.facts["wear_rms"] == bare.facts["wear_rms"] == bare.facts["change_rms"] < drawn.facts["change_rms"]


def test_lengths_grow_with_the_resolution_of_the_print() -> None:
    picture = ridges(400, 276)
    leaf = FingerprintDegradation(effects=["blur"], backgrounds="none")
    fine, coarse = (
        draw(leaf, 2, picture=picture, print_=print_of(400, 276, pixels_per_inch=ppi)).facts["effects"][0]["sigma_pixels"]
        for ppi in (1000.0, 500.0)
    )
    assert fine == pytest.approx(2 * coarse)


def test_procedural_backgrounds_are_all_drawn_and_a_list_limits_them() -> None:
    leaf = FingerprintDegradation(effects=())
    assert {draw(leaf, seed, picture=ridges(40, 30)).facts["background"] for seed in range(60)} == set(MATERIALS)
    some = FingerprintDegradation(effects=(), backgrounds=["wood", "leather"])
    drawn = [draw(some, seed, picture=ridges(40, 30)).facts for seed in range(20)]
    assert {facts["background"] for facts in drawn} == {"wood", "leather"}
    assert not any("background_file" in facts or "background_sha256" in facts for facts in drawn)


def test_jpeg_leaves_its_blocks() -> None:
    clean, squeezed = (
        draw(FingerprintDegradation(backgrounds="paper", jpeg_quality=quality), 3).input[0].astype(float)  # type: ignore[index]
        for quality in (None, 40)
    )
    assert 0.5 < np.abs(clean - squeezed).mean() < 12

    def seams(picture: npt.NDArray[np.float64], phase: int) -> float:
        steps = np.abs(np.diff(picture.mean(axis=2), axis=1))
        return float(steps[:, phase::8].mean())

    assert seams(squeezed, 7) / np.mean([seams(squeezed, phase) for phase in range(7)]) > 1.05 * (
        seams(clean, 7) / np.mean([seams(clean, phase) for phase in range(7)])
    )


def test_photographs_of_a_folder(tmp_path: Path) -> None:
    for name, level in (("dim.png", 100), ("light.png", 230)):
        video.write_image(tmp_path / name, np.full((90, 120, 3), level, np.uint8))
    leaf = FingerprintDegradation(effects=(), backgrounds="photographs", folder=str(tmp_path))
    seen = {}
    for seed in range(12):
        drawn = draw(leaf, seed)
        assert drawn.facts["background"] == "photographs"
        file = tmp_path / drawn.facts["background_file"]
        assert drawn.facts["background_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        seen[file.name] = int(drawn.input[0, 0, 0, 0])  # type: ignore[index]
    assert seen == {"dim.png": 100, "light.png": 230}


def test_a_broken_photograph_is_named(tmp_path: Path) -> None:
    (tmp_path / "torn.jpg").write_bytes(b"\xff\xd8\xff")
    leaf = FingerprintDegradation(backgrounds="photographs", folder=str(tmp_path))
    with pytest.raises(InputError, match=r"background torn.jpg cannot be opened as an image"):
        draw(leaf)


def test_bad_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"folder of backgrounds .*missing' is not a folder"):
        FingerprintDegradation(backgrounds="photographs", folder=str(tmp_path / "missing"))
    with pytest.raises(InputError, match=r"holds no pictures"):
        FingerprintDegradation(backgrounds="photographs", folder=str(tmp_path))
    with pytest.raises(InputError, match=r"backgrounds is 'photographs' and folder is None: photographs need both"):
        FingerprintDegradation(backgrounds="photographs")
    with pytest.raises(InputError, match=r"backgrounds is 'procedural' and folder is .*: photographs need both"):
        FingerprintDegradation(folder=str(tmp_path))


@pytest.mark.parametrize("strength", [-0.1, 4.1, math.nan, math.inf, True, "1"])
def test_bad_strengths_are_named(strength: Any) -> None:
    with pytest.raises(InputError, match=r"strength is .*, give a number from 0 \(no effect\) to 4"):
        FingerprintDegradation(strength=strength)


@pytest.mark.parametrize("quality", [0, 101, 7.5, True, "75"])
def test_bad_qualities_are_named(quality: Any) -> None:
    with pytest.raises(InputError, match=r"jpeg_quality is .*, give a whole number from 1 to 100"):
        FingerprintDegradation(jpeg_quality=quality)


def test_bad_names_are_named() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown recipe of degradation 'correct', did you mean 'corrected'"):
        FingerprintDegradation(recipe="correct")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=r"unknown effect 'blurr', did you mean 'blur'"):
        FingerprintDegradation(effects=["blurr"])
    with pytest.raises(InputError, match=r"effect 'dry' is not one of recipe 'as-published': leave it out"):
        FingerprintDegradation(recipe="as-published", effects=["dry"])
    with pytest.raises(InputError, match=r"effects is 'blur', give a list of names"):
        FingerprintDegradation(effects="blur")
    with pytest.raises(UnknownNameError, match=r"unknown backgrounds 'wod', did you mean 'wood'"):
        FingerprintDegradation(backgrounds="wod")
    kinds: Sequence[str]
    for kinds in (["wood", "photographs"], ["white"]):
        with pytest.raises(UnknownNameError, match=r"unknown background '(photographs|white)'"):
            FingerprintDegradation(backgrounds=kinds)
    with pytest.raises(InputError, match=r"backgrounds is \[\], name at least one of paper, wood"):
        FingerprintDegradation(backgrounds=[])


def test_clips_of_several_frames_are_rejected() -> None:
    view = view_of(ridges(), print_of(HEIGHT, WIDTH), frames=2)
    with pytest.raises(Rejected, match="the clip has 2 frames, but a print is one picture"):
        FingerprintDegradation().generate(view, np.random.default_rng(0))
