"""Rule: comparisons that tell nothing, by a model of the methods and the raters together."""

from __future__ import annotations

from inpaintbench.annotate.questions.pairwise import TIE
from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, share
from inpaintbench.annotate.statistics.crowd_bt import Judged, crowd_bt


class AnnotatorModel(ScreeningRule):
    """Reliability of each rater in Crowd-BT: 1 follows the common order, 0.5 tosses a coin, 0 reverses it.

    It is a diagnosis; rankings stay those of Davidson's model.

    Args:
        reliability: below it a rater is flagged, 0..1.
        least: comparisons of a rater in a question before anything is said.
    """

    name = "annotator_model"
    version = "1"
    title = "Choices by lot"

    def __init__(self, *, reliability: float = 0.6, least: int = 15) -> None:
        self.reliability, self.least = share(reliability, name="reliability"), at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters whose choices follow no common order."""
        said: dict[str, str] = {}
        for label, votes in panel.of_question.items():
            if panel.kind(label) != "pair":
                continue
            judged = [
                Judged(first, second, 0.5 if vote.choice == TIE else float(vote.choice == first), vote.rater_id)
                for vote in votes
                for first, second in [vote.candidates]
                if vote.choice == TIE or vote.choice in vote.candidates
            ]
            counts: dict[str, int] = {}
            for row in judged:
                counts[row.rater] = counts.get(row.rater, 0) + 1
            model = crowd_bt(judged) if judged else None
            for rater_id, eta in model.reliability.items() if model else ():
                if counts[rater_id] >= self.least and eta < self.reliability:
                    said.setdefault(
                        rater_id, f"reliability {eta:.2f} over {counts[rater_id]} comparisons (1 = all, 0.5 = a coin)"
                    )
        return [Finding(rater_id, said[rater_id]) for rater_id in panel.of_rater if rater_id in said]
