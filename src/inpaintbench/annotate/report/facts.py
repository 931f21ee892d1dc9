"""Numbers of the report that need no model: coverage, raters, sides, wins, pace."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from inpaintbench.annotate.questions.of_methods import BOTH_BAD, TIE
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.report.material import Material
from inpaintbench.annotate.statistics.agreement import Share, agreement_by_rater, answers_of, scheme_of
from inpaintbench.annotate.statistics.shares import choices_of, selection_frequency
from inpaintbench.claims import Estimate

# Standard normal quantile of a 95 % interval.
_STANDARD_NORMAL_975 = 1.959963984540054


class Proportion(NamedTuple):
    """``part`` of ``whole`` with the 95 % interval of Wilson (1927)."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """The share."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """Low and high; 0 and 1 of nothing."""
        if not self.whole:
            return 0.0, 1.0
        z, n, share = _STANDARD_NORMAL_975, self.whole, self.part / self.whole
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


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
    others = _agreement_with_others(material)
    paused = {row["rater_id"] for row in material.overview.get("raters", ()) if row.get("paused")}
    votes: dict[str, list[Vote]] = {rater: [] for rater in material.called}
    for vote in (*material.votes, *material.excluded):
        votes[vote.rater_id].append(vote)
    excluded = {exclusion.rater_id for exclusion in material.exclusions if exclusion.submission is None}
    return [
        RaterRow(
            rater, len(own), median_seconds(own), gold_right(material, own), repeated(own),
            others.get(rater, Share(None, 0)), left_choices(own),
            Proportion(sum(vote.stuttered for vote in own), len(own)), rater in paused and rater not in excluded,
            rater in excluded,
        )
        for rater, own in votes.items()
    ]  # fmt: skip


def gold_right(material: Material, votes: Sequence[Vote]) -> Proportion:
    """First answers to gold tasks that are right."""
    study = material.study
    answers = [(vote.choice, study.task_of[vote.task_id]) for vote in votes if vote.purpose != "repeat"]
    known = [study.passes(task, choice) for choice, task in answers if task.gold]
    return Proportion(sum(known), len(known))


def repeated(votes: Sequence[Vote]) -> Proportion:
    """Tasks answered as the first time, of those that a rater was asked again."""
    first = {(vote.rater_id, vote.task_id): vote.choice for vote in votes if vote.purpose != "repeat"}
    again = [vote for vote in votes if vote.purpose == "repeat" and (vote.rater_id, vote.task_id) in first]
    return Proportion(sum(vote.choice == first[vote.rater_id, vote.task_id] for vote in again), len(again))


def _agreement_with_others(material: Material) -> dict[str, Share]:
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for label, question in material.study.question_of.items():
        answers = answers_of(material.votes, label, pairs=question.kind == "pair")
        for rater, share in agreement_by_rater(answers, scheme_of(question)).items():
            if share.value is not None:
                sums[rater][0] += share.value * share.units
                sums[rater][1] += share.units
    return {rater: Share(total / units, int(units)) for rater, (total, units) in sums.items()}


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
    stuttered = Proportion(sum(vote.stuttered for vote in material.votes), len(material.votes))
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
