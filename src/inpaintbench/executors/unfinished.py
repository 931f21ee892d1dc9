"""What a step that was stopped had finished: written as its table, so that later commands can use it.

While a step runs, ``unfinished/<step>.json`` in the workspace says which tasks it has. With the ledger that is enough to write
the table of what is done, whatever ended the run: a signal, ``kill -9``, a failure budget, a full disk.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inpaintbench.executors.base import Rejection, Step, Task, load, task_key, write_tables
from inpaintbench.types import canonical_json
from inpaintbench.workspace import Workspace, blob_names, write_atomically

FOLDER = "unfinished"


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


def begin(workspace: Workspace, step: Step, tasks: Sequence[Task], rejected: Sequence[Rejection]) -> None:
    """Keep which tasks a step has; shards, which write no tables, keep nothing."""
    if workspace.shard is None:
        plan = {
            "table": step.table,
            "record": f"{step.record.__module__}:{step.record.__qualname__}",
            "tasks": [(task_key(step, task), task.subject_id, task.name or task.subject_id) for task in tasks],
            "rejected": [asdict(one) for one in rejected],
        }
        write_atomically(_path(workspace, step.name), canonical_json(plan).encode())


def end(workspace: Workspace, step: str) -> None:
    """Forget what ``begin`` kept: the step's tables are whole."""
    _path(workspace, step).unlink(missing_ok=True)


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
    name, plan = path.stem, {}
    with suppress(ValueError, OSError):  # ended by another run meanwhile, or damaged: the ledger still holds what is done
        plan = json.loads(path.read_text())
    if not plan:
        return None
    entries = {key: entry for key, entry in workspace.ledger(name).read().items() if _is_whole(workspace, entry)}
    tasks, record = [tuple(task) for task in plan["tasks"]], load(plan["record"])
    done = [task for task in tasks if task[0] in entries]
    before = len(workspace.table(plan["table"], record, step=name)) + len(workspace.table("rejected", Rejection, step=name))  # type: ignore[arg-type]
    rows = sum(len(entries[key].get("rows") or (None,)) for key, _, _ in done) + len(plan["rejected"])
    if rows < before:
        return Stopped(name, len(done), len(tasks), kept_rows=before)
    refused = [Rejection(**one) for one in plan["rejected"]]
    write_tables(workspace, name, plan["table"], record, done, entries, refused)  # type: ignore[arg-type]
    return Stopped(name, len(done), len(tasks))


def _is_whole(workspace: Workspace, entry: Mapping[str, Any]) -> bool:
    rows = entry.get("rows", ()) if entry["status"] == "done" else ()
    return all(workspace.blobs.path(name).exists() for row in rows for name in blob_names(row))


def _path(workspace: Workspace, step: str) -> Path:
    return workspace.path / FOLDER / f"{step}.json"
