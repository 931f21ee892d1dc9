"""What the report of a study is made of, worked out from its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from inpaintbench.annotate.questions.base import SHOWN
from inpaintbench.annotate.records import Event, Exclusion, Standing, Stated, Vote
from inpaintbench.annotate.screening.base import Proposal, proposals
from inpaintbench.annotate.statistics.ranking import plain
from inpaintbench.annotate.statistics.standings import Change, Results, changes, dimensions_of, results_of
from inpaintbench.annotate.study import Study, StudyTask
from inpaintbench.pages import MethodStyle, method_styles

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal


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


def material_of(
    study: Study,
    standing: Standing,
    events: Sequence[Event],
    *,
    overview: Mapping[str, Any],
    names: Mapping[str, str] = {},
    picture_of: Callable[[StudyTask], str] = lambda _: "",
) -> Material:
    """Rankings, agreement and everything else of a study, with and without what is excluded.

    Args:
        study: prepared.
        standing: its answers.
        events: all of its journal; for skips and dropped frames.
        overview: of the desk.
        names: rater -> what the page calls them; pseudonyms by default.
        picture_of: address of a task's picture, for pages that are served.
    """
    counted = results_of(study, standing.votes)
    proposed = proposals(study, standing.everything)
    flagged = {of.rater_id for of in proposed if of.alone}
    left = [vote for vote in standing.votes if vote.rater_id not in flagged]
    return Material(
        study,
        standing.votes,
        events,
        overview,
        plain(counted.rankings),
        dimensions=dimensions_of(study, standing.votes),
        names=names,
        excluded=standing.excluded,
        exclusions=standing.exclusions,
        counted=counted,
        everything=results_of(study, standing.everything) if standing.exclusions else None,
        proposed=proposed,
        without_proposed=results_of(study, left) if len(left) < len(standing.votes) else None,
        stated=standing.stated,
        warmups=standing.warmups,
        picture_of=picture_of,
    )


# What the report reads of events; the rest of a million of them would fill gigabytes.
_READ = ("submission_id", "undoes", "reason", "task_id", "dropped_frames", "plays")
_AT_ONCE = 10_000


def events_read(journal: Journal, study_id: str) -> list[Event]:
    """Answers, skips and undos in a journal, with the fields that the report reads.

    Raises:
        JournalUnavailable: the database does not answer.
    """
    kept: list[Event] = []
    while events := journal.events(study_id, after=kept[-1].seq if kept else 0, most=_AT_ONCE, kinds=("answer", "skip", "undo")):
        for of in events:
            kept.append(Event(of.seq, of.at, of.kind, of.rater_id, {name: of.body[name] for name in _READ if name in of.body}))
    return kept
