"""Rule: repeats are answered otherwise than at first."""

from __future__ import annotations

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, share


class UnstableRepeats(ScreeningRule):
    """Tasks asked twice whose answers agree clearly less often than ``same``.

    Flagged is who stays below with the upper end of Wilson's 95 % interval: 0 of 3, 1 of 6, 4 of 14.

    Args:
        same: share of repeats that should be answered as at first, 0..1.
    """

    name = "unstable_repeats"
    version = "1"
    title = "Repeats that disagree"

    def __init__(self, *, same: float = 0.6) -> None:
        self.same = share(same, name="same")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who disagree with themselves."""
        from scipy.stats import binomtest

        found = []
        for rater_id, votes in panel.of_rater.items():
            first = {vote.task_id: vote.choice for vote in votes if vote.purpose != "repeat"}
            again = [vote.choice == first[vote.task_id] for vote in votes if vote.purpose == "repeat" and vote.task_id in first]
            if again and binomtest(sum(again), len(again)).proportion_ci(method="wilson").high < self.same:
                found.append(Finding(rater_id, f"{sum(again)} of {len(again)} repeats answered as at first"))
        return found
