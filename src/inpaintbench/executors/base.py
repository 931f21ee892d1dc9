"""What is to be done (steps and tasks) and what came of it, whoever does the work.

A step is a pure function over small records. It is named by its address so that any worker process can import it::

    def measure(payload, *, parameters, blobs) -> list[Record]

It returns the rows for one subject, or raises ``Rejected`` with the reason why there are none. A task is done once its key
(content, step, version, parameters) stands in the ledger; changed parameters make other keys, so only what they touch is
computed again.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from inpaintbench.types import content_id
from inpaintbench.workspace import Workspace


@dataclass(frozen=True)
class Step:
    """One kind of work; writes to exactly one table."""

    name: str
    version: str
    table: str
    record: type
    """The record type of the rows."""
    function: str
    """``module:function``, importable in any worker."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    time_limit_seconds: float = 300.0
    """Of one task; a worker that needs longer is killed and the task's subject quarantined."""
    together: str = ""
    """``module:function`` that does one subject for several steps at once, where that spares work; ``""`` = one after the other.
    It takes ``jobs``, a sequence of (payload, parameters), and ``blobs``, and returns the rows of each job."""
    ahead: str = ""
    """``module:function`` that reads what a subject needs while the subject before it is worked on; ``""`` = nothing is.
    It takes what ``together`` takes, runs in a thread, and returns anything, or None where reading ahead would take too much
    memory. ``function`` and ``together`` then take that as ``ahead``; None = read it yourself. Rows must not depend on it, and
    what cannot be read is to be found out again: an exception here counts as None."""


@dataclass(frozen=True)
class Task:
    """One subject of a step."""

    subject_id: str
    content: str
    """Identity of everything in the input that can change the rows."""
    payload: Mapping[str, Any]
    name: str = ""
    """What people call it: a file name; the subject id when empty."""


@dataclass(frozen=True)
class Call:
    """A step and one of its tasks, as a worker is told of them."""

    function: str
    parameters: Mapping[str, Any]
    payload: Mapping[str, Any]
    together: str = ""
    ahead: str = ""


@dataclass(frozen=True)
class Rejection:
    """A subject that has no rows in a step, and why. A row of the table ``rejected``."""

    subject_id: str
    step: str
    name: str
    reason: str


@dataclass(frozen=True)
class Outcome:
    """What a step came to, in the order of its tasks."""

    records: list[Any]
    rejected: list[Rejection]
    failures: int
    """Rejections that are not the input's fault alone: crashes, time-outs, unexpected errors."""


class Progress(Protocol):
    """Told how a step goes; the command line draws a bar."""

    def __call__(self, step: str, done: int, total: int) -> None:
        """``done`` of ``total`` tasks of ``step`` are finished."""
        ...


class Executor(Protocol):
    """Runs the tasks of a step that are not done yet, and writes its table."""

    workspace: Workspace

    def run(self, step: Step, tasks: Sequence[Task], *, rejected: Sequence[Rejection] = ()) -> Outcome:
        """Run ``step`` over ``tasks``; ``rejected`` are refusals decided before, kept with the others."""
        ...

    def run_together(self, work: Sequence[tuple[Step, Sequence[Task]]], *, label: str) -> dict[str, Outcome]:
        """Run several steps, each over its own tasks; what is missing of one subject is done in one worker.

        So steps that read the same pixels can share them. Each step keeps its own ledger and table, as with ``run``. Where a
        worker dies or takes too long, the steps of that subject are tried one by one, and only the guilty one is refused.

        Returns:
            Step name -> outcome.
        """
        ...


def task_key(step: Step, task: Task) -> str:
    """The ledger key: same key, same rows."""
    return content_id(task.subject_id, task.content, step.name, step.version, dict(step.parameters))


def load(address: str) -> Callable[..., Any]:
    """The object at ``module:name``."""
    module, _, name = address.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def finish(
    workspace: Workspace, step: Step, tasks: Sequence[Task], entries: Mapping[str, Mapping[str, Any]],
    rejected: Sequence[Rejection], failures: int,
) -> Outcome:  # fmt: skip
    """Write the step's table and rejections from ledger entries, in the order of ``tasks``."""
    keyed = [(task_key(step, task), task.subject_id, task.name or task.subject_id) for task in tasks]
    records, refused = write_tables(workspace, step.name, step.table, step.record, keyed, entries, rejected)
    return Outcome(records, refused, failures)


def write_tables(
    workspace: Workspace, step: str, table: str, record: type, tasks: Sequence[tuple[str, str, str]],
    entries: Mapping[str, Mapping[str, Any]], rejected: Sequence[Rejection],
) -> tuple[list[Any], list[Rejection]]:  # fmt: skip
    """Write what a step made and what it refused; both are returned.

    Args:
        workspace: where the tables are.
        step: its name.
        table: that it writes to.
        record: type of its rows.
        tasks: key, subject and name of each; all of them stand in the ledger.
        entries: of the ledger, by key.
        rejected: refusals that were decided before.
    """
    records: list[Any] = []
    refused = list(rejected)
    for key, subject_id, name in tasks:
        entry = entries[key]
        if entry["status"] == "done":
            records += [record(**_tuples(row)) for row in entry["rows"]]
        else:
            refused.append(Rejection(subject_id, step, name, entry["reason"]))
    workspace.write_table(table, step, records, record)
    workspace.write_table("rejected", step, refused, Rejection)
    return records, refused


def _tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
