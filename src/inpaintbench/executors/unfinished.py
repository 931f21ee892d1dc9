"""The plan of a step: with its ledger all that its tables are made of, also where the step was stopped.

While a step runs, ``unfinished/<step>.parquet`` in the workspace holds its plan. With the ledger that is enough to write the
table of what is done, whatever ended the run: a signal, ``kill -9``, a failure budget, a full disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from inpaintbench.executors.base import Outcome, Rejection, Step, Task, Tasks, load, task_keys
from inpaintbench.lazily import lazily
from inpaintbench.ledgers import Entries
from inpaintbench.tables import UNREADABLE, flat, schema_of, texts, write_parquet
from inpaintbench.types import canonical_json
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")
pq = lazily("pyarrow.parquet")

FOLDER = "unfinished"
# What a plan's file holds beside the tasks.
_FACTS = b"plan"
_TASKS = pa.schema([("key", pa.string()), ("subject_id", pa.string()), ("name", pa.string())])
# Statuses of entries that are refusals.
REFUSED = ("rejected", "failed")


@dataclass(frozen=True)
class Plan:
    """Plan of a step."""

    step: str
    table: str
    record: type
    tasks: pa.Table
    """``key``, ``subject_id`` and ``name`` of each."""
    rejected: Sequence[Rejection]
    """Refusals that were decided before."""

    @classmethod
    def of(cls, step: Step, tasks: Sequence[Task], rejected: Sequence[Rejection], stored: Entries) -> Plan:
        """The plan of ``step``, whose ledger holds ``stored``."""
        known = set(stored.columns["key"].to_pylist()) if step.lacks else ()
        keys = texts(task_keys(step, tasks, known))
        if isinstance(tasks, Tasks):
            subjects, names = tasks.subject_ids, tasks.subject_ids if tasks.names is None else tasks.names
        else:
            subjects = texts(task.subject_id for task in tasks)
            names = texts(task.name or task.subject_id for task in tasks)
        return cls(step.name, step.table, step.record, pa.Table.from_arrays([keys, subjects, names], schema=_TASKS), rejected)

    def entries(self, stored: Entries) -> pa.Table:
        """Those of its tasks, in their order."""
        return stored.of(flat(self.tasks["key"]))

    def refused(self, entries: pa.Table) -> list[Rejection]:
        """The refusals among ``entries`` behind those that were decided before."""
        bad = entries.filter(pc.is_in(entries["status"], value_set=pa.array(REFUSED)))
        reasons = dict(zip(*(bad[column].to_pylist() for column in ("key", "reason")), strict=True))
        affected = self.tasks.filter(pc.is_in(self.tasks["key"], value_set=flat(bad["key"]))).to_pylist()
        return [*self.rejected, *(Rejection(row["subject_id"], self.step, row["name"], reasons[row["key"]]) for row in affected)]

    def write(self, workspace: Workspace, stored: Entries, entries: pa.Table, *, failures: int = 0) -> Outcome:
        """Write the table and the refusals from ``entries``, some or all of those of its tasks."""
        empty = schema_of(self.record).empty_table()
        path = workspace.write_rows(self.table, self.step, chain([empty], stored.rows(entries)))
        outcome = Outcome(self.record, path, self.refused(entries), failures)
        workspace.write_table("rejected", self.step, outcome.rejected, Rejection)
        return outcome

    def begin(self, workspace: Workspace) -> None:
        """Keep it until ``end``; shards, which write no tables, keep nothing."""
        if workspace.shard is None:
            facts = {
                "table": self.table,
                "record": f"{self.record.__module__}:{self.record.__qualname__}",
                "rejected": [asdict(rejection) for rejection in self.rejected],
            }
            path = _path(workspace, self.step)
            write_parquet(path, self.tasks.replace_schema_metadata({_FACTS: canonical_json(facts)}))
            path.with_suffix(".json").unlink(missing_ok=True)  # of an earlier release

    def end(self, workspace: Workspace) -> None:
        """Forget what ``begin`` kept: the step's tables are whole."""
        for path in (_path(workspace, self.step), _path(workspace, self.step).with_suffix(".json")):
            path.unlink(missing_ok=True)


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
    folder = workspace.path / FOLDER
    # Release 0.2 kept plans as JSON.
    paths = sorted([*folder.glob("*.json"), *folder.glob("*.parquet")])
    if not paths:
        return []
    with workspace.locked():
        return [plan for path in paths if (plan := _taken(workspace, path))]


def in_progress(workspace: Workspace) -> Iterator[tuple[Plan, Entries]]:
    """The steps that run now, or were stopped, each with what its ledger holds; nothing is written."""
    for path in sorted((workspace.path / FOLDER).glob("*.parquet")):
        if (plan := _plan_at(path)) is not None:
            yield plan, workspace.ledger(plan.step, plan.record).columns(plan.record)


def _plan_at(path: Path) -> Plan | None:
    """A plan that was kept; None where another run ended it meanwhile, or it is damaged: the ledger still holds what is done."""
    try:
        if path.suffix == ".json":  # of release 0.2
            plan: dict[str, Any] = json.loads(path.read_text())
            columns = zip(*plan["tasks"], strict=True) if plan["tasks"] else [[] for _ in _TASKS]
            tasks = pa.Table.from_arrays([pa.array(column, pa.string()) for column in columns], schema=_TASKS)
        else:
            stored_tasks = pq.read_table(path)
            plan = json.loads(stored_tasks.schema.metadata[_FACTS])
            tasks = stored_tasks.replace_schema_metadata(None)
        record: Any = load(plan["record"])
        return Plan(path.stem, plan["table"], record, tasks, [Rejection(**row) for row in plan["rejected"]])
    except (*UNREADABLE, ImportError, AttributeError):
        return None


def _taken(workspace: Workspace, path: Path) -> Stopped | None:
    held = _plan_at(path)
    if held is None:
        return None
    name, record, refused = held.step, held.record, held.rejected
    stored = workspace.ledger(name, record).columns(record)
    entries = held.entries(stored)
    entries = entries.filter(pa.array(~stored.lost(entries, workspace.blobs.has))).combine_chunks()
    notice = Stopped(name, entries.num_rows, len(held.tasks))
    bad = pc.is_in(entries["status"], value_set=pa.array(REFUSED))
    rows = (pc.sum(entries["row_count"]).as_py() or 0) + (pc.sum(bad).as_py() or 0) + len(refused)
    tables = ((held.table, record), ("rejected", Rejection))
    before = sum(workspace.columns(table, kind, step=name).num_rows for table, kind in tables)
    if rows < before:
        return replace(notice, kept_rows=before)
    held.write(workspace, stored, entries)
    return notice


def _path(workspace: Workspace, step: str) -> Path:
    return workspace.path / FOLDER / f"{step}.parquet"
