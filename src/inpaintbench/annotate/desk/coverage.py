"""Raters that each task has or is about to have, and the least covered task for a rater, without looking at all tasks.

And the study at a glance, for whoever runs it: coverage, raters, pace, and what does not play.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.desk.state import BROKEN, State
from inpaintbench.annotate.desk.submissions import ANSWER, COUNTED, UNDONE
from inpaintbench.annotate.languages import Said
from inpaintbench.annotate.records import Event, Lease, Proportion
from inpaintbench.types import item_rng

# Tasks that compete by coverage alone: (question, pair of candidates); no candidates for questions that are not about pairs.
Group = tuple[str, tuple[str, ...]]
# Load of a task that is taken out: above any number of raters.
_TAKEN_OUT = 1 << 30
# Tasks that are looked at for one that needs no vote.
_LOOKED_AT = 200
# Kinds of events that speak of a task.
_OF_TASKS = frozenset({"lease", "renew", "answer", "skip", "undo"})


@dataclass
class _Order:
    """A rater's own order of the tasks, and what is left of it."""

    tasks: npt.NDArray[np.int32]
    """Rank -> number of the task."""
    ranks: npt.NDArray[np.int32]
    """Number of the task -> rank."""
    heaps: dict[Group, list[int]] = field(default_factory=dict)
    """``load * tasks + rank``, least first. An entry may be too low, never too high: it is put right when it comes up."""


class Coverage:
    """The load of every ordinary task: votes that count, and raters with live leases. Gold tasks and repeats have none.

    Whoever is excluded has no load: what they answered, and what they hold, is asked of others.

    A lease is live from its event until it is answered, skipped or expired. What had expired when a later event was stored comes
    back to life by a renewal alone, so a clock that is put back gives nobody a second chance, not even after a new start.
    """

    def __init__(self, state: State, *, now: float) -> None:
        study = state.study
        self._state = state
        self._tasks = [task for task in study.tasks if not task.gold]
        self._number = {task.task_id: number for number, task in enumerate(self._tasks)}
        self._target = [study.spec_of[task.question].raters_per_task for task in self._tasks]
        pairs = {label for label, question in study.question_of.items() if question.kind == "pair"}
        self._group: list[Group] = [(task.question, task.candidates if task.question in pairs else ()) for task in self._tasks]
        self._load = [0] * len(self._tasks)
        self._holders: dict[int, set[str]] = {}
        self._had_by: list[list[str]] = [[] for _ in self._tasks]
        self._live: dict[str, float] = {}
        self._expiries: list[tuple[float, str]] = []
        self._orders: dict[str, _Order] = {}
        self.groups: dict[str, list[Group]] = {label: [] for label in study.spec_of}
        """Question -> its groups, in the order of the study."""
        self.group_load: dict[Group, int] = dict.fromkeys(self._group, 0)
        self.needed: dict[str, int] = dict.fromkeys(study.spec_of, 0)
        """Question -> votes that its tasks need together, without those taken out."""
        self.filled: dict[str, int] = dict.fromkeys(study.spec_of, 0)
        """Question -> of these, how many are there or on their way."""
        self.tasks: dict[str, int] = dict.fromkeys(study.spec_of, 0)
        """Question -> its ordinary tasks."""
        self._open: dict[str, int] = dict.fromkeys(study.spec_of, 0)
        self._open_had: dict[tuple[str, str], int] = defaultdict(int)
        for group in self.group_load:
            self.groups[group[0]].append(group)
        for number, task in enumerate(self._tasks):
            self.needed[task.question] += self._target[number]
            self.tasks[task.question] += 1
            self._open[task.question] += 1

        if not state.raters:
            return
        # Take up what the state holds already.
        for rater_id, record in state.raters.items():
            for number in [self._number[task_id] for task_id in record.had if task_id in self._number]:
                self._had_by[number].append(rater_id)
                self._open_had[rater_id, self._group[number][0]] += 1
        for lease in state.leases.values():
            if not state.lapsed(lease, now=now):
                self._hold(lease, self._number.get(lease.task_id))
        for number in range(len(self._tasks)):
            self._weigh(number)

    def follow(self, events: Iterable[Event], *, now: float) -> None:
        """Take up events that the state has folded already."""
        touched: set[int] = set()
        for event in events:
            touched |= self._lapse(event.at)  # by the clock of whoever stored it
            if event.kind in ("exclude", "include"):
                touched |= self._decided(event)
            if event.kind not in _OF_TASKS:
                continue
            lease = self._state.leases.get(event.body.get("lease_id", ""))  # None where it was ended by an event after this one
            if event.kind == "renew":
                number = self._number.get(lease.task_id) if lease is not None else None
            else:
                number = self._number.get(event.body["task_id"])
            first_time = event.kind == "lease" and event.body["purpose"] not in ("repeat", "warmup")
            if first_time and number is not None and event.rater_id not in self._had_by[number]:
                self._had_by[number].append(event.rater_id)
                self._open_had[event.rater_id, self._group[number][0]] += self._load[number] < self._target[number]
            if event.kind in ("answer", "skip"):
                self._end(event.body["lease_id"], number)
            elif event.kind != "undo" and lease is not None and lease.expires_at > now:
                self._hold(lease, number)
            if number is not None:
                touched.add(number)
        for number in touched:
            self._weigh(number)

    def expire(self, now: float) -> None:
        """End the leases whose time is over."""
        for number in self._lapse(now):
            self._weigh(number)

    def live(self, lease_id: str) -> bool:
        """Return whether a lease keeps its task from others."""
        return lease_id in self._live

    def load(self, task_id: str) -> int:
        """Votes that count and live leases of an ordinary task; very large for one that is taken out."""
        return self._load[self._number[task_id]]

    def room(self, task_id: str) -> bool:
        """Return whether one more rater may have an ordinary task."""
        number = self._number[task_id]
        return self._load[number] < self._target[number]

    def left(self, rater_id: str, *, settled: Iterable[str]) -> int:
        """Ordinary tasks that a rater has not had and that have room, without questions that need no more votes."""
        over = set(settled)
        return sum(self._open[label] - self._open_had[rater_id, label] for label in self._open if label not in over)

    def least(self, rater_id: str, group: Group) -> str | None:
        """The least covered task of a group that a rater may have; in the rater's own order among equals."""
        order = self._order(rater_id)
        heap, size = order.heaps[group], len(self._tasks)
        had = self._state.rater(rater_id).had
        while heap:
            load, rank = divmod(heap[0], size)
            number = int(order.tasks[rank])
            actual = self._load[number]
            if actual >= self._target[number] or self._tasks[number].task_id in had or actual < load:
                heapq.heappop(heap)  # comes back as a new entry when its load falls
            elif actual > load:
                heapq.heapreplace(heap, actual * size + rank)
            else:
                return self._tasks[number].task_id
        return None

    def most(self, rater_id: str, question: str, *, without: Container[str]) -> str | None:
        """The best covered of the last tasks of a question in a rater's own order: it needs their vote least."""
        numbers = (int(number) for number in self._order(rater_id).tasks[::-1])
        others = (
            number
            for number in numbers
            if self._tasks[number].question == question
            and self._load[number] != _TAKEN_OUT
            and self._tasks[number].task_id not in without
        )
        best = max(islice(others, _LOOKED_AT), key=self._load.__getitem__, default=None)
        return None if best is None else self._tasks[best].task_id

    def awaited(self, *, settled: Iterable[str]) -> set[str]:
        """Ordinary tasks that lack votes, whether leased or not, without questions that need no more votes. Looks at all."""
        over = set(settled)
        return {
            task.task_id
            for task, target, load in zip(self._tasks, self._target, self._load, strict=True)
            if load != _TAKEN_OUT and task.question not in over and self._state.standing.get(task.task_id, 0) < target
        }

    def _lapse(self, now: float) -> set[int]:
        """End the leases whose time is over; their tasks."""
        touched: set[int] = set()
        while self._expiries and self._expiries[0][0] <= now:
            expires_at, lease_id = heapq.heappop(self._expiries)
            lease = self._state.leases.get(lease_id)  # None where an event that is still to be followed ended it
            if lease is None or self._live.get(lease_id) != expires_at:
                continue
            number = self._number.get(lease.task_id)
            self._end(lease_id, number)
            if number is not None:
                touched.add(number)
        return touched

    def _decided(self, event: Event) -> set[int]:
        """Tasks whose load a decision on a rater, or on one answer, can change."""
        submission = event.body["submission"]
        of_rater = self._state.rater(event.rater_id).had
        tasks = of_rater if submission is None else [self._state.submissions[submission].task_id]
        return {self._number[task_id] for task_id in tasks if task_id in self._number}

    def _hold(self, lease: Lease, number: int | None) -> None:
        self._live[lease.lease_id] = lease.expires_at
        heapq.heappush(self._expiries, (lease.expires_at, lease.lease_id))
        if number is not None and lease.purpose == "vote":
            self._holders.setdefault(number, set()).add(lease.lease_id)

    def _end(self, lease_id: str, number: int | None) -> None:
        self._live.pop(lease_id, None)
        if number is not None and number in self._holders:
            self._holders[number].discard(lease_id)
            if not self._holders[number]:
                del self._holders[number]

    def _weigh(self, number: int) -> None:
        task, before, target = self._tasks[number], self._load[number], self._target[number]
        state, group = self._state, self._group[number]
        # Raters with a live lease whose vote is still to come; an import may have brought it while they had the task open.
        holders = {state.leases[lease_id].rater_id for lease_id in self._holders.get(number, ())}
        waiting = sum(task.task_id not in state.rater(one).first and state.excluded(one) is None for one in holders)
        after = _TAKEN_OUT if state.taken_out(task.task_id) else state.standing.get(task.task_id, 0) + waiting
        if after == before:
            return
        self._load[number] = after
        for load, sign in ((before, -1), (after, 1)):
            if load < _TAKEN_OUT:
                self.group_load[group] += sign * load
                self.filled[group[0]] += sign * min(load, target)
            else:
                self.needed[group[0]] -= sign * target
        if (before < target) != (after < target):
            self._open[task.question] += 1 if after < target else -1
            for rater_id in self._had_by[number]:
                self._open_had[rater_id, task.question] += 1 if after < target else -1
        if after < before:
            for order in self._orders.values():
                heapq.heappush(order.heaps[group], after * len(self._tasks) + int(order.ranks[number]))

    def _order(self, rater_id: str) -> _Order:
        if rater_id in self._orders:
            return self._orders[rater_id]
        size = len(self._tasks)
        tasks = item_rng(self._state.study.file.seed, "task order", rater_id).permutation(size).astype(np.int32)
        ranks = np.empty_like(tasks)
        ranks[tasks] = np.arange(size, dtype=np.int32)
        order = _Order(tasks, ranks, {group: [] for group in self.group_load})
        for number, rank in enumerate(ranks.tolist()):
            if self._load[number] < self._target[number]:
                order.heaps[self._group[number]].append(self._load[number] * size + rank)
        for heap in order.heaps.values():
            heapq.heapify(heap)
        self._orders[rater_id] = order
        return order


# Seconds of the window of the pace.
HOUR = 3600.0
# Without a sign of somebody for so long, they are not at work.
AWAY_SECONDS = 600.0
# Last words of raters that are listed.
REMARKS = 50


def overview(
    state: State, coverage: Coverage, *, settled: frozenset[str], name_of: Callable[[str], str], now: float
) -> dict[str, Any]:
    """JSON of the admin page.

    ``questions`` have coverage and the gold clips that no vote labels yet, ``raters`` have pace, accuracy on gold and
    self-consistency (each with its n, and both over the last ``Checks.window`` too), ``taken_out`` are tasks that nobody is asked
    any more, ``skips`` counts reasons, ``remarks`` are the last words that came with skips (written by raters: escape them),
    ``votes_last_hour`` counts the votes of the last 60 minutes.
    """
    questions = [_question(state, coverage, label, settled=settled) for label in coverage.groups]
    waiting = [question["name"] for question in questions if not question["done"]]
    missing = " and ".join(filter(None, (", ".join(waiting[:-1]), *waiting[-1:])))
    sent, table = state.submissions, state.submissions.table
    recent = table["at"] > now - HOUR
    answers = recent & (table["kind"] == ANSWER) & (table["flags"] & UNDONE == 0)
    newly = dict(
        zip(sent.raters.values, np.bincount(table["rater"][answers], minlength=len(sent.raters.values)).tolist(), strict=True)
    )
    single = Counter(who for who, which in state.exclusions if which is not None)
    said = islice((sent.at_row(row) for row in reversed(sent.words) if not sent.flagged(row, UNDONE)), REMARKS)
    return {
        "study": {"study_id": state.study.study_id, "title": state.study.file.title},
        "done": not waiting,
        "paused": state.paused,
        "why": why_done(state, settled) if not waiting else f"Votes are still missing for {missing}.",
        "questions": questions,
        "raters": [
            _rater(state, who, name_of(who), now=now, recent=newly.get(who, 0), single=single[who])
            for who in sorted(state.raters)
        ],
        "votes_last_hour": int(np.count_nonzero(table["flags"][recent] & COUNTED)),
        "taken_out": _broken(state, out=True),
        "reported_broken": _broken(state, out=False),
        "skips": {BROKEN: 0} | {reason: skips for reason, skips in state.skipped.items() if skips},
        "remarks": [{"rater_id": of.rater_id, "task_id": of.task_id, "text": of.text} for of in said if of.text][::-1],
    }


def is_done(state: State, coverage: Coverage, *, settled: frozenset[str]) -> bool:
    """Return whether every question has its answers, or a settled order."""
    return all(_question(state, coverage, label, settled=settled)["done"] for label in coverage.groups)


def why_done(state: State, settled: frozenset[str]) -> str:
    """Return which stop rule ended the study, in one sentence."""
    level = state.study.file.stop.level
    if not settled:
        return "Every task has the answers that the study asked for."
    if len(settled) == len(state.study.spec_of):
        return Said("The order of the candidates is settled at {level}.", level=f"{level:.0%}")
    return Said(
        "The order of the candidates is settled at {level} where people compare, and everything else has its answers.",
        level=f"{level:.0%}",
    )


def _question(state: State, coverage: Coverage, label: str, *, settled: frozenset[str]) -> dict[str, Any]:
    spec = state.study.spec_of[label]
    task_of, tasks = state.study.task_of, coverage.tasks[label]
    own = [task_of[task_id] for task_id in state.broken if task_of[task_id].question == label and not task_of[task_id].gold]
    out = [task for task in own if state.taken_out(task.task_id)]
    enough = state.enough.get(label, 0) - sum(state.standing.get(task.task_id, 0) >= spec.raters_per_task for task in out)
    # Gold clips with several right answers and no vote: being checks they are no part of coverage, yet votes label them.
    silent = {task.task_id for task in state.gold_tasks if task.question == label and len(task.gold) > 1}
    silent = silent if state.study.question_of[label].subject == "clip" else set()
    for rater_id, record in state.raters.items() if silent else ():
        if state.excluded(rater_id) is None:
            known = silent & record.first.keys()
            silent -= {one for one in known if (rater_id, state.submissions.id_of(record.first[one])) not in state.exclusions}
    return {
        "name": label,
        "leaf": spec.leaf,
        "tasks": tasks,
        "taken_out": len(out),
        "covered": enough,
        "votes": state.voted.get(label, 0),
        "needed": coverage.needed[label],
        "gold_without_label": len(silent),
        "raters_per_task": spec.raters_per_task,
        "settled": label in settled,
        "done": label in settled or enough == tasks - len(out),
    }


def _rater(state: State, rater_id: str, name: str, *, now: float, recent: int, single: int) -> dict[str, Any]:
    record, checks, out = state.raters[rater_id], state.study.file.checks, state.excluded(rater_id)
    ended = out is not None or (record.visit is not None and record.visit.outcome is not None)
    return {
        "rater_id": rater_id,
        "name": name,
        "answered": record.answered,
        "skipped": len(record.done) - record.answered,
        "median_seconds": record.median_seconds(),
        "stuttered_fraction": record.stuttered / record.answered if record.answered else None,
        "gold": _share(record.accuracy()),
        "gold_window": _share(record.window(checks)),
        "consistency": _share(record.consistency()),
        "consistency_window": _share(record.consistency(checks)),
        "paused": record.paused(checks),
        # Why nothing of theirs counts, or None; and how many single answers of theirs do not.
        "excluded": None if out is None else {"reason": out.reason, "rule": out.rule, "at": out.at},
        "excluded_answers": single,
        # Of somebody whom a platform sent: how their part ended; "" before, None for who was invited.
        "outcome": None if record.visit is None else record.visit.outcome or "",
        "last_seen": record.last_seen,
        "at_work": not ended and record.last_seen is not None and now - record.last_seen < AWAY_SECONDS,
        "answered_last_hour": recent,
        # How often each candidate was shown at the first place.
        "first_places": {name: times for (name, place), times in sorted(record.everywhere.items()) if place == 0},
    }


def _share(share: Proportion) -> dict[str, Any]:
    return {"right": share.part, "asked": share.whole, "share": share.value}


def _broken(state: State, *, out: bool) -> list[dict[str, Any]]:
    return [
        {
            "task_id": task_id,
            "question": state.study.task_of[task_id].question,
            "subject_id": state.study.task_of[task_id].subject_id,
            "caption": state.study.task_of[task_id].caption,
            "raters": sorted(raters),
        }
        for task_id, raters in state.broken.items()
        if raters and state.taken_out(task_id) == out
    ]
