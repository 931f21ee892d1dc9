"""Methods that were run on some items of a dataset: how, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from inpaintbench.errors import InputError
from inpaintbench.eval.slices import named
from inpaintbench.executors.base import Rejection
from inpaintbench.steps import predict_step
from inpaintbench.types import Dataset, Prediction
from inpaintbench.workspace import Workspace

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


def not_run(workspace: Workspace, dataset: Dataset, method: str) -> list[str]:
    """Ids of the items that a method has neither a prediction of nor a reason why there is none, in the dataset's order."""
    step = predict_step(method)
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
