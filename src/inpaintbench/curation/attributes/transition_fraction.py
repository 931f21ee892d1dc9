"""How much of a clip is a transition between shots."""

from __future__ import annotations

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.lazily import lazily
from inpaintbench.view import ItemView

shots = lazily("inpaintbench.curation.shots")


class TransitionFraction(AttributeLeaf):
    """Share of the frames that lie in a cut, a fade or a dissolve, as ``--splitter shots`` finds them; a cut is one frame.

    Of a fade or dissolve a quarter of its length at either side counts with it, as its faint ends do not show.
    Transitions are those of the whole film where they were looked for when it was cut, so that one at the edge of the clip counts
    too. Else they are looked for in the clip: of a transition that it shows only the end of, less than a third may not be told
    from a change of light.
    """

    name = "transition_fraction"
    version = "3"
    unit = "fraction of the frames"
    direction = "higher: more of the clip is no single shot"
    cost = 0.45
    needs = ("truth", "transitions")

    def measure(self, view: ItemView) -> float:
        """The share in 0..1, 0 for a single shot."""
        if view.has("transitions"):
            spans = view.transitions
        else:
            found = shots.transitions(view.truth_frame(index) for index in range(view.frames))
            spans = tuple((span.start_frame, span.end_frame) for span in found)
        inside = {at for span in spans for at in _covered(*span)}
        return len(inside & set(range(view.frames))) / view.frames


def _covered(start: int, end: int) -> range:
    """Frames of a transition; one that begins with the clip is the cut before it."""
    faint = (end - start) // 4
    return range(start - faint, end + faint) if end > start else range(max(start, 1), start + 1)
