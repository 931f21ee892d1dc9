import json
from collections import Counter
from dataclasses import replace

import cv2
import numpy as np
import pytest
from skimage import data

from inpaintbench import video
from inpaintbench.curation.sources.embedded import (
    PLAN,
    EmbeddedSources,
    Shot,
    camera_path,
    film,
    render,
    shots,
    stills_and_pans,
    water_share,
)
from inpaintbench.curation.sources.virtual_camera import MOTIONS, PHOTOGRAPHS
from inpaintbench.errors import InputError, UnknownNameError

SIZES = [(416, 240), (832, 480), (854, 480)]
DOCUMENTED = {
    "coffee": data.coffee,
    "rocket": data.rocket,
    "motorcycle": data.stereo_motorcycle,
    "hubble": data.hubble_deep_field,
    "chelsea": data.chelsea,
    "astronaut": data.astronaut,
    "retina": data.retina,
    "tissue": data.immunohistochemistry,
}


def shot(motion="pan_right", *, photograph="coffee", speed=0.2, frames=20, **changes):
    return replace(Shot("test", photograph, motion, speed, frames), **changes)


def small(changed):
    return film(changed, width=208, height=120)


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_photographs_are_in_the_wheel_and_have_the_stated_size(name):
    photograph = PHOTOGRAPHS[name]
    assert video.read_image(photograph.path()).shape == (photograph.height, photograph.width, 3)
    documentation = " ".join(DOCUMENTED[name].__doc__.split())
    assert (photograph.author or "") in documentation
    assert (photograph.page_url or "") in documentation
    if photograph.licence:
        assert photograph.licence.split("-")[0].lower() in documentation.lower()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_forty_shots_fit_at_every_size(width, height):
    found = shots(40, width=width, height=height)
    assert len({each.name for each in found}) == 40
    assert {each.motion for each in found} == set(MOTIONS)
    assert sum(each.water_share > 0 for each in found) == 20
    assert all(60 <= each.frames <= 90 for each in found)
    assert len({(each.motion, each.speed, each.photograph, each.water_share) for each in found}) >= 38
    for each in found:
        path, photograph = camera_path(each, width=width, height=height), PHOTOGRAPHS[each.photograph]
        assert np.linalg.svd(path[:, :2, :2], compute_uv=False).min() >= 1 - 1e-12
        corners = np.array([[-0.5, -0.5, 1], [width - 0.5, -0.5, 1], [-0.5, height - 0.5, 1], [width - 0.5, height - 0.5, 1]])
        seen = (path @ corners.T)[:, :2]
        assert seen.min() >= -0.5 - 1e-9
        assert seen[:, 0].max() <= photograph.width - 0.5 + 1e-9
        assert seen[:, 1].max() <= photograph.height - 0.5 + 1e-9


def test_water_covers_the_share_that_counts_as_high_for_every_shot():
    wet = [each for each in shots(40) if each.water_share]
    assert all(0.35 <= water_share(each, width=416, height=240) <= 0.45 for each in wet)


def test_all_photographs_and_both_kinds_of_scene_are_used_evenly():
    uses = Counter(each.photograph for each in shots(40))
    assert set(uses) == set(PHOTOGRAPHS)
    assert max(uses.values()) - min(uses.values()) <= 2
    wet = {each.motion for each in shots(40) if each.water_share}
    dry = {each.motion for each in shots(40) if not each.water_share}
    assert wet == dry == set(MOTIONS)


def test_fewer_shots_are_the_first_of_more_and_seeds_change_the_view():
    assert shots(7) == shots(40)[:7]
    assert len({each.name for each in shots(100)}) == 100
    first, other = shots(1)[0], shots(1, seed=1)[0]
    assert not np.array_equal(camera_path(first, width=416, height=240), camera_path(other, width=416, height=240))


def test_large_sizes_leave_out_what_does_not_fit_and_end_in_a_sentence():
    assert {each.motion for each in shots(40, width=1400, height=700)} < set(MOTIONS)
    with pytest.raises(InputError, match=r"no embedded photograph is large enough for 1920x1080 clips.*1411x1411"):
        shots(4, width=1920, height=1080)
    with pytest.raises(InputError, match=r"'chelsea' \(451x300\) is too small for a 416x240 pan_right of speed 0.5"):
        film(shot(photograph="chelsea", speed=0.5), width=416, height=240)


def test_wrong_names_and_speeds_are_sentences():
    with pytest.raises(UnknownNameError, match="did you mean 'coffee'"):
        small(shot(photograph="cofee"))
    with pytest.raises(UnknownNameError, match="did you mean 'pan_right'"):
        small(shot("pan_rigth"))
    with pytest.raises(InputError, match=r"speed 1, it must be a share"):
        small(shot("zoom_in", speed=1.0))


def relative_homography(film, i, j):
    """``float64[3, 3]`` that maps pixel coordinates of frame ``i`` to those of frame ``j``, exact outside the water."""
    return np.linalg.inv(film.homographies[j]) @ film.homographies[i]


def test_the_homography_of_a_pan_is_what_phase_correlation_finds():
    found = small(shot("pan_and_tilt", photograph="motorcycle", noise=0.0))
    grey = [cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY).astype(np.float64) for frame in found.frames]
    window = cv2.createHanningWindow((208, 120), cv2.CV_64F)
    for i, j in [(0, 4), (9, 5), (10, 13)]:
        shift, _ = cv2.phaseCorrelate(grey[i], grey[j], window)
        wanted = relative_homography(found, i, j)
        np.testing.assert_allclose(shift, wanted[:2, 2], atol=0.25)
        np.testing.assert_allclose(wanted[:2, :2], np.eye(2), atol=1e-12)


@pytest.mark.parametrize("motion", sorted(MOTIONS))
def test_warping_one_frame_gives_another_outside_the_water(motion):
    # Enough detail to notice half a pixel, little enough that interpolating twice does no harm.
    found = small(shot(motion, photograph="motorcycle", speed=0.06, water_share=0.4))
    # An unsteady hand ends where it began.
    first, last = found.frames[0].astype(np.float32), found.frames[11].astype(np.float32)
    matrix = relative_homography(found, 0, 11)
    warped = cv2.warpPerspective(first, matrix, (208, 120))
    covered = cv2.warpPerspective((~found.water[0]).astype(np.float32), matrix, (208, 120)) >= 1
    land = covered & ~found.water[11]
    assert land.mean() > 0.35
    difference = np.abs(warped - last)[land].mean()
    # Two frames of noise of standard deviation 1.5 differ by 1.7 on average.
    assert difference < 5
    if motion != "tripod":
        assert difference < 0.5 * np.abs(first - last)[land].mean()
    else:
        assert 1.2 < difference < 2


def test_water_moves_and_its_extent_is_known():
    found = small(shot("tripod", speed=0.0, water_share=0.4))
    assert found.water.shape == (20, 120, 208)
    assert found.water_share == pytest.approx(found.water.mean(), abs=0.01)
    assert found.water_share == pytest.approx(0.4, abs=0.015)
    change = np.abs(found.frames[0].astype(int) - found.frames[10]).mean(axis=2)
    assert change[found.water[0]].mean() > 4 * change[~found.water[0]].mean()


def test_a_dry_shot_knows_that_it_has_no_water():
    found = small(shot("tripod", speed=0.0))
    assert found.water is None
    assert found.water_share == 0
    assert not np.array_equal(found.frames[0], found.frames[1])
    still = small(shot("tripod", speed=0.0, noise=0.0))
    assert np.ptp(still.frames, axis=0).max() == 0


def test_the_same_shot_gives_the_same_bytes_on_any_number_of_threads():
    wanted = shot("zoom_and_pan", speed=0.3, water_share=0.4)
    threads = cv2.getNumThreads()
    try:
        films = []
        for count in (1, 4, 3):
            cv2.setNumThreads(count)
            films.append(film(wanted, width=416, height=240))
    finally:
        cv2.setNumThreads(threads)
    for other in films[1:]:
        np.testing.assert_array_equal(films[0].frames, other.frames)
        np.testing.assert_array_equal(films[0].water, other.water)
        np.testing.assert_array_equal(films[0].homographies, other.homographies)


def test_footage_is_described_and_labelled():
    footage = list(EmbeddedSources(count=20).footage())
    assert len({each.name for each in footage}) == len({each.content for each in footage}) == 20
    for each in footage:
        assert each.uri == f"embedded:{each.name}"
        assert each.origin == "embedded"
        assert json.loads(json.dumps(each.payload)) == each.payload
        photograph = PHOTOGRAPHS[each.payload["photograph"]]
        assert (each.licence, each.author, each.page_url) == (photograph.licence, photograph.author, photograph.page_url)
    levels = Counter(each.known["bg_scene_motion_level"] for each in footage)
    assert levels == {"high": 10, "low": 10}
    assert all((each.known["bg_scene_motion"] > 0) == (each.known["bg_scene_motion_level"] == "high") for each in footage)


def test_content_changes_with_everything_that_determines_the_footage():
    first = next(EmbeddedSources(count=1).footage()).content
    assert next(EmbeddedSources(count=3).footage()).content == first
    assert next(EmbeddedSources(count=1, width=414).footage()).content != first
    assert next(EmbeddedSources(count=1, seed=1).footage()).content != first


def test_rendering_is_lossless_and_repeats(tmp_path):
    payload = dict(list(EmbeddedSources(count=2, width=96, height=64).footage())[1].payload)
    obtained = EmbeddedSources().obtain(payload, str(tmp_path))
    wanted = film(shots(2, width=96, height=64)[1], width=96, height=64).frames
    np.testing.assert_array_equal(video.read_frames(obtained), wanted)
    render(payload, tmp_path / "again.mp4")
    with open(obtained, "rb") as one, open(tmp_path / "again.mp4", "rb") as two:
        assert one.read() == two.read()


def test_the_plan_goes_from_still_to_fast():
    speeds = [speed for _, speed in PLAN]
    assert {motion for motion, _ in PLAN} == set(MOTIONS)
    assert sum(speed <= 0.03 for speed in speeds) >= 4
    assert sum(speed >= 0.3 for speed in speeds) >= 4


def test_stills_and_pans_differ_in_the_camera_alone_and_have_licences():
    plan = stills_and_pans(14, width=288, height=160, frames=48)
    by_photograph = {name: [shot for shot in plan if shot.photograph == name] for name in {shot.photograph for shot in plan}}
    assert len(by_photograph) == 7
    assert all(PHOTOGRAPHS[name].licence for name in by_photograph)
    for still, moving in by_photograph.values():
        paths = [camera_path(shot, width=288, height=160) for shot in (still, moving)]
        moved = [np.abs(path[-1, :2, 2] - path[0, :2, 2]).max() for path in paths]
        assert moved[0] == 0
        assert moved[1] > 0.1 * 160
    with pytest.raises(InputError, match="7 photographs give 14 films, each from a tripod and by a moving camera: not 15"):
        stills_and_pans(15)
