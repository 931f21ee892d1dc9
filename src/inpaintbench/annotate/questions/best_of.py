"""Question: which of several predictions is the best."""

from __future__ import annotations

from inpaintbench.annotate.questions.base import PLACE, Form, Option, Part, Question
from inpaintbench.errors import InputError

# Candidates in a row: one key each.
FEWEST, MOST = 2, 9
_NOTE = (
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
        return Form("Which is the best?", _NOTE, (Part("best", "Which one looks best?", options),))
