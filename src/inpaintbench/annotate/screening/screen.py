"""All rules of a study over all its answers: who is proposed to count for nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.rules import RULES
from inpaintbench.annotate.screening.base import Panel
from inpaintbench.annotate.study import Study


class Proposal(NamedTuple):
    """A rater whom a rule would exclude."""

    rater_id: str
    rule: str
    reason: str
    auto: bool
    """The study lets the rule act by itself."""
    alone: bool = True
    """It may be the only reason to leave somebody out."""


def proposals(study: Study, votes: Sequence[Vote], *, auto_only: bool = False) -> list[Proposal]:
    """Return what the study's rules say, rule by rule in the order of the study file.

    Args:
        study: states the rules.
        votes: all answers that stand, in order, those that are excluded too.
        auto_only: leave out rules that only propose.
    """
    panel = Panel(study, votes)
    rules = [(name, spec, spec.built(name)) for name, spec in study.file.screening.items() if spec.auto or not auto_only]
    return [
        Proposal(finding.rater_id, name, finding.reason, spec.auto, not rule.only_proposes)
        for name, spec, rule in rules
        for finding in rule.findings(panel)
    ]


def stated_rules(study: Study) -> Mapping[str, Mapping[str, Any]]:
    """Return the study's rules as the journal keeps them: constants, ``auto`` and the version of the rule."""
    return {
        name: {**spec.constants, "auto": spec.auto, "version": RULES.get(name).version}
        for name, spec in study.file.screening.items()
    }
