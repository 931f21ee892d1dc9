"""Optical flow by polynomial expansion, without a network."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Compute
from inpaintbench.eval.flows.base import Flow, Motion
from inpaintbench.types import Frames

# `uint8[H, W, 3]` RGB.
Frame = npt.NDArray[np.uint8]

# Constants of the released code of EditBoard, in the order of OpenCV's arguments.
_PYRAMID_SCALE, _LEVELS = 0.5, 3
_WINDOW_PIXELS, _ITERATIONS = 15, 3
_NEIGHBOURHOOD_PIXELS, _NEIGHBOURHOOD_SIGMA = 5, 1.2
_FLAGS = 0  # a box as window, no first guess


class Farneback(Flow):
    """Two-frame motion by polynomial expansion of grey levels, Farneback, SCIA 2003, by OpenCV with the constants of the released
    code of EditBoard, AAAI 2025.

    Fast motion is lost, such as 30 px from one frame of 512 px to the next. Pairs are looked
    at side by side on as many threads as OpenCV may have; what is found is the same on any number of them.
    """

    name = "farneback"
    version = "1"
    weights: str | None = None

    def flow(self, one: Frames, other: Frames, compute: Compute) -> Motion:  # noqa: ARG002 - no network
        """As ``Flow.flow``."""
        motion = np.empty((*one.shape[:3], 2), np.float32)
        with ThreadPoolExecutor(max(1, min(len(one), cv2.getNumThreads()))) as pool:
            list(pool.map(_write_flow, one, other, motion))
        return motion


def _write_flow(one: Frame, other: Frame, motion: npt.NDArray[np.float32]) -> None:
    first, second = (cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in (one, other))
    cv2.calcOpticalFlowFarneback(
        first, second, motion, _PYRAMID_SCALE, _LEVELS, _WINDOW_PIXELS, _ITERATIONS, _NEIGHBOURHOOD_PIXELS,
        _NEIGHBOURHOOD_SIGMA, _FLAGS,
    )  # fmt: skip
