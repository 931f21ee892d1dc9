"""Records of a study: leases, submissions and votes, and one of each rater with their queue, answers and reliability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal, NamedTuple

from inpaintbench.annotate.crowd import Outcome
from inpaintbench.annotate.study import Checks, Study
from inpaintbench.errors import InputError
from inpaintbench.types import Plain, content_id

# Events of a study, one record each: the journal keeps them in order and never changes one.
#
# The state of a study is what folding its events gives, so it can always be made again.

Kind = Literal[
    "lease", "renew", "answer", "skip", "undo", "resume", "exclude", "include", "screening", "arrive", "consent", "rest",
    "finish", "platform", "edit",
]  # fmt: skip
# `training` and `test`: of a crowd's practice and its test beforehand; `warmup`: of a rater's first tasks; `honey`: pictures say
# what to choose. They are no votes. Snapshots hold their numbers: new ones come last.
Purpose = Literal["vote", "gold", "repeat", "training", "test", "warmup", "honey"]
# What a rater knew of the machine's answer: nothing; nothing until they had answered; it was chosen beforehand; or they had seen
# it after an earlier answer of theirs to the same task, which they took back or which is asked once more.
SuggestionShown = Literal["hidden", "after", "prefill", "seen"]
# Answers given by raters who knew the machine's: they may lean towards it.
ANCHORED: frozenset[str] = frozenset({"prefill", "seen"})

# What of a study can be changed while it runs; see ``desk.edits``.
What = Literal["welcome", "title", "instruction", "places", "gold", "paused"]
# Of these, what raters read.
WORDING: frozenset[What] = frozenset({"welcome", "title", "instruction"})

# Rater id of events that are nobody's.
STUDY = "-"


class Event(NamedTuple):
    """One line of the journal.

    The body of each kind:

    * ``lease``: a task is handed out. ``lease_id``, ``task_id``, ``shown`` (candidates in the order shown, list; empty where an
      imported answer does not say, and places in ``given`` are then those of the task), ``purpose``
      (as it was then: the study may have learnt since that the task is gold, or that it is none), ``expires_at`` (seconds
      since 1970).
    * ``renew``: the rater still has it open. ``lease_id``, ``expires_at``.
    * ``answer``: ``submission_id``, ``lease_id``, ``task_id``, ``given`` (part -> value, as sent), ``choice`` (in the
      names of what was shown), ``seconds`` (from first frame shown to answer), ``watched_frames``,
      ``dropped_frames``, ``plays``, ``stuttered``, ``suggestion_shown`` (see ``SuggestionShown``), ``seen`` (see
      ``desk.cards.SentSeen``; missing where nobody said it), ``revision`` (as that of ``Vote``; missing as ``seen``).
    * ``skip``: ``submission_id``, ``lease_id``, ``task_id``, ``reason``, ``text``.
    * ``undo``: ``submission_id``, ``undoes`` (submission id of an answer or a skip), ``task_id``.
    * ``resume``: an admin lets a paused rater go on, or a stranger has read the instructions again (``by`` is then ``rater``).
    * ``arrive``: a platform sent somebody, for the first time. Nothing else: who it is stands in no event.
    * ``consent``: ``text_sha256`` of what they read, ``language`` of that (missing in older events: English), ``answer``
      (whether they agree).
    * ``rest``: a break of ``seconds`` begins.
    * ``finish``: their part has ended, with ``outcome`` (see ``crowd.Outcome``).
    * ``exclude``: what the rater says counts for nothing until it is included again. ``submission`` (of one answer of theirs;
      None for all, those to come too), ``reason``, ``rule`` (that proposed it; None where a person decided), ``by`` (rater id of
      an admin, or ``command``).
    * ``screening``: the rules of the study file when work began, and whenever they changed; of rater ``STUDY``. ``rules``
      (name -> constants, ``auto`` and ``version``).
    * ``platform``: what is told to the platform of somebody, before and after it is told; of rater ``STUDY``. See
      ``platforms.settling``.
    * ``edit``: a change while it ran; of rater ``STUDY``. ``what``, ``of``, ``before``, ``after`` and ``by`` of ``Edit``.
    * ``include``: it counts again, and no rule may exclude it by itself. ``submission``, ``reason``, ``by``.
    """

    seq: int
    """Grows within a study; gaps mean nothing."""
    at: float
    """Seconds since 1970, of the server."""
    kind: Kind
    rater_id: str
    body: Plain


# (left candidate, right candidate, outcome, cluster).
Comparison = tuple[str, str, Literal["first", "second", "tie"], str]


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer that stands, with everything that statistics ask about it."""

    submission_id: str
    rater_id: str
    task_id: str
    question: str
    """Label."""
    subject_id: str
    cluster: str
    candidates: tuple[str, ...]
    shown: tuple[str, ...]
    """The candidates in the order shown; empty where an imported answer does not say."""
    purpose: Purpose
    """By what the study and the journal know now; see ``state``."""
    given: Mapping[str, str]
    choice: str
    seconds: float | None
    """None where an imported answer does not say."""
    at: float
    """Seconds since 1970."""
    stuttered: bool
    suggestion_shown: str
    seen: Mapping[str, Any] | None = None
    """As ``cards.SentSeen`` says it, with ``dropped_frames`` and ``watched_frames``; None where nobody said it."""
    available_seconds: float | None = None
    """Seconds by the server's clock in which the rater could look at it: since it was handed out, or since what they had before
    can have been watched. None where nobody knows: imported answers, tasks seen before they were taken back, a clock put back."""
    too_soon: bool = False
    """Fewer than the clip lasts, although it has to be watched, whatever the browser says."""
    revision: int = 0
    """Changes of the study that what the rater read had, of all there were; see ``Edit``."""
    right: bool | None = field(default=None, compare=False)
    """Whether it was right by what was known when it came; None where nothing was, or nobody says."""

    @property
    def sides(self) -> tuple[str, ...]:
        """The candidates as shown or, where that is not known, as lots drawn by this answer put them.

        By name, the same method would always come first, and its strength be taken for a preference for the left.
        """
        return self.shown or tuple(sorted(self.candidates, key=lambda name: content_id(self.submission_id, name)))


@dataclass(slots=True)
class Lease:
    """A task in the hands of a rater, until it is answered or skipped."""

    lease_id: str
    rater_id: str
    task_id: str
    shown: tuple[str, ...]
    purpose: Purpose
    """As that of ``Vote``."""
    expires_at: float
    """Seconds since 1970."""
    previous: Mapping[str, str] | None
    """Answer of the rater before they undid it."""
    given_at: float = 0.0
    """Seconds since 1970."""
    dated_by: int = 0
    """Number of the event that said last when it expires."""
    revision: int = 0
    """Changes of the study before it was handed out."""


@dataclass(slots=True)
class Submission:
    """Something a rater sent, whether it still stands or not."""

    at: float
    """Seconds since 1970."""
    kind: Literal["answer", "skip", "undo"]
    rater_id: str
    task_id: str
    purpose: Purpose
    shown: tuple[str, ...]
    vote: Vote | None = None
    reason: str | None = None
    """Reason of a skip."""
    text: str = ""
    undone: bool = False


WITHDREW = "withdrew"
"""The reason for which people exclude themselves."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why answers count for nothing, although they stand."""

    at: float
    """Seconds since 1970."""
    rater_id: str
    submission: str | None
    """Submission id of one answer; None for all of the rater."""
    reason: str
    rule: str | None
    """Name of the screening rule; None where a person decided."""
    by: str
    """Rater id of an admin, or ``command``."""


@dataclass(frozen=True, slots=True)
class Stated:
    """Screening rules that the study stated."""

    at: float
    """Seconds since 1970."""
    rules: Mapping[str, Mapping[str, Any]]
    answers: int
    """Submissions before it: with none, the rules were stated before anybody answered."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the study while it ran, of which nothing takes back what was shown before."""

    number: int
    """1 of the first."""
    at: float
    """Seconds since 1970."""
    by: str
    """Rater id of an admin."""
    what: What
    of: str
    """Label of a question, id of a task of ``gold``, or empty."""
    before: str
    """Right answers are divided by ``|``."""
    after: str


# Seconds that an answer may come before its clip can be over: clocks and networks are not exact.
SOON_SECONDS = 0.5


@dataclass(frozen=True)
class Standing:
    """Answers of a study that stand, at one moment."""

    votes: Sequence[Vote]
    """Those that count, in the order of the journal."""
    everything: Sequence[Vote]
    """And those that are excluded."""
    excluded: Sequence[Vote]
    exclusions: Sequence[Exclusion]
    """Why they are, in the order in which it was decided."""
    stated: Sequence[Stated]
    """Screening rules as they were stated, the newest last."""
    warmups: int = 0
    """Answers to first tasks, to settle in, which are in none of the others."""
    edits: Sequence[Edit] = ()
    """Changes of the study while it ran."""


# Last answers whose median is the pace.
PACE_ANSWERS = 20
# Last tasks whose proxies a rater may still fetch.
RECENT_TASKS = 20


class Proportion(NamedTuple):
    """``part`` of ``whole``."""

    part: int
    whole: int

    @classmethod
    def of(cls, answers: Sequence[bool]) -> Proportion:
        """Those that are True."""
        return cls(sum(answers), len(answers))

    @property
    def value(self) -> float | None:
        """0..1, None of none."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """Low and high of the 95 % interval of Wilson (1927); 0 and 1 of nothing."""
        if not self.whole:
            return 0.0, 1.0
        from scipy.stats import binomtest

        found = binomtest(self.part, self.whole).proportion_ci(method="wilson")
        return float(found.low), float(found.high)


@dataclass(frozen=True)
class Reopened:
    """A task that an undo gave back and that waits for its new lease."""

    task_id: str
    purpose: Purpose
    shown: tuple[str, ...]
    previous: Mapping[str, str] | None
    """Answer that was undone; None after a skip."""


@dataclass(slots=True)
class Visit:
    """What a stranger's events say of their way through the study. Times are seconds since 1970."""

    arrived_at: float
    consented_at: float | None = None
    """When they agreed."""
    rest_until: float = 0.0
    """End of the last break."""
    outcome: Outcome | None = None
    ended_at: float | None = None


@dataclass(slots=True)
class RaterRecord:
    """The part of the state that one rater's events make; every list follows the order of events."""

    handed: int = 0
    """Leases ever given."""
    queue: list[str] = field(default_factory=list)
    """Lease ids without an outcome, in the order in which they are to be done; some may have expired."""
    had: set[str] = field(default_factory=set)
    """Tasks handed out, without repeats: none of them comes a second time."""
    repeated: set[str] = field(default_factory=set)
    """Tasks handed out once more on purpose."""
    warmed: list[str] = field(default_factory=list)
    """Tasks handed out to settle in, whose answers are never counted."""
    golds: int = 0
    """Gold tasks handed out, and ``honey``."""
    done: list[int] = field(default_factory=list)
    """Rows of the answers and skips that stand; see ``submissions``."""
    seconds: list[float | None] = field(default_factory=list)
    """Seconds of the answers that stand; None of those that do not say, which were imported."""
    first: dict[str, int] = field(default_factory=dict)
    """Task -> row, for the answers that stand and are no repeats."""
    told: set[str] = field(default_factory=set)
    """Tasks after whose answer the machine's was shown; taking it back does not make it unseen."""
    gold: list[bool] = field(default_factory=list)
    """True when the answers to gold tasks that stand are right."""
    gold_from: int = 0
    """Those before it no longer count: an admin let the rater go on."""
    stuttered: int = 0
    """Answers that stand and were given after stuttering."""
    tested: list[bool] = field(default_factory=list)
    """True when the answers to a crowd's test are right."""
    voted: int = 0
    """Answers to ordinary tasks that stand."""
    reread: int = 0
    """Times that a stranger who was paused read the instructions again."""
    visit: Visit | None = None
    """None for those who were invited."""
    repeats: list[bool | None] = field(default_factory=list)
    """True when repeats were answered as at first; None where the first answer does not stand."""
    reopened: list[Reopened] = field(default_factory=list)
    places: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """(question, candidate, place) -> how often it was shown there, without what was skipped or undone."""
    everywhere: dict[tuple[str, int], int] = field(default_factory=dict)
    """(candidate, place) -> the same over all questions."""
    proxies: tuple[str, ...] = ()
    """Proxies of the last tasks, newest last."""
    question: str = ""
    """Question of the last ordinary task."""
    in_a_row: int = 0
    """Ordinary tasks of that question, one after the other."""
    last_seen: float | None = None
    """Seconds since 1970."""
    _median: tuple[tuple[int, float | None], float | None] | None = field(default=None, compare=False)
    watched_until: float = 0.0
    """Seconds since 1970 until which what they answered can have taken, watched as fast as possible one after the other."""

    @property
    def answered(self) -> int:
        """Answers that stand."""
        return len(self.seconds)

    def pace(self) -> float | None:
        """Median seconds of the last answers, None before the first."""
        return _median(self.seconds[-PACE_ANSWERS:])

    def median_seconds(self) -> float | None:
        """Median seconds of all answers that stand and say it."""
        key = (self.answered, self.last_seen)
        if self._median is None or self._median[0] != key:  # asked for all raters every few seconds, and few go on meanwhile
            self._median = (key, _median(self.seconds))
        return self._median[1]

    def window(self, checks: Checks) -> Proportion:
        """The last gold answers that count, at most ``checks.window``."""
        return Proportion.of(self.gold[self.gold_from :][-checks.window :])

    def paused(self, checks: Checks) -> bool:
        """Return whether a full window holds too few right answers."""
        window = self.window(checks)
        return window.whole == checks.window and window.part < checks.least_accuracy * checks.window - 1e-9

    def accuracy(self) -> Proportion:
        """Over all gold answers that stand."""
        return Proportion.of(self.gold)

    def consistency(self, checks: Checks | None = None) -> Proportion:
        """Repeats answered as at first; with ``checks`` the last ``checks.window`` of them."""
        known = [equal for equal in self.repeats if equal is not None]
        return Proportion.of(known if checks is None else known[-checks.window :])

    def show(self, question: str, shown: tuple[str, ...], *, by: int) -> None:
        """Count candidates at their places; ``by`` -1 takes it back."""
        for place, candidate in enumerate(shown):
            key, over_all = (question, candidate, place), (candidate, place)
            self.places[key] = self.places.get(key, 0) + by
            self.everywhere[over_all] = self.everywhere.get(over_all, 0) + by


def _median(seconds: Sequence[float | None]) -> float | None:
    known = [value for value in seconds if value is not None]
    return median(known) if known else None


def is_right(study: Study, vote: Vote) -> bool:
    """Return whether an answer to a gold task was right by what was known when it came."""
    return study.passes(study.task_of[vote.task_id], vote.choice) if vote.right is None else vote.right


def first_votes(study: Study, votes: Iterable[Vote], *, gold: bool) -> dict[str, list[Vote]]:
    """Task id -> the votes that count: of each rater the first.

    Args:
        study: whose votes they are.
        votes: answers that stand, in order.
        gold: with those of gold tasks, which are chosen for being clear.

    Raises:
        InputError: a vote on a task that the study does not have.
    """
    first: dict[str, dict[str, Vote]] = {}
    for vote in votes:
        task = study.task_of.get(vote.task_id)
        if task is None:
            raise InputError(f"a vote of rater {vote.rater_id!r} is about task {vote.task_id!r}, which the study does not have")
        if gold or not task.gold:
            first.setdefault(vote.task_id, {}).setdefault(vote.rater_id, vote)
    # A task may have been gold once, and no more: whoever answered it then has no vote, nor has their repeat.
    votes_of = {
        task_id: [vote for vote in of_raters.values() if study.task_of[task_id].gold or vote.purpose != "gold"]
        for task_id, of_raters in first.items()
    }
    return {task_id: of_task for task_id, of_task in votes_of.items() if of_task}
