"""What is to be done (steps and tasks) and what came of it, whoever does the work.

A step is a pure function over small records. It is named by its address so that any worker process can import it::

    def measure(payload, *, parameters, blobs) -> list[Record]

It returns the rows for one subject, or raises ``Rejected`` with the reason why there are none. A task is done once its key
(content, step, version, parameters) stands in the ledger; changed parameters make other keys, so only what they touch is
computed again.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from inpaintbench.errors import InpaintBenchError, Rejected, UnknownNameError
from inpaintbench.types import content_id
from inpaintbench.workspace import Blobs, Workspace, is_disk_error


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


def task_key(step: Step, task: Task) -> str:
    """The ledger key: same key, same rows."""
    return content_id(task.subject_id, task.content, step.name, step.version, dict(step.parameters))


def load(address: str) -> Callable[..., Any]:
    """The object at ``module:name``."""
    module, _, name = address.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def perform(function: str, payload: Mapping[str, Any], parameters: Mapping[str, Any], workspace: str) -> dict[str, Any]:
    """Do one task in this process and tell the result as plain data; never raises (exceptions may not pickle).

    The one broad ``except`` of the package: a worker must survive any input. ``status`` is ``done``, ``rejected`` (the input
    has no rows), ``failed`` (an unexpected error) or ``fatal`` (no item can succeed: disk full, missing extra).
    """
    try:
        records = load(function)(payload, parameters=parameters, blobs=Blobs(workspace))
        return {"status": "done", "rows": [asdict(record) for record in records]}
    except Rejected as error:
        return {"status": "rejected", "reason": str(error)}
    except Exception as error:
        if is_disk_error(error) or isinstance(error, UnknownNameError):
            return {"status": "fatal", "reason": _sentence(error)}
        if isinstance(error, InpaintBenchError):
            return {"status": "rejected", "reason": str(error)}
        return {"status": "failed", "failure": True, "reason": _sentence(error), "trace": traceback.format_exc()}


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": {error.filename}" if error.filename else "")
    return str(error) if isinstance(error, InpaintBenchError) else f"{type(error).__name__}: {error}"


def finish(
    workspace: Workspace, step: Step, tasks: Sequence[Task], entries: Mapping[str, Mapping[str, Any]],
    rejected: Sequence[Rejection], failures: int,
) -> Outcome:  # fmt: skip
    """Write the step's table and rejections from ledger entries, in the order of ``tasks``."""
    records: list[Any] = []
    refused = list(rejected)
    for task in tasks:
        entry = entries[task_key(step, task)]
        if entry["status"] == "done":
            records += [step.record(**_tuples(row)) for row in entry["rows"]]
        else:
            refused.append(Rejection(task.subject_id, step.name, task.name or task.subject_id, entry["reason"]))
    workspace.write_table(step.table, step.name, records, step.record)
    workspace.write_table("rejected", step.name, refused, Rejection)
    return Outcome(records, refused, failures)


def _tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
