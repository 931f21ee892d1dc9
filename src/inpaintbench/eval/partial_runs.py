"""Methods that were run on some items of a dataset: how, and what is missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from inpaintbench.errors import InputError
from inpaintbench.eval.slices import named
from inpaintbench.executors.base import Executor, Outcome, Rejection, Step, Task, task_key
from inpaintbench.types import Dataset, Prediction
from inpaintbench.workspace import Workspace, blob_names

_SHOWN = 5


def items_of_slices(dataset: Dataset, names: Sequence[str]) -> set[str]:
    """Ids of the items in any of these slices, which ``slices.named`` knows.

    Raises:
        UnknownNameError: no such slice. InputError: slices without items.
    """
    found = {item_id for name in names for item_id in named(dataset, name).item_ids}
    if not found:
        raise InputError(f"no item is in {', '.join(map(repr, names))}; choose another --slice")
    return found


class OnlyItems:
    """An executor that works on some subjects of a step and leaves the others as an earlier run left them.

    What an earlier run made of the others stands where it would not be made again: same method, version and input, files there.

    Args:
        executor: who does the work.
        item_ids: the subjects to work on.
    """

    def __init__(self, executor: Executor, item_ids: Collection[str]) -> None:
        self.workspace = executor.workspace
        self._executor, self._item_ids = executor, frozenset(item_ids)

    def run(self, step: Step, tasks: Sequence[Task], *, rejected: Sequence[Rejection] = ()) -> Outcome:
        """Run ``step`` over the chosen tasks; its tables then hold these and what stands of the others."""
        entries = self.workspace.ledger(step.name).read()
        kept, refused = [], list(rejected)
        for task in tasks:
            entry = entries.get(task_key(step, task), {})
            if task.subject_id in self._item_ids:
                kept.append(task)
            elif entry.get("status") == "done":
                there = (self.workspace.blobs.path(name).exists() for row in entry["rows"] for name in blob_names(row))
                kept += [task] if all(there) else []
            elif entry:
                refused.append(Rejection(task.subject_id, step.name, task.name or task.subject_id, entry["reason"]))
        return self._executor.run(step, kept, rejected=refused)

    def run_together(
        self, work: Sequence[tuple[Step, Sequence[Task]]], *, label: str, rejected: Sequence[Rejection] = ()  # noqa: ARG002
    ) -> dict[str, Outcome]:  # fmt: skip
        """Each step by itself, as ``run`` does."""
        return {step.name: self.run(step, tasks, rejected=rejected) for step, tasks in work}


def not_run(workspace: Workspace, dataset: Dataset, method: str) -> list[str]:
    """Ids of the items that a method has neither a prediction of nor a reason why there is none, in the dataset's order."""
    step = f"predict.{method}"
    done = {row.item_id for row in workspace.table("predictions", Prediction, step=step)}
    done |= {row.subject_id for row in workspace.table("rejected", Rejection, step=step)}
    return [row["item_id"] for row in dataset.items if row["item_id"] not in done]


def not_run_words(workspace: Workspace, dataset: Dataset, method: str) -> str | None:
    """One sentence on what a method was not run on, with the slices that lack items; None where it lacks nothing."""
    lacking = set(not_run(workspace, dataset, method))
    if not lacking:
        return None
    empty = [one.name for one in dataset.slices if one.item_ids and lacking.issuperset(one.item_ids)]
    partly = [one.name for one in dataset.slices if lacking.intersection(one.item_ids) and one.name not in empty]
    parts = [f"no item of {_names(empty)}"] if empty else []
    parts += [f"some of {_names(partly)}"] if partly else []
    where = f" ({'; '.join(parts)})" if parts else ""
    return f"{method} was not run on {len(lacking)} of {len(dataset.items)} items{where}"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more slices" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
