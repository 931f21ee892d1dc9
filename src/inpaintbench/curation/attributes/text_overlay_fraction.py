"""Share of the view that is text: subtitles, captions, titles, clocks.

A detector of text lines looks at a few frames. It does not tell text laid over the picture from text in the scene (signs, number
plates, clothes), so both count; ``static_overlay`` tells what stays in place. It is trained on Chinese and Latin script and finds
others less surely.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.base import AttributeLeaf, evenly_spaced
from inpaintbench.models import text_detection
from inpaintbench.ranges import AtLeastOne, Share, Side
from inpaintbench.view import ItemView


class TextOverlayFraction(AttributeLeaf):
    """Mean share of a few frames that lies in boxes of text lines, of overlays and of the scene alike.

    A frame goes in with its longer side at ``longer_side`` pixels. Letters of 1/40 of the height of a landscape view are still
    found there; a line that small measures up to half too large.
    """

    name = "text_overlay_fraction"
    version = "1"
    unit = "fraction of the view"
    direction = "higher: more of the view is text"
    needs = ("truth",)
    weights = (text_detection.WEIGHTS,)
    cost = 1.1

    def __init__(self, *, sampled_frames: AtLeastOne = 4, longer_side: Side = 544, score_threshold: Share = 0.6) -> None:
        self.sampled_frames, self.longer_side, self.score_threshold = sampled_frames, longer_side, score_threshold

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` while the weights are missing or damaged."""
        chosen = evenly_spaced(view.frames, count=self.sampled_frames)
        return float(np.mean([self._share(view.truth_frame(index)) for index in chosen]))

    def _share(self, frame: npt.NDArray[np.uint8]) -> float:
        inside = np.zeros(frame.shape[:2], np.uint8)
        lines = text_detection.text_boxes(frame, longer_side=self.longer_side, score_threshold=self.score_threshold)
        for corners, _ in lines:
            cv2.fillConvexPoly(inside, np.rint(corners - 0.5).astype(np.int32), 1)
        return float(inside.mean())
