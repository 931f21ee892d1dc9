"""How long each step took and which items took longest, from the ledgers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from inpaintbench.curation.footage import display_name
from inpaintbench.workspace import Workspace

_SUBJECTS = ("subject_id", "clip_id", "corruption_id", "source_id")


@dataclass(frozen=True)
class StepEffort:
    """Compute time of the finished tasks of one step."""

    step: str
    tasks: int
    timed: int
    """Tasks whose time is known."""
    total_seconds: float
    median_seconds: float
    largest_seconds: float
    peak_mebibytes: float | None
    """Of the worker, the largest; None where no task tells."""


@dataclass(frozen=True)
class SlowItem:
    """One finished task."""

    step: str
    subject_id: str
    """Of the clip, source or corruption; empty where the ledger does not tell."""
    name: str
    """What the ledger calls it, if it does."""
    seconds: float
    peak_mebibytes: float | None


def efforts(workspace: Workspace, *, slowest: int = 12) -> tuple[list[StepEffort], list[SlowItem]]:
    """Every step with its times, the most expensive first, and the slowest items of all steps."""
    steps: list[StepEffort] = []
    items: list[SlowItem] = []
    # The ledgers of shards, STEP@SHARD, are read together with that of their step.
    for step in sorted({path.stem.partition("@")[0] for path in (workspace.path / "ledger").glob("*.jsonl")}):
        entries = list(workspace.ledger(step).read().values())
        timed = [entry for entry in entries if isinstance(entry.get("seconds"), int | float)]
        steps.append(_effort(step, len(entries), timed))
        timed.sort(key=lambda entry: -entry["seconds"])
        items += [_item(step, entry) for entry in timed[:slowest]]
    steps.sort(key=lambda one: (-one.total_seconds, one.step))
    return steps, sorted(items, key=lambda one: (-one.seconds, one.step, one.subject_id))[:slowest]


def _effort(step: str, tasks: int, timed: list[dict[str, Any]]) -> StepEffort:
    seconds = np.array([entry["seconds"] for entry in timed] or [0.0])
    peaks = [entry["peak_mebibytes"] for entry in timed if isinstance(entry.get("peak_mebibytes"), int | float)]
    return StepEffort(
        step, tasks, len(timed), float(seconds.sum()), float(np.median(seconds)), float(seconds.max()), max(peaks, default=None)
    )


def _item(step: str, entry: Mapping[str, Any]) -> SlowItem:
    rows = entry.get("rows") or [{}]
    told = (entry, rows[0])
    # A source that was cut names its clips; the source is what took the time.
    keys = ("source_id", *_SUBJECTS) if step == "cut" else _SUBJECTS
    subject = next((str(one[key]) for key in keys for one in told if one.get(key)), "")
    peak = entry.get("peak_mebibytes")
    name = display_name(str(entry.get("name") or ""))
    return SlowItem(step, subject, name, float(entry["seconds"]), float(peak) if isinstance(peak, int | float) else None)
