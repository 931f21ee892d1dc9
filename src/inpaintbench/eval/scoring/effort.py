"""What the methods of a run took, how lossy their results are, and where their task was another than the published one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from inpaintbench.eval.scoring.run_state import tasks_in
from inpaintbench.manifest import column
from inpaintbench.steps import predict_step
from inpaintbench.types import Dataset, Plain, Prediction
from inpaintbench.workspace import Workspace


@dataclass(frozen=True)
class Effort:
    """What one method took on the items of a run; None where nothing tells."""

    items: int = 0
    """Items whose time is known."""
    seconds_a_frame: float | None = None
    """Time of all those items, with starts of programs, over the number of their frames."""
    peak_mebibytes: int | None = None
    """Most memory of the processes that did an item."""
    card_mebibytes: int | None = None
    """Most memory that was taken on graphics cards."""
    machine: str = ""
    """Where: cores and cards; of several machines each."""
    ceiling_low: float | None = None
    """Least PSNR in dB of an input that was written as the results are; None where that loses nothing."""
    ceiling_high: float | None = None
    task: tuple[str, ...] = ()
    """Sentences on where the task was another than the published one."""

    def __bool__(self) -> bool:
        return self != Effort()

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Effort:
        """An effort from the plain data that it tells."""
        fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
        return cls(**fields)

    @property
    def told(self) -> dict[str, Any]:
        """The fields that tell something, as plain data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items() if value}


def efforts_of(workspace: Workspace, dataset: Dataset, methods: Iterable[str]) -> dict[str, Effort]:
    """Efforts of the ``methods`` of a run, of what they made for items of ``dataset``."""
    frames = dict(zip(column(dataset, "item_id"), column(dataset, "frames"), strict=True))
    tasks = tasks_in(workspace)
    return {method: _effort(workspace, method, frames, tasks.get(method, ())) for method in methods}


def _effort(workspace: Workspace, method: str, frames: Mapping[str, int], task: tuple[str, ...]) -> Effort:
    step = predict_step(method)
    rows = {row.item_id: row for row in workspace.table("predictions", Prediction, step=step) if row.item_id in frames}
    timed = _timed(workspace.ledger(step).read().values(), {item_id: row.blob for item_id, row in rows.items()})
    ceilings = [row.ceiling_db for row in rows.values() if row.ceiling_db is not None]
    seconds = math.fsum(entry["seconds"] for entry in timed.values())
    return Effort(
        items=len(timed),
        seconds_a_frame=round(seconds / sum(frames[item] for item in timed), 4) if timed else None,
        peak_mebibytes=_most(timed.values(), "peak_mebibytes"),
        card_mebibytes=_most(timed.values(), "card_mebibytes"),
        machine="; ".join(sorted({entry["machine"] for entry in timed.values()})),
        ceiling_low=round(min(ceilings), 2) if ceilings else None,
        ceiling_high=round(max(ceilings), 2) if ceilings else None,
        task=task,
    )


def _timed(entries: Iterable[Plain], blobs: Mapping[str, str]) -> dict[str, Plain]:
    """Item -> the entry that states what its prediction took; of several the last."""
    found = {}
    for entry in entries:
        for row in entry.get("rows") or ():
            item_id = row.get("item_id")
            if item_id in blobs and row.get("blob") == blobs[item_id] and entry.get("machine"):
                found[item_id] = entry
    return found


def _most(entries: Iterable[Plain], name: str) -> int | None:
    return max((int(entry[name]) for entry in entries if entry.get(name) is not None), default=None)
