"""Contract of every axis, whatever it changes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from inpaintbench import contracts
from inpaintbench.contracts import NotChecked, checks_above, moving_texture, read_only, require, wandering_hole
from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.base import Axis
from inpaintbench.types import Frames, Hole

# (frames, height, width) of clips that are tried.
_SIZES = ((48, 256, 272), (20, 97, 131))
_FPS = 24.0


def states_its_facts(axis: Axis) -> None:
    """Name, version, documentation, what it changes, and levels that can stand in names of slices."""
    contracts.states_its_facts(axis, "levels", "changes", "property", "truth")
    require(len(axis.levels) >= 2 and len(set(axis.levels)) == len(axis.levels), f"{axis.levels} are no two levels or more")
    for level in axis.levels:
        require(level.isidentifier(), f"the level {level!r} stands in names of slices: letters, digits and _ alone")
    require(axis.base_level in (None, *axis.levels), f"base_level is {axis.base_level!r}, which is no level")


def changes_what_it_says_and_nothing_else(axis: Axis) -> None:
    """No other clip, hole or input than that which ``changes`` names, and none at the level that the unchanged item has."""
    for level, truth, hole in _clips(axis):
        new = axis.clip(level, truth, _FPS)
        made = axis.hole(level, hole, np.random.default_rng(0))
        shown = axis.input(level, truth if new is None else new[0], made, _FPS, np.random.default_rng(0))
        if level == axis.base_level:
            if new is not None:
                same = np.array_equal(new[0], truth) and new[1] == _FPS
                require(same, f"level {level!r} of the unchanged item has another clip")
            require(np.array_equal(made, hole), f"level {level!r} of the unchanged item has another hole")
            require(shown is None or np.array_equal(shown, truth), f"level {level!r} of the unchanged item has another input")
        if axis.changes != "clip":
            require(new is None, f"it changes the clip at level {level!r}, and says that it changes the {axis.changes}")
        if axis.changes not in ("clip", "hole"):
            require(np.array_equal(made, hole), f"it changes the hole at level {level!r}, and says otherwise")
        if axis.changes != "input":
            require(shown is None, f"it changes the input at level {level!r}, and says that it changes the {axis.changes}")


def makes_parts_that_fit(axis: Axis) -> None:
    """Clip, hole and input of one shape at each level, and something of the hole is left."""
    for level, truth, hole in _clips(axis):
        frames, fps = axis.clip(level, truth, _FPS) or (truth, _FPS)
        made = axis.hole(level, hole, np.random.default_rng(0))
        require(frames.dtype == np.uint8 and frames.ndim == 4 and frames.shape[3] == 3, f"a clip of {frames.dtype}{frames.shape}")
        require(fps > 0, f"{fps} frames a second")
        require(made.dtype == np.bool_ and made.shape == frames.shape[:3], f"a hole of {made.shape}, the clip is {frames.shape}")
        require(made.any(), f"its hole at level {level!r} is empty; raise Rejected with a reason instead")
        shown = axis.input(level, frames, made, fps, np.random.default_rng(0))
        if shown is not None:
            require(shown.dtype == np.uint8 and shown.shape == frames.shape, f"an input of {shown.dtype}{shown.shape}")


def draws_the_same_for_the_same_numbers(axis: Axis) -> None:
    """Randomness comes from the generator that it is given and from nowhere else."""
    for level, truth, hole in _clips(axis):
        one, other = (axis.hole(level, hole, np.random.default_rng(3)) for _ in range(2))
        require(np.array_equal(one, other), "the same random numbers give another hole")
        frames, fps = axis.clip(level, truth, _FPS) or (truth, _FPS)
        first, again = (axis.input(level, frames, one, fps, np.random.default_rng(3)) for _ in range(2))
        same = first is again is None or (first is not None and again is not None and np.array_equal(first, again))
        require(same, "the same random numbers give another input")


def states_numbers(axis: Axis) -> None:
    """Facts are numbers, which tables can hold."""
    for level in axis.levels:
        facts = dict(axis.facts(level, frames=48, height=256, width=272))
        require(all(isinstance(value, int | float) for value in facts.values()), f"facts that are no numbers: {facts}")
        json.dumps(facts, allow_nan=False)


CHECKS = checks_above(globals())


def _clips(axis: Axis) -> Iterator[tuple[str, Frames, Hole]]:
    """Level, clip and hole, of sizes that the axis does not refuse."""
    tried = 0
    for frames, height, width in _SIZES:
        truth, hole = moving_texture(frames, height=height, width=width), wandering_hole(frames, height=height, width=width)
        read_only(truth, hole)
        for level in axis.levels:
            try:
                axis.clip(level, truth, _FPS)
                axis.hole(level, hole, np.random.default_rng(0))
            except Rejected as error:
                require(str(error), "it refuses a clip without a reason")
                continue
            tried += 1
            yield level, truth, hole
    if not tried:
        raise NotChecked("it refuses every clip that is tried")
