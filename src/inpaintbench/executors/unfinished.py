"""The plan of a step: with its ledger all that its tables are made of, also where the step was stopped.

While a step runs, ``unfinished/<step>.json`` in the workspace holds its plan. With the ledger that is enough to write the table
of what is done, whatever ended the run: a signal, ``kill -9``, a failure budget, a full disk.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from inpaintbench.executors.base import Outcome, Rejection, Step, Task, load, task_key
from inpaintbench.types import canonical_json
from inpaintbench.workspace import Workspace, any_in_list, schema_of, write_atomically

FOLDER = "unfinished"


@dataclass(frozen=True)
class Plan:
    """What a step is to do."""

    step: str
    table: str
    record: type
    tasks: Sequence[tuple[str, str, str]]
    """Key, subject and name of each."""
    rejected: Sequence[Rejection]
    """Refusals that were decided before."""

    @classmethod
    def of(cls, step: Step, tasks: Sequence[Task], rejected: Sequence[Rejection], stored: pa.Table) -> Plan:
        """The plan of ``step``, whose ledger has the columns ``stored``."""
        known = set(stored["key"].to_pylist())
        named = [(task_key(step, task, known), task.subject_id, task.name or task.subject_id) for task in tasks]
        return cls(step.name, step.table, step.record, named, rejected)

    def entries(self, stored: pa.Table) -> pa.Table:
        """Those of ``stored``, a ledger's columns, that are of its tasks, in their order."""
        place = {key: number for number, key in enumerate(stored["key"].to_pylist())}
        found = pa.array((place[key] for key, _, _ in self.tasks if key in place), pa.int64())
        return stored.take(found).combine_chunks()

    def write(self, workspace: Workspace, stored: pa.Table, *, failures: int = 0) -> Outcome:
        """Write the table and the refusals of the tasks that stand in a ledger, in their order."""
        entries = self.entries(stored)
        there = set(entries["key"].to_pylist())
        tasks = [task for task in self.tasks if task[0] in there]
        refused = [
            Rejection(tasks[place][1], self.step, tasks[place][2], entries["reason"][place].as_py())
            for place in np.flatnonzero(~with_status(entries, "done", "spoilt")).tolist()
        ]
        rows = pa.Table.from_arrays(lists_of(entries).flatten().flatten(), schema=schema_of(self.record))
        outcome = Outcome(self.record, rows, [*self.rejected, *refused], failures)
        workspace.write_columns(self.table, self.step, rows)
        workspace.write_table("rejected", self.step, outcome.rejected, Rejection)
        return outcome

    def begin(self, workspace: Workspace) -> None:
        """Keep it until ``end``; shards, which write no tables, keep nothing."""
        if workspace.shard is None:
            plan = {
                "table": self.table,
                "record": f"{self.record.__module__}:{self.record.__qualname__}",
                "tasks": self.tasks,
                "rejected": [asdict(one) for one in self.rejected],
            }
            write_atomically(_path(workspace, self.step), canonical_json(plan).encode())

    def end(self, workspace: Workspace) -> None:
        """Forget what ``begin`` kept: the step's tables are whole."""
        _path(workspace, self.step).unlink(missing_ok=True)


def lists_of(entries: pa.Table) -> pa.ListArray:
    """The rows of each entry."""
    return entries["rows"].combine_chunks()


def with_status(entries: pa.Table, *statuses: str) -> npt.NDArray[np.bool_]:
    """Which entries have one of these, ``bool[N]``."""
    found: npt.NDArray[np.bool_] = pc.is_in(entries["status"], pa.array(statuses)).to_numpy()
    return found


def whole(workspace: Workspace, entries: pa.Table) -> npt.NDArray[np.bool_]:
    """Which entries have all the blobs that their rows name, ``bool[N]``."""
    return ~workspace.blobs.lost(lists_of(entries))


def outdated(step: Step, entries: pa.Table) -> npt.NDArray[np.bool_]:
    """Which entries were made for want of what is there now, or is missing for another reason; ``bool[N]``."""
    lacks = entries["lacks"].combine_chunks()
    return any_in_list(lacks, pc.invert(pc.is_in(lacks.flatten(), pa.array(in_words(step), pa.string()))))


def in_words(step: Step) -> list[str]:
    """What a step lacks, as it stands in its ledger."""
    return [f"{name}: {state}" for name, state in step.lacks.items()]


@dataclass(frozen=True)
class Stopped:
    """A step that did not come to its end."""

    step: str
    done: int
    """Tasks that are."""
    tasks: int
    """In all."""
    kept_rows: int | None = None
    """Rows of an earlier run that still stand, being more than this one's; None where its own do."""

    def __str__(self) -> str:
        first = f"{self.step} was stopped after {self.done} of {self.tasks}"
        if self.kept_rows is not None:
            return f"{first}, so the {self.kept_rows} rows of an earlier run still stand; the same command again does the rest"
        return f"{first}: what is done is used, the same command again does the rest"


def stopped(workspace: Workspace) -> list[Stopped]:
    """Write the tables of the steps that were stopped from what they had finished, and tell which those are.

    A table of an earlier run stays where it has more rows: with other constants it may be all that is whole.

    Raises:
        WorkspaceError: another run holds the workspace.
    """
    paths = sorted((workspace.path / FOLDER).glob("*.json"))
    if not paths:
        return []
    with workspace.locked():
        return [found for path in paths if (found := _taken(workspace, path))]


def _taken(workspace: Workspace, path: Path) -> Stopped | None:
    name = path.stem
    plan: dict[str, Any] = {}
    with suppress(ValueError, OSError):  # ended by another run meanwhile, or damaged: the ledger still holds what is done
        plan = json.loads(path.read_text())
    if not plan:
        return None
    record: Any = load(plan["record"])
    refused = [Rejection(**one) for one in plan["rejected"]]
    found = Plan(name, plan["table"], record, [tuple(task) for task in plan["tasks"]], refused)
    entries = found.entries(workspace.ledger(name).columns(record))
    entries = entries.filter(pa.array(whole(workspace, entries))).combine_chunks()
    rows = len(lists_of(entries).flatten()) + int((~with_status(entries, "done", "spoilt")).sum()) + len(refused)
    before = workspace.columns(found.table, record, step=name).num_rows
    before += workspace.columns("rejected", Rejection, step=name).num_rows
    told = Stopped(name, entries.num_rows, len(found.tasks))
    if rows < before:
        return replace(told, kept_rows=before)
    found.write(workspace, entries)
    return told


def _path(workspace: Workspace, step: str) -> Path:
    return workspace.path / FOLDER / f"{step}.json"
