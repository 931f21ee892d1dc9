"""Quality of one prediction on its own."""

from __future__ import annotations

from inpaintbench.annotate.questions.base import Form, Option, Part, Question
from inpaintbench.errors import InputError

# 1 to 5: the absolute category rating of ITU-T P.910.
GRADES = ("Bad", "Poor", "Fair", "Good", "Excellent")
_NOTE = "Watch the clip once and grade how good it looks as a whole. Use the whole scale."


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
        return Form("How good is it?", _NOTE, (Part("grade", "How good does it look?", options),))
