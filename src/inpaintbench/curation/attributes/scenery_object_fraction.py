"""How much of the view a detector calls by the names of what lives in scenery."""

from __future__ import annotations

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.foreground_fraction import SCENERY, staying_share
from inpaintbench.models import yolox
from inpaintbench.ranges import AtLeastOne, Share
from inpaintbench.view import ItemView


class SceneryObjectFraction(AttributeLeaf):
    """Mean share of ten frames in boxes of birds, cattle, boats, plants that stay, which ``foreground_fraction`` leaves out.

    Some of it is there: a boat is a boat, a butterfly is a bird to the detector. Some is not: a rock is a bear, reeds are a
    giraffe. So no rule asks for it by default; look at the clips that have much of it.
    """

    name = "scenery_object_fraction"
    version = "1"
    unit = "fraction of the view"
    direction = "higher: more of the view shows what may be an object, or a rock or a leaf"
    needs = ("truth",)
    weights = (yolox.WEIGHTS,)
    cost = 0.05

    def __init__(
        self, *, sampled_frames: AtLeastOne = 10, score_threshold: Share = 0.5, consecutive_frames: AtLeastOne = 3
    ) -> None:
        self.sampled_frames, self.score_threshold, self.consecutive_frames = sampled_frames, score_threshold, consecutive_frames

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` while the weights are missing or damaged."""
        return staying_share(
            view, kinds=SCENERY, sampled_frames=self.sampled_frames, score_threshold=self.score_threshold,
            consecutive_frames=self.consecutive_frames,
        )  # fmt: skip
