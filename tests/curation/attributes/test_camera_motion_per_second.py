"""Camera motion of clips of several frame rates."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import pan_clip

from inpaintbench.curation.attributes.camera_motion import CameraMotionPerFrame, CameraMotionPerSecond
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


def seen(frames: Frames, fps: float) -> ItemView:
    return ItemView.of_arrays(truth=frames, luma=np.ascontiguousarray(frames[..., 1]), fps=fps)


def test_one_pan_at_two_rates_moves_alike_a_second_and_not_a_frame() -> None:
    film = pan_clip("coffee", pixels_per_frame=1, frames=90, width=160, height=90)
    fast, slow = seen(film, 50.0), seen(film[::2], 25.0)
    a_second = [CameraMotionPerSecond().measure(view) for view in (fast, slow)]
    assert a_second[0] == pytest.approx(a_second[1], rel=0.1)
    a_frame = [CameraMotionPerFrame().measure(view) for view in (fast, slow)]
    assert a_frame[1] > 1.5 * a_frame[0]
