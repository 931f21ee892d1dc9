"""Motion of the camera, as people see it: checks the label that is measured."""

from __future__ import annotations

from collections.abc import Mapping

from inpaintbench.annotate.questions.base import Form, Option, Part, Question
from inpaintbench.errors import InputError

UNCLEAR = "unclear"
_NOTE = (
    "Look at the camera alone, whatever moves in front of it. Low: it stands still, or trembles or drifts so little that the "
    "view at the end is nearly the view at the start. High: it pans, travels or zooms so far that much of the view is "
    "another by the end. Choose unclear where it is neither."
)


class CameraMotion(Question):
    """Low or high camera motion over the clip, or unclear where it lies between."""

    name = "camera_motion"
    version = "1"
    subject = "clip"
    kind = "label"
    unsure = (UNCLEAR,)
    attributes: Mapping[str, str] = {"motion": "camera_motion_by_people"}

    def form(self, *, candidates: int) -> Form:
        """One part, ``motion``; ``InputError`` where there are candidates."""
        if candidates:
            raise InputError(f"{self.name} is asked about clips, not about {candidates} predictions")
        options = (Option("low", "Low", "1"), Option("high", "High", "2"), Option(UNCLEAR, "Unclear", "x"))
        return Form("Camera motion", _NOTE, (Part("motion", "How much does the camera move?", options),))
