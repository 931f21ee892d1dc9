"""What every method must do, however it fills.

A method's test subclasses ``MethodContract`` and says its name; one that needs constants overrides ``method``.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from worlds import pan_clip

from inpaintbench.contracts import Check, NotChecked
from inpaintbench.contracts.method import CHECKS
from inpaintbench.eval.adapters.checking import findings
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.methods.base import Method
from inpaintbench.eval.scoring.check import made_view, tried
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

FRAMES, HEIGHT, WIDTH = 7, 48, 64


class MethodContract:
    """Tests shared by all methods; the world is a photograph under a camera that moves 2 px a frame."""

    name: str

    @pytest.fixture
    def method(self) -> Method:
        method: Method = METHODS.get(self.name)()
        return method

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_keeps_the_contract(self, method: Method, check: Check) -> None:
        assert (method.name, set(method.needs) <= {"input", "hole"}) == (self.name, True)
        try:
            check(method)
        except NotChecked as why:
            pytest.skip(str(why))

    def test_the_truth_under_the_hole_does_not_matter(self, method: Method) -> None:
        truth, hole = world(), wandering_hole()
        noise = np.random.default_rng(5).integers(0, 256, truth.shape, np.uint8)
        other = np.where(hole[..., None], noise, truth)
        assert (other != truth).any()
        found = [inpaint(method, corrupted(one, hole), hole) for one in (truth, other)]
        np.testing.assert_array_equal(*found)

    def test_without_a_hole_nothing_changes(self, method: Method) -> None:
        hole = np.zeros((FRAMES, HEIGHT, WIDTH), np.bool_)
        np.testing.assert_array_equal(inpaint(method, world(), hole), world())

    @pytest.mark.parametrize("size", [(1, 1), (2, 3), (9, 16)])
    def test_tiny_frames(self, method: Method, size: tuple[int, int]) -> None:
        truth = world()[:3, : size[0], : size[1]]
        hole = np.zeros(truth.shape[:3], np.bool_)
        hole[1, 0, 0] = True
        assert inpaint(method, corrupted(truth, hole), hole).shape == truth.shape

    def test_no_mistake_shows_where_it_is_at_home(self, method: Method) -> None:
        """Those that edit are, on edits; those that need a hole, where it is given."""
        kinds = ["edit"] if self.name.startswith("edit_") else ["hole"] if "hole" in method.needs else ["hole", "text"]
        for kind, frames in itertools.product(kinds, (1, 5)):
            found = findings([tried(method, partial(made_view, kind, frames))], reference=method.reference)
            assert [finding for finding in found if finding.weight != "noted"] == [], kind


def world() -> Frames:
    return pan_clip("coffee", pixels_per_frame=2, frames=FRAMES, width=WIDTH, height=HEIGHT)


def wandering_hole() -> Hole:
    """Two rectangles, one of them still and at the border of the frame."""
    hole = np.zeros((FRAMES, HEIGHT, WIDTH), np.bool_)
    for index in range(FRAMES):
        hole[index, 14 + index : 26 + index, 20 + 3 * index : 30 + 3 * index] = True
    hole[:, 40:, :10] = True
    return hole


def corrupted(truth: Frames, hole: Hole, *, fill: int = 0) -> Frames:
    """What a method is given: holes hold the fill value."""
    return np.where(hole[..., None], np.uint8(fill), truth)


def inpaint(method: Method, frames: Frames, hole: Hole) -> Frames:
    """What the step around a method does, without padding."""
    view = ItemView.of_arrays(item_id="item", input=frames, hole=hole)
    return method.inpaint(view.declaring(method.name, (*method.needs, *method.uses)))


def psnr(found: Frames, truth: Frames, hole: Hole) -> float:
    """In dB over the pixels of the hole."""
    difference = found[hole].astype(np.float64) - truth[hole]
    return float(10 * np.log10(255**2 / np.mean(difference**2)))
