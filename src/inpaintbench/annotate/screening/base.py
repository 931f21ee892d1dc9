"""Base of screening rules, and all rules of a study over all its answers: who is proposed to count for nothing, and why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.questions.base import Kind
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.study import RULES, Study
from inpaintbench.catalogue import Leaf
from inpaintbench.errors import InputError


class Finding(NamedTuple):
    """A rater whose answers a rule would not count."""

    rater_id: str
    reason: str
    """One clause with the numbers that it rests on."""


@dataclass(frozen=True)
class Panel:
    """All answers of a study that stand, whoever is excluded: what rules say never hangs on what was decided before."""

    study: Study
    votes: Sequence[Vote]
    """In the order of the journal; gold and repeats too."""

    @cached_property
    def of_rater(self) -> Mapping[str, Sequence[Vote]]:
        """Rater -> answers, in order."""
        answers: dict[str, list[Vote]] = {}
        for vote in self.votes:
            answers.setdefault(vote.rater_id, []).append(vote)
        return answers

    @cached_property
    def of_question(self) -> Mapping[str, Sequence[Vote]]:
        """Question -> ordinary votes, in order."""
        votes: dict[str, list[Vote]] = {label: [] for label in self.study.question_of}
        for vote in self.votes:
            if vote.purpose == "vote":
                votes[vote.question].append(vote)
        return votes

    def kind(self, label: str) -> Kind:
        """What the answers to a question are."""
        return self.study.question_of[label].kind

    def findings(self, said: Mapping[str, str]) -> list[Finding]:
        """What is said of raters, in the order in which they came."""
        return [Finding(rater_id, said[rater_id]) for rater_id in self.of_rater if rater_id in said]


class ScreeningRule(Leaf, ABC):
    """A rule; its constants are arguments of its class, and the study file states them."""

    title: str
    """Words for people."""
    only_proposes: str = ""
    """Why nobody may be left out by it alone; such a rule never acts by itself."""

    @abstractmethod
    def findings(self, panel: Panel) -> list[Finding]:
        """Return the raters whose answers should not count, in the order in which they came."""


def grades_of(panel: Panel) -> Iterator[tuple[str, list[str], npt.NDArray[np.float64]]]:
    """Questions whose answers are numbers: the label, its raters, and ``float64[tasks, raters]``, NaN where nobody answered."""
    for label, votes in panel.of_question.items():
        if panel.kind(label) not in ("grade", "share"):
            continue
        question = panel.study.question_of[label]
        tasks = {task_id: row for row, task_id in enumerate(dict.fromkeys(vote.task_id for vote in votes))}
        raters = {rater_id: column for column, rater_id in enumerate(dict.fromkeys(vote.rater_id for vote in votes))}
        grades = np.full((len(tasks), len(raters)), np.nan)
        for vote in votes:
            if (value := question.number(vote.choice)) is not None:
                grades[tasks[vote.task_id], raters[vote.rater_id]] = value
        yield label, list(raters), grades


def share(value: float, *, name: str) -> float:
    """``value``, when it is a share 0..1; ``InputError`` otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"{name} is {value!r}, choose a share of 0 to 1")
    return float(value)


def at_least(value: int, *, name: str, least: int = 1) -> int:
    """``value``, when it is a whole number from ``least`` on; ``InputError`` otherwise."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} is {value!r}, choose a whole number of {least} or more")
    return value


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
