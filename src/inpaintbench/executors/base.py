"""What is to be done (steps and tasks) and what came of it, whoever does the work.

A step is a pure function over small records. It is named by its address so that any worker process can import it::

    def measure(payload, *, parameters, blobs) -> list[Record]

It returns the rows for one subject, or raises ``Rejected`` with the reason why there are none. A task is done once its key
(content, step, version, parameters) stands in the ledger; changed parameters make other keys, so only what they touch is
computed again.
"""

from __future__ import annotations

import contextlib
import importlib
import resource
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from inpaintbench.errors import InpaintBenchError, NetworkError, Rejected, UnknownNameError
from inpaintbench.types import content_id
from inpaintbench.workspace import Blobs, Workspace, is_disk_error

_STATUS, _CLEAR_PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")


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


def perform_all(calls: Sequence[Call], workspace: str) -> list[dict[str, Any]]:
    """``perform`` for each call, those with one ``together`` at once.

    Each result also tells its ``seconds`` and ``peak_mebibytes``: of calls done at once, their equal share and common peak.
    """
    results = []
    for together, group in groupby(calls, lambda call: call.together):
        some = list(group)
        at_once = _measured(partial(_perform_together, together, some, workspace)) if together and len(some) > 1 else []
        # Where doing them at once failed, one of them is guilty.
        results += at_once if len(at_once) == len(some) else [_measured(partial(_alone, call, workspace))[0] for call in some]
    return results


def _alone(call: Call, workspace: str) -> list[dict[str, Any]]:
    return [perform(call, workspace)]


def _measured(work: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    _forget_peak()
    begun = time.perf_counter()
    results = work()
    spent = {"seconds": round((time.perf_counter() - begun) / len(results), 4), "peak_mebibytes": _peak_mebibytes()}
    return [{**result, **spent} for result in results]


def _forget_peak() -> None:
    with contextlib.suppress(OSError):  # Linux alone counts a process's peak anew
        _CLEAR_PEAK.write_text("5")


def _peak_mebibytes() -> int:
    if _STATUS.exists():
        kibibytes = next(line.split()[1] for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kibibytes) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20  # macOS counts bytes


def perform(call: Call, workspace: str) -> dict[str, Any]:
    """Do one task in this process and tell the result as plain data; never raises (exceptions may not pickle).

    ``status`` is ``done``, ``rejected`` (the input has no rows), ``failed`` (an unexpected error) or ``fatal`` (no item can
    succeed: disk full, missing extra).
    """
    return _safely(lambda: [load(call.function)(call.payload, parameters=call.parameters, blobs=Blobs(workspace))])[0]


def _perform_together(together: str, calls: Sequence[Call], workspace: str) -> list[dict[str, Any]]:
    """One result for each call, or a single one that says why there are none."""
    jobs = [(call.payload, call.parameters) for call in calls]
    return _safely(lambda: load(together)(jobs, blobs=Blobs(workspace)))


def _safely(work: Callable[[], Sequence[Sequence[Any]]]) -> list[dict[str, Any]]:
    """Results of the lists of records that ``work`` gives, or a single one that says why it gave none.

    A broad ``except``: a worker must survive any input.
    """
    try:
        return [{"status": "done", "rows": [asdict(record) for record in records]} for records in work()]
    except Rejected as error:
        return [{"status": "rejected", "reason": str(error)}]
    except NetworkError as error:  # the next run tries it again
        return [{"status": "failed", "failure": True, "reason": str(error)}]
    except MemoryError:
        return [{"status": "rejected", "failure": True, "reason": _too_much_memory()}]
    except Exception as error:
        if is_disk_error(error) or isinstance(error, UnknownNameError):
            return [{"status": "fatal", "reason": _sentence(error)}]
        if isinstance(error, InpaintBenchError):
            return [{"status": "rejected", "reason": str(error)}]
        return [{"status": "failed", "failure": True, "reason": _sentence(error), "trace": traceback.format_exc()}]


def _too_much_memory() -> str:
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return "needs more memory than there is" + (f" (limit {limit / 2**30:.1f} GiB)" if limit != resource.RLIM_INFINITY else "")


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
