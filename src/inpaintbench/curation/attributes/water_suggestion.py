"""Share of the view that looks like running water: a number to sort clips by, which no rater is shown."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.motion_field import Map, MotionField, motion_field
from inpaintbench.ranges import Share
from inpaintbench.view import ItemView


class WaterSuggestion(AttributeLeaf):
    """Share of the view in large regions that keep moving by themselves while their look keeps changing.

    Solid things that move, and the parallax of a travelling camera, keep their look along their motion; running water does
    not. Only regions of at least ``smallest_region`` count, because DEVIL (CVPR 2022, section 4.2) asks for the share of the
    view in large bodies of running water. Fire, smoke, rain and wind in fine leaves look the same to this measure, and calm or
    distant water does not move enough. Raters would be misled, so a study refuses it as a suggestion.
    """

    name = "water_suggestion"
    version = "2"
    unit = "fraction of the view"
    direction = "higher: more of the view may be running water"
    cost = 0.08
    needs = ("luma",)

    def __init__(self, *, unexplained: tuple[Share, Share] = (0.2, 0.4), smallest_region: Share = 0.02) -> None:
        self.unexplained, self.smallest_region = unexplained, smallest_region

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` as for ``motion_field``."""
        likely = self.likelihood(motion_field(view.luma, fps=view.fps))
        count, labels, statistics, _ = cv2.connectedComponentsWithStats((likely > 0.5).astype(np.uint8))
        large = [label for label in range(1, count) if statistics[label, cv2.CC_STAT_AREA] >= self.smallest_region * likely.size]
        return float(np.isin(labels, large).mean())

    def likelihood(self, field: MotionField) -> Map:
        """Return how likely each place of the view is running water, ``float32[H, W]`` in 0..1 at the working size."""
        none, full = self.unexplained
        evidence = [
            pair.moving * np.clip((cv2.blur(pair.unexplained, (15, 15)) - none) / (full - none), 0, 1) for pair in field.pairs
        ]
        return np.asarray(np.mean(evidence, axis=0), np.float32)
