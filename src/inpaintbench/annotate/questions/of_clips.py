"""Questions about clips: motion of the scene and of the camera, and whether they belong in the benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from inpaintbench.annotate.questions.base import Form, Option, Part, Question
from inpaintbench.errors import InputError

# Per cent of the view, in order: the steps of both answers.
SHARES = ("0", "5", "10", "25", "50", "75", "100")
UNCLEAR = "unclear"
_SCENE_NOTE = (
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
            instruction=_SCENE_NOTE,
            parts=(
                Part("water", "How much of the view is large running bodies of water?", options),
                Part("other", "How much of the view is other moving background, such as trees, clouds or crowds?", options),
            ),
        )


_CAMERA_NOTE = (
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
        return Form("Camera motion", _CAMERA_NOTE, (Part("motion", "How much does the camera move?", options),))


KEEP, REJECT, OTHER = "keep", "reject", "other"
# Why a clip is rejected -> what the button says, in the order of their keys.
REASONS: Mapping[str, str] = {
    "shot_change": "Shot change",
    "foreground_object": "Foreground object",
    "post_processed": "Post-processed",
    "overlay": "Text, logo or frame on top",
    "bad_quality": "Bad quality",
    OTHER: "Other",
}
_KEEP_NOTE = (
    "Keep a clip that is one unbroken shot of a place, filmed as it is. Reject it when the picture cuts or fades to another "
    "shot, when a person, animal or vehicle stands out in front, when colours or speed were visibly changed afterwards, when "
    "text, a logo or a frame lies on top, or when it is too blurred, dark or damaged to be of use."
)


class KeepReject(Question):
    """Keep or reject, and the reason for rejecting."""

    name = "keep_reject"
    version = "1"
    subject = "clip"
    kind = "label"

    def form(self, *, candidates: int) -> Form:
        """Part ``verdict``, then ``reason`` for what is rejected; ``InputError`` where there are candidates."""
        if candidates:
            raise InputError(f"{self.name} is asked about clips, not about {candidates} predictions")
        verdicts = (Option(KEEP, "Keep", "1"), Option(REJECT, "Reject", "2"))
        reasons = tuple(Option(value, label, str(key)) for key, (value, label) in enumerate(REASONS.items(), 1))
        return Form(
            title="Keep or reject",
            instruction=_KEEP_NOTE,
            parts=(
                Part("verdict", "Does this clip belong in the benchmark?", verdicts),
                Part("reason", "Why not? Choose the first that is true.", reasons, when=("verdict", REJECT), text_with=OTHER),
            ),
        )

    def reasons(self, answer: str | None, given: Sequence[Mapping[str, str]]) -> str | None:
        """Return why raters rejected, the most frequent reason first, with their words; None of clips that are kept."""
        if answer == KEEP:
            return None
        # Imported votes may say that they reject and not why.
        stated = [form for form in given if "reason" in form]
        words = [f"{OTHER}: {form['reason_text']}" if form["reason"] == OTHER else form["reason"] for form in stated]
        return "; ".join(reason for reason, _ in Counter(words).most_common()) or None
