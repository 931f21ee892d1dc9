"""Rule: the same button again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, share

# Kinds of answers that vary in any honest work; a folder may well hold nothing but clips to keep.
_VARYING = ("pair", "best", "grade")


class StraightLining(ScreeningRule):
    """A run of one answer longer than a rater's own answers, in random order, would make; or hardly any other answer at all.

    Answers are the buttons: places of pairs, grades. Runs are compared with independent draws by the rater's own shares, question
    by question; nearly constant answers are a fault of comparisons and grades alone.

    Args:
        quantile: of the longest run by chance, beyond which a rater is flagged, 0..1.
        commonest: share of one answer from which it is called constant, 0..1.
        least: answers to a question before anything is said of it.
    """

    name = "straight_lining"
    version = "1"
    title = "Straight lines"

    def __init__(self, *, quantile: float = 0.999, commonest: float = 0.9, least: int = 15) -> None:
        self.quantile, self.commonest = share(quantile, name="quantile"), share(commonest, name="commonest")
        self.least = at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who press one button."""
        said: dict[str, str] = {}
        for label, votes in panel.of_question.items():
            part = panel.study.question_of[label].parts()[0].name
            pressed: dict[str, list[str]] = {}
            for vote in votes:
                pressed.setdefault(vote.rater_id, []).append(vote.given.get(part, vote.choice))
            for rater_id, buttons in pressed.items():
                if len(buttons) >= self.least and (reason := self._reason(buttons, varying=panel.kind(label) in _VARYING)):
                    said.setdefault(rater_id, reason)
        return [Finding(rater_id, said[rater_id]) for rater_id in panel.of_rater if rater_id in said]

    def _reason(self, buttons: Sequence[str], *, varying: bool) -> str | None:
        counts = Counter(buttons)
        button, most = counts.most_common(1)[0]
        if varying and most >= self.commonest * len(buttons):
            return f"{most} of {len(buttons)} answers are {button!r}"
        run, of = max((len(list(same)), name) for name, same in groupby(buttons))
        if len(counts) > 1 and longest_run_below(run, counts, draws=len(buttons)) > self.quantile:
            return f"{run} times {of!r} in a row, of {len(buttons)} answers"
        return None


def longest_run_below(length: int, counts: Mapping[str, int], *, draws: int) -> float:
    """Probability that ``draws`` independent draws, by shares as in ``counts``, hold no run of ``length`` equal ones."""
    shares = np.array([count for count in counts.values() if count]) / sum(counts.values())
    if length <= 1:
        return float(draws < 1)
    # [answer, length of the run so far - 1]; a new answer begins a run of its own.
    state = np.zeros((len(shares), length - 1))
    state[:, 0] = shares
    for _ in range(draws - 1):
        ends = state.sum(axis=1)
        after = np.zeros_like(state)
        after[:, 1:] = state[:, :-1] * shares[:, None]
        after[:, 0] = shares * (ends.sum() - ends)
        state = after
    return float(state.sum())
