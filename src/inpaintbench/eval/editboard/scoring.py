"""Score the edits of a list: what is missing in the ledger, edits of one original side by side, rows for everything.

What scores were made with is told in a form that is kept beside them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from itertools import count
from typing import Any, NamedTuple

import cv2

import inpaintbench
from inpaintbench.compute import RANDOM_WEIGHTS, Compute
from inpaintbench.errors import InpaintBenchError
from inpaintbench.eval.editboard.checking import Checked
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.score import SCORING_SECONDS
from inpaintbench.executors.base import Executor, Step, Task, task_key
from inpaintbench.models import torch_networks, weights
from inpaintbench.steps import score_step, score_steps
from inpaintbench.types import Score, content_id
from inpaintbench.workspace import UNEXPECTED

VERSION = "1"
# Edits of one original that one worker measures together: the original's flow is then found once for all of them. More would
# leave workers idle where there are few originals.
AT_ONCE = 4
_WORKER = "inpaintbench.eval.editboard.worker"
Entries = Mapping[str, Mapping[str, Any]]


class Scored(NamedTuple):
    """What came of it."""

    rows: list[Score]
    """Of every edit and metric, measured or not, sorted by model, item and metric."""
    failures: int
    """Edits that a crash, a time-out or an unexpected error kept from values; the next run measures them again."""


def score(
    executor: Executor,
    checked: Sequence[Checked],
    *,
    protocol: str,
    metrics: Sequence[str],
    compute: Compute,
    side_pixels: int | None = None,
    time_limit_seconds: float = SCORING_SECONDS,
) -> Scored:
    """Score edits into the table ``scores``.

    What an earlier run measured of the same pixels, prompts and names stands, in whatever order the edits come. What an
    unexpected error kept from a value is measured again.

    Args:
        executor: who does the work.
        checked: the edits; those with a fault are not measured, and their rows say it.
        protocol: name of the protocol.
        metrics: some of its metrics.
        compute: how networks are run.
        side_pixels: squash all videos to squares of this side; None = as they are.
        time_limit_seconds: for one edit.
    """
    chosen: Protocol = PROTOCOLS.get(protocol)
    steps = [
        _step(slot, chosen, metrics, compute, side_pixels=side_pixels, seconds=time_limit_seconds) for slot in range(AT_ONCE)
    ]
    entries = [executor.workspace.ledger(step.name).read() for step in steps]
    ordered = sorted(checked, key=lambda one: (one.edit.model, one.edit.item_id))
    work = _placed([_task(one, compute) for one in ordered if one.fault is None], steps, entries)
    outcomes = executor.run_together(list(zip(steps, work, strict=True)), label=score_steps(protocol))
    found = {(row.method, row.item_id, row.metric): row for outcome in outcomes.values() for row in outcome.records}
    crashed = {row.name: row.reason for outcome in outcomes.values() for row in outcome.rejected}
    fingerprint = str(steps[0].parameters["fingerprint"])
    rows = [
        _told(found.get((one.edit.model, one.edit.item_id, name)), one, name, chosen, fingerprint, crashed)
        for one in ordered
        for name in steps[0].parameters["metrics"]
    ]
    spoilt = {(row.method, row.item_id) for row in rows if UNEXPECTED in row.details}
    return Scored(rows, len(spoilt) + sum(outcome.failures for outcome in outcomes.values()))


def fingerprint_of(protocol: Protocol, compute: Compute, *, side_pixels: int | None) -> str:
    """That of the protocol, with marks for what else changes numbers."""
    return protocol.fingerprint + compute.mark + ("" if side_pixels is None else f"+squashed-{side_pixels}")


def _step(
    slot: int, protocol: Protocol, metrics: Sequence[str], compute: Compute, *, side_pixels: int | None, seconds: float
) -> Step:
    names = [name for name in protocol.metrics if name in metrics]
    needed = protocol.weights_of(names) if compute.random_weights is None else []
    parameters = {
        "protocol": protocol.name, "fingerprint": fingerprint_of(protocol, compute, side_pixels=side_pixels),
        "side_pixels": side_pixels, "metrics": names, "weights": {}, **weights.needed(needed),
    }  # fmt: skip
    return Step(
        name=score_step(protocol.name, f"edits-{slot}"), version=VERSION, table="scores", record=Score,
        function=f"{_WORKER}:score_one", parameters=parameters, time_limit_seconds=seconds,
        together=f"{_WORKER}:score_together", lacks=torch_networks.lacks(needed, compute),
    )  # fmt: skip


def _task(one: Checked, compute: Compute) -> Task:
    """``subject_id`` is the original's, without the number of the group that it will be in."""
    edit, prompts = one.edit, [one.edit.source_prompt, one.edit.target_prompt]
    digests = [part and part.digest for part in (one.original, one.edited, one.mask)]
    row = {"item_id": edit.item_id, "frames": one.edited.frames, "height": one.edited.height, "width": one.edited.width}
    payload = {
        "row": row, "method": edit.model, "prompts": prompts, "compute": asdict(compute), "edited": one.edited.found,
        "original": one.original and one.original.found, "mask": one.mask and one.mask.found,
    }  # fmt: skip
    subject = (one.original or one.edited).digest[:16]
    return Task(subject, content_id(edit.model, edit.item_id, prompts, digests), payload, edit.name)


def _placed(tasks: Sequence[Task], steps: Sequence[Step], entries: Sequence[Entries]) -> list[list[Task]]:
    """The tasks of each step: at most one of each step for each group of an original.

    A task that was tried goes where it was tried, so that it is not done again when others come or go; the others go where
    nothing ever was.
    """
    of_original: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        of_original[task.subject_id].append(task)
    used = _used(entries)
    work: list[list[Task]] = [[] for _ in steps]
    for original, own in of_original.items():
        before = used.get(original, set())
        settled = _settled(own, steps, entries, sorted(before))
        held = {task.name for task in settled.values()}
        free = (place for place in count() if place not in before)
        new = zip(free, (task for task in own if task.name not in held), strict=False)
        for place, task in sorted((settled | {place: _at(task, place) for place, task in new}).items()):
            work[place % len(steps)].append(task)
    return work


def _used(entries: Sequence[Entries]) -> Mapping[str, set[int]]:
    """Original -> places that earlier runs gave to its edits, of this list or not."""
    found: dict[str, set[int]] = defaultdict(set)
    for slot, of_step in enumerate(entries):
        for entry in of_step.values():
            original, _, group = str(entry["subject_id"]).partition(".")
            found[original].add(int(group) * len(entries) + slot)
    return found


def _settled(own: Sequence[Task], steps: Sequence[Step], entries: Sequence[Entries], places: Sequence[int]) -> dict[int, Task]:
    """Place -> the task that was tried there."""
    found: dict[int, Task] = {}
    for task in own:
        for place in places:
            slot, placed = place % len(steps), _at(task, place)
            if task_key(steps[slot], placed, entries[slot]) in entries[slot] and place not in found:
                found[place] = placed
                break
    return found


def _at(task: Task, place: int) -> Task:
    return replace(task, subject_id=f"{task.subject_id}.{place // AT_ONCE}")


def _told(
    row: Score | None, one: Checked, metric: str, protocol: Protocol, fingerprint: str, crashed: Mapping[str, str]
) -> Score:
    if row is None:
        reason = one.fault or crashed.get(one.edit.name, "it was not measured")
        return Score(one.edit.model, one.edit.item_id, metric, "frame", protocol.name, fingerprint, None, reason)
    if one.original is None and "truth" in METRICS.get(metric).needs:
        return replace(row, reason="the list names no original video")
    return row


def settings_of(protocol: Protocol, metrics: Sequence[str]) -> dict[str, Any]:
    """What the protocol fixes: constants, versions of metrics, weights with their SHA-256."""
    names = [name for name in protocol.metrics if name in metrics]
    return {
        "metric_versions": {name: METRICS.get(name).version for name in names},
        "constants": {name: dict(protocol.metrics[name]) for name in names},
        "weights": {name: f"sha256 {weights.named(name).sha256}" for name in protocol.weights_of(names)},
    }


def settings_here(protocol: Protocol, metrics: Sequence[str], compute: Compute, *, side_pixels: int | None) -> dict[str, Any]:
    """``settings_of``, and what the machine adds: packages, device, precision, which weights there are; no paths and no times."""
    found = settings_of(protocol, metrics)
    made_up = compute.random_weights is not None
    states = {name: "made up" if made_up else weights.state(weights.named(name)) for name in found["weights"]}
    running = not torch_networks.lacking() and bool({"ready", "made up"} & set(states.values()))
    return {
        "inpaintbench": inpaintbench.__version__,
        "opencv": cv2.__version__,
        **({"torch": version("torch")} if running else {}),
        "frames": "as they are" if side_pixels is None else f"squashed to {side_pixels}x{side_pixels}",
        "device": _device(compute) if running else "none: no network ran",
        "precision": compute.precision,
        **found,
        "weights": {name: state if made_up else f"{state}, {found['weights'][name]}" for name, state in states.items()},
    }


def _device(compute: Compute) -> str:
    try:
        return str(torch_networks.device_of(compute).type)
    except InpaintBenchError as error:
        return str(error)


def cautions(fingerprint: str) -> list[str]:
    """What a reader has to know of scores with this fingerprint, a sentence each."""
    if RANDOM_WEIGHTS in fingerprint:
        return ["Networks had made-up parameters: what they say means nothing."]
    return []
