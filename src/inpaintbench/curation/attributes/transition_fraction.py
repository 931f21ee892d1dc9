"""How much of a clip is a transition between shots."""

from __future__ import annotations

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.shots import transitions
from inpaintbench.view import ItemView


class TransitionFraction(AttributeLeaf):
    """Share of the frames that lie in a cut, a fade or a dissolve, as ``--splitter shots`` finds them; a cut is one frame.

    Of a transition that the clip shows only the end of, less than a third may not be told from a change of light.
    """

    name = "transition_fraction"
    version = "1"
    unit = "fraction of the frames"
    direction = "higher: more of the clip is no single shot"
    cost = 0.45
    needs = ("truth",)

    def measure(self, view: ItemView) -> float:
        """The share in 0..1, 0 for a single shot."""
        spans = transitions(view.truth_frame(index) for index in range(view.frames))
        inside = {at for span in spans for at in range(span.start_frame, max(span.end_frame, span.start_frame + 1))}
        return len(inside) / view.frames
