"""Checks that every method has to pass, however it fills."""

from __future__ import annotations

import numpy as np

from inpaintbench import contracts, view
from inpaintbench.contracts import NotChecked, checks_above, moving_texture, require, wandering_hole
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.methods.base import Method
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

# A multiple of 16 each way: padding to a divisor belongs to the step around the method.
FRAMES, HEIGHT, WIDTH = 7, 48, 64
_PARTS = ("input", "hole", "object_mask", "prompts")


def states_its_facts(method: Method) -> None:
    """Name, version, documentation; and it needs no truth."""
    contracts.states_its_facts(method, "needs")
    foreign = {*method.needs, *method.uses} - set(_PARTS)
    require(not foreign, f"it needs {', '.join(sorted(foreign))}; a method may see {', '.join(_PARTS)}")


def gives_frames_of_the_input_and_leaves_the_input_alone(method: Method) -> None:
    """``uint8`` of the input's shape, in memory of their own."""
    hole = _hole()
    frames = _corrupted(_world(), hole)
    contracts.read_only(frames, hole)
    filled = _filled(method, frames, hole)
    require(filled.dtype == np.uint8, f"it gives {filled.dtype}, not uint8")
    _require_shape(filled, frames)
    require(not np.shares_memory(filled, frames), "it gives the memory of its input")


def gives_the_same_twice(method: Method) -> None:
    """Equal items have equal predictions."""
    frames = _corrupted(_world(), _hole())
    first, second = (_filled(method, frames, _hole()) for _ in range(2))
    require(np.array_equal(first, second), "the second time it gives other pixels")


def keeps_nothing_of_an_item(method: Method) -> None:
    """What it says by ``stateless``: an item whose clip it has seen with another hole has the prediction that it has alone."""
    if not method.stateless or method.unwatched:
        raise NotChecked("it does not say that it keeps nothing of an item, or its results come from elsewhere")
    world = np.ascontiguousarray(_world()[:, ::-1])  # which no other check shows
    one, other = _hole(), np.ascontiguousarray(_hole()[:, :, ::-1])
    first, _, second = (_filled(method, _corrupted(world, hole), hole) for hole in (one, other, one))
    require(np.array_equal(first, second), "it gives other pixels once it has seen the clip with another hole")


def known_pixels_stay(method: Method) -> None:
    """Whatever it is given outside of the hole it gives back; with no hole, everything."""
    _require_hole(method)
    for hole in (_hole(), np.zeros_like(_hole())):
        frames = _corrupted(_world(), hole)
        require(np.array_equal(_filled(method, frames, hole)[~hole], frames[~hole]), "it changes known pixels")


def takes_short_clips(method: Method) -> None:
    """One frame, and two."""
    for frames in (1, 2):
        _require_shape(_filled(method, _corrupted(_world()[:frames], _hole()[:frames]), _hole()[:frames]), _world()[:frames])


def takes_frames_that_are_all_hole(method: Method) -> None:
    """Some of a clip, and all of it."""
    _require_hole(method)
    for frames in (slice(2, 4), slice(None)):
        hole = _hole()
        hole[frames] = True
        _require_shape(_filled(method, _corrupted(_world(), hole), hole), _world())


CHECKS = checks_above(globals())


def _world() -> Frames:
    return moving_texture(FRAMES, height=HEIGHT, width=WIDTH)


def _hole() -> Hole:
    return wandering_hole(FRAMES, height=HEIGHT, width=WIDTH)


def _corrupted(truth: Frames, hole: Hole) -> Frames:
    return view.composite(truth, hole, np.zeros_like(truth))


def _filled(method: Method, frames: Frames, hole: Hole) -> Frames:
    """Do what the step around a method does, without padding."""
    item = ItemView.of_arrays(input=frames, hole=hole)
    try:
        return method.inpaint(item.declaring(method.name, (*method.needs, *method.uses)))
    except NotMeasurable as error:
        raise NotChecked(str(error)) from error


def _require_hole(method: Method) -> None:
    if "hole" not in (*method.needs, *method.uses) or method.reference:
        raise NotChecked("it looks at no hole, or fills none")


def _require_shape(filled: Frames, frames: Frames) -> None:
    require(filled.shape == frames.shape, f"it gives {filled.shape} for frames of {frames.shape}")
