"""The contract of optical flows, however they are estimated."""

from __future__ import annotations

import numpy as np

from inpaintbench import contracts
from inpaintbench.compute import Compute
from inpaintbench.contracts import NotChecked, checks_above, moving_texture, require
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.flows import Flow, Motion
from inpaintbench.types import Frames

# The least side that RAFT takes is 128 pixels; no multiple of 8, since a flow that needs one pads by itself.
HEIGHT, WIDTH = 130, 172
PIXELS_PER_FRAME = 2
# Of the median over a textured pair. Good flows are off by less than .1 px, one of another sign or order of axes by 2 or more.
_TOLERANCE_PIXELS = 0.5
# Networks sum in another order in batches of another size; RAFT differs by less than 1e-3 px.
_BATCH_PIXELS = 0.05


def states_its_facts(flow: Flow) -> None:
    """Name, version, documentation, and its weights or None."""
    contracts.states_its_facts(flow, "weights")
    require(flow.weights is None or isinstance(flow.weights, str), f"its weights are {flow.weights!r}, not a name or None")


def gives_a_motion_for_each_pixel_and_leaves_the_frames_alone(flow: Flow) -> None:
    """Finite ``float32[N, H, W, 2]``, for one pair and for several."""
    frames = _frames()
    contracts.read_only(frames)
    for pairs in (1, 2):
        motion = _motion(flow, frames[:pairs], frames[1 : pairs + 1])
        expected = (pairs, HEIGHT, WIDTH, 2)
        require(motion.dtype == np.float32, f"it gives {motion.dtype}, not float32")
        require(motion.shape == expected, f"it gives {motion.shape} for {pairs} pairs of frames, not {expected}")
        require(np.isfinite(motion).all(), "it gives motion that is not finite")


def gives_the_same_twice(flow: Flow) -> None:
    """Equal frames have equal motion."""
    first, second = (_motion(flow, _frames()[:1], _frames()[1:2]) for _ in range(2))
    require(np.array_equal(first, second), "the second time it gives another motion")


def pairs_do_not_affect_each_other(flow: Flow) -> None:
    """A pair has the same motion alone and beside others."""
    frames = _frames()
    start, end = np.stack([frames[0], frames[2]]), np.stack([frames[1], frames[1]])
    together = _motion(flow, start, end)
    alone = np.concatenate([_motion(flow, start[index : index + 1], end[index : index + 1]) for index in range(2)])
    apart = float(np.abs(together - alone).max())
    require(apart < _BATCH_PIXELS, f"beside another pair its motion is another, by {apart:.3g} px")


def follows_what_moves(flow: Flow) -> None:
    """A texture that slides to the left by whole pixels, the same the other way, and one that stands still."""
    frames = _frames()
    for what, start, end, wanted in (
        ("slides to the left", frames[0], frames[1], (-PIXELS_PER_FRAME, 0)),
        ("slides to the right", frames[1], frames[0], (PIXELS_PER_FRAME, 0)),
        ("slides down", frames[1].swapaxes(0, 1), frames[0].swapaxes(0, 1), (0, PIXELS_PER_FRAME)),
        ("stands still", frames[0], frames[0], (0, 0)),
    ):
        median = np.median(_motion(flow, start[None], end[None])[0], axis=(0, 1))
        way = f"({median[0]:.2f}, {median[1]:.2f}) px right and down, not ({wanted[0]}, {wanted[1]})"
        require(np.abs(median - wanted).max() < _TOLERANCE_PIXELS, f"of a texture that {what} it says {way}")


CHECKS = checks_above(globals())


def _frames() -> Frames:
    return moving_texture(3, height=HEIGHT, width=WIDTH, pixels_per_frame=PIXELS_PER_FRAME)


def _motion(flow: Flow, start: Frames, end: Frames) -> Motion:
    try:
        return flow.flow(start, end, Compute())
    except NotMeasurable as error:
        raise NotChecked(str(error)) from error
