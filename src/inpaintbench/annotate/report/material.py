"""What the report of a study is made of, worked out from its answers; with the numbers that need no model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from inpaintbench.annotate.questions.base import SHOWN
from inpaintbench.annotate.questions.leaves import BOTH_BAD, TIE
from inpaintbench.annotate.records import WORDING, Edit, Event, Exclusion, Proportion, Standing, Stated, Vote, is_right
from inpaintbench.annotate.screening.base import Proposal, proposals
from inpaintbench.annotate.statistics.agreement import Share, agreement_by_rater, answers_of, scheme_of
from inpaintbench.annotate.statistics.ranking import plain
from inpaintbench.annotate.statistics.standings import (
    Change,
    Results,
    changes,
    choices_of,
    dimensions_of,
    results_of,
    selection_frequency,
)
from inpaintbench.annotate.study import Study, StudyTask
from inpaintbench.claims import Estimate
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

    edits: Sequence[Edit] = ()
    """Changes of the study while it ran."""

    measured: Mapping[str, Mapping[tuple[str, str], float]] = field(default_factory=dict)
    """Metric -> (method, item) -> score; what groups of raters prefer is told by these."""

    picture_of: Callable[[StudyTask], str] = lambda _: ""
    """Address of a picture of a task, for pages that are served; none by default."""

    def answers_before(self, edit: Edit) -> Proportion:
        """Answers that were given before a change, of all that it speaks of."""
        about = [vote for vote in self.votes if edit.what not in WORDING or edit.of in ("", vote.question)]
        return Proportion.of([vote.revision < edit.number for vote in about])

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
        titles = {}
        for spec in self.study.file.questions:
            named = spec.label.replace("_", " ").capitalize() if spec.name else ""
            question = self.study.question_of[spec.label]
            titles[spec.label] = spec.title or named or question.form(candidates=SHOWN[question.subject]).title
        return titles

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


def material_of(
    study: Study, standing: Standing, events: Sequence[Event], *, overview: Mapping[str, Any], names: Mapping[str, str] = {},
    measured: Mapping[str, Mapping[tuple[str, str], float]] = {}, picture_of: Callable[[StudyTask], str] = lambda _: "",
) -> Material:  # fmt: skip
    """Rankings, agreement and everything else of a study, with and without what is excluded.

    Args:
        study: prepared.
        standing: its answers.
        events: all of its journal; for skips and dropped frames.
        overview: of the desk.
        names: rater -> what the page calls them; pseudonyms by default.
        measured: metric -> (method, item) -> score.
        picture_of: address of a task's picture, for pages that are served.
    """
    counted = results_of(study, standing.votes)
    proposed = proposals(study, standing.everything)
    flagged = {of.rater_id for of in proposed if of.alone}
    left = [vote for vote in standing.votes if vote.rater_id not in flagged]
    return Material(
        study, standing.votes, events, overview, plain(counted.rankings), dimensions=dimensions_of(study, standing.votes),
        names=names, excluded=standing.excluded, exclusions=standing.exclusions, stated=standing.stated,
        warmups=standing.warmups, counted=counted, proposed=proposed, measured=measured, picture_of=picture_of,
        edits=standing.edits, everything=results_of(study, standing.everything) if standing.exclusions else None,
        without_proposed=results_of(study, left) if len(left) < len(standing.votes) else None,
    )  # fmt: skip


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


class Coverage(NamedTuple):
    """Progress of a question."""

    votes: int
    wanted: int
    """Votes, of all tasks together."""
    tasks_done: int
    """Tasks with as many raters as they should have."""
    tasks: int


class RaterRow(NamedTuple):
    """Work of one rater."""

    rater_id: str
    answers: int
    median_seconds: float | None
    """None where no answer says how long it took."""
    gold: Proportion
    repeats: Proportion
    """Answered the same again."""
    others: Share
    """Share of the other raters of a task who gave the same answer."""
    left: Proportion
    """Choices of the left candidate, of the choices between two."""
    stuttered: Proportion
    paused: bool
    excluded: bool
    """Nothing of theirs counts; the numbers are of what they answered."""


class Outcomes(NamedTuple):
    """Outcomes of the votes of a comparison."""

    methods: tuple[str, ...]
    wins: Mapping[tuple[str, str], int]
    """(winner, loser) -> votes; of sets, a chosen one wins against all others."""
    ties: Mapping[tuple[str, str], int]
    """(method, method), both ways round -> votes."""
    tie: Proportion
    both_bad: Proportion
    chosen: Mapping[str, Proportion]
    """Method -> how often it was chosen of the times it was shown."""

    def win_ratio(self, method: str) -> float | None:
        """Wins and half of the ties over comparisons; verdicts that both are bad are no comparisons."""
        met = [other for other in self.methods if other != method]
        won = sum(self.wins.get((method, other), 0) + self.ties.get((method, other), 0) / 2 for other in met)
        lost = sum(self.wins.get((other, method), 0) + self.ties.get((method, other), 0) / 2 for other in met)
        return won / (won + lost) if won + lost else None


class Playback(NamedTuple):
    """Counts of how clips played."""

    dropped: Proportion
    """Frames dropped, of those that were to be shown."""
    stuttered: Proportion
    """Answers after stuttering, of all answers."""


def coverage(material: Material, question: str) -> Coverage:
    """Counts distinct raters of each task."""
    each = material.study.spec_of[question].raters_per_task
    raters: dict[str, set[str]] = defaultdict(set)
    for vote in material.by_question[question]:
        raters[vote.task_id].add(vote.rater_id)
    tasks = material.tasks[question]
    done = sum(len(raters[task.task_id]) >= each for task in tasks)
    return Coverage(len(material.by_question[question]), each * len(tasks), done, len(tasks))


def outcomes(votes: Sequence[Vote]) -> Outcomes:
    """Outcomes of the ordinary votes of one comparison."""
    methods = tuple(sorted({name for vote in votes for name in vote.candidates}))
    wins: Counter[tuple[str, str]] = Counter()
    ties: Counter[tuple[str, str]] = Counter()
    shown, chosen = Counter(name for vote in votes for name in vote.candidates), Counter(vote.choice for vote in votes)
    for vote in votes:
        if vote.choice in vote.candidates:
            wins.update((vote.choice, other) for other in vote.candidates if other != vote.choice)
        elif vote.choice == TIE and len(vote.candidates) == 2:
            ties.update([vote.candidates, vote.candidates[::-1]])
    return Outcomes(
        methods, wins, ties, Proportion(chosen[TIE], len(votes)), Proportion(chosen[BOTH_BAD], len(votes)),
        {name: Proportion(chosen[name], shown[name]) for name in methods},
    )  # fmt: skip


def left_choices(votes: Iterable[Vote]) -> Proportion:
    """Choices of the candidate shown on the left, of all choices of one of two candidates."""
    places = [vote.shown.index(vote.choice) for vote in votes if len(vote.shown) == 2 and vote.choice in vote.shown]
    return Proportion(places.count(0), len(places))


def place_choices(votes: Iterable[Vote]) -> list[Proportion]:
    """For each place from the left, how often what stood there was chosen, of the choices among so many places."""
    chosen = [(vote.shown.index(vote.choice), len(vote.shown)) for vote in votes if vote.choice in vote.shown]
    widest = max((width for _, width in chosen), default=0)
    return [
        Proportion(sum(at == place for at, _ in chosen), sum(width > place for _, width in chosen)) for place in range(widest)
    ]


def rater_rows(material: Material) -> list[RaterRow]:
    """One row a rater, in the order of their first answers."""
    alike: dict[str, list[Share]] = defaultdict(list)
    for label, question in material.study.question_of.items():
        answers = answers_of(material.votes, label, pairs=question.kind == "pair")
        for rater, share in agreement_by_rater(answers, scheme_of(question)).items():
            alike[rater].append(share)
    paused = {row["rater_id"] for row in material.overview.get("raters", ()) if row.get("paused")}
    votes: dict[str, list[Vote]] = {rater: [] for rater in material.called}
    for vote in (*material.votes, *material.excluded):
        votes[vote.rater_id].append(vote)
    excluded = {exclusion.rater_id for exclusion in material.exclusions if exclusion.submission is None}
    rows = []
    for rater, own in votes.items():
        shares = [(share.value, share.units) for share in alike[rater] if share.value is not None]
        units = sum(of for _, of in shares)
        others = Share(sum(value * of for value, of in shares) / units if units else None, units)
        rows.append(RaterRow(
            rater, len(own), median_seconds(own), gold_right(material, own), repeated(own), others, left_choices(own),
            Proportion.of([vote.stuttered for vote in own]), rater in paused and rater not in excluded,
            rater in excluded,
        ))  # fmt: skip
    return rows


def gold_right(material: Material, votes: Sequence[Vote]) -> Proportion:
    """First answers to gold tasks that are right."""
    return Proportion.of([is_right(material.study, vote) for vote in votes if vote.purpose == "gold"])


def repeated(votes: Sequence[Vote]) -> Proportion:
    """Tasks answered as the first time, of those that a rater was asked again."""
    first = {(vote.rater_id, vote.task_id): vote.choice for vote in votes if vote.purpose != "repeat"}
    again = [vote for vote in votes if vote.purpose == "repeat" and (vote.rater_id, vote.task_id) in first]
    return Proportion.of([vote.choice == first[vote.rater_id, vote.task_id] for vote in again])


def playback(material: Material) -> Playback:
    """Playback of the standing answers, as browsers reported it."""
    standing = {vote.submission_id for vote in material.votes}
    dropped = presented = 0
    for event in material.events:
        if event.kind == "answer" and event.body.get("submission_id") in standing:
            task = material.study.task_of.get(str(event.body.get("task_id")))
            proxy = material.study.proxies.get(task.proxy) if task else None
            if proxy is None or proxy.frames < 2:
                continue
            plays = max(float(event.body.get("plays") or 0), 1.0)
            presented += round(plays * proxy.frames)
            dropped += int(event.body.get("dropped_frames") or 0)
    stuttered = Proportion.of([vote.stuttered for vote in material.votes])
    return Playback(Proportion(min(dropped, presented), presented), stuttered)


def skips(material: Material) -> Counter[str]:
    """Reason -> skips that were not undone."""
    undone = {event.body["undoes"] for event in material.events if event.kind == "undo"}
    stand = [event for event in material.events if event.kind == "skip" and event.body.get("submission_id") not in undone]
    return Counter(str(event.body.get("reason") or "no reason") for event in stand)


def seconds_of(votes: Iterable[Vote]) -> list[float]:
    """Seconds of the answers that say how long they took; imported ones may not."""
    return [vote.seconds for vote in votes if vote.seconds is not None]


def median_seconds(votes: Iterable[Vote]) -> float | None:
    """Their median; None without any."""
    known = seconds_of(votes)
    return float(np.median(known)) if known else None


def sitting_seconds(material: Material, *, longest_pause: float = 300.0) -> float:
    """Time that raters spent, pauses beyond ``longest_pause`` seconds between two answers of one rater left out."""
    times: dict[str, list[float]] = defaultdict(list)
    for vote in material.votes:
        times[vote.rater_id].append(vote.at)
    gaps = [later - earlier for own in times.values() for earlier, later in pairwise(sorted(own))]
    first = sum(vote.seconds or 0.0 for vote in {vote.rater_id: vote for vote in reversed(material.votes)}.values())
    return first + sum(gap for gap in gaps if gap <= longest_pause)


def selection(votes: Sequence[Vote]) -> dict[str, Estimate]:
    """Method -> share of the votes that chose it, as ``annotate ranking`` tells it."""
    return selection_frequency(choices_of(votes), sorted({method for vote in votes for method in vote.candidates}))
