"""The state of a study: what folding its events gives. Nothing here knows the time.

Which answers are votes, gold or repeats follows from the study and the events, not from what leases were given for: gold can be
corrected after answers, and imports can bring answers to tasks that their rater has open. A rater's first answer that stands is
the vote, or is held against what was known to be right when it came (in the study as it was prepared, with the changes of admins
up to then); every further one is a repeat.

Answers that are excluded stand and count for nothing: neither as votes, nor for the coverage of a task, nor as a report that it
does not play. The record of their rater keeps them, since that is what the decision rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from inpaintbench.annotate.desk.edits import applied
from inpaintbench.annotate.desk.submissions import COUNTED, PURPOSES, UNDONE, Submissions
from inpaintbench.annotate.questions.leaves import TIE
from inpaintbench.annotate.records import (
    RECENT_TASKS,
    SOON_SECONDS,
    Comparison,
    Edit,
    Event,
    Exclusion,
    Kind,
    Lease,
    Purpose,
    RaterRecord,
    Reopened,
    Standing,
    Stated,
    Submission,
    Visit,
    Vote,
)
from inpaintbench.annotate.study import Study, StudyTask
from inpaintbench.errors import InputError

__all__ = ["BROKEN", "State", "Vote", "votes"]

# The reason of a skip that speaks of the task and not of the rater.
BROKEN = "broken"
# Purposes of answers that speak of their rater alone: no table or statistic of a study has them.
UNASKED: frozenset[Purpose] = frozenset({"training", "test", "warmup"})
# Raters who say so, before nobody is asked any more.
BROKEN_SKIPS = 3


@dataclass
class State:
    """Counters over the events of one study, so that nothing needs to look at all events again."""

    study: Study
    last_seq: int = field(default=0, init=False)
    leases: dict[str, Lease] = field(default_factory=dict, init=False)
    """Those without an answer or a skip."""
    submissions: Submissions = field(init=False)
    raters: dict[str, RaterRecord] = field(default_factory=dict, init=False)
    standing: dict[str, int] = field(default_factory=dict, init=False)
    """Task -> votes that stand and count, without gold and repeats."""
    broken: dict[str, set[str]] = field(default_factory=dict, init=False)
    """Task -> raters who say that it does not play."""
    compared: dict[str, int] = field(default_factory=dict, init=False)
    """Question about pairs -> votes that count, without gold, repeats and ``both_bad``."""
    voted: dict[str, int] = field(default_factory=dict, init=False)
    """Question -> votes that count, without gold and repeats."""
    enough: dict[str, int] = field(default_factory=dict, init=False)
    """Question -> tasks with as many votes as they need."""
    skipped: dict[str, int] = field(default_factory=dict, init=False)
    """Reason -> skips that stand."""
    pairs: dict[str, dict[tuple[str, str], dict[str, int]]] = field(default_factory=dict, init=False)
    """The comparisons, counted: question -> (a, b) with a < b -> wins of ``a``, wins of ``b``, ``tie``."""
    exclusions: dict[tuple[str, str | None], Exclusion] = field(default_factory=dict, init=False)
    """(Rater, submission id or None for all of theirs) -> why it counts for nothing."""
    included: set[tuple[str, str | None]] = field(default_factory=set, init=False)
    """What a person included again, last of all: rules leave it alone."""
    stated: list[Stated] = field(default_factory=list, init=False)
    """The screening rules as the study stated them, the newest last."""
    decisions: int = field(default=0, init=False)
    """Events of exclusion and inclusion."""
    latest: list[tuple[int, float]] = field(default_factory=list, init=False)
    """(Number, seconds since 1970) of each event that is later than all after it; one of them unless a clock was put back."""
    edits: list[Edit] = field(default_factory=list, init=False)
    """Changes of the study; ``study`` is what it is after them."""

    prepared: Study = field(init=False)
    """The study before any change."""
    gold_tasks: tuple[StudyTask, ...] = field(init=False)
    """In the order of the study, those whose pictures say what to choose too."""

    def __post_init__(self) -> None:
        self.prepared, self.submissions = self.study, Submissions(self.study)
        self.become(self.study)

    def become(self, study: Study) -> None:
        """Go on with the study as it is after a change."""
        self.study = study
        self.gold_tasks = tuple(task for task in self.study.tasks if task.gold and task.use in ("", "honey"))

    def fold(self, events: Iterable[Event]) -> None:
        """Take up ``events`` in the order of ``seq``; those that are known already are passed over.

        Raises:
            InputError: an event that cannot belong to this study, or to the events before it.
        """
        for event in sorted(events, key=lambda event: event.seq):
            if event.seq <= self.last_seq:
                continue
            try:
                if event.kind == "screening":
                    self.stated.append(Stated(event.at, event.body["rules"], answers=len(self.submissions)))
                elif event.kind == "edit":
                    self.edits.append(Edit(len(self.edits) + 1, event.at, **event.body))
                    self.become(applied(self.study, self.edits[-1]))
                elif event.kind != "platform":  # tells nothing of answers
                    rater = self.raters.get(event.rater_id)
                    if rater is None:
                        rater = self.raters[event.rater_id] = RaterRecord()
                    _FOLDS[event.kind](self, event, rater)
            except (KeyError, ValueError) as error:
                raise InputError(
                    f"event {event.seq} of the journal ({event.kind} of rater {event.rater_id!r}) does not fit study "
                    f"{self.study.study_id}: {error}; name the study that the journal belongs to"
                ) from error
            self.last_seq = event.seq
            while self.latest and self.latest[-1][1] <= event.at:
                self.latest.pop()
            self.latest.append((event.seq, event.at))

    @property
    def paused(self) -> bool:
        """Whether an admin has paused the study."""
        return next((edit.after == "yes" for edit in reversed(self.edits) if edit.what == "paused"), False)

    def paused_seconds(self, since: float, *, now: float) -> float:
        """Seconds from ``since`` to ``now`` in which the study was paused."""
        times = [max(edit.at, since) for edit in self.edits if edit.what == "paused"]  # by turns, since each changes something
        return sum(max(0.0, end - begin) for begin, end in zip(times[::2], [*times[1::2], now], strict=False))

    def asked(self) -> frozenset[str]:
        """Tasks that somebody answered, or holds, without a known answer."""
        table = self.submissions.table[self.submissions.standing()]
        unknown = np.isin(table["purpose"], [PURPOSES.index("vote"), PURPOSES.index("warmup")])
        answered = {self.study.tasks[number].task_id for number in np.unique(table["task"][unknown])}
        return frozenset(answered | {lease.task_id for lease in self.leases.values() if lease.purpose in ("vote", "warmup")})

    def rater(self, rater_id: str) -> RaterRecord:
        """Record of a rater; an empty one, not kept, before their first event."""
        return self.raters.get(rater_id) or RaterRecord()

    def lapsed(self, lease: Lease, *, now: float) -> bool:
        """Return whether the time of a lease is over, or was so for an event since: what that gave away stays given away."""
        since = next((at for number, at in self.latest if number > lease.dated_by), now)
        return lease.expires_at <= max(now, since)

    def taken_out(self, task_id: str) -> bool:
        """Return whether so many raters could not play it that nobody is asked."""
        told = self.broken.get(task_id, ())
        return len(told) >= BROKEN_SKIPS and sum((rater_id, None) not in self.exclusions for rater_id in told) >= BROKEN_SKIPS

    def votes(self, *, excluded: bool = False) -> list[Vote]:
        """The answers that stand and count, in order; with ``excluded`` those that stand and do not count too, as ``honey``."""
        known = (self.submissions.vote(row) for row in self.submissions.standing().tolist())
        asked = (vote for vote in known if vote.purpose not in UNASKED)
        return [vote for vote in asked if excluded or (vote.purpose != "honey" and self.exclusion_of(vote) is None)]

    def skips(self) -> list[Submission]:
        """Skips that stand, of raters who are not excluded, in order."""
        known = self.submissions.newest(rater_id=None, kind="skip")
        asked = [skip for skip in known if skip.purpose not in {*UNASKED, "honey"} and self.excluded(skip.rater_id) is None]
        return asked[::-1]

    def comparisons(self, question: str) -> dict[str, Comparison]:
        """Submission id -> vote on a pair that counts, in order, without gold, repeats and ``both_bad``."""
        counted = np.flatnonzero(self.submissions.table["flags"] & COUNTED)
        votes = (self.submissions.vote(row) for row in counted.tolist())
        found: dict[str, Comparison] = {}
        for vote in votes:
            if vote.question == question and _decides(vote.choice, vote.candidates):
                left, right = vote.sides
                of_two: Literal["first", "second"] = "first" if vote.choice == left else "second"
                found[vote.submission_id] = (left, right, "tie" if vote.choice == TIE else of_two, vote.cluster)
        return found

    def repeatable(self, rater: RaterRecord) -> list[str]:
        """Tasks that a rater may be asked once more: enough others were done since, and it was not repeated yet."""
        latest = len(rater.done) - 1 - self.study.file.checks.repeat_gap
        place = self.submissions.place
        return [task_id for task_id, row in rater.first.items() if place(row) <= latest and task_id not in rater.repeated]

    def all_answers(self) -> Standing:
        """Answers that stand now, with and without what is excluded."""
        everything = self.votes(excluded=True)
        excluded = [vote for vote in everything if self.exclusion_of(vote) is not None]
        votes = [vote for vote in everything if vote.purpose != "honey" and self.exclusion_of(vote) is None]
        purposes = self.submissions.table["purpose"][self.submissions.standing()]
        warmups = int(np.count_nonzero(purposes == PURPOSES.index("warmup")))
        return Standing(votes, everything, excluded, list(self.exclusions.values()), list(self.stated), warmups, list(self.edits))

    def exclusion_of(self, vote: Vote) -> Exclusion | None:
        """Why an answer counts for nothing; None where it counts."""
        return self.excluded(vote.rater_id, vote.submission_id) if self.exclusions else None

    def excluded(self, rater_id: str, submission_id: str | None = None) -> Exclusion | None:
        """Why nothing of a rater counts, or one answer of theirs; None where they are not excluded."""
        return self.exclusions.get((rater_id, None)) or self.exclusions.get((rater_id, submission_id))

    def _lease(self, event: Event, rater: RaterRecord) -> None:
        body = event.body
        task, shown = self.study.task_of[body["task_id"]], tuple(body["shown"])
        # By the gold that the study has now, which may have been corrected since the lease was given.
        stored: Purpose = body["purpose"]
        purpose = stored if stored in ("repeat", "warmup") else task.use or ("gold" if task.gold else "vote")
        lease = Lease(
            body["lease_id"], event.rater_id, task.task_id, shown, purpose, body["expires_at"], None, event.at, event.seq,
            len(self.edits),
        )  # fmt: skip
        # It may have ceased to be gold since it was handed out first.
        again = [of for of in rater.reopened if of.task_id == task.task_id and of.purpose in (purpose, stored)]
        if again:
            rater.reopened.remove(again[0])
            lease.previous = again[0].previous
            rater.queue.insert(0, lease.lease_id)
        else:
            rater.queue.append(lease.lease_id)
            kept = {"repeat": rater.repeated.add, "warmup": rater.warmed.append}.get(purpose, rater.had.add)
            kept(task.task_id)
            rater.golds += purpose in ("gold", "honey")
            if purpose not in ("repeat", "gold", "honey"):
                rater.in_a_row = rater.in_a_row + 1 if rater.question == task.question else 1
                rater.question = task.question
        self.leases[lease.lease_id] = lease
        rater.handed += 1
        rater.show(task.question, shown, by=1)
        _may_fetch(rater, task.proxy)
        rater.last_seen = event.at

    def _renew(self, event: Event, rater: RaterRecord) -> None:
        lease = self.leases[event.body["lease_id"]]
        lease.expires_at, lease.dated_by = event.body["expires_at"], event.seq
        _may_fetch(rater, self.study.task_of[lease.task_id].proxy)
        rater.last_seen = event.at

    def _answer(self, event: Event, rater: RaterRecord) -> None:
        lease = self._close(event, rater)
        task = self.study.task_of[lease.task_id]
        if task.task_id in rater.first and lease.purpose != "warmup":
            lease.purpose = "repeat"  # another answer of theirs was imported while they had it open
        if lease.purpose == "gold" and not task.gold:
            lease.purpose = "vote"  # what was right was withdrawn meanwhile
        body, watch = event.body, self.study.watch_seconds(task)
        available = None
        if lease.previous is None and body["watched_frames"] is not None:
            begin = max(rater.watched_until, lease.given_at)
            available = event.at - begin if event.at >= begin else None  # a clock that was put back tells nothing
            rater.watched_until = min(begin + watch, event.at)
        choice, seconds = body.get("choice") or "", body.get("seconds")
        right = self.study.passes(task, choice) if lease.purpose in ("gold", "test", "training", "honey") else None
        row = self.submissions.add(
            body["submission_id"], at=event.at, kind="answer", rater_id=event.rater_id, task_id=task.task_id,
            shown=lease.shown, purpose=lease.purpose, place=len(rater.done), body=body, available=available,
            too_soon=available is not None and available < watch - SOON_SECONDS, right=right,
            revision=min(body.get("revision", lease.revision), len(self.edits)),
        )  # fmt: skip
        rater.seconds.append(None if seconds is None else float(seconds))
        rater.stuttered += bool(body.get("stuttered"))
        if lease.purpose == "repeat":
            first = rater.first.get(task.task_id)
            rater.repeats.append(None if first is None else self.submissions.choice(first) == choice)
        elif lease.purpose != "warmup":
            rater.first[task.task_id] = row
        if lease.purpose == "vote":
            rater.voted += 1
            if not self.exclusions or not self.excluded(event.rater_id, body["submission_id"]):
                self._count(row, task, shown=lease.shown, choice=choice, by=1)
        elif lease.purpose == "gold":
            rater.gold.append(bool(right))
        elif lease.purpose == "test":
            rater.tested.append(bool(right))
        if body.get("suggestion_shown") in ("after", "seen"):
            rater.told.add(task.task_id)
        rater.done.append(row)

    def _skip(self, event: Event, rater: RaterRecord) -> None:
        body, lease = event.body, self._close(event, rater)
        row = self.submissions.add(
            body["submission_id"], at=event.at, kind="skip", rater_id=event.rater_id, task_id=lease.task_id, shown=lease.shown,
            purpose=lease.purpose, place=len(rater.done), body=body,
        )  # fmt: skip
        rater.done.append(row)
        self.skipped[body["reason"]] = self.skipped.get(body["reason"], 0) + 1
        rater.show(self.study.task_of[lease.task_id].question, lease.shown, by=-1)
        if body["reason"] == BROKEN:
            self.broken.setdefault(lease.task_id, set()).add(event.rater_id)

    def _undo(self, event: Event, rater: RaterRecord) -> None:
        row = self.submissions.row(event.body["undoes"])
        undone = self.submissions.at_row(row)
        if not rater.done or rater.done[-1] != row:
            raise ValueError(f"{event.body['undoes']!r} is not the last submission of the rater")
        rater.done.pop()
        self.submissions.flag(row, UNDONE, to=True)
        if undone.vote is not None:
            self._take_back(row, undone.vote, rater)
            rater.show(undone.vote.question, undone.shown, by=-1)
        else:
            assert undone.reason is not None
            self.skipped[undone.reason] -= 1
            if undone.reason == BROKEN:
                self.broken[undone.task_id].discard(event.rater_id)
        previous = undone.vote.given if undone.vote else None
        shown = undone.shown or self.study.task_of[undone.task_id].candidates  # nobody said in what order
        rater.reopened.append(Reopened(undone.task_id, undone.purpose, shown, previous))
        self.submissions.add(
            event.body["submission_id"], at=event.at, kind="undo", rater_id=event.rater_id, task_id=undone.task_id,
            shown=undone.shown, purpose=undone.purpose,
        )  # fmt: skip
        rater.last_seen = event.at

    def _resume(self, event: Event, rater: RaterRecord) -> None:
        rater.gold_from = len(rater.gold)
        rater.reread += event.body.get("by") == "rater"

    def _visit(self, event: Event, rater: RaterRecord) -> None:
        """A stranger's way: ``arrive``, ``consent``, ``rest``, ``finish``."""
        body = event.body
        if event.kind == "arrive":
            rater.visit = Visit(event.at)
            return
        assert rater.visit is not None
        if event.kind == "consent":
            rater.visit.consented_at = event.at if body["answer"] else None
        elif event.kind == "rest":
            rater.visit.rest_until = event.at + body["seconds"]
        else:
            rater.visit.outcome, rater.visit.ended_at = body["outcome"], event.at

    def _exclude(self, event: Event, rater: RaterRecord) -> None:
        body = event.body
        key = (event.rater_id, body["submission"])
        for row, vote in self._spoken_of(event, rater):
            self._count_vote(row, vote, by=-1)
        self.exclusions[key] = Exclusion(event.at, *key, body["reason"], body["rule"], body["by"])
        self.included.discard(key)
        self.decisions += 1

    def _include(self, event: Event, rater: RaterRecord) -> None:
        key = (event.rater_id, event.body["submission"])
        was = self.exclusions.pop(key, None)
        for row, vote in self._spoken_of(event, rater) if was else ():
            self._count_vote(row, vote, by=1)
        self.included.add(key)
        self.decisions += 1

    def _spoken_of(self, event: Event, rater: RaterRecord) -> list[tuple[int, Vote]]:
        """Votes that a decision speaks of and that no other one excludes, with their rows."""
        submission = event.body["submission"]
        if submission is not None and self.submissions[submission].rater_id != event.rater_id:
            raise ValueError(f"{submission!r} is not of the rater")
        rows = rater.done if submission is None else [self.submissions.row(submission)]
        sent = [(row, self.submissions.at_row(row)) for row in rows]
        votes = [(row, of.vote) for row, of in sent if of.vote is not None and of.vote.purpose == "vote" and not of.undone]
        return [(row, vote) for row, vote in votes if self.exclusion_of(vote) is None]

    def _close(self, event: Event, rater: RaterRecord) -> Lease:
        lease = self.leases.pop(event.body["lease_id"])
        rater.queue.remove(lease.lease_id)
        rater.last_seen = event.at
        return lease

    def _take_back(self, row: int, vote: Vote, rater: RaterRecord) -> None:
        rater.seconds.pop()
        rater.stuttered -= vote.stuttered
        if vote.purpose == "repeat":
            rater.repeats.pop()
        if vote.purpose in ("repeat", "warmup"):
            return
        del rater.first[vote.task_id]
        if vote.purpose == "vote":
            rater.voted -= 1
            if self.exclusion_of(vote) is None:
                self._count_vote(row, vote, by=-1)
        elif vote.purpose == "gold":
            rater.gold.pop()
            rater.gold_from = min(rater.gold_from, len(rater.gold))

    def _count_vote(self, row: int, vote: Vote, *, by: Literal[1, -1]) -> None:
        self._count(row, self.study.task_of[vote.task_id], shown=vote.shown, choice=vote.choice, by=by)

    def _count(self, row: int, task: StudyTask, *, shown: tuple[str, ...], choice: str, by: Literal[1, -1]) -> None:
        self.submissions.flag(row, COUNTED, to=by > 0)
        label = task.question
        before = self.standing.get(task.task_id, 0)
        self.standing[task.task_id] = before + by
        self.voted[label] = self.voted.get(label, 0) + by
        if max(before, before + by) == self.study.spec_of[label].raters_per_task:
            self.enough[label] = self.enough.get(label, 0) + by
        if self.study.question_of[label].kind != "pair" or not _decides(choice, task.candidates):
            return
        first, second = sorted(shown or task.candidates)
        counts = self.pairs.setdefault(label, {}).setdefault((first, second), {"a": 0, "b": 0, "tie": 0})
        counts["tie" if choice == TIE else "a" if choice == first else "b"] += by
        self.compared[label] = self.compared.get(label, 0) + by


def _decides(choice: str, candidates: Sequence[str]) -> bool:
    """Return whether an answer chooses one of two, or neither."""
    return len(candidates) == 2 and (choice in candidates or choice == TIE)


_FOLDS = {kind: getattr(State, f"_{kind}", State._visit) for kind in get_args(Kind)}


def votes(study: Study, events: Sequence[Event]) -> list[Vote]:
    """The answers that stand and count (gold and repeats too, see ``purpose``), in the order they were given.

    Raises:
        InputError: as ``State.fold``.
    """
    state = State(study)
    state.fold(events)
    return state.votes()


def _may_fetch(rater: RaterRecord, proxy: str) -> None:
    # A new tuple, never a changed one: other threads look at it while this one goes on.
    known = rater.proxies
    others = tuple(name for name in known if name != proxy) if proxy in known else known
    rater.proxies = (*others[1 - RECENT_TASKS :], proxy)
