"""The camera that patches agree on, where features agree on none."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from worlds import camera_path, film, luma, photograph

from inpaintbench.curation.attributes import alignment, patch_links
from inpaintbench.curation.attributes.camera_motion import CameraMotion, CameraMotionConfidence, score_from_transforms
from inpaintbench.curation.attributes.patch_links import link
from inpaintbench.curation.sources.embedded import Shot
from inpaintbench.curation.sources.embedded import film as film_shot
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

WIDTH, HEIGHT = 192, 108


def views(*lefts: int, name: str = "rocket") -> Luma:
    """Views of one photograph, each from another column on."""
    picture = luma(photograph(name, width=WIDTH + 200, height=HEIGHT)[None])[0]
    return np.stack([picture[:, left : left + WIDTH] for left in lefts])


def test_a_pan_between_two_frames_is_found_with_evidence() -> None:
    found = link(views(0, 17), 0, 1)
    assert found is not None
    np.testing.assert_allclose(found.matrix, [[1, 0, -17], [0, 1, 0], [0, 0, 1]], atol=0.05)
    assert found.evidence > 0.75  # the lattice beside the rocket repeats itself: halved, it fits elsewhere as well


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shift", [18, 23])
def test_votes_are_those_of_a_search_of_every_place(shift: int, *, turned: bool) -> None:
    earlier, later = views(0, shift, name="coffee")
    if turned:
        earlier, later = (np.ascontiguousarray(frame.T) for frame in (earlier, later))
    origin, target = patch_links._votes(earlier, later)
    assert len(origin) > 100
    corners = (origin + complex(earlier.shape[1] - 14, earlier.shape[0] - 14) / 2).astype(complex)
    right = 0
    for corner, moved in zip(corners, target - origin, strict=True):
        column, row = int(corner.real), int(corner.imag)
        patch = earlier[row : row + 14, column : column + 14]
        left, top = max(column - patch_links.REACH, 0), max(row - patch_links.REACH, 0)
        window = later[top : row + 14 + patch_links.REACH, left : column + 14 + patch_links.REACH]
        place = cv2.minMaxLoc(cv2.matchTemplate(window, patch, cv2.TM_CCOEFF_NORMED))[3]
        right += abs(complex(*place) + complex(left, top) - corner - moved) < 1
    assert right > 0.8 * len(origin)


@pytest.mark.parametrize("seed", range(20))
def test_what_cannot_win_is_not_looked_at(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ways that would be worse are left out, and the answer is that of trying all."""
    rng, asked = np.random.default_rng(seed), []
    known = {
        (first, last): (
            patch_links.Link(np.eye(3) * (1 + 10 * first + last), rng.random()) if rng.random() < 0.85 else None,
            bool(rng.random() < 0.2),
        )
        for first in range(10)
        for last in range(first + 1, 10)
    }

    def direct(first: int, last: int) -> tuple[patch_links.Link | None, bool]:
        asked.append((first, last))
        return known[int(first), int(last)]

    def all_ways(first: int, last: int) -> patch_links.Link | None:
        found, outvotes = known[first, last]
        tried.append((first, last))
        if outvotes or last - first < 2:
            return found
        middle = (first + last) // 2
        one, other = all_ways(first, middle), all_ways(middle, last)
        if one is None or other is None:
            return found
        chained = patch_links.Link(other.matrix @ one.matrix, min(one.evidence, other.evidence))
        return chained if found is None or chained.evidence > found.evidence + patch_links.CLEARLY_BETTER else found

    tried: list[tuple[int, int]] = []
    monkeypatch.setattr(patch_links, "_direct", direct)
    found, wanted = link(np.arange(10), 0, 9), all_ways(0, 9)
    assert len(asked) <= len(tried)
    assert (found is None) == (wanted is None)
    if found is not None and wanted is not None:
        assert found.evidence == wanted.evidence
        np.testing.assert_array_equal(found.matrix, wanted.matrix)


def test_a_turn_and_a_zoom_are_about_the_middle_of_the_view() -> None:
    path = camera_path(frames=2, width=WIDTH, height=HEIGHT, turn_radians=[0, 0.03], zoom=[1, 1.04])
    found = link(luma(film(photograph("coffee", width=300, height=200), path, width=WIDTH, height=HEIGHT)), 0, 1)
    assert found is not None
    corners = np.array([[0, 0, 1], [WIDTH - 1, 0, 1], [0, HEIGHT - 1, 1]], np.float64).T
    np.testing.assert_allclose(found.matrix @ corners, np.linalg.inv(path[1]) @ path[0] @ corners, atol=0.6)


def test_what_two_frames_do_not_share_is_found_through_those_between() -> None:
    frames = views(0, 35, 70)  # further apart than a patch is looked for
    assert patch_links.REACH < 70
    assert link(frames[[0, 2]], 0, 1) is None
    found = link(frames, 0, 2)
    assert found is not None
    assert found.matrix[0, 2] == pytest.approx(-70, abs=0.3)


@pytest.mark.parametrize("later", ["coffee", "flat"])
def test_a_cut_and_a_plain_view_have_no_camera(later: str) -> None:
    other = views(0, name=later) if later != "flat" else np.full((1, HEIGHT, WIDTH), 90, np.uint8)
    assert link(np.concatenate([views(0), other]), 0, 1) is None


@pytest.mark.long
def test_water_over_nearly_all_of_the_view_does_not_hide_a_pan() -> None:
    made = film_shot(Shot("11-14", "chelsea", "pan_left", 0.06, 90, water_share=0.95, seed=11), width=416, height=240)
    view = ItemView.of_arrays(luma=luma(made.frames))
    with pytest.raises(NotMeasurable, match="alignments failed"):
        CameraMotion(fallback=False).measure(view)
    exact = score_from_transforms(made.homographies, width=416, height=240)
    assert CameraMotion().measure(view) == pytest.approx(exact, abs=0.005)
    assert 0.5 < CameraMotionConfidence().measure(view) < 1


def test_features_that_agree_throughout_are_trusted() -> None:
    view = ItemView.of_arrays(luma=np.repeat(views(20), 10, axis=0))
    assert CameraMotionConfidence().measure(view) == 1


def test_a_camera_that_moves_a_little_where_there_is_no_feature_does_not_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    moving, plain = (
        views(*(20 + place // 3 for place in range(10))),
        np.repeat(np.linspace(0, 200, WIDTH, dtype=np.uint8)[None], HEIGHT, axis=0),
    )
    nothing = np.zeros((0, 2), np.float32), np.zeros((0, 128), np.float32)
    monkeypatch.setattr(alignment, "features_of", lambda _: nothing)
    for cache in (alignment._joined, alignment._linked):
        cache.cache_clear()
    view = ItemView.of_arrays(luma=moving)
    assert CameraMotion(fallback=False).measure(view) == 0
    assert CameraMotion().measure(view) == pytest.approx(3 / WIDTH, abs=0.002)  # the fourth largest of ten frames
    assert CameraMotionConfidence().measure(view) > 0.5
    still = ItemView.of_arrays(luma=np.repeat(plain[None], 10, axis=0))
    assert CameraMotion().measure(still) == 0
    assert CameraMotionConfidence().measure(still) == 0  # nothing says so but that it looks the same
    for cache in (alignment._joined, alignment._linked):
        cache.cache_clear()
