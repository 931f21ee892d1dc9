"""What all executors share: do only what the ledger lacks, keep every result at once, write the tables at the end."""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from inpaintbench.errors import RunError, WorkspaceError
from inpaintbench.executors import STOP_ASKED
from inpaintbench.executors.base import Job, Outcome, Progress, Rejection, Step, Task, load, task_keys
from inpaintbench.executors.unfinished import Plan
from inpaintbench.tables import Entries, lost_blobs, rows_json
from inpaintbench.workspace import Ledger, Workspace


@dataclass(frozen=True)
class Unit:
    """What one worker does in one go: some steps of one subject."""

    subject: tuple[str, int]
    jobs: tuple[Job, ...]

    @property
    def reads_ahead(self) -> bool:
        """Whether some of it can be read before it is done."""
        return any(job.step.ahead for job in self.jobs)

    @property
    def time_limit_seconds(self) -> float:
        """Of all its steps."""
        return sum(job.step.time_limit_seconds for job in self.jobs)

    def alone(self) -> list[Unit]:
        """A unit for each step."""
        return [replace(self, jobs=(job,)) for job in self.jobs]


Results = Iterator[tuple[Unit, list[dict[str, Any]]]]


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
        self.only: Collection[str] | None = None
        """The subjects to work on: what an earlier run made of the others stays, if their content is the same. None = all."""
        self._progress = progress or (lambda *_: None)
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Any:
        self._held.enter_context(self.workspace.locked())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._close(kill=kind is not None)
        self._held.close()

    def run(self, step: Step, tasks: Sequence[Task], *, rejected: Sequence[Rejection] = ()) -> Outcome:
        """Run what is missing, then write the step's table from the ledger.

        Raises:
            WorkspaceError: results cannot be written (disk full).
            RunError: more failures than ``max_failures``; what is done stays done.
        """
        return self.run_together([(step, tasks)], label=step.name, rejected=rejected)[step.name]

    def run_together(
        self, work: Sequence[tuple[Step, Sequence[Task]]], *, label: str, rejected: Sequence[Rejection] = ()
    ) -> dict[str, Outcome]:
        """``run`` for several steps, whatever one subject lacks in one worker. Raises what ``run`` raises."""
        ledgers = {step.name: self.workspace.ledger(step.name) for step, _ in work}
        stored = {step.name: ledgers[step.name].columns(step.record) for step, _ in work}
        work = [(step, self._wanted(step, tasks, stored[step.name])) for step, tasks in work]
        plans = {step.name: Plan.of(step, tasks, rejected, stored[step.name]) for step, tasks in work}
        subjects = _subjects(work, plans)
        standing = {step.name: self._standing(step, plans[step.name].entries(stored[step.name])) for step, _ in work}
        waiting = deque(self._missing(subjects, standing))
        total = len(subjects)
        left = {unit.subject: len(unit.jobs) for unit in waiting}
        for name in {job.step.name for unit in waiting for job in unit.jobs}:
            del stored[name]  # what is done now is read again with it
        if waiting:
            for plan in plans.values():
                plan.begin(self.workspace)
        failures = dict.fromkeys(ledgers, 0)
        self._progress(label, total - len(left), total)
        try:
            for unit, results in self._results(waiting):
                if len(results) < len(unit.jobs):  # the worker died, and any of the steps may be guilty
                    waiting.extend(unit.alone())
                    continue
                for job, result in zip(unit.jobs, results, strict=True):
                    _keep(ledgers[job.step.name], job, result)
                    failures[job.step.name] += result.get("failure", False)
                    self._within_budget(job.step, sum(failures.values()), result)
                left[unit.subject] -= len(unit.jobs)
                if not left[unit.subject]:
                    del left[unit.subject]
                    self._progress(label, total - len(left), total)
        finally:
            for ledger in ledgers.values():
                ledger.close()
        outcomes = {}
        for name, plan in plans.items():
            entries = stored[name] if name in stored else ledgers[name].columns(plan.record)
            outcomes[name] = plan.write(self.workspace, plan.entries(entries), failures=failures[name])
            plan.end(self.workspace)
        return outcomes

    def _wanted(self, step: Step, tasks: Sequence[Task], stored: Entries) -> Sequence[Task]:
        """The tasks of the chosen subjects, and those of others that an earlier run came to an end with."""
        if self.only is None:
            return tasks
        lost = dict(zip(stored.place, lost_blobs(stored.of(stored.place), self.workspace.blobs.path), strict=True))
        keys = task_keys(step, tasks, stored.place)
        return [task for task, key in zip(tasks, keys, strict=True) if task.subject_id in self.only or not lost.get(key, True)]

    def _missing(self, subjects: Mapping[tuple[str, int], Sequence[Job]], standing: Mapping[str, set[str]]) -> Iterator[Unit]:
        for subject, jobs in subjects.items():
            missing = tuple(job for job in jobs if job.key not in standing[job.step.name])
            if missing and (self.only is None or subject[0] in self.only):
                yield Unit(subject, missing)

    def _standing(self, step: Step, entries: pa.Table) -> set[str]:
        """Keys of the earlier results that are still good."""
        # An unexpected error may be a fault of the program or the machine, so it is tried again in every run.
        good = {"done"} if self.retry_rejected else {"done", "rejected"}
        kept = pc.or_(pc.is_valid(entries["rows"]), not step.unmeasured)  # release 0.2 kept no rows of what it refused
        lacking = set(_in_words(step))
        columns = (column.to_pylist() for column in (entries["key"], entries["status"], entries["lacks"], kept))
        return {
            key
            for key, status, lacks, whole, lost in zip(*columns, lost_blobs(entries, self.workspace.blobs.path), strict=True)
            if status in good and whole and not lost and lacking.issuperset(lacks or ())
        }

    def _within_budget(self, step: Step, failures: int, last: Mapping[str, Any]) -> None:
        if self.max_failures is not None and failures > self.max_failures:
            raise RunError(f"{step.name}: more than {self.max_failures} failures, the last one: {last['reason']}")

    @abstractmethod
    def _results(self, waiting: deque[Unit]) -> Results:
        """Work off ``waiting``, which may grow meanwhile: every unit with its results, in any order.

        A list of one entry for a unit of several steps says that the worker died.
        """

    @abstractmethod
    def _close(self, *, kill: bool) -> None:
        """Let the workers end, or end them now."""


def _subjects(work: Sequence[tuple[Step, Sequence[Task]]], plans: Mapping[str, Plan]) -> dict[tuple[str, int], list[Job]]:
    """What is to be done of each subject; a step with several contents of one subject has a group for each."""
    grouped: dict[tuple[str, int], list[Job]] = defaultdict(list)
    for step, tasks in work:
        places: dict[str, dict[str, int]] = defaultdict(dict)
        for task, (key, *_) in zip(tasks, plans[step.name].tasks, strict=True):
            of_subject = places[task.subject_id]
            if key not in of_subject:
                of_subject[key] = len(of_subject)
                grouped[task.subject_id, of_subject[key]].append(Job(step, task, key))
    return grouped


def _keep(ledger: Ledger, job: Job, result: dict[str, Any]) -> None:
    if result["status"] == "fatal":
        raise WorkspaceError(result["reason"])
    step, task, key = job
    told = {"key": key, "subject_id": task.subject_id, "name": task.name, "finished_at": round(time.time(), 3)}
    lacks = {"lacks": _in_words(step)} if step.lacks else {}
    rows = result.pop("rows", None)
    if rows is None and step.unmeasured:
        rows = rows_json(load(step.unmeasured)(task.payload, parameters=step.parameters, reason=result["reason"]))
    ledger.append({**told, **lacks, **result}, rows)


def _in_words(step: Step) -> list[str]:
    """What a step lacks, as it stands in its ledger."""
    return [f"{name}: {state}" for name, state in step.lacks.items()]


def check_for_stop() -> None:
    """Raise ``KeyboardInterrupt`` when somebody asked for it; Python drops exceptions raised inside some callbacks."""
    if STOP_ASKED.is_set():
        raise KeyboardInterrupt
