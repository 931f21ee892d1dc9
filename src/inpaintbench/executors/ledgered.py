"""What all executors share: do only what the ledger lacks, keep every result at once, write the tables at the end."""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from inpaintbench.errors import RunError, WorkspaceError
from inpaintbench.executors import unfinished
from inpaintbench.executors.base import Call, Outcome, Progress, Rejection, Step, Task, finish, task_key
from inpaintbench.workspace import Ledger, Workspace, blob_names

STOP_ASKED = threading.Event()
"""Set by whoever handles interrupts: an executor then ends with ``KeyboardInterrupt``."""


Job = tuple[Step, Task]


@dataclass(frozen=True)
class Unit:
    """What one worker does in one go: some steps of one subject."""

    subject: tuple[str, int]
    jobs: tuple[Job, ...]

    @property
    def calls(self) -> list[Call]:
        """For ``perform_all``."""
        return [
            Call(step.function, dict(step.parameters), dict(task.payload), step.together, step.ahead) for step, task in self.jobs
        ]

    @property
    def reads_ahead(self) -> bool:
        """Whether some of it can be read before it is done."""
        return any(step.ahead for step, _ in self.jobs)

    @property
    def time_limit_seconds(self) -> float:
        """Of all its steps."""
        return sum(step.time_limit_seconds for step, _ in self.jobs)

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
        self._progress = progress or _silent
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
        return self._run([(step, tasks)], label=step.name, rejected=rejected)[step.name]

    def run_together(self, work: Sequence[tuple[Step, Sequence[Task]]], *, label: str) -> dict[str, Outcome]:
        """``run`` for several steps, whatever one subject lacks in one worker. Raises what ``run`` raises."""
        return self._run(work, label=label)

    def _run(
        self, work: Sequence[tuple[Step, Sequence[Task]]], *, label: str, rejected: Sequence[Rejection] = ()
    ) -> dict[str, Outcome]:
        ledgers = {step.name: self.workspace.ledger(step.name) for step, _ in work}
        entries = {step.name: ledgers[step.name].read() for step, _ in work}
        subjects = _subjects(work)
        waiting = deque(self._missing(subjects, entries))
        total = len(subjects)
        left = {unit.subject: len(unit.jobs) for unit in waiting}
        if waiting:
            for step, tasks in work:
                unfinished.begin(self.workspace, step, tasks, rejected)
        failures = dict.fromkeys(ledgers, 0)
        self._progress(label, total - len(left), total)
        try:
            for unit, results in self._results(waiting):
                if len(results) < len(unit.jobs):  # the worker died, and any of the steps may be guilty
                    waiting.extend(unit.alone())
                    continue
                for (step, task), result in zip(unit.jobs, results, strict=True):
                    self._keep(ledgers[step.name], entries[step.name], step, task, result)
                    failures[step.name] += result.get("failure", False)
                    self._within_budget(step, sum(failures.values()), result)
                left[unit.subject] -= len(unit.jobs)
                if not left[unit.subject]:
                    del left[unit.subject]
                    self._progress(label, total - len(left), total)
        finally:
            for ledger in ledgers.values():
                ledger.close()
        outcomes = {}
        for step, tasks in work:
            outcomes[step.name] = finish(self.workspace, step, tasks, entries[step.name], rejected, failures[step.name])
            unfinished.end(self.workspace, step.name)
        return outcomes

    def _missing(
        self, subjects: Mapping[tuple[str, int], Sequence[Job]], entries: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[Unit]:
        nothing = {"status": "missing"}
        for subject, jobs in subjects.items():
            lacking = tuple(
                (step, task) for step, task in jobs if not self._stands(entries[step.name].get(task_key(step, task), nothing))
            )
            if lacking:
                yield Unit(subject, lacking)

    def _stands(self, entry: Mapping[str, Any]) -> bool:
        """Whether an earlier result is still good."""
        if entry["status"] == "done":
            return all(self.workspace.blobs.path(name).exists() for row in entry["rows"] for name in blob_names(row))
        # An unexpected error may be a fault of the program or the machine, so it is tried again in every run.
        return entry["status"] == "rejected" and not self.retry_rejected

    def _keep(self, ledger: Ledger, entries: dict[str, Any], step: Step, task: Task, result: dict[str, Any]) -> None:
        if result["status"] == "fatal":
            raise WorkspaceError(result["reason"])
        told = {"key": task_key(step, task), "subject_id": task.subject_id, "name": task.name}
        entry = {**told, "finished_at": round(time.time(), 3), **result}
        ledger.append(entry)
        entries[entry["key"]] = entry

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


def _subjects(work: Sequence[tuple[Step, Sequence[Task]]]) -> dict[tuple[str, int], list[Job]]:
    """What is to be done of each subject; a step with several contents of one subject has a group for each."""
    grouped: dict[tuple[str, int], list[Job]] = {}
    for step, tasks in work:
        contents: dict[str, dict[str, Task]] = {}
        for task in tasks:
            contents.setdefault(task.subject_id, {})[task.content] = task
        for subject_id, of_content in contents.items():
            for place, task in enumerate(of_content.values()):
                grouped.setdefault((subject_id, place), []).append((step, task))
    return grouped


def check_for_stop() -> None:
    """Raise ``KeyboardInterrupt`` when somebody asked for it; Python drops exceptions raised inside some callbacks."""
    if STOP_ASKED.is_set():
        raise KeyboardInterrupt


def _silent(step: str, done: int, total: int) -> None:
    """Progress that nobody watches."""
