"""Camera motion that does not depend on the length of the clip."""

from __future__ import annotations

import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.camera_motion import Losses, Matrices, losses_from_transforms, pair_losses, sampled_indices
from inpaintbench.ranges import AtLeastOne
from inpaintbench.view import ItemView


class CameraMotionPerFrame(AttributeLeaf):
    """The share of the view that the camera leaves behind per frame, over a reach of about 36 frames.

    ``camera_motion`` looks up to 81 frames ahead in a clip of 90 frames but 36 in one of 45, so the same pan scores twice as
    high in the longer clip. Here all pairs have the same reach, the longest that a clip of 45 frames offers: a fixed reach
    also treats motion alike that does not grow with time, such as shake. Each pair counts with its worse direction (zooming
    in loses nothing forwards), the mean over the pairs is divided by the reach. It shares the alignments of
    ``camera_motion`` and costs next to nothing beside it.
    """

    name = "camera_motion_per_frame"
    version = "5"
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
