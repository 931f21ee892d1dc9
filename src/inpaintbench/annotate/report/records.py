"""Material of the report, and the tables that its sections share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from inpaintbench.annotate.desk.records import Vote
from inpaintbench.annotate.events import Event
from inpaintbench.annotate.study import Study, StudyTask
from inpaintbench.pages import MethodStyle, method_styles


@dataclass(frozen=True)
class Material:
    """Everything the page is made of."""

    study: Study
    votes: Sequence[Vote]
    """Answers that stand, in the order of the journal."""
    events: Sequence[Event] = ()
    """All of the study; for skips and dropped frames."""
    overview: Mapping[str, Any] = field(default_factory=dict)
    """``done`` and ``why`` (the stop rule) and ``raters`` (rows with ``rater_id`` and ``paused``) are read, if there."""
    rankings: Mapping[str, Any] = field(default_factory=dict)
    """Question -> ``methods`` (rows with ``name``, ``strength``, ``low``, ``high``, ``rank``, ``rank_low``, ``rank_high``,
    ``win_share``, ``votes``), ``stable``, ``position_bias`` and ``notes``."""
    automatic: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    """(subject, question) -> the machine's answer, where tasks suggest none: an option's value, or a number in the unit of the
    options, of which the nearest is taken."""
    dimensions: Mapping[str, Any] = field(default_factory=dict)
    """``questions``, ``correlation`` (rows of numbers or None), ``n`` and ``notes``."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Rater -> what the page calls them, instead of a pseudonym."""

    @cached_property
    def called(self) -> dict[str, str]:
        """Rater -> name in the page: ``rater-001`` for the first to answer, unless ``names`` has one."""
        order = list(dict.fromkeys(vote.rater_id for vote in self.votes))
        return {rater: self.names.get(rater, f"rater-{place:03}") for place, rater in enumerate(order, 1)}

    @cached_property
    def methods(self) -> list[str]:
        """All candidates of the study, sorted."""
        return sorted({name for task in self.study.tasks for name in task.candidates})

    @cached_property
    def styles(self) -> dict[str, MethodStyle]:
        """Candidate -> how it is drawn."""
        return method_styles(self.methods)

    def colour(self, method: str) -> str:
        """CSS colour of a candidate's whisker or bar."""
        return self.styles[method].colour if method in self.styles else "var(--soft)"

    @cached_property
    def by_question(self) -> dict[str, list[Vote]]:
        """Question -> its ordinary votes, neither gold nor repeated."""
        votes: dict[str, list[Vote]] = {spec.label: [] for spec in self.study.file.questions}
        for vote in self.votes:
            if vote.purpose == "vote":
                votes.setdefault(vote.question, []).append(vote)
        return votes

    @cached_property
    def tasks(self) -> dict[str, list[StudyTask]]:
        """Question -> its tasks without gold ones."""
        tasks: dict[str, list[StudyTask]] = {spec.label: [] for spec in self.study.file.questions}
        for task in self.study.tasks:
            if not task.gold:
                tasks[task.question].append(task)
        return tasks
