"""What moves in a clip apart from its camera: how fast, in which objects, and whether it may be running water."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.motion_field import Map, Mask, MotionField, PairMotion, motion_field, parallax
from inpaintbench.ranges import Amount, Share
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
        self, *, smallest_fraction: Share = 0.002, largest_fraction: Share = 0.4, least_coherence: Share = 0.6,
        least_compactness: Share = 0.35, least_contrast: Amount = 2.0, largest_unexplained: Share = 0.45,
    ) -> None:  # fmt: skip
        self.smallest_fraction, self.largest_fraction = smallest_fraction, largest_fraction
        self.least_coherence, self.least_compactness = least_coherence, least_compactness
        self.least_contrast, self.largest_unexplained = least_contrast, largest_unexplained

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` as for ``motion_field``."""
        field = motion_field(view.luma, fps=view.fps)
        return float(np.mean([self.objects(pair).mean() for pair in field.pairs]))

    def objects(self, pair: PairMotion) -> Mask:
        """Return where the objects of a pair are, ``bool[H, W]`` at the working size."""
        speed = np.linalg.norm(pair.residual, axis=2)
        # Half of the fastest residual, so that an object parts from slower motion that touches it. A percentile of float32
        # depends on the version of numpy in its seventh digit.
        seen = speed[pair.seen].astype(np.float64)
        strong = 0.5 * float(np.percentile(seen, 98)) if seen.size else 0.0
        apart = (pair.moving > 0.5) & pair.seen & (speed > strong)
        count, labels = cv2.connectedComponents(apart.astype(np.uint8))
        covered = np.zeros_like(apart)
        for label in range(1, count):
            region = labels == label
            if self.smallest_fraction <= region.mean() <= self.largest_fraction and self._is_object(region, pair, speed):
                covered |= region
        return np.asarray(covered, np.bool_)

    def _is_object(self, region: Mask, pair: PairMotion, speed: Map) -> bool:
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
