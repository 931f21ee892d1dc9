"""Rule: one side is chosen whatever stands there."""

from __future__ import annotations

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, share


class SideBias(ScreeningRule):
    """Choices of the left of two, against one half by the exact binomial test (two-sided).

    Methods stand left and right equally often for every rater, so a lead is about the person. Verdicts that neither is better are
    no choices; all questions about pairs count together. 34 of 50 gives p = 0.0153, 61 of 90 gives p = 0.00097.

    Args:
        p: below it a rater is flagged, 0..1.
        lead: least distance of the share from one half, so that many votes do not make a habit a fault, 0..0.5.
    """

    name = "side_bias"
    version = "1"
    title = "One side chosen"

    def __init__(self, *, p: float = 0.001, lead: float = 0.25) -> None:
        self.p, self.lead = share(p, name="p"), share(lead, name="lead")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who lean to a side."""
        from scipy.stats import binomtest

        found = []
        for rater_id, votes in panel.of_rater.items():
            places = [
                vote.shown.index(vote.choice)
                for vote in votes
                if vote.purpose == "vote" and len(vote.shown) == 2 and vote.choice in vote.shown
            ]
            left, n = places.count(0), len(places)
            if n and abs(left / n - 0.5) > self.lead and (p := binomtest(left, n).pvalue) < self.p:
                found.append(Finding(rater_id, f"chose left {left} times of {n} (p = {p:.2g})"))
        return found
