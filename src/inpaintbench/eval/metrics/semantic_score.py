"""Semantic score: does an edit of one object leave everything else as it was?"""

from __future__ import annotations

from typing import Unpack

import cv2
import numpy as np

from inpaintbench.deviations import Deviation
from inpaintbench.eval.metrics.base import INAPPLICABLE, Measurement, SingleRegionMetric, Where
from inpaintbench.eval.passes.edits import Empty, check_empty, mean_over_edit, misfit
from inpaintbench.eval.passes.flow_pairs import largest
from inpaintbench.view import ItemView

NO_MASK = "the item has no mask of an object"


class SemanticScore(SingleRegionMetric):
    """Mean over the pixels outside the object's mask of the largest absolute difference over channels, edit against source.

    EditBoard, AAAI 2025, in grey levels 0..255, each frame with equal weight; lower is better, 0 where nothing but the object was
    touched. It is defined for edits of a single object: items without a mask have no value, and neither have those whose
    mask is empty in every frame, where the released code would measure the whole frame. A frame without the object counts whole.
    The details hold the value of each frame and the share of pixels that count.

    Args:
        empty: ``"no_value"``: a frame that the mask covers whole leaves the clip without a value, where the released code gives
            NaN; ``"leave_out"``: such a frame is left out of the mean.
    """

    name = "semantic_score"
    deviations = (
        Deviation(
            "masks that are empty in every frame",
            "the whole frame is measured",
            "no value: the edit has no object",
            "means are over fewer clips",
        ),
        Deviation(
            "a frame that the mask covers whole",
            "the clip is NaN",
            "the clip has no value, and a reason",
            "none where the mask leaves something in every frame",
            {"empty": "no_value"},
        ),
        Deviation(
            "numbers of frames",
            "the sum over the frames of the mask, divided by the number of frames of the original",
            "a mask with another number of frames is refused",
            "none where both numbers are the same",
        ),
    )
    version = "1"
    unit = "grey levels"
    higher_is_better = False
    decimals = 3
    needs = ("truth", "prediction", "object_mask")

    def __init__(self, *, empty: Empty, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.empty = check_empty(empty)

    def measurement(self, view: ItemView) -> Measurement:
        """A value in 0..255; None where there is no mask, or it or the edit does not fit the source."""
        if not view.has("object_mask"):
            return Measurement(None, NO_MASK, {INAPPLICABLE: True})
        fault = _mask_fault(view) or misfit(view)
        if fault is not None:
            return Measurement(None, fault)
        values: list[float | None] = []
        counted = 0
        for edit, source, masked in zip(view.prediction, view.truth, view.object_mask, strict=True):
            outside = (~masked).view(np.uint8)
            pixels = cv2.countNonZero(outside)
            levels = largest(cv2.absdiff(edit, source))
            # Sums of whole numbers are exact; OpenCV's mean under a mask is not.
            values.append(cv2.sumElems(cv2.multiply(levels, outside))[0] / pixels if pixels else None)
            counted += pixels
        share = counted / view.object_mask.size
        lacking = "a pixel outside the object's mask"
        return mean_over_edit(values, parts="frames", lacking=lacking, empty=self.empty, details={"counted_share": share})


def _mask_fault(view: ItemView) -> str | None:
    mask = view.object_mask
    wanted = view.truth.shape[:3]
    if mask.shape != wanted:
        shape, asked = ("x".join(map(str, shape)) for shape in (mask.shape, wanted))
        return f"the object's mask has the shape {shape} (frames, height, width), its source {asked}"
    return None if mask.any() else "the mask of the object is empty in every frame"
