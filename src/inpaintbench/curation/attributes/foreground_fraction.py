"""Share of the view that shows objects, by a detector: the published rule for clips without foreground, with boxes for masks.

DEVIL (CVPR 2022) takes ten frames, the union of the instance masks that Mask R-CNN (ResNet-50 FPN, trained on COCO, scores
above 0.5) finds in each, and the mean of their shares of the frame. Here YOLOX-nano answers in boxes, so a value is higher
where an object does not fill its box (for a standing person by about a third) and lower where a small one is missed. A
threshold has to be chosen for these numbers, not taken over.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.base import AttributeLeaf, evenly_spaced
from inpaintbench.errors import InputError
from inpaintbench.models import yolox
from inpaintbench.view import ItemView


class ForegroundFraction(AttributeLeaf):
    """Mean share of ten frames that lies in boxes of objects with scores above ``score_threshold``.

    ``classes`` are the kinds that count, by their COCO names; all 80 when empty. Ten frames as published, or all of fewer.
    """

    name = "foreground_fraction"
    version = "1"
    unit = "fraction of the view"
    direction = "higher: more of the view shows objects (people, animals, vehicles, furniture ...)"
    needs = ("truth",)
    weights = (yolox.WEIGHTS,)
    cost = 1.3

    def __init__(
        self, *, sampled_frames: int = 10, score_threshold: float = 0.5, classes: Sequence[str] = ()
    ) -> None:  # fmt: skip
        unknown = sorted(set(classes) - set(yolox.KINDS))
        if unknown:
            raise InputError(f"{unknown[0]!r} is no class of COCO, choose from {', '.join(yolox.KINDS)}")
        self.sampled_frames, self.score_threshold = sampled_frames, score_threshold
        self.kinds = [yolox.KINDS.index(name) for name in classes] or list(range(len(yolox.KINDS)))

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` while the weights are missing or damaged."""
        chosen = evenly_spaced(view.frames, count=self.sampled_frames)
        return float(np.mean([self._share(view.truth_frame(index)) for index in chosen]))

    def _share(self, frame: npt.NDArray[np.uint8]) -> float:
        boxes, kinds = yolox.boxes(frame, score_threshold=self.score_threshold)
        return covered(boxes[np.isin(kinds, self.kinds)], height=frame.shape[0], width=frame.shape[1])


def covered(boxes: npt.NDArray[np.float64], *, height: int, width: int) -> float:
    """Share of a frame in the union of boxes, 0..1, their edges rounded to whole pixels.

    Args:
        boxes: ``float64[n, 4]``: left, top, right, bottom.
    """
    inside = np.zeros((height, width), bool)
    for left, top, right, bottom in np.rint(boxes).astype(np.int64).clip(min=0).tolist():
        inside[top:bottom, left:right] = True
    return float(inside.mean())
