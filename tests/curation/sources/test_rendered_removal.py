"""Rendered scenes: with and without their object they differ where it and its side effects are, and by how much is known."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.curation.sources import embedded
from inpaintbench.curation.sources import removal_objects as objects
from inpaintbench.curation.sources.removal_objects import Piece
from inpaintbench.curation.sources.rendered_removal import (
    COMMON,
    LEVELS,
    STRENGTHS,
    TURNS,
    Rendered,
    RenderedRemoval,
    Scene,
    render,
    scenes,
)  # fmt: skip
from inpaintbench.errors import InputError

WIDTH, HEIGHT, FRAMES = 160, 96, 6


@cache
def plan() -> list[Scene]:
    return scenes(12, frames=FRAMES)


@cache
def rendered(place: int) -> Rendered:
    return render(plan()[place], width=WIDTH, height=HEIGHT)


def changed(made: Rendered, level: str) -> np.ndarray:
    return np.asarray(np.abs(made.inputs[level].astype(int) - made.truth).max(axis=-1) >= 1)


def test_scenes_have_every_kind_of_side_effect_and_of_everything_else() -> None:
    many = scenes(60)
    assert {kind for scene in many for kind in scene.effects} == set(STRENGTHS)
    assert {scene.kind for scene in many} == {*STRENGTHS, "combined"} - {"exposure"}
    assert {scene.thing for scene in many} == set(objects.OBJECTS)
    for wanted in ("size", "moves", "path", "water", "photograph", "motion"):
        assert len({getattr(scene, wanted) for scene in many}) > 1, wanted
    assert len({scene.name for scene in many}) == 60
    assert many[:7] == scenes(7)
    assert scenes(7, seed=1) != scenes(7)


@pytest.mark.parametrize("place", range(6))
def test_the_truth_is_the_film_without_the_object_to_the_byte(place: int) -> None:
    made = rendered(place)
    np.testing.assert_array_equal(made.truth, embedded.film(plan()[place].shot, width=WIDTH, height=HEIGHT).frames)
    assert (made.inputs[COMMON] == made.truth)[~made.thing].all()
    assert made.thing.any(axis=(1, 2)).all()
    assert not made.thing.all(axis=(1, 2)).any()


@pytest.mark.parametrize("place", range(6))
def test_stronger_effects_change_the_same_places_more(place: int) -> None:
    scene, made = plan()[place], rendered(place)
    outside = [changed(made, level) & ~made.thing for level in LEVELS]
    sums = [float(np.abs(made.inputs[level].astype(int) - made.truth)[~made.thing].sum()) for level in LEVELS]
    if scene.effects == ("translucency",):
        assert not any(map(np.any, outside))
        inside = [np.abs(made.inputs[level].astype(int) - made.truth)[made.thing].mean() for level in (*LEVELS, COMMON)]
        assert inside == sorted(inside)  # more and more of the thing shows
    else:
        assert 0 < sums[0] < sums[1] < sums[2]
        assert (outside[0] <= outside[1]).mean() > 0.995  # flicker of light ends elsewhere in each strength


@pytest.mark.parametrize("place", [*range(6), 10, 11])
def test_who_leaves_everything_scores_the_worse_the_stronger_the_effect_is(place: int) -> None:
    made = rendered(place)
    region = made.thing | changed(made, "high")
    errors = [((made.inputs[level].astype(int) - made.truth)[region] ** 2).mean() for level in LEVELS]
    psnr = [10 * np.log10(255**2 / error) for error in errors]
    assert psnr[0] > psnr[1] > psnr[2]


def test_a_shadow_begins_at_the_foot_and_takes_the_share_of_light_that_it_is_said_to_take() -> None:
    still = {"moves": "still", "motion": "tripod", "speed": 0.0, "path": "line", "water": False}
    scene = replace(plan()[6], thing="box", photograph="rocket", **still)
    made = render(scene, width=WIDTH, height=HEIGHT, levels=("high",))
    shown = np.abs(made.inputs["high"].astype(int) - made.truth).max(axis=-1)[0]
    below = np.flatnonzero((shown * ~made.thing[0]).any(axis=1))
    foot = np.flatnonzero(made.thing[0].any(axis=1)).max()
    assert below.min() >= foot - 4  # of the penumbra
    strength = STRENGTHS["shadow"][2]
    core = shown[foot + 2 : foot + 5]
    before = embedded.noiseless(scene.shot, width=WIDTH, height=HEIGHT).frames[0].max(axis=-1)[foot + 2 : foot + 5]
    assert (core.max(axis=1) <= np.ceil(strength * before.max(axis=1)) + 1).all()
    assert core.max() >= 0.8 * strength * before.max() - 1


def test_mirror_images_and_reflections_are_mirror_images() -> None:
    one = objects.thing("astronaut", height=40, seed=0).pictures[0]
    upright = objects.upright(one, (60.0, 50.0), 1.0)
    size = {"width": 140, "height": 100}
    here = objects.seen(one, upright, **size)
    there = objects.seen(one, objects.turned_round(upright, 70.0), **size)
    below = objects.seen(one, objects.upside_down(one, (60.0, 50.0), 1.0), **size)
    assert here is not None
    assert there is not None
    assert below is not None
    frames = []
    for found in (here, there, below):
        frame = np.zeros((100, 140))
        found.piece.of(frame)[...] = found.piece.cover
        frames.append(frame)
    np.testing.assert_allclose(frames[1][:, 20:121], frames[0][:, 20:121][:, ::-1], atol=0.3)
    np.testing.assert_allclose(frames[2][30:71], frames[0][30:71][::-1], atol=0.3)
    assert abs(frames[1].sum() - frames[0].sum()) < 0.01 * frames[0].sum()


def test_a_floor_fades_and_a_mirror_ends_at_its_edge() -> None:
    cover = np.ones((20, 10))
    found = objects.Seen(Piece(40, 5, cover), np.zeros((20, 10, 3)))
    faded = objects.faded(found, contact_row=40.0, reach=20.0).piece.cover
    np.testing.assert_allclose(faded[:, 0], 1 - np.arange(20) / 20)
    inside = objects.within(found, [(8.0, 42.0), (12.0, 42.0), (12.0, 50.0), (8.0, 50.0)]).piece.cover
    assert inside[2:11, 3:8].all()
    assert not inside[:, :2].any()
    assert not inside[13:].any()


def test_a_shadow_is_softer_far_from_where_it_begins() -> None:
    one = objects.thing("box", height=60, seed=0).pictures[0]
    piece = objects.shade(one, objects.lying(one, (60.0, 20.0), 1.0, (0.0, 1.0)), contact_row=20.0, width=160, height=140)
    assert piece is not None
    frame = np.zeros((140, 160))
    piece.of(frame)[...] = piece.cover
    steps = [np.abs(np.diff(frame[row])).max() for row in (26, 70)]
    assert steps[0] > 2 * steps[1] > 0


def test_obtain_writes_the_film_its_inputs_and_what_is_known_of_them(tmp_path: Path) -> None:
    source = RenderedRemoval(items=6, width=WIDTH, height=HEIGHT, frames=FRAMES)
    first, second = source.footage()
    assert list(source.footage()) == [first, second]
    assert json.loads(json.dumps(first.payload)) == first.payload
    assert second.payload["levels"] == ["mid", "high"]
    assert first.licence
    path = source.obtain(json.loads(json.dumps(second.payload)), str(tmp_path))
    scene = scenes(2, frames=FRAMES)[1]
    made = render(scene, width=WIDTH, height=HEIGHT)
    np.testing.assert_array_equal(video.read_frames(path), made.truth)
    parts = {part.name for part in (tmp_path / "parts").iterdir()}
    assert parts == {"object_mask.mp4", "input_mid.mp4", "input_high.mp4", "scene.json"}
    np.testing.assert_array_equal(video.read_frames(tmp_path / "parts" / "input_high.mp4"), made.inputs["high"])
    np.testing.assert_array_equal(video.read_hole(tmp_path / "parts" / "object_mask.mp4"), made.thing)
    said = json.loads((tmp_path / "parts" / "scene.json").read_text())
    assert said["effects"]["high"] == {TURNS[1][0]: STRENGTHS[TURNS[1][0]][2]}
    np.testing.assert_allclose(said["homographies"], made.film.homographies)


@pytest.mark.parametrize(
    ("constants", "words"),
    [
        ({"items": 0}, "0 items of 40 frames cannot be rendered"),
        ({"frames": 1}, "24 items of 1 frames cannot be rendered"),
        ({"width": 640}, "frames of 640x160 cannot be rendered"),
    ],
)
def test_what_cannot_be_rendered_is_told(constants: dict[str, int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        RenderedRemoval(**constants)
