"""Rule: repeats are answered otherwise than at first."""

from __future__ import annotations

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, share


class UnstableRepeats(ScreeningRule):
    """Tasks asked twice that a rater answers alike far less often than the others of the panel answer theirs.

    How often honest people agree with themselves hangs on how hard the question is: of six repeats of close comparisons one in
    ten honest raters answers one alike at most. So the exact binomial test against the share of all others decides, and nobody
    is flagged who agrees at least as often as ``same``.

    Args:
        p: below it (one-sided) a rater is flagged, 0..1.
        same: share of repeats answered as at first that is good enough whatever the others do, 0..1.
    """

    name = "unstable_repeats"
    version = "1"
    title = "Repeats that disagree"

    def __init__(self, *, p: float = 0.001, same: float = 0.6) -> None:
        self.p, self.same = share(p, name="p"), share(same, name="same")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who disagree with themselves."""
        from scipy.stats import binom

        counts: dict[str, tuple[int, int]] = {}
        for rater_id, votes in panel.of_rater.items():
            first = {vote.task_id: vote.choice for vote in votes if vote.purpose != "repeat"}
            again = [vote.choice == first[vote.task_id] for vote in votes if vote.purpose == "repeat" and vote.task_id in first]
            counts[rater_id] = sum(again), len(again)
        alike, asked = (sum(column) for column in zip(*counts.values(), strict=True)) if counts else (0, 0)
        found = []
        for rater_id, (own, of) in counts.items():
            if not of or own >= self.same * of or asked == of:
                continue
            others = (alike - own) / (asked - of)
            if binom.cdf(own, of, others) < self.p:
                found.append(Finding(rater_id, f"{own} of {of} repeats answered as at first, others {others:.0%} of theirs"))
        return found
