"""Hashes of mirror images and parts meet those of copies that show them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from worlds import luma, photograph

from inpaintbench.curation.attributes.hashes import VIEWS, CopyHashes, frame_hash, hash_words, parts
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

# A rectangle cut off at the left and the top, of which a photograph is a part itself.
WIDTH, HEIGHT = 320, 180


@pytest.fixture(scope="module", params=["coffee", "astronaut", "hubble", "rocket", "chelsea"])
def picture(request: pytest.FixtureRequest) -> Luma:
    return luma(photograph(request.param, width=WIDTH, height=HEIGHT)[None])[0]


def nearest(hashes: list[int | None], copy: Luma) -> int:
    wanted = frame_hash(cv2.resize(copy, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA))
    assert wanted is not None
    return min((wanted ^ hash_).bit_count() for hash_ in hashes if hash_ is not None)


def measured(frames: Luma) -> list[int | None]:
    return hash_words(CopyHashes().measure(ItemView.of_arrays(luma=frames, fps=30.0)))[1]


def test_a_crop_of_nine_tenths_meets_a_part_wherever_it_was_cut(picture: Luma) -> None:
    hashes = measured(picture[None])
    assert len(hashes) == VIEWS
    rng = np.random.default_rng(0)
    for down, right in [(0, 0), (1, 1), (0.5, 0.5), (0, 0.5), *rng.uniform(0, 1, (8, 2))]:
        top, left = int(down * 0.1 * HEIGHT), int(right * 0.1 * WIDTH)
        assert nearest(hashes[1:], picture[top : top + 162, left : left + 288]) <= 12
    assert nearest(hashes[:1], picture[:, ::-1]) <= 2
    assert nearest(hashes, picture) > 0


def test_another_picture_meets_none(picture: Luma) -> None:
    other = luma(photograph("motorcycle", width=WIDTH, height=HEIGHT)[None])[0]
    assert nearest(measured(picture[None]), other) > 12


def test_times_are_two_a_second_view_after_view(picture: Luma) -> None:
    still = np.repeat(picture[None], 45, axis=0)
    still[15:] = still[15:, :, ::-1]
    hashes = measured(still)
    assert len(hashes) == 3 * VIEWS
    small = cv2.resize(picture, (128, 72), interpolation=cv2.INTER_AREA)
    first = [frame_hash(part) for part in (small[:, ::-1], *parts(small))]
    assert [hashes[3 * at] for at in range(VIEWS)] == first
    assert hashes[1] == hashes[2] != hashes[0]


def test_flat_frames_have_no_hash() -> None:
    with pytest.raises(NotMeasurable, match="every one of the 1 frames looked at is flat"):
        measured(np.full((3, 40, 60), 90, np.uint8))
