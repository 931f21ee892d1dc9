"""What the methods of a run took, how lossy their results are, and where their task was another than the published one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from inpaintbench.errors import WorkspaceError
from inpaintbench.eval.scoring.run_state import BETWEEN, remembered, repair_words, tasks_in
from inpaintbench.manifest import column
from inpaintbench.steps import predict_step
from inpaintbench.types import Dataset, Plain, Prediction
from inpaintbench.workspace import Workspace

# Known pixels further from the input than this below what the written form keeps are repainted.
REPAINTED_DB = 3.0


class ItemEffort(NamedTuple):
    """What one method took on one item."""

    item_id: str
    frames: int
    seconds: float
    peak_mebibytes: int | None
    card_mebibytes: int | None
    machine: str


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
    known_low: float | None = None
    """Least PSNR in dB of known pixels against the input, of the items where some changed; None where none did."""
    known_high: float | None = None
    between_items: str = ""
    """What it may have kept of an item for another, one of ``BETWEEN_ITEMS``; empty where nothing tells."""
    of_items: tuple[ItemEffort, ...] = field(default=(), compare=False, repr=False)
    """The same of each item; in no submission."""

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
        facts = {one.name: getattr(self, one.name) for one in fields(self) if one.compare}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items() if value}


def efforts_of(workspace: Workspace, dataset: Dataset, methods: Iterable[str]) -> dict[str, Effort]:
    """Efforts of the ``methods`` of a run, of what they made for items of ``dataset``.

    Raises:
        WorkspaceError: a ledger of theirs is damaged, so that the time of some item is not known.
    """
    frames = dict(zip(column(dataset, "item_id"), column(dataset, "frames"), strict=True))
    tasks = tasks_in(workspace)
    words = remembered(workspace, BETWEEN)
    return {
        method: replace(_effort(workspace, method, frames, tasks.get(method, ())), between_items=words.get(method, ""))
        for method in methods
    }


def _effort(workspace: Workspace, method: str, frames: Mapping[str, int], task: tuple[str, ...]) -> Effort:
    step = predict_step(method)
    ledger = workspace.ledger(step)
    if damaged := ledger.damaged():
        raise WorkspaceError(f"{damaged[0]}; {repair_words(workspace.path)}")
    rows = {row.item_id: row for row in workspace.table("predictions", Prediction, step=step) if row.item_id in frames}
    timed = _timed(ledger.read().values(), {item_id: row.blob for item_id, row in rows.items()})
    known = [row.known_db for row in rows.values() if row.known_db is not None]
    ceilings = [row.ceiling_db for row in rows.values() if row.ceiling_db is not None]
    items = tuple(
        ItemEffort(
            item_id, frames[item_id], round(entry["seconds"], 4), _whole(entry.get("peak_mebibytes")),
            _whole(entry.get("card_mebibytes")), entry["machine"],
        )
        for item_id in frames if (entry := timed.get(item_id)) is not None
    )  # fmt: skip
    return Effort(
        items=len(items),
        seconds_a_frame=round(math.fsum(one.seconds for one in items) / sum(one.frames for one in items), 4) if items else None,
        peak_mebibytes=max((one.peak_mebibytes for one in items if one.peak_mebibytes is not None), default=None),
        card_mebibytes=max((one.card_mebibytes for one in items if one.card_mebibytes is not None), default=None),
        machine="; ".join(sorted({one.machine for one in items})),
        of_items=items,
        ceiling_low=round(min(ceilings), 2) if ceilings else None,
        ceiling_high=round(max(ceilings), 2) if ceilings else None,
        known_low=round(min(known), 2) if known else None,
        known_high=round(max(known), 2) if known else None,
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


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
