"""Confidence in the split of a clip's motion into camera and scene."""

from __future__ import annotations

import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.motion_field import motion_field, parallax
from inpaintbench.ranges import Share
from inpaintbench.view import ItemView


class ResidualConfidence(AttributeLeaf):
    """Product of four shares: view with texture, votes that agree on the camera, pairs with a camera, and 1 - parallax.

    Votes above ``enough_agreement`` count as full agreement, because moving water and objects rightly do not agree. Parallax
    of a camera that travels, and an object that a camera follows, cannot be told from motion of the scene.
    """

    name = "residual_confidence"
    version = "2"
    unit = "confidence, 0..1"
    direction = "higher: residual_motion and camera_speed are more trustworthy"
    cost = 0.17
    needs = ("luma",)

    def __init__(self, *, enough_agreement: Share = 0.35) -> None:
        self.enough_agreement = enough_agreement

    def measure(self, view: ItemView) -> float:
        """The confidence; ``NotMeasurable`` as for ``motion_field``."""
        field = motion_field(view.luma, fps=view.fps)
        trusted = [pair.read * min(pair.agreement / self.enough_agreement, 1.0) for pair in field.pairs]
        return float(np.sum(trusted)) / field.asked * (1 - parallax(field))
