"""Share of a clip that its own optical flow explains: where that is much, the flow can judge edits of the clip."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.errors import NotMeasurable
from inpaintbench.ranges import WholeLevel
from inpaintbench.view import ItemView

Picture = npt.NDArray[np.uint8]
# Valid share from which FF-alpha has a value. Source: EditBoard's released code.
ENOUGH = 0.7


class WarpValidShare(AttributeLeaf):
    """Mean share of pixels that a frame, warped by the flow to the next, predicts to within ``most_difference`` grey levels.

    EditBoard (AAAI 2025), as its released code does it: Farneback flow of the grey frames forwards, read at the target pixel and
    negated; bilinear sampling with black outside; the absolute difference of each channel, then grey (ITU-R 601).
    """

    name = "warp_valid_share"
    version = "1"
    unit = "fraction of the view"
    direction = "higher: optical flow explains more of the clip"
    needs = ("truth",)
    cost = 14.0

    def __init__(self, *, most_difference: WholeLevel = 5) -> None:
        self.most_difference = most_difference

    def measure(self, view: ItemView) -> float:
        """The mean over pairs of neighbouring frames, 0..1.

        Raises:
            NotMeasurable: fewer than two frames.
        """
        if view.frames < 2:
            raise NotMeasurable("flow needs at least 2 frames")
        rows, columns = np.mgrid[: view.height, : view.width].astype(np.float32)
        shares, before = [], view.truth_frame(0)
        for index in range(1, view.frames):
            after = view.truth_frame(index)
            shares.append(self._share(before, after, columns, rows))
            before = after
        return float(np.mean(shares))

    def _share(self, before: Picture, after: Picture, columns: npt.NDArray[np.float32], rows: npt.NDArray[np.float32]) -> float:
        flow = _flow(before, after)
        warped = cv2.remap(before, columns - flow[..., 0], rows - flow[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
        difference = cv2.cvtColor(cv2.absdiff(after, warped), cv2.COLOR_RGB2GRAY)
        return float(np.count_nonzero(difference <= self.most_difference)) / difference.size


def _flow(before: Picture, after: Picture) -> npt.NDArray[np.float32]:
    first, second = (cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in (before, after))
    start = np.zeros((*first.shape, 2), np.float32)
    flow = cv2.calcOpticalFlowFarneback(
        first, second, start, pyr_scale=0.5, levels=3, winsize=15, iterations=3, poly_n=5, poly_sigma=1.2, flags=0
    )
    return np.asarray(flow, np.float32)
