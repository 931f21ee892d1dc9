"""Text that can still be read where it was to be removed."""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

import cv2
import numpy as np

from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where
from inpaintbench.models import detectors
from inpaintbench.ranges import AtLeastOne, Share, Side
from inpaintbench.regions import dilate
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

# Reach of the boxes of the hole around it.
GROWTH_PIXELS = 4
# Share of a line's area in the boxes from which on it is one of the text that was drawn.
LEAST_INSIDE = 0.5
# Share of the drawn texts that have to be found in the input.
LEAST_FOUND = 0.5
# Two frames whose boxes share less than this show two texts.
_SAME_TEXT = 0.5
MOST = 2.0


class _Given(NamedTuple):
    """Lines of the input and of the truth, which serve all predictions."""

    boxes: Hole
    shown: list[float]
    """Area of lines in the input in each looked-at frame, pixels."""
    true: list[float]
    found: float
    """Share of the drawn texts that a line was found of in the input."""


class ResidualText(SingleRegionMetric):
    """Area of text lines that a detector still finds, as a share of what it finds in the input.

    Lines count at least half of which lies in the bounding boxes of the pieces of the hole, grown by 4 px. With their area in
    input a_i, truth a_t and prediction a_p of each frame that has a hole, the value of a clip is
    max(0, sum(a_p - a_t)) / sum(a_i - a_t): 0 = no trace, 1 = all as readable as before, 2 at most; lower is better. There is no
    value where the detector finds fewer than half of the drawn texts in the input (small or exotic letters), or nothing there
    that the truth has not. A text is drawn as long as the boxes of a frame share half with those of the one before.

    Args:
        frame_step: only every so manyth frame is looked at; 1 = all.
        longer_side: to which larger frames are downscaled for the detector, pixels.
        score_threshold: least mean probability of a line, 0..1.
    """

    name = "residual_text"
    version = "1"
    diagnostic = "all that removes text removes it, greying the whole hole too"
    higher_is_better = False
    decimals = 3
    bounds = (0.0, MOST)
    needs = ("input", "truth", "composite", "hole")
    answers = ("hole",)
    weights = (detectors.TEXT_WEIGHTS,)

    def __init__(self, *, frame_step: AtLeastOne, longer_side: Side, score_threshold: Share, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        if frame_step < 1:
            raise ValueError(f"frame_step is {frame_step}, choose at least 1")
        self.frame_step, self.longer_side, self.score_threshold = frame_step, longer_side, score_threshold

    def measurement(self, view: ItemView) -> Measurement:
        """The share in 0..2.

        Raises:
            NotMeasurable: the weights of the detector are missing or damaged.
        """
        given: _Given = view.shared.once(
            ("text", self.frame_step, self.longer_side, self.score_threshold), lambda: self._given(view)
        )
        details = {"texts_found": given.found, "frames": len(given.shown)}
        if not given.shown:
            return Measurement(None, "no frame has a hole")
        if given.found < LEAST_FOUND:
            return Measurement(None, f"the detector finds {given.found:.0%} of the drawn texts in the input", details)
        drawn = math.fsum(given.shown) - math.fsum(given.true)
        if drawn <= 0:
            return Measurement(None, "the truth shows as much text as the input where it was drawn", details)
        left = math.fsum(self._areas(view.composite[:: self.frame_step], given.boxes)) - math.fsum(given.true)
        return Measurement(min(MOST, max(0.0, left) / drawn), details=details)

    def _given(self, view: ItemView) -> _Given:
        hole = view.hole[:: self.frame_step]
        boxes = np.zeros_like(hole)
        for grown, inside in zip(dilate(hole, radius=GROWTH_PIXELS), boxes, strict=True):
            # The bounding boxes of the pieces of a frame's hole.
            count, _, facts, _ = cv2.connectedComponentsWithStats(grown.view(np.uint8))
            for left, top, width, height, _ in facts[1:count].tolist():
                inside[top : top + height, left : left + width] = True
        shown, true = (self._areas(frames[:: self.frame_step], boxes) for frames in (view.input, view.truth))
        return _Given(boxes, shown, true, _share_found(boxes[boxes.any(axis=(1, 2))], shown))

    def _areas(self, frames: Frames, boxes: Hole) -> list[float]:
        """Pixels of counted lines in each frame that has boxes."""
        areas = []
        for frame, inside in zip(frames, boxes, strict=True):
            if not inside.any():
                continue
            areas.append(0.0)
            found = detectors.text_boxes(frame, longer_side=self.longer_side, score_threshold=self.score_threshold)
            for corners, _ in found:
                line = np.zeros(inside.shape, np.uint8)
                cv2.fillConvexPoly(line, np.rint(corners - 0.5).astype(np.int32), 1)
                pixels = int(np.count_nonzero(line))
                if pixels and np.count_nonzero(line.view(np.bool_) & inside) >= LEAST_INSIDE * pixels:
                    areas[-1] += pixels
        return areas


def _share_found(boxes: Hole, areas: list[float]) -> float:
    """Share of the texts in frames with ``boxes`` that have a line in one frame at least, 0..1."""
    found: list[bool] = []
    for index, area in enumerate(areas):
        both = index > 0 and np.count_nonzero(boxes[index] & boxes[index - 1])
        if both and both >= _SAME_TEXT * np.count_nonzero(boxes[index] | boxes[index - 1]):
            found[-1] = found[-1] or area > 0
        else:
            found.append(area > 0)
    return sum(found) / len(found) if found else 0.0
