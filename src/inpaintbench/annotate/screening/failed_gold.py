"""Rule: too few of the known answers are right."""

from __future__ import annotations

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, share


class FailedGold(ScreeningRule):
    """First answers to gold tasks that are right less often than ``accuracy``, once there are ``least`` of them.

    With 0.7 of 10, a coin passes in 17 % of cases and somebody who is right 19 times of 20 fails in 0.1 %; with 0.6 the coin
    passes in 38 %. Gold with three answers (A, B, neither) lets 2 % of guessers pass.

    Args:
        accuracy: share that must be right, 0..1.
        least: gold answers before anything is said.
    """

    name = "failed_gold"
    version = "1"
    title = "Known answers missed"

    def __init__(self, *, accuracy: float = 0.7, least: int = 10) -> None:
        self.accuracy, self.least = share(accuracy, name="accuracy"), at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who fail."""
        found = []
        for rater_id, votes in panel.of_rater.items():
            study = panel.study
            right = [study.passes(study.task_of[vote.task_id], vote.choice) for vote in votes if vote.purpose == "gold"]
            if len(right) >= self.least and sum(right) < self.accuracy * len(right) - 1e-9:
                found.append(Finding(rater_id, f"{sum(right)} of {len(right)} known answers right, {self.accuracy:.0%} must be"))
        return found
