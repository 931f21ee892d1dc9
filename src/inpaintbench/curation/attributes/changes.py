"""What changes from frame to frame: cuts and other transitions, what stands still, and what optical flow explains of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from inpaintbench.catalogue import Deviation
from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.errors import NotMeasurable
from inpaintbench.lazily import lazily
from inpaintbench.ranges import Duration, Level, WholeLevel
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

cv2 = lazily("cv2")
shots = lazily("inpaintbench.curation.splitters.shots")


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


class TransitionFraction(AttributeLeaf):
    """Share of the frames that lie in a cut, a fade or a dissolve, as ``--splitter shots`` finds them; a cut is one frame.

    Of a fade or dissolve a quarter of its length at either side counts with it, as its faint ends do not show.
    Transitions are those of the whole film where they were looked for when it was cut, so that one at the edge of the clip counts
    too. Else they are looked for in the clip: of a transition that it shows only the end of, less than a third may not be told
    from a change of light.
    """

    name = "transition_fraction"
    version = "3"
    unit = "fraction of the frames"
    direction = "higher: more of the clip is no single shot"
    cost = 0.45
    needs = ("truth", "transitions")

    def measure(self, view: ItemView) -> float:
        """The share in 0..1, 0 for a single shot."""
        if view.has("transitions"):
            spans = view.transitions
        else:
            found = shots.transitions(view.truth_frame(index) for index in range(view.frames))
            spans = tuple((span.start_frame, span.end_frame) for span in found)
        inside: set[int] = set()
        for start, end in spans:
            faint = (end - start) // 4
            # A cut is its first frame; one that begins with the clip is the cut before it.
            inside.update(range(start - faint, end + faint) if end > start else range(max(start, 1), start + 1))
        return len(inside & set(range(view.frames))) / view.frames


# Columns and rows of pixels at which frames are compared, and the side of a cell of them.
_COMPARED, _CELL_SIDE = (208, 120), 8


class StillFraction(AttributeLeaf):
    """Share of the frames that show what was there ``apart_seconds`` before: no cell of the view changed by ``most_levels``.

    The view has 26 by 15 cells; that of a tripod has some in which leaves, water or people move. A cell changes with its mean,
    and with its pixels where they do by twice as much, which noise of two levels does not. The frames of a slide that the
    camera of an editing program moves over do not stand still.
    """

    name = "still_fraction"
    version = "1"
    unit = "fraction of the frames"
    direction = "higher: more of the clip is a still picture"
    cost = 0.05
    needs = ("luma",)

    def __init__(self, *, apart_seconds: Duration = 0.4, most_levels: Level = 2.0) -> None:
        self.apart_seconds, self.most_levels = apart_seconds, most_levels

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` for a single frame."""
        if view.frames < 2:
            raise NotMeasurable("the clip has one frame, and a still needs two")
        apart = min(max(1, round(self.apart_seconds * view.fps)), view.frames - 1)
        small = [cv2.resize(luma, _COMPARED, interpolation=cv2.INTER_AREA).astype(np.float32) for luma in view.luma]
        cells = (_COMPARED[0] // _CELL_SIDE, _COMPARED[1] // _CELL_SIDE)
        changes = []
        for one, other in zip(small, small[apart:], strict=False):
            mean, pixels = (
                cv2.resize(change, cells, interpolation=cv2.INTER_AREA) for change in (other - one, np.abs(other - one))
            )
            changes.append(max(np.abs(mean).max(), pixels.max() / 2))
        return float(np.mean(np.array(changes) < self.most_levels))


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
            first, second = (cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in (before, after))
            still = np.zeros((*first.shape, 2), np.float32)
            flow = cv2.calcOpticalFlowFarneback(
                first, second, still, pyr_scale=0.5, levels=3, winsize=15, iterations=3, poly_n=5, poly_sigma=1.2, flags=0
            )
            columns_there, rows_there = columns - flow[..., 0], rows - flow[..., 1]
            warped = cv2.remap(before, columns_there, rows_there, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
            difference = cv2.cvtColor(cv2.absdiff(after, warped), cv2.COLOR_RGB2GRAY)
            shares.append(np.count_nonzero(difference <= self.most_difference) / difference.size)
            before = after
        return float(np.mean(shares))
