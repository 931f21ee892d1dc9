"""Camera motion of clips of several frame rates."""

from __future__ import annotations

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.camera_motion import pair_losses
from inpaintbench.curation.attributes.camera_motion_per_frame import loss_per_frame
from inpaintbench.ranges import AtLeastOne, Duration
from inpaintbench.view import ItemView


class CameraMotionPerSecond(AttributeLeaf):
    """The share of the view that the camera leaves behind per second, over a reach of about ``reach_seconds``.

    As ``camera_motion_per_frame``, but with a reach in time: of two clips of one pan, that of 50 frames a second has a quarter
    of the motion a frame that the one of 12.5 has, and the same a second. A clip that is shorter counts with what it has.
    """

    name = "camera_motion_per_second"
    version = "3"
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
