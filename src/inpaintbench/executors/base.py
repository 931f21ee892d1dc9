"""Work to be done (steps and tasks) and what came of it, whoever does the work.

A step is a pure function over small records. It is named by its address so that any worker process can import it::

    def measure(payload, *, parameters, blobs) -> list[Record]

It returns the rows for one subject, or raises ``Rejected`` with the reason why there are none. A task is done once its key
(subject, content, step, version, parameters) stands in the ledger; changed parameters make other keys, so only what they touch
is computed again. What a step lacks for now (weights, a package) is no part of the key: see ``Step.lacks``.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, overload

from inpaintbench.types import Plain, canonical_json
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

# Texts of columns that are objects at the same time.
_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Step:
    """One kind of work; writes to exactly one table."""

    name: str
    version: str
    table: str
    record: type
    """The record type of the rows."""
    function: str
    """``module:function``, importable in any worker; ``""`` = ``together`` does a single subject, too."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    time_limit_seconds: float = 300.0
    """Time limit of one task; a worker that needs longer is killed and the task's subject quarantined."""
    together: str = ""
    """``module:function`` that does one subject for several steps at once, where that spares work; ``""`` = one after the other.
    It takes ``jobs``, a sequence of (payload, parameters), and ``blobs``, and returns for each job its rows, or the
    ``InpaintBenchError`` that says why there are none."""
    ahead: str = ""
    """``module:function`` that reads what a subject needs while the subject before it is worked on; ``""`` = nothing is.
    It takes what ``together`` takes, runs in a thread, and returns anything, or None where reading ahead would take too much
    memory. ``function`` and ``together`` then take that as ``ahead``; None = read it yourself. Rows must not depend on it, and
    what cannot be read is to be found out again: an exception here counts as None."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Things that the work could use and does not have -> its state: weights that are missing, say. Results made without it
    stand until the state is another one; those made with it stand when it is gone."""
    on_card: bool = False
    """True when workers open this machine's graphics card, which they share: few of them do, and their memory is not limited."""
    before: Step | None = None
    """Does the part of a subject that needs no card, in processes that open none, for the same tasks. Its rows are of no table:
    what does the rest, in one process a card, finds them as JSON in ``payload["before"]``, and gives them among its own. Rows
    must not depend on it: whoever finds none there does that part itself."""
    apart: bool = False
    """True when no process may do two tasks of one ``Task.group``: processes begin anew with the step, and again where all that
    is left is of groups that they have done."""
    unmeasured: str = ""
    """``module:function`` that gives the rows of a subject that was refused, where every subject is to have some. It takes
    ``payload``, ``parameters`` and the ``reason``; ``""`` = it has none."""


@dataclass(frozen=True)
class Task:
    """One subject of a step."""

    subject_id: str
    content: str
    """Identity of everything in the input that can change the rows."""
    payload: Mapping[str, Any]
    name: str = ""
    """Name that people call it by: a file name; the subject id when empty."""
    group: str = ""
    """Tasks that a step keeps ``apart`` share it; tasks without one may be done beside any."""


class Tasks(Sequence[Task]):
    """Tasks over the rows of a table, made one by one when they are asked for.

    Args:
        subject_ids: ``string[n]``.
        contents: ``string[n]``.
        payload: of the task of a row, by its place.
        names: ``string[n]``, what people call them; the subject ids where it is None.
        groups: of each, its ``Task.group``; None = no task has one.
        alike: of each what it has in common with others, which are done one after the other: what they read is then read once.
            None = they are done in the order of their rows. Tables keep that order in any case.
    """

    def __init__(
        self,
        subject_ids: pa.Array,
        contents: pa.Array,
        payload: Callable[[int], Mapping[str, Any]],
        names: pa.Array | None = None,
        groups: Sequence[str] | None = None,
        alike: Sequence[str | None] | None = None,
    ) -> None:
        self.subject_ids, self.contents, self.names, self._payload = subject_ids, contents, names, payload
        self._groups, self._alike = groups, alike

    @property
    def turns(self) -> npt.NDArray[np.int64]:
        """``int64[n]``, when each is done, from 0."""
        import numpy as np  # a third of what a command takes to answer

        if self._alike is None:
            return np.arange(len(self))
        first: dict[str | None, int] = {}
        begins = [place if one is None else first.setdefault(one, place) for place, one in enumerate(self._alike)]
        return np.argsort(np.argsort(begins, kind="stable"))

    def named(self) -> Iterator[tuple[str, str]]:
        """Subject and content of each."""
        for begin in range(0, len(self), _AT_ONCE):
            some = (column.slice(begin, _AT_ONCE).to_pylist() for column in (self.subject_ids, self.contents))
            yield from zip(*some, strict=True)

    def __len__(self) -> int:
        return len(self.subject_ids)

    @overload
    def __getitem__(self, place: int) -> Task: ...
    @overload
    def __getitem__(self, place: slice) -> list[Task]: ...
    def __getitem__(self, place: int | slice) -> Task | list[Task]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        name = "" if self.names is None else self.names[place].as_py()
        payload, group = self._payload(range(len(self))[place]), self._groups[place] if self._groups else ""
        return Task(self.subject_ids[place].as_py(), self.contents[place].as_py(), payload, name, group)


class Job(NamedTuple):
    """A task of a step, as a worker is told of it."""

    step: Step
    task: Task
    key: str


@dataclass(frozen=True)
class Rejection:
    """A subject that has no rows in a step, and why; or a note on one that has them. A row of the table ``rejected``."""

    subject_id: str
    step: str
    name: str
    reason: str


def is_note(step: str) -> bool:
    """Return whether rows of ``rejected`` under this step are notes, which refuse nothing: ``notes``, or ``*.notes``."""
    return step.rpartition(".")[2] == "notes"


@dataclass(frozen=True)
class Outcome:
    """Outcome of a step, in the order of its tasks."""

    record: type
    path: Path
    """Of the table of its rows, which are in the schema of ``record``; it need not be there where there are none."""
    rejected: list[Rejection]
    failures: int
    """Rejections that are not the input's fault alone: crashes, time-outs, unexpected errors."""

    @cached_property
    def rows(self) -> pa.Table:
        """All of them at once."""
        return self.columns()

    @cached_property
    def records(self) -> list[Any]:
        """The rows as records: for steps of thousands of rows, not of millions."""
        from inpaintbench.tables import to_records

        return to_records(self.rows, self.record)

    def columns(self, *names: str, where: tuple[str, Collection[str]] | None = None) -> pa.Table:
        """Some columns of all rows, or of those that have some values in a column; all columns where none is named."""
        from inpaintbench.tables import read

        return read([self.path], self.record, columns=names, where=where)

    def batches(self, *names: str) -> Iterator[pa.Table]:
        """The same, some rows after the others."""
        from inpaintbench.tables import batches

        return batches(self.path, self.record, columns=names)

    def one_by_one(self, *names: str) -> Callable[[int], dict[str, Any]]:
        """A function from the place of a row to its cells, which is quick for one place after the other."""
        from inpaintbench.tables import reader

        return reader(self.path, names)


# Is called with the name of a step or stage, and how many of how many tasks are finished. The command line draws a bar.
Progress = Callable[[str, int, int], None]


def unwatched(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


class Executor(Protocol):
    """Runs the tasks of a step that are not done yet, and writes its table."""

    workspace: Workspace
    only: Collection[str] | None
    """The subjects to work on; None = all."""

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


def given_to(jobs: Sequence[Job]) -> list[tuple[Plain, Plain]]:
    """Return what ``together`` and ``ahead`` take of some jobs: payload and parameters of each."""
    return [(dict(job.task.payload), dict(job.step.parameters)) for job in jobs]


def task_key(step: Step, task: Task, known: Container[str] = ()) -> str:
    """The ledger key, made here and nowhere else: same key, same rows. 16 hex digits of a SHA-256.

    ``known`` are the keys of the step's ledger: what release 0.2 did without weights that are still missing has the key of then.
    """
    return next(task_keys(step, [task], known))


def task_keys(step: Step, tasks: Iterable[Task], known: Container[str] = ()) -> Iterator[str]:
    """``task_key`` of many."""
    parameters = [dict(step.parameters)]
    if step.lacks:  # states of weights were parameters
        parameters.append({**step.parameters, "weights": {**step.parameters.get("weights", {}), **step.lacks}})
    ends = [canonical_json([step.name, step.version, each])[1:] for each in parameters]
    named = tasks.named() if isinstance(tasks, Tasks) else ((task.subject_id, task.content) for task in tasks)
    for subject_id, content in named:
        begin = f"[{encode_basestring_ascii(subject_id)},{encode_basestring_ascii(content)}"  # canonical JSON
        keys = [hashlib.sha256(f"{begin},{end}".encode()).hexdigest()[:16] for end in ends]
        yield keys[-1] if keys[0] not in known and keys[-1] in known else keys[0]


def load(address: str) -> Callable[..., Any]:
    """The object at ``module:name``."""
    module, _, name = address.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


# What the task at hand stated of its cost.
STATED: dict[str, float | str | None] = {}


def state_cost(**facts: float | str | None) -> None:
    """State what the task at hand cost, for its ledger, where the clock around it tells something else.

    Args:
        facts: columns of the ledger, ``seconds``, ``peak_mebibytes``, ``card_mebibytes``, ``machine``; None: unknown.
    """
    STATED.update(facts)
