"""Question: whether a clip belongs in the benchmark, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from inpaintbench.annotate.questions.base import Form, Option, Part, Question
from inpaintbench.errors import InputError

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
_NOTE = (
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
            instruction=_NOTE,
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
