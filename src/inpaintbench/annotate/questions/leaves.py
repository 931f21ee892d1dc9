"""Questions about clips: motion, and whether they belong; and about predictions: the best, a grade, which is better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from inpaintbench.annotate.questions.base import PLACE, Form, Option, Part, Question
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


# Candidates in a row: one key each.
FEWEST, MOST = 2, 9
_BEST_NOTE = (
    "All of them are the same original, filled in by different methods. Choose the one that looks most natural to you "
    "and whose parts belong together best. There is no right answer, and you must choose one."
)


class BestOf(Question):
    """One of the 2 to 9 predictions in a row, by the keys 1 to 9 from left to right."""

    name = "best_of"
    version = "1"
    subject = "set"
    kind = "best"

    def form(self, *, candidates: int) -> Form:
        """One part, ``best``; ``InputError`` for fewer than 2 or more than 9 candidates."""
        if not FEWEST <= candidates <= MOST:
            raise InputError(f"{self.name} takes {FEWEST} to {MOST} predictions, not {candidates}; name some as methods")
        options = tuple(Option(f"{PLACE}{place}", chr(ord("A") + place), str(place + 1)) for place in range(candidates))
        return Form("Which is the best?", _BEST_NOTE, (Part("best", "Which one looks best?", options),))


# 1 to 5: the absolute category rating of ITU-T P.910.
GRADES = ("Bad", "Poor", "Fair", "Good", "Excellent")
_GRADE_NOTE = "Watch the clip once and grade how good it looks as a whole. Use the whole scale."


class MeanOpinion(Question):
    """A grade of 1 to 5; the mean over raters is the mean opinion score."""

    name = "mean_opinion"
    version = "1"
    subject = "one"
    kind = "grade"

    def form(self, *, candidates: int) -> Form:
        """One part, ``grade``; ``InputError`` unless there is one candidate."""
        if candidates != 1:
            raise InputError(f"{self.name} grades 1 prediction, not {candidates}")
        options = tuple(Option(str(grade), label, str(grade)) for grade, label in enumerate(GRADES, 1))
        return Form("How good is it?", _GRADE_NOTE, (Part("grade", "How good does it look?", options),))


TIE, BOTH_BAD = "tie", "both_bad"
_PAIR_NOTE = (
    "A and B are two results for the same clip. Choose the one that looks better to you as a whole, "
    "and hard to distinguish when you would have to guess."
)
_BAD_NOTE = " Choose both bad when neither could be used, even if one is a little less bad."


class Pairwise(Question):
    """A, B or hard to distinguish; both bad too where it is asked for.

    The keys 1, 2, 3 lie under one hand in the order of the screen: left, neither, right; 4 is both bad. The arrows stay with
    the player.

    Args:
        both_bad: offer that neither is any good. It is a verdict of its own and no tie.
    """

    name = "pairwise"
    version = "1"
    subject = "pair"
    kind = "pair"

    def __init__(self, *, both_bad: bool = False) -> None:
        if not isinstance(both_bad, bool):
            raise InputError(f"both_bad is {both_bad!r}, choose true or false")
        self.both_bad = both_bad

    def form(self, *, candidates: int) -> Form:
        """One part, ``better``; ``InputError`` unless there are two candidates."""
        if candidates != 2:
            raise InputError(f"{self.name} compares 2 predictions, not {candidates}")
        options = [
            Option(f"{PLACE}0", "A is better", "1"),
            Option(TIE, "Hard to distinguish", "2"),
            Option(f"{PLACE}1", "B is better", "3"),
        ]
        if self.both_bad:
            options.append(Option(BOTH_BAD, "Both bad", "4"))
        note = _PAIR_NOTE + _BAD_NOTE * self.both_bad
        return Form("Which is better?", note, (Part("better", "Which is better?", tuple(options)),))
