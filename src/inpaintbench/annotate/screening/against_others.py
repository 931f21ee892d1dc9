"""Rule: answers that differ from what nearly all others say."""

from __future__ import annotations

from collections import Counter

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, share


class AgainstOthers(ScreeningRule):
    """Agreement with the majority of the others, on tasks where these are many and agree; each rater is left out of their own.

    Flagged is who stays below ``agreement`` with the upper end of Wilson's 95 % interval.

    Args:
        agreement: share of such tasks on which a rater should say what the others say, 0..1.
        least: such tasks before anything is said.
        voters: others that a task needs.
        majority: share of them that must agree, 0..1.
    """

    name = "against_others"
    version = "1"
    title = "Against the others"

    def __init__(self, *, agreement: float = 0.6, least: int = 15, voters: int = 4, majority: float = 0.75) -> None:
        self.agreement, self.majority = share(agreement, name="agreement"), share(majority, name="majority")
        self.least, self.voters = at_least(least, name="least"), at_least(voters, name="voters", least=2)

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who mostly disagree."""
        from scipy.stats import binomtest

        choices: dict[str, Counter[str]] = {}
        ordinary = [vote for votes in panel.of_question.values() for vote in votes]
        for vote in ordinary:
            choices.setdefault(vote.task_id, Counter())[vote.choice] += 1
        as_others: dict[str, list[bool]] = {}
        for vote in ordinary:
            others = choices[vote.task_id] - Counter([vote.choice])
            if others.total() < self.voters:
                continue
            answer, most = max(others.items(), key=lambda row: row[1])
            if most >= self.majority * others.total() and list(others.values()).count(most) == 1:
                as_others.setdefault(vote.rater_id, []).append(vote.choice == answer)
        return [
            Finding(rater_id, f"agrees on {sum(of)} of {len(of)} tasks on which {self.majority:.0%} of the others do")
            for rater_id in panel.of_rater
            if len(of := as_others.get(rater_id, [])) >= self.least
            and binomtest(sum(of), len(of)).proportion_ci(method="wilson").high < self.agreement
        ]
