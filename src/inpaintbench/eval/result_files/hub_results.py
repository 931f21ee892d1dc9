"""Files by which the Hub shows benchmarks: ``eval.yaml`` of a dataset, ``.eval_results/NAME.yaml`` of a model.

Form: https://huggingface.co/docs/hub/eval-results. It has one number a task and no direction, so tasks are of metrics
of which more is better. A dataset becomes a benchmark there after a person asked for it to be put on the Hub's list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from inpaintbench.errors import InputError
from inpaintbench.eval.report.labels import quantity_label
from inpaintbench.eval.report.quantity import Quantity, metric_leaf, quantities_in
from inpaintbench.eval.report.tables import Results
from inpaintbench.manifest import ALL
from inpaintbench.types import Slice

FRAMEWORK = "inpaintbench"
# More leaderboards than this on a dataset's page nobody reads.
MOST_TASKS = 3


@dataclass(frozen=True)
class Task:
    """One leaderboard: a metric in its usual region over all items of a split."""

    name: str
    quantity: Quantity
    split: str


def tasks_of(results: Results) -> list[Task]:
    """The first metrics of the protocol of which more is better.

    Raises:
        InputError: there is none.
    """
    splits = sorted({str(row["split"]) for row in results.dataset.items})
    split = "test" if "test" in splits else splits[0]
    usual = quantities_in(results.quantities, results.protocol, None)
    better = [one for one in usual if one.ranked and metric_leaf(one.metric).higher_is_better and not one.of_sets]
    if not better:
        raise InputError(f"{results.protocol.name!r} has no metric of which more is better, and the Hub's tables know no other")
    return [Task(f"{one.metric}_{one.region}", one, split) for one in better[:MOST_TASKS]]


def eval_yaml(results: Results, *, description: str) -> bytes:
    """``eval.yaml`` of the dataset's repository."""
    lines = [
        f"name: {_text(results.dataset.name)}",
        f"description: {_text(description)}",
        f"evaluation_framework: {FRAMEWORK}",
        "tasks:",
    ]
    for task in tasks_of(results):
        lines += [f"  - id: {task.name}", f"    config: {ALL}", f"    split: {task.split}"]
    return ("\n".join(lines) + "\n").encode()


def results_yaml(results: Results, method: str, *, repository: str, revision: str | None, date: str) -> bytes:
    """``.eval_results/NAME.yaml`` of the repository of a model.

    Args:
        results: of a run under one protocol.
        method: a label of it.
        repository: of the dataset, OWNER/NAME.
        revision: commit of the dataset that was scored, as `export push` prints it.
        date: of the run, YYYY-MM-DD.

    Raises:
        InputError: the method has no value of any task.
    """
    lines: list[str] = []
    for task in tasks_of(results):
        value = results.level(_whole(results, task.split), method, task.quantity)
        if value is None or not math.isfinite(value):
            continue
        notes = f"{quantity_label(task.quantity)}; protocol {results.protocol.name}, fingerprint {results.fingerprint}"
        lines += [
            f"- dataset: {{id: {_text(repository)}, task_id: {task.name}{f', revision: {_text(revision)}' if revision else ''}}}",
            f"  value: {_number(value)}", f'  date: "{date}"', f"  notes: {_text(notes)}",
        ]  # fmt: skip
    if not lines:
        raise InputError(f"{method!r} has no value of {', '.join(task.name for task in tasks_of(results))}")
    return ("\n".join(lines) + "\n").encode()


def _whole(results: Results, split: str) -> Slice:
    """All items of a split."""
    ids = tuple(row["item_id"] for row in results.dataset.items if row["split"] == split)
    return results.everything if len(ids) == len(results.sources) else Slice(f"split-{split}", "", ids)


def _number(value: float) -> str:
    """A number that YAML reads as one: never an exponent without a dot."""
    text = repr(value)
    return text if "e" not in text else f"{value:.12f}"


def _text(text: str) -> str:
    """A double-quoted scalar of YAML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(letter if letter.isprintable() else " " for letter in escaped) + '"'
