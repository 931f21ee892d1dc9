"""Speed at which the scene moves by itself, beyond what the camera does."""

from __future__ import annotations

import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.motion_field import motion_field
from inpaintbench.view import ItemView


class ResidualMotion(AttributeLeaf):
    """Mean speed over the view of what moves beyond the camera, still parts counted as 0: the scene's share of the flow.

    In the same unit as ``camera_speed``, which it completes. It grows with how much of the view moves and with how fast.
    It is a suggestion for raters of scene motion, not an answer: foreground objects count like water, and a camera that
    travels through the scene leaves parallax in it, which ``residual_confidence`` lowers itself for.
    """

    name = "residual_motion"
    version = "2"
    unit = "view widths per second"
    direction = "higher: more motion of the scene itself"
    cost = 0.12
    needs = ("luma",)

    def measure(self, view: ItemView) -> float:
        """The speed, 0 for a still scene under any camera; ``NotMeasurable`` as for ``motion_field``."""
        field = motion_field(view.luma, fps=view.fps)
        speeds = [float((np.linalg.norm(pair.residual, axis=2) * pair.moving * pair.seen).mean()) for pair in field.pairs]
        return field.view_widths_a_second(float(np.mean(speeds)))
