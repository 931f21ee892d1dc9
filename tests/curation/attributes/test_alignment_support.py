"""What the pixels say of an alignment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from worlds import photograph

from inpaintbench.curation.attributes.alignment import Views
from inpaintbench.types import Luma

HEIGHT, WIDTH = 192, 342


def seen(*lefts: int, name: str = "rocket") -> Luma:
    """Views of one photograph, each from another column on."""
    picture = photograph(name, width=WIDTH + 200, height=HEIGHT).mean(axis=2).round().astype(np.uint8)
    return np.stack([picture[:, left : left + WIDTH] for left in lefts])


def shift(pixels: float) -> npt.NDArray[np.float64]:
    return np.array([[1, 0, pixels], [0, 1, 0], [0, 0, 1]], np.float64)


@pytest.mark.parametrize(
    ("lefts", "pixels", "verdict"),
    [
        ((0, 40), -40, "moved"),
        ((0, 0), 0, "moved"),  # a still camera is borne out too
        ((0, 0), -40, "still"),
        ((0, 40), -330, "unseen"),  # one column of cells is in both views
    ],
)
def test_verdicts(lefts: tuple[int, int], pixels: float, verdict: str) -> None:
    assert Views.of(seen(*lefts)).verdict(0, 1, shift(pixels)) == verdict


def test_views_of_two_places_are_alike_in_no_way() -> None:
    frames = np.concatenate([seen(0), seen(0, name="coffee")])
    assert Views.of(frames).verdict(0, 1, shift(0)) == "open"


def test_an_alignment_that_the_view_speaks_against_is_wrong_where_most_of_it_moved() -> None:
    frames = seen(0, 0)
    frames[1, :, WIDTH // 4 :] = seen(0, name="coffee")[0, :, WIDTH // 4 :]
    views = Views.of(frames)
    assert not views.stands_still(0, 1)
    assert views.verdict(0, 1, shift(17)) == "wrong"


def test_brightness_alone_is_no_motion() -> None:
    frames = seen(0, 0)
    frames[1] = (frames[1] * 0.6 + 20).round()
    assert Views.of(frames).stands_still(0, 1)


def test_noise_on_a_plain_view_says_nothing() -> None:
    rng = np.random.default_rng(0)
    plain = np.clip(rng.normal(120, 1, (2, HEIGHT, WIDTH)), 0, 255).round().astype(np.uint8)
    views = Views.of(plain)
    assert not views.stands_still(0, 1)
    assert views.verdict(0, 1, shift(3)) == "unseen"


def test_views_of_few_pixels_have_no_say() -> None:
    small = np.random.default_rng(0).integers(0, 255, (2, 5, 9), dtype=np.uint8)
    assert not Views.of(small).stands_still(0, 1)
    assert Views.of(small).verdict(0, 1, shift(0)) == "unseen"
