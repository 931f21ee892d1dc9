"""Strength of the signs that a clip holds a cut."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import cv2
import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.deviations import Deviation
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView


class CutScore(AttributeLeaf):
    """The largest scene-change score that FFmpeg's ``select`` filter gives to a frame of the clip.

    The score of a frame is the smaller of its mean absolute luma difference to the frame before, in levels, and of that
    difference's own change, over 100 and at most 1: even motion scores low and a cut high.
    """

    name = "cut_score"
    deviations = (
        Deviation(
            "scene score",
            "FFmpeg's filter, which counts what lies beyond the edge where the width is no multiple of its blocks",
            "the same formula over the frame alone",
            "the same number where the width is a multiple of FFmpeg's blocks; elsewhere FFmpeg's own changes from run to run",
        ),
    )
    version = "2"
    unit = "scene score, 0..1"
    direction = "higher: more likely a cut in the clip"
    cost = 0.06
    needs = ("luma",)

    def measure(self, view: ItemView) -> float:
        """The score, 0 when all frames are the same; ``NotMeasurable`` for a single frame."""
        luma = view.luma
        if len(luma) < 2:
            raise NotMeasurable("the clip has one frame, a cut lies between two")
        return max(scene_scores(luma))


def scene_scores(luma: Luma) -> Iterator[float]:
    """The score of every frame but the first, in frame order, as FFmpeg's ``select`` filter defines it.

    FFmpeg scores a YUV video by its luma plane alone. Its own code is not used: where the width is no multiple of its blocks it
    counts what lies beyond the edge, and gives another score each time.

    Args:
        luma: ``uint8[T, H, W]``.
    """
    before = 0.0
    for plane, other in pairwise(luma):
        difference = cv2.norm(np.ascontiguousarray(plane), np.ascontiguousarray(other), cv2.NORM_L1) / plane.size
        yield round(min(difference, abs(difference - before), 100.0) / 100, 6)
        before = difference
