"""Question: which of two predictions is better."""

from __future__ import annotations

from inpaintbench.annotate.questions.base import PLACE, Form, Option, Part, Question
from inpaintbench.errors import InputError

TIE, BOTH_BAD = "tie", "both_bad"
_NOTE = (
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
        note = _NOTE + _BAD_NOTE * self.both_bad
        return Form("Which is better?", note, (Part("better", "Which is better?", tuple(options)),))
