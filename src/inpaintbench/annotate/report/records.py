"""Material of the report, and the tables that its sections share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from inpaintbench.annotate.events import Event
from inpaintbench.annotate.questions.base import SHOWN
from inpaintbench.annotate.records import Exclusion, Stated, Vote
from inpaintbench.annotate.screening.screen import Proposal
from inpaintbench.annotate.statistics.exclusions import Change, Results, changes
from inpaintbench.annotate.study import Study, StudyTask
from inpaintbench.pages import MethodStyle, method_styles


@dataclass(frozen=True)
class Material:
    """Everything the page is made of."""

    study: Study
    votes: Sequence[Vote]
    """Answers that stand and count, in the order of the journal."""
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

    excluded: Sequence[Vote] = ()
    """Answers that stand and do not count."""
    exclusions: Sequence[Exclusion] = ()
    """Why they do not."""
    counted: Results | None = None
    """Results of ``votes``, and of these with the excluded ones: needed where there are exclusions."""
    everything: Results | None = None

    proposed: Sequence[Proposal] = ()
    """What the study's screening rules say, also of those who are excluded already."""
    without_proposed: Results | None = None
    """Results of ``votes`` without those whom rules propose; None where they propose nobody who counts."""
    stated: Sequence[Stated] = ()
    """The rules as they were stated, the newest last."""

    warmups: int = 0
    """Answers to first tasks of raters, which are not among the votes."""

    picture_of: Callable[[StudyTask], str] = lambda _: ""
    """Address of a picture of a task, for pages that are served; none by default."""

    @cached_property
    def changes(self) -> list[Change]:
        """Verdicts on methods that hang on the excluded answers."""
        return changes(self.everything, self.counted) if self.everything and self.counted else []

    @cached_property
    def waiting(self) -> list[Proposal]:
        """Proposals about raters who are not excluded."""
        excluded = {exclusion.rater_id for exclusion in self.exclusions if exclusion.submission is None}
        return [of for of in self.proposed if of.rater_id not in excluded]

    @cached_property
    def proposed_changes(self) -> list[Change]:
        """Verdicts on methods that hang on raters whom rules propose to exclude."""
        return changes(self.counted, self.without_proposed) if self.counted and self.without_proposed else []

    @cached_property
    def titles(self) -> dict[str, str]:
        """Question -> title, by the study file, else by the leaf."""
        return {spec.label: _title(self.study, spec.label) for spec in self.study.file.questions}

    @cached_property
    def called(self) -> dict[str, str]:
        """Rater -> name in the page: ``rater-001`` for the first to answer, unless ``names`` has one."""
        answers = sorted((*self.votes, *self.excluded), key=lambda vote: vote.at) if self.excluded else self.votes
        order = list(dict.fromkeys(vote.rater_id for vote in answers))
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


def _title(study: Study, label: str) -> str:
    spec, question = study.spec_of[label], study.question_of[label]
    if spec.title or spec.name:
        return spec.title or label.replace("_", " ").capitalize()
    return question.form(candidates=SHOWN[question.subject]).title
