"""Share of the view that moving objects cover, found by their motion alone, without a trained detector."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.motion_field import Mask, PairMotion, motion_field
from inpaintbench.ranges import Amount, Share
from inpaintbench.view import ItemView


class MovingObjectFraction(AttributeLeaf):
    """Mean share of the view in compact regions that move as one, apart from the camera and from what surrounds them.

    A proxy for foreground objects that needs no weights: an object keeps its look along its motion and stands out from its
    surroundings; water changes its look, and the parallax of a ground fades into its surroundings. Objects that stand still
    are not found, nor those that cover more of the view than ``largest_fraction``, nor a limb as apart from its body.
    """

    name = "moving_object_fraction"
    version = "2"
    unit = "fraction of the view"
    direction = "higher: more of the view is moving objects"
    cost = 0.18
    needs = ("luma",)

    def __init__(
        self,
        *,
        smallest_fraction: Share = 0.002,
        largest_fraction: Share = 0.4,
        least_coherence: Share = 0.6,
        least_compactness: Share = 0.35,
        least_contrast: Amount = 2.0,
        largest_unexplained: Share = 0.45,
    ) -> None:
        self.smallest_fraction, self.largest_fraction = smallest_fraction, largest_fraction
        self.least_coherence, self.least_compactness = least_coherence, least_compactness
        self.least_contrast, self.largest_unexplained = least_contrast, largest_unexplained

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` as for ``motion_field``."""
        field = motion_field(view.luma, fps=view.fps)
        return float(np.mean([self.objects(pair).mean() for pair in field.pairs]))

    def objects(self, pair: PairMotion) -> Mask:
        """Return where the objects of a pair are, ``bool[H, W]`` at the working size."""
        apart = (pair.moving > 0.5) & pair.seen & (np.linalg.norm(pair.residual, axis=2) > _strong_speed(pair))
        count, labels = cv2.connectedComponents(apart.astype(np.uint8))
        covered = np.zeros_like(apart)
        for label in range(1, count):
            region = labels == label
            if self.smallest_fraction <= region.mean() <= self.largest_fraction and self._is_object(region, pair):
                covered |= region
        return np.asarray(covered, np.bool_)

    def _is_object(self, region: Mask, pair: PairMotion) -> bool:
        speed = np.linalg.norm(pair.residual, axis=2)
        inside, motion = float(speed[region].mean()), pair.residual[region].mean(axis=0)
        _, _, width, height = cv2.boundingRect(region.astype(np.uint8))
        reach = max(region.shape) // 12
        near = cv2.dilate(region.astype(np.uint8), np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)).astype(bool) & ~region
        outside = float(speed[near].mean()) if near.any() else inside
        return (
            float(np.linalg.norm(motion)) >= self.least_coherence * inside
            and region.sum() >= self.least_compactness * width * height
            and inside >= self.least_contrast * outside
            and float(np.median(pair.unexplained[region])) <= self.largest_unexplained
        )


def _strong_speed(pair: PairMotion) -> float:
    """Half of the fastest residual, so that an object parts from slower motion that touches it."""
    speed = np.linalg.norm(pair.residual, axis=2)[pair.seen]
    # A percentile of float32 depends on the version of numpy in its seventh digit.
    return 0.5 * float(np.percentile(speed.astype(np.float64), 98)) if speed.size else 0.0
