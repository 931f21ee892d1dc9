"""Speed at which the camera moves the view, apart from what moves in it."""

from __future__ import annotations

import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.motion_field import motion_field
from inpaintbench.view import ItemView


class CameraSpeed(AttributeLeaf):
    """Mean speed at which the camera alone displaces the points of the view, over about 0.15 s at a time.

    The companion of ``residual_motion``, in the same unit and from the same split. Unlike ``camera_motion`` it does not depend
    on the length of the clip, counts the way of a trembling hand that returns, and takes a zoom by its mean displacement.
    """

    name = "camera_speed"
    version = "2"
    unit = "view widths per second"
    direction = "higher: faster camera"
    cost = 1.0
    needs = ("luma",)

    def measure(self, view: ItemView) -> float:
        """The speed, 0 for a tripod; ``NotMeasurable`` as for ``motion_field``."""
        field = motion_field(view.luma, fps=view.fps)
        return field.view_widths_a_second(float(np.mean([np.linalg.norm(pair.camera, axis=2).mean() for pair in field.pairs])))
