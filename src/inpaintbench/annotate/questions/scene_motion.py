"""Share of the view that moves by itself: what DEVIL's labels of scene motion are made of."""

from __future__ import annotations

from collections.abc import Mapping

from inpaintbench.annotate.questions.base import Form, Option, Part, Question
from inpaintbench.errors import InputError

# Per cent of the view, in order: the steps of both answers.
SHARES = ("0", "5", "10", "25", "50", "75", "100")
UNCLEAR = "unclear"
_NOTE = (
    "Watch the whole clip, then judge the place, not the people or things in it. Count water only where a large body of it "
    "runs: a river, a waterfall, surf, waves; a still lake or a fountain in the distance is 0 %. Say what share of the picture "
    "it fills over the whole clip, to the nearest step; motion of the camera does not count."
)


class SceneMotion(Question):
    """The share of the view that is large running bodies of water, and the share that other background motion fills.

    The first decides DEVIL's slices of background scene motion (CVPR 2022, section 4.2).
    """

    name = "scene_motion"
    version = "1"
    subject = "clip"
    kind = "share"
    unsure = (UNCLEAR,)
    attributes: Mapping[str, str] = {"water": "bg_scene_motion", "other": "other_scene_motion"}

    def form(self, *, candidates: int) -> Form:
        """Two parts, ``water`` and ``other``, on the same scale; ``InputError`` where there are candidates."""
        if candidates:
            raise InputError(f"{self.name} is asked about clips, not about {candidates} predictions")
        options = tuple(Option(share, f"{share} %", str(place)) for place, share in enumerate(SHARES, 1))
        options += (Option(UNCLEAR, "Unclear", "x"),)
        return Form(
            title="Scene motion",
            instruction=_NOTE,
            parts=(
                Part("water", "How much of the view is large running bodies of water?", options),
                Part("other", "How much of the view is other moving background, such as trees, clouds or crowds?", options),
            ),
        )
