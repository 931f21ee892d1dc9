"""Share of the view that the camera leaves behind: DEVIL, CVPR 2022, section 4.2.

Ten frames are taken from the clip and each is aligned to every other (``alignment``). The loss of an ordered pair is the share of
the later view that the earlier one does not cover once it is laid over it; the score is the fourth largest of the hundred losses.
"""

from __future__ import annotations

from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Deviation
from inpaintbench.curation.attributes.alignment import Matrices, pair_matrices, sampled_indices, weakest_evidence
from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.ranges import AtLeastOne, Duration, Percentile
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

Coverage = Literal["polygon", "warp"]
Losses = npt.NDArray[np.float64]
# Corners (x, y) of a polygon, in order.
Outline = list[list[float]]


class CameraMotion(AttributeLeaf):
    """The fourth largest share of the view lost between any two of ten frames, in both directions of time.

    The time between the frames follows the length of the clip: up to 81 frames in a clip of 90, up to 36 in one of 45.
    ``coverage="warp"`` counts border pixels as the published code does, 0.1 s slower and up to 0.007 higher. Without
    ``fallback`` clips whose features agree on no camera have a reason instead of a value.
    """

    name = "camera_motion"
    deviations = (
        Deviation(
            "features of camera motion",
            "SURF at 854 pixels across, every pair of frames by itself",
            "SIFT at 342 pixels across, spread over the view, each frame once: the programs that OpenCV ships have no SURF",
            "not the published estimator: ranks of 28 real clips correlated by 0.85 with SURF's (version 1), of 27 by 0.90 with"
            " those of SIFT at full size and no check, 23 of them within 0.02; cameras that are known are met to 0.001",
        ),
        Deviation(
            "alignments that are not borne out",
            "count, whatever they are",
            "are replaced by a camera that stands still, or fail, by what the pixels say (`Views.verdict`)",
            "a fixed camera above a street scores 0.00 to 0.01 at five sizes, where it scored up to 0.29 or had no value;"
            " beside drawn asphalt 0.00 at 200 to 854 pixels across, where it scored up to 0.72",
        ),
        Deviation(
            "alignments that fail",
            "the pair loses everything; four such pairs make the clip infinite, which ranks as the most motion",
            "the pair is bridged through other frames; where no bridge holds, the clip has no score, and a reason"
            " (`corrected`: patches that keep their look are asked first)",
            "of 37 real clips 5 are infinite there and 8 have a reason here",
        ),
        Deviation(
            "pixels at the border",
            "a pixel counts only if all it is interpolated from is covered",
            "areas of polygons; `coverage=warp` counts pixels",
            "up to 0.007 lower",
        ),
    )
    version = "6"
    unit = "fraction of the view"
    direction = "higher: more motion of the camera"
    cost = 1.2
    needs = ("luma",)

    def __init__(
        self, *, sampled_frames: AtLeastOne = 10, percentile: Percentile = 96.0, coverage: Coverage = "polygon",
        fallback: bool = True,
    ) -> None:  # fmt: skip
        self.sampled_frames, self.percentile, self.coverage, self.fallback = sampled_frames, percentile, coverage, fallback

    def measure(self, view: ItemView) -> float:
        """The score in 0..1, 0 for a tripod; ``NotMeasurable`` when frames cannot be aligned or are too few."""
        losses = pair_losses(
            view.luma, sampled_frames=self.sampled_frames, coverage=self.coverage, fallback=self.fallback
        )  # fmt: skip
        return largest_loss(losses, percentile=self.percentile)


class CameraMotionPerFrame(AttributeLeaf):
    """The share of the view that the camera leaves behind per frame, over a reach of about 36 frames.

    ``camera_motion`` looks up to 81 frames ahead in a clip of 90 frames but 36 in one of 45, so the same pan scores twice as
    high in the longer clip. Here all pairs have the same reach, the longest that a clip of 45 frames offers: a fixed reach
    also treats motion alike that does not grow with time, such as shake. Each pair counts with its worse direction (zooming
    in loses nothing forwards), the mean over the pairs is divided by the reach. It shares the alignments of
    ``camera_motion`` and costs next to nothing beside it.
    """

    name = "camera_motion_per_frame"
    version = "6"
    unit = "fraction of the view per frame"
    direction = "higher: faster camera"
    cost = 0.06
    needs = ("luma",)

    def __init__(self, *, sampled_frames: AtLeastOne = 10, reach_frames: AtLeastOne = 36) -> None:
        self.sampled_frames, self.reach_frames = sampled_frames, reach_frames

    def measure(self, view: ItemView) -> float:
        """The mean loss per frame, 0 for a tripod; ``NotMeasurable`` as for ``camera_motion``."""
        losses = pair_losses(view.luma, sampled_frames=self.sampled_frames)
        return loss_per_frame(losses, frames=len(view.luma), reach_frames=self.reach_frames)


class CameraMotionPerSecond(AttributeLeaf):
    """The share of the view that the camera leaves behind per second, over a reach of about ``reach_seconds``.

    As ``camera_motion_per_frame``, but with a reach in time: of two clips of one pan, that of 50 frames a second has a quarter
    of the motion a frame that the one of 12.5 has, and the same a second. A clip that is shorter counts with what it has.
    """

    name = "camera_motion_per_second"
    version = "4"
    unit = "fraction of the view per second"
    direction = "higher: faster camera"
    cost = 0.06
    needs = ("luma",)

    def __init__(self, *, sampled_frames: AtLeastOne = 10, reach_seconds: Duration = 1.2) -> None:
        self.sampled_frames, self.reach_seconds = sampled_frames, reach_seconds

    def measure(self, view: ItemView) -> float:
        """The mean loss per second, 0 for a tripod; ``NotMeasurable`` as for ``camera_motion``."""
        losses = pair_losses(view.luma, sampled_frames=self.sampled_frames)
        reach = max(1, round(self.reach_seconds * view.fps))
        return view.fps * loss_per_frame(losses, frames=len(view.luma), reach_frames=reach)


class CameraMotionConfidence(AttributeLeaf):
    """Confidence of ``camera_motion`` and ``camera_motion_per_frame``: 1 where features agree on the camera throughout.

    Else patches that keep their look were asked, and it is the share by which the camera that most of them agree on outvotes the
    next best, where that is least; 0 where features and patches agree on nothing and the view only looks as if it stood still.
    Below 0.5 the value may be that of what moves instead of the camera's.
    """

    name = "camera_motion_confidence"
    version = "3"
    unit = "confidence, 0..1"
    direction = "higher: camera motion is more trustworthy"
    cost = 0.01
    needs = ("luma",)

    def __init__(self, *, sampled_frames: AtLeastOne = 10) -> None:
        self.sampled_frames = sampled_frames

    def measure(self, view: ItemView) -> float:
        """The confidence; ``NotMeasurable`` as for ``camera_motion``."""
        return weakest_evidence(view.luma, sampled_frames=self.sampled_frames)


def pair_losses(luma: Luma, *, sampled_frames: int = 10, coverage: Coverage = "polygon", fallback: bool = True) -> Losses:
    """Loss of every ordered pair of sampled frames, ``float64[N, N]`` in 0..1 with a zero diagonal.

    Raises what ``pair_matrices`` raises.

    Args:
        luma: ``uint8[T, H, W]``.
    """
    height, width = luma.shape[1:]
    matrices = pair_matrices(luma, sampled_frames=sampled_frames, fallback=fallback)
    return _losses(matrices, width=width, height=height, coverage=coverage)


def largest_loss(losses: Losses, *, percentile: float = 96.0) -> float:
    """The percentile of all entries, zeros of the diagonal included, rounded up: of 10 x 10 entries the fourth largest."""
    return float(np.percentile(losses, percentile, method="higher"))


def loss_per_frame(losses: Losses, *, frames: int, reach_frames: int = 36) -> float:
    """Mean over the pairs nearest to ``reach_frames`` apart of the larger loss of both directions, per frame.

    Args:
        losses: ``float64[N, N]`` of a clip of ``frames`` frames, from ``pair_losses``.
    """
    spacing = int(sampled_indices(frames, sampled_frames=len(losses))[1])
    steps = min(max(round(reach_frames / spacing), 1), len(losses) - 1)
    forwards, backwards = np.diagonal(losses, steps), np.diagonal(losses, -steps)
    return float(np.maximum(forwards, backwards).mean() / (steps * spacing))


def per_frame_from_transforms(transforms: Matrices, *, width: int, height: int) -> float:
    """The score of a clip whose camera is known exactly; ``transforms`` as in ``losses_from_transforms``."""
    return loss_per_frame(losses_from_transforms(transforms, width=width, height=height), frames=len(transforms))


def losses_from_transforms(transforms: Matrices, *, width: int, height: int, sampled_frames: int = 10) -> Losses:
    """Exact losses that ``pair_losses`` estimates, from the known camera.

    Args:
        transforms: ``float64[T, 3, 3]``, from pixels of each frame to one common plane.
    """
    transforms = transforms[sampled_indices(len(transforms), sampled_frames=sampled_frames)]
    pairs = np.linalg.inv(transforms)[None, :] @ transforms[:, None]
    return _losses(pairs, width=width, height=height, coverage="polygon")


def score_from_transforms(transforms: Matrices, *, width: int, height: int) -> float:
    """The score of a clip whose camera is known exactly; ``transforms`` as in ``losses_from_transforms``."""
    return largest_loss(losses_from_transforms(transforms, width=width, height=height))


def coverage_loss(matrix: Matrices, *, width: int, height: int) -> float:
    """Share of a view, 0..1, that another view of the same size does not cover when ``matrix`` lays it there.

    Args:
        matrix: ``float64[3, 3]``, from pixels of the other view to pixels of this one.

    Raises:
        ValueError: the other view's horizon crosses it, so it has no outline in this one.
    """
    left, top, right, bottom = -0.5, -0.5, width - 0.5, height - 0.5  # pixel centres have whole numbers
    corners = np.array([[left, top, 1], [right, top, 1], [right, bottom, 1], [left, bottom, 1]]) @ matrix.T
    if corners[:, 2].min() <= 0 <= corners[:, 2].max():
        raise ValueError(f"the horizon crosses the view: corner depths {corners[:, 2].tolist()}")
    outline: Outline = (corners[:, :2] / corners[:, 2:]).tolist()
    for axis, edge, inwards in ((0, left, 1), (0, right, -1), (1, top, 1), (1, bottom, -1)):
        outline = _cut(outline, [inwards * (corner[axis] - edge) for corner in outline])
    crosses = (outline[index - 1][0] * corner[1] - outline[index - 1][1] * corner[0] for index, corner in enumerate(outline))
    return min(max(1 - abs(sum(crosses)) / 2 / (width * height), 0.0), 1.0)


# cv2.intersectConvexConvex gives half the area, or none, for some pairs of rectangles that nearly coincide: a tripod.
def _cut(outline: Outline, depths: list[float]) -> Outline:
    """The part of a convex outline with depths (one a corner) of at least 0."""
    kept: Outline = []
    for index, (corner, depth) in enumerate(zip(outline, depths, strict=True)):
        before, depth_before = outline[index - 1], depths[index - 1]
        if depth * depth_before < 0:
            way = depth_before / (depth_before - depth)
            kept.append([start + way * (end - start) for start, end in zip(before, corner, strict=True)])
        if depth >= 0:
            kept.append(corner)
    return kept


def warp_loss(matrix: Matrices, *, width: int, height: int) -> float:
    """``coverage_loss`` as the published code takes it: a pixel counts only when all it is interpolated from is covered."""
    warped = cv2.warpAffine(np.ones((height, width), np.float32), matrix[:2], (width, height))
    return float(np.mean(warped < 1))


def _losses(matrices: Matrices, *, width: int, height: int, coverage: Coverage) -> Losses:
    loss = {"polygon": coverage_loss, "warp": warp_loss}[coverage]
    losses = np.zeros(matrices.shape[:2])
    for start, other in np.argwhere(~np.eye(len(matrices), dtype=bool)):
        losses[start, other] = loss(matrices[start, other], width=width, height=height)
    return losses
