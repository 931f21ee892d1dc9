"""What is to be done (steps and tasks) and what came of it, whoever does the work.

A step is a pure function over small records. It is named by its address so that any worker process can import it::

    def measure(payload, *, parameters, blobs) -> list[Record]

It returns the rows for one subject, or raises ``Rejected`` with the reason why there are none. A task is done once its key
(subject, content, step, version, parameters) stands in the ledger; changed parameters make other keys, so only what they touch
is computed again. What a step lacks for now (weights, a package) is no part of the key: see ``Step.lacks``.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa

from inpaintbench.types import canonical_json
from inpaintbench.workspace import Workspace, to_records


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
    lacks: Mapping[str, str] = field(default_factory=dict)
    """What the work could use and does not have -> its state: weights that are missing, say. Results made without it stand until
    the state is another one; those made with it stand when it is gone."""
    unmeasured: str = ""
    """``module:function`` that gives the rows of a subject that was refused, where every subject is to have some. It takes
    ``payload``, ``parameters`` and the ``reason``; ``""`` = it has none."""

    @cached_property
    def _identities(self) -> list[str]:
        """What its keys end in, and what they ended in when states of weights were parameters: in release 0.1."""
        weights = {**self.parameters.get("weights", {}), **self.lacks}
        told = [dict(self.parameters), *([{**self.parameters, "weights": weights}] if self.lacks else [])]
        return [canonical_json([self.name, self.version, parameters])[1:] for parameters in told]


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

    record: type
    rows: pa.Table
    """In the schema of ``record``."""
    rejected: list[Rejection]
    failures: int
    """Rejections that are not the input's fault alone: crashes, time-outs, unexpected errors."""

    @cached_property
    def records(self) -> list[Any]:
        """The rows as records: for steps of thousands of rows, not of millions."""
        return to_records(self.rows, self.record)


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

    def run_together(
        self, work: Sequence[tuple[Step, Sequence[Task]]], *, label: str, rejected: Sequence[Rejection] = ()
    ) -> dict[str, Outcome]:
        """Run several steps, each over its own tasks; what is missing of one subject is done in one worker.

        So steps that read the same pixels can share them. Each step keeps its own ledger and table, as with ``run``. Where a
        worker dies or takes too long, the steps of that subject are tried one by one, and only the guilty one is refused.

        Returns:
            Step name -> outcome.
        """
        ...


def task_key(step: Step, task: Task, known: Container[str] = ()) -> str:
    """The ledger key, made here and nowhere else: same key, same rows. 16 hex digits of a SHA-256.

    ``known`` are the keys of the step's ledger: what release 0.1 did without weights that are still missing has the key of then.
    """
    begin = canonical_json([task.subject_id, task.content])[:-1]
    key, *earlier = (hashlib.sha256(f"{begin},{end}".encode()).hexdigest()[:16] for end in step._identities)
    return next((old for old in earlier if old in known and key not in known), key)


def load(address: str) -> Callable[..., Any]:
    """The object at ``module:name``."""
    module, _, name = address.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
