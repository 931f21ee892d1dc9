from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract
from worlds import pan_clip

from inpaintbench.masks.render import generate
from inpaintbench.types import Frames, Hole, TextEvent
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.methods.decaption_median import DecaptionMedian, text_hole

FRAMES, SIDE, FPS = 34, 96, 25.0
EVENTS = (TextEvent(0.1, 0.6, "down the rabbit hole"), TextEvent(0.8, 1.2, "and what is the use\nof a book"))
STYLES: dict[str, dict[str, Any]] = {
    "yellow letters": {"colour": "yellow", "background": "none", "outline_pixels": 1.0, "size_fraction": 0.08},
    "half a box": {"colour": "white", "background": "box", "box_alpha": 0.5, "size_fraction": 0.08},
    "a box a line": {"colour": "green", "background": "box-per-line", "box_alpha": 1.0, "size_fraction": 0.11},
    "blue in black": {"colour": "blue", "background": "box", "box_alpha": 1.0, "size_fraction": 0.11},
}


class TestContract(MethodContract):
    name = "decaption_median"


def captioned(truth: Frames, style: dict[str, Any], events: tuple[TextEvent, ...] = EVENTS) -> tuple[Frames, Hole]:
    """A clip with subtitles burnt in, and where they are."""
    drawn = generate(
        "subtitles", {"families": ["bundled"], "style": style}, seed=3, frames=len(truth), height=SIDE, width=SIDE, fps=FPS,
        parts={"timed_text": events},
    )  # fmt: skip
    assert drawn.alpha is not None
    share = drawn.alpha[..., None] / 255
    return np.rint((1 - share) * truth + share * drawn.colour).astype(np.uint8), drawn.hole


def inpaint(frames: Frames, **parts: Any) -> Frames:
    return DecaptionMedian().inpaint(ItemView.of_arrays(input=frames, **parts))


def mse(one: Frames, other: Frames) -> float:
    return float(((one / 255 - other / 255) ** 2).mean())


@pytest.mark.parametrize(("photograph", "style"), [*(("chelsea", style) for style in STYLES), ("rocket", "yellow letters")])
def test_text_before_a_still_picture_is_found_and_what_it_hid_comes_back(photograph: str, style: str) -> None:
    truth = pan_clip(photograph, pixels_per_frame=0, frames=FRAMES, width=SIDE, height=SIDE)
    frames, hole = captioned(truth, STYLES[style])
    found = text_hole(frames)
    assert (found & hole).sum() >= 0.95 * hole.sum()
    assert not found[~hole.any(axis=(1, 2))].any(), "nothing is found where no text is"
    assert mse(inpaint(frames), truth) < 0.02 * mse(frames, truth)


@pytest.mark.parametrize("style", ["yellow letters", "half a box"])
def test_text_before_a_moving_picture_is_found_and_filled_frame_by_frame(style: str) -> None:
    truth = pan_clip("chelsea", pixels_per_frame=1, frames=FRAMES, width=SIDE, height=SIDE)
    frames, hole = captioned(truth, STYLES[style])
    assert (text_hole(frames) & hole).sum() >= 0.9 * hole.sum()
    assert mse(inpaint(frames), truth) < 0.3 * mse(frames, truth)


@pytest.mark.parametrize(("photograph", "pixels_per_frame"), [("coffee", 0), ("astronaut", 0), ("rocket", 2), ("astronaut", 2)])
def test_a_film_without_text_stays_as_it_is(photograph: str, pixels_per_frame: int) -> None:
    truth = pan_clip(photograph, pixels_per_frame=pixels_per_frame, frames=20, width=SIDE, height=SIDE)
    np.testing.assert_array_equal(inpaint(truth), truth)


def test_a_given_hole_is_filled_instead_of_what_is_found() -> None:
    truth = pan_clip("chelsea", pixels_per_frame=0, frames=FRAMES, width=SIDE, height=SIDE)
    frames, hole = captioned(truth, STYLES["half a box"])
    told = np.zeros_like(hole)
    told[:, :, SIDE // 2 :] = hole[:, :, SIDE // 2 :]
    filled = inpaint(frames, hole=told)
    np.testing.assert_array_equal(filled[~told], frames[~told])
    assert np.abs(filled[told].astype(int) - truth[told]).mean() < 3


def test_the_median_is_not_taken_where_the_picture_moves() -> None:
    """Frames of one colour each: the median over time would be another colour."""
    colours = np.random.default_rng(0).integers(0, 256, (9, 1, 1, 3), dtype=np.uint8)
    frames = np.broadcast_to(colours, (9, 40, 40, 3)).copy()
    hole = np.zeros(frames.shape[:3], np.bool_)
    hole[4, 10:20, 10:20] = True
    assert np.abs(inpaint(frames, hole=hole)[4].astype(int) - frames[4]).max() <= 3
