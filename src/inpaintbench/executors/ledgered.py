"""Work that all executors share: do only what the ledger lacks, keep every result at once, write the tables at the end."""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.errors import TooManyFailures, UsageError, VerifyError, WorkspaceError
from inpaintbench.executors import STOP_ASKED
from inpaintbench.executors.base import Job, Outcome, Progress, Rejection, Step, Task, Tasks, load, task_keys
from inpaintbench.executors.unfinished import Plan
from inpaintbench.lazily import lazily
from inpaintbench.ledgers import Entries, Ledger
from inpaintbench.tables import flat, rows_json
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")


# Units among which one is sought that a process may still do: some megabytes, and 24 clips of 40 items each lie within it.
_LOOKED_THROUGH = 1024


@dataclass(frozen=True)
class Unit:
    """Work of one worker in one go: some steps of one subject."""

    subject: tuple[str, int]
    jobs: tuple[Job, ...]
    before: tuple[dict[str, Any], ...] | None = None
    """Results of ``Step.before`` for each job, once they are there."""

    @property
    def time_limit_seconds(self) -> float:
        """Subject of all its steps."""
        return sum(job.step.time_limit_seconds for job in self.jobs)

    @property
    def group(self) -> str:
        """``Task.group`` where its step keeps such tasks apart, else empty."""
        return next((job.task.group for job in self.jobs if job.step.apart), "")

    @property
    def first_part(self) -> tuple[Job, ...]:
        """What is to be done where no card is opened; empty where that is nothing, or done."""
        steps = [job.step.before for job in self.jobs]
        if self.before is not None or not all(steps):
            return ()
        return tuple(job._replace(step=step) for job, step in zip(self.jobs, steps, strict=True) if step)

    @property
    def told(self) -> tuple[Job, ...]:
        """The jobs, each with the rows of the part that is done; without any where one of them has none."""
        before = self.before or ()
        if not before or any("rows" not in one for one in before):
            return self.jobs
        pairs = zip(self.jobs, before, strict=True)
        return tuple(
            job._replace(task=replace(job.task, payload={**job.task.payload, "before": one["rows"]})) for job, one in pairs
        )

    def whole(self, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Results of all jobs, with what their first part has cost."""
        if self.before is not None and len(results) == len(self.jobs):
            for result, first in zip(results, self.before, strict=True):
                result["seconds"] = round((result.get("seconds") or 0) + (first.get("seconds") or 0), 4)
                result["peak_mebibytes"] = max(result.get("peak_mebibytes") or 0, first.get("peak_mebibytes") or 0)
        return results

    def alone(self) -> list[Unit]:
        """A unit for each step."""
        before = [None] * len(self.jobs) if self.before is None else [(one,) for one in self.before]
        return [replace(self, jobs=(job,), before=one) for job, one in zip(self.jobs, before, strict=True)]


Results = Iterator[tuple[Unit, list[dict[str, Any]]]]


class Waiting:
    """Units that are to be done: those of tables are made when their turn comes, others may be put before and behind them.

    Args:
        units: what there is to do.
        count: how many those are.
        reads_ahead: whether some of it can be read before it is done.
        on_card: whether some of it is done on a graphics card.
        apart: whether some of it may not be done by processes that have done other tasks of its group.
        in_parts: whether some of it has a part that needs no card.
    """

    def __init__(
        self,
        units: Iterable[Unit] = (),
        count: int = 0,
        *,
        reads_ahead: bool,
        on_card: bool,
        apart: bool = False,
        in_parts: bool = False,
    ) -> None:
        self._units, self._unmade = iter(units), count
        self._before: deque[Unit] = deque()
        self._behind: deque[Unit] = deque()
        self.reads_ahead, self.on_card, self.apart, self.in_parts = reads_ahead, on_card, apart, in_parts

    def __len__(self) -> int:
        return len(self._before) + self._unmade + len(self._behind)

    def popleft(self) -> Unit:
        """Take the next one."""
        unit = self.peek()
        (self._before or self._behind).popleft()
        return unit

    def peek(self) -> Unit:
        """Return the next one, which stays."""
        self._make(1)
        return (self._before or self._behind)[0]

    def _make(self, count: int) -> None:
        """Let so many units be made, as far as there are any."""
        while len(self._before) < count and self._unmade:
            self._before.append(next(self._units))
            self._unmade -= 1

    def pop_unlike(self, done: Collection[str]) -> Unit | None:
        """Take the first one whose group is not ``done``; None where the next ``_LOOKED_THROUGH`` are all of such groups."""
        self._make(_LOOKED_THROUGH)
        for units in (self._before, self._behind):
            for place, unit in enumerate(units):
                if place >= _LOOKED_THROUGH:
                    return None
                if not unit.group or unit.group not in done:
                    del units[place]
                    return unit
        return None

    def put_first(self, units: Iterable[Unit]) -> None:
        """Let units come next."""
        self._before.extendleft(units)

    def put_last(self, units: Iterable[Unit]) -> None:
        """Let units come when all others are done."""
        self._behind.extend(units)


class LedgeredExecutor(ABC):
    """Runs steps by the ledger; how units are worked off is left to the class that inherits. A context manager.

    Args:
        workspace: where results go.
        max_failures: end the run after this many crashes, time-outs and unexpected errors; None = never.
        retry_rejected: do again what an earlier run refused.
        progress: told after every task.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        max_failures: int | None = None,
        retry_rejected: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.workspace = workspace
        self.max_failures, self.retry_rejected = max_failures, retry_rejected
        self.damaged: list[str] = []
        """Tasks that were not done because stored bytes are not those of their hash, each with what was said."""
        self.traffic = Counter[str]()
        """What tasks asked of object storage, as ``storage.traffic`` has it, in this process and others."""
        self.only: Collection[str] | None = None
        """The subjects to work on: what an earlier run made of the others stays, if their content is the same. None = all."""
        self._progress = progress or (lambda *_: None)
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Any:
        self._held.enter_context(self.workspace.locked())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._close(kill=kind is not None)
        if isinstance(error, VerifyError):  # of what was made of a step's results
            self.workspace.doubt(error.blob)
        self._held.close()

    def run(self, step: Step, tasks: Sequence[Task], *, rejected: Sequence[Rejection] = ()) -> Outcome:
        """Run what is missing, then write the step's table from the ledger.

        Raises:
            WorkspaceError: results cannot be written (disk full).
            TooManyFailures: more of them than ``max_failures``; what is done stays done.
        """
        return self.run_together([(step, tasks)], label=step.name, rejected=rejected)[step.name]

    def run_together(
        self, work: Sequence[tuple[Step, Sequence[Task]]], *, label: str, rejected: Sequence[Rejection] = ()
    ) -> dict[str, Outcome]:
        """``run`` for several steps, whatever one subject lacks in one worker. Raises what ``run`` raises."""
        ledgers = {step.name: self.workspace.ledger(step.name, step.record) for step, _ in work}
        outcomes: dict[str, Outcome] = {}
        planned = [self._planned(step, tasks, rejected, ledgers[step.name], outcomes) for step, tasks in work]
        plans = {run.step.name: run.plan for run in planned if len(run.missing)}
        waiting, total = _waiting(planned), _subjects_of(planned)
        done = total - len(waiting)
        left: dict[tuple[str, int], int] = {}  # jobs of units that are done one by one
        for plan in plans.values():
            plan.begin(self.workspace)
        failures = dict.fromkeys(ledgers, 0)
        self._progress(label, done, total)
        try:
            for unit, results in self._results(waiting):
                if len(results) < len(unit.jobs):  # the worker died, and any of the steps may be guilty
                    left[unit.subject] = len(unit.jobs)
                    waiting.put_last(unit.alone())
                    continue
                for job, result in zip(unit.jobs, unit.whole(results), strict=True):
                    self._heed(result)
                    if (blob := result.pop("damaged", None)) is not None:
                        self.workspace.doubt(blob)
                        self.damaged.append(f"{job.task.name or job.task.subject_id}: {result['reason']}")
                    _keep(ledgers[job.step.name], job, result)
                    failures[job.step.name] += result.get("failure", False)
                    if self.max_failures is not None and sum(failures.values()) > self.max_failures:
                        subject_id, reason = job.task.subject_id, str(result["reason"])
                        raise TooManyFailures(job.step.name, most=self.max_failures, subject_id=subject_id, reason=reason)
                self.workspace.commit_if_due()
                more = left.pop(unit.subject, len(unit.jobs)) - len(unit.jobs)
                if more:
                    left[unit.subject] = more
                else:
                    done += 1
                    self._progress(label, done, total)
        finally:
            for ledger in ledgers.values():
                ledger.close()
        for name, plan in plans.items():
            stored = ledgers[name].columns(plan.record)
            outcomes[name] = plan.write(self.workspace, stored, plan.entries(stored), failures=failures[name])
        for run in planned:  # of an earlier run too, which had more to do
            run.plan.end(self.workspace)
        return {step.name: outcomes[step.name] for step, _ in work}

    def _planned(
        self, step: Step, tasks: Sequence[Task], rejected: Sequence[Rejection], ledger: Ledger, outcomes: dict[str, Outcome]
    ) -> _Planned:
        """Return what a step is to do; where that is nothing, its tables are written and ``outcomes`` has what it came to."""
        stored = ledger.columns(step.record)
        if self.only is not None:
            # Of the other subjects, what an earlier run came to an end with stays.
            there = flat(stored.columns["key"]).filter(pa.array(~stored.lost(stored.columns, self.workspace.blobs.has)))
            held = set(there.to_pylist())
            keys = task_keys(step, tasks, set(stored.columns["key"].to_pylist()))
            tasks = [task for task, key in zip(tasks, keys, strict=True) if task.subject_id in self.only or key in held]
        plan = Plan.of(step, tasks, rejected, stored)
        entries = plan.entries(stored)
        lacking = pc.invert(pc.is_in(plan.tasks["key"], value_set=self._standing(step, stored, entries)))
        if self.only is not None:
            lacking = pc.and_(lacking, pc.is_in(plan.tasks["subject_id"], value_set=pa.array(sorted(self.only), pa.string())))
        missing = np.flatnonzero(lacking.to_numpy())
        if not len(missing):
            outcomes[step.name] = plan.write(self.workspace, stored, entries)
        return _Planned(step, tasks, plan, missing)

    def _standing(self, step: Step, stored: Entries, entries: pa.Table) -> pa.Array:
        """Keys of the earlier results that are still good."""
        # An unexpected error may be a fault of the program or the machine, so it is tried again in every run.
        good = pc.is_in(entries["status"], value_set=pa.array(["done"] if self.retry_rejected else ["done", "rejected"]))
        if step.unmeasured:
            good = pc.and_(good, pc.is_valid(entries["row_count"]))  # release 0.2 kept no rows of what it refused
        stands = good.to_numpy() & ~stored.lost(entries, self.workspace.blobs.has)
        lacking = set(_in_words(step))
        lacks = pc.fill_null(pc.list_value_length(entries["lacks"]), 0).to_numpy()
        for place in np.flatnonzero(lacks).tolist():
            stands[place] &= lacking.issuperset(entries["lacks"][place].as_py())
        return flat(entries["key"]).filter(pa.array(stands))

    def _heed(self, result: dict[str, Any]) -> None:
        """Take from a result what is said of storage."""
        self.traffic.update(result.pop("asked", {}))
        self.workspace.trust(result.pop("sent", ()))

    @abstractmethod
    def _results(self, waiting: Waiting) -> Results:
        """Work off ``waiting``, which may grow meanwhile: every unit with its results, in any order.

        A list of one entry for a unit of several steps says that the worker died.
        """

    @abstractmethod
    def _close(self, *, kill: bool) -> None:
        """Let the workers end, or end them now."""


class _Planned(NamedTuple):
    step: Step
    tasks: Sequence[Task]
    plan: Plan
    missing: npt.NDArray[np.int64]
    """Places of the tasks that are to be done."""

    @property
    def subjects(self) -> pa.Array:
        """Subject of each task."""
        return flat(self.plan.tasks["subject_id"])


def _ordinals(tasks: pa.Table) -> npt.NDArray[np.int64]:
    """``[n]``, which of the contents of its subject each task is about: 0 unless the step has several of one subject."""
    if len(pc.unique(tasks["subject_id"])) == tasks.num_rows:
        return np.zeros(tasks.num_rows, np.int64)
    places: dict[str, dict[str, int]] = defaultdict(dict)
    pairs = zip(tasks["key"].to_pylist(), tasks["subject_id"].to_pylist(), strict=True)
    return np.array([places[subject].setdefault(key, len(places[subject])) for key, subject in pairs], np.int64)


def _subjects_of(planned: Sequence[_Planned]) -> int:
    """Return how many subjects there are; each content of a subject counts."""
    groups: list[tuple[pa.Array, npt.NDArray[np.int64]]] = []
    for run in planned:
        if not any(run.subjects.equals(subjects) for subjects, _ in groups):
            groups.append((run.subjects, _ordinals(run.plan.tasks)))
    if not any(ordinals.any() for _, ordinals in groups):
        return len(pc.unique(pa.chunked_array([subjects for subjects, _ in groups], pa.string())))
    return len({pair for subjects, ordinals in groups for pair in zip(subjects.to_pylist(), ordinals.tolist(), strict=True)})


def _waiting(planned: Sequence[_Planned]) -> Waiting:
    """Return what is to be done of each subject, in the order of the tasks; a step with several contents of one subject has a
    unit for each."""
    runs = [run for run in planned if len(run.missing)]
    missing = [run.subjects.take(pa.array(run.missing)) for run in runs]
    subjects = pc.unique(pa.chunked_array(missing, pa.string()))
    # The place of a subject among the tasks of the first step that has it, those of later steps behind all of them.
    rank, before = np.full(len(subjects), -1, np.int64), 0
    for run in planned:
        places = pc.fill_null(pc.index_in(subjects, value_set=run.subjects), -1).to_numpy(zero_copy_only=False)
        turns = run.tasks.turns[places] if isinstance(run.tasks, Tasks) and len(run.tasks) else places
        rank, before = np.where((rank < 0) & (places >= 0), before + turns, rank), before + len(run.tasks)
    # Each missing task has the number of its unit; those of the first subject come first.
    ordinals = [_ordinals(run.plan.tasks)[run.missing] for run in runs]
    contents = 1 + max((int(ordinal.max()) for ordinal in ordinals), default=0)
    turns = np.argsort(np.argsort(rank, kind="stable"), kind="stable")
    numbers = [
        turns[pc.index_in(of_step, value_set=subjects).to_numpy()] * contents + ordinal
        for of_step, ordinal in zip(missing, ordinals, strict=True)
    ]
    units = np.unique(np.concatenate([np.empty(0, np.int64), *numbers]))
    ahead, on_card, apart, parts = (
        any(getattr(run.step, name) for run in runs) for name in ("ahead", "on_card", "apart", "before")
    )
    made = _units(runs, numbers, units, contents)
    return Waiting(made, len(units), reads_ahead=ahead, on_card=on_card, apart=apart, in_parts=parts)


def _units(
    runs: Sequence[_Planned], numbers: Sequence[npt.NDArray[np.int64]], units: npt.NDArray[np.int64], contents: int
) -> Iterator[Unit]:
    """Make the units of missing tasks, which have ``numbers``, one after the other."""
    orders = [np.argsort(of_step, kind="stable") for of_step in numbers]
    begins = [np.searchsorted(of_step[order], units) for of_step, order in zip(numbers, orders, strict=True)]
    for turn, number in enumerate(units.tolist()):
        jobs: list[Job] = []
        made: dict[tuple[int, int], Task] = {}
        for run, of_step, order, begin in zip(runs, numbers, orders, begins, strict=True):
            if begin[turn] == len(order) or of_step[order[begin[turn]]] != number:
                continue
            place = int(run.missing[order[begin[turn]]])
            of_row = (id(run.tasks), place)
            task = made[of_row] if of_row in made else made.setdefault(of_row, run.tasks[place])
            jobs.append(Job(run.step, task, run.plan.tasks["key"][place].as_py()))
        yield Unit((jobs[0].task.subject_id, number % contents), tuple(jobs))


def _keep(ledger: Ledger, job: Job, result: dict[str, Any]) -> None:
    if result["status"] == "fatal":
        raise WorkspaceError(result["reason"])
    step, task, key = job
    entry = {"key": key, "subject_id": task.subject_id, "name": task.name, "finished_at": round(time.time(), 3)}
    lacks = {"lacks": _in_words(step)} if step.lacks else {}
    rows = result.pop("rows", None)
    if rows is None and step.unmeasured:
        rows = rows_json(load(step.unmeasured)(task.payload, parameters=step.parameters, reason=result["reason"]))
    ledger.append({**entry, **lacks, **result}, rows)


def _in_words(step: Step) -> list[str]:
    """Return what a step lacks, as it stands in its ledger."""
    return [f"{name}: {state}" for name, state in step.lacks.items()]


def check_shared(workspace: Workspace) -> None:
    """Raise ``UsageError`` where other processes would not find what this one writes to the workspace."""
    if workspace.address and workspace.address.scheme == "memory":
        raise UsageError("a workspace at memory:// is of one process alone: --workers 0")


def check_for_stop() -> None:
    """Raise ``KeyboardInterrupt`` when somebody asked for it; Python drops exceptions raised inside some callbacks."""
    if STOP_ASKED.is_set():
        raise KeyboardInterrupt
