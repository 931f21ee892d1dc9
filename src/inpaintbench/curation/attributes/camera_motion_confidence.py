"""How clearly a clip shows what its camera does."""

from __future__ import annotations

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.camera_motion import weakest_evidence
from inpaintbench.ranges import AtLeastOne
from inpaintbench.view import ItemView


class CameraMotionConfidence(AttributeLeaf):
    """Confidence of ``camera_motion`` and ``camera_motion_per_frame``: 1 where features agree on the camera throughout.

    Else patches that keep their look were asked, and it is the share by which the camera that most of them agree on outvotes the
    next best, where that is least; 0 where features and patches agree on nothing and the view only looks as if it stood still.
    Below 0.5 the value may be that of what moves instead of the camera's.
    """

    name = "camera_motion_confidence"
    version = "2"
    unit = "confidence, 0..1"
    direction = "higher: camera motion is more trustworthy"
    cost = 0.01
    needs = ("luma",)

    def __init__(self, *, sampled_frames: AtLeastOne = 10) -> None:
        self.sampled_frames = sampled_frames

    def measure(self, view: ItemView) -> float:
        """The confidence; ``NotMeasurable`` as for ``camera_motion``."""
        return weakest_evidence(view.luma, sampled_frames=self.sampled_frames)
