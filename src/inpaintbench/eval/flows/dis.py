"""Optical flow without a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cv2
import numpy as np

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.flows.base import Flow, Motion
from inpaintbench.types import Frames

# Along each side: two patches, one for the coarsest level of the pyramid.
FEWEST_PIXELS = 16
_FINEST_LEVEL = 1  # flow is found at half the resolution, then enlarged
# Constants of OpenCV's preset "medium", set one by one so that another release of OpenCV changes no score.
_PATCH_PIXELS, _PATCH_STRIDE_PIXELS = 8, 3
_DESCENT_STEPS, _REFINEMENTS = 25, 5
_SMOOTHNESS, _COLOUR, _GRADIENT, _EPSILON = 20.0, 5.0, 10.0, 0.01


class Dis(Flow):
    """Dense inverse search on grey levels, Kroeger et al., ECCV 2016, by OpenCV with the constants of its preset "medium".

    Runs on one thread of the processor, since its search takes other ways on more threads.
    """

    name = "dis"
    version = "1"
    weights: str | None = None

    def flow(self, one: Frames, other: Frames, compute: Compute) -> Motion:  # noqa: ARG002 - no network
        """As ``Flow.flow``.

        Raises:
            NotMeasurable: the frames are smaller than two patches.
        """
        height, width = one.shape[1:3]
        if min(height, width) < FEWEST_PIXELS:
            raise NotMeasurable(f"frames of {width}x{height} are too small for optical flow, which needs {FEWEST_PIXELS} px")
        search = _search()
        motion = np.empty((len(one), height, width, 2), np.float32)
        with _one_thread():
            for index, pair in enumerate(zip(one, other, strict=True)):
                first, second = (cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in pair)
                motion[index] = search.calc(first, second, None)
        return motion


def _search() -> Any:
    search: Any = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    search.setFinestScale(_FINEST_LEVEL)
    search.setPatchSize(_PATCH_PIXELS)
    search.setPatchStride(_PATCH_STRIDE_PIXELS)
    search.setGradientDescentIterations(_DESCENT_STEPS)
    search.setVariationalRefinementIterations(_REFINEMENTS)
    search.setVariationalRefinementAlpha(_SMOOTHNESS)
    search.setVariationalRefinementDelta(_COLOUR)
    search.setVariationalRefinementGamma(_GRADIENT)
    search.setVariationalRefinementEpsilon(_EPSILON)
    search.setUseMeanNormalization(True)
    search.setUseSpatialPropagation(True)
    return search


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(threads)
