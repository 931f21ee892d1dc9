"""Questions about predictions: the best of several, a grade of one, and which of two is better."""

from __future__ import annotations

from inpaintbench.annotate.questions.base import PLACE, Form, Option, Part, Question
from inpaintbench.errors import InputError

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
