"""Scores in the forms of other people's collections: Every Eval Ever, and the files by which the Hub shows benchmarks.

These are ``eval.yaml`` of a dataset and ``.eval_results/NAME.yaml`` of a model. Form:
https://huggingface.co/docs/hub/eval-results. It has one number a task and no direction, so tasks are of metrics of which more
is better. A dataset becomes a benchmark there after a person asked for it to be put on the Hub's list.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import inpaintbench
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import Quantity, exploratory, metric_leaf, quantity_label, usual_quantities
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.values.statistics import INTERVAL, LEVEL
from inpaintbench.manifest import ALL, column, own_hash
from inpaintbench.types import Dataset, Slice

FRAMEWORK = "inpaintbench"
EVAL_YAML = "eval.yaml"
# As the Hub has it where none is named.
_SPLIT = "test"
# More leaderboards than this on a dataset's page nobody reads.
MOST_TASKS = 3


@dataclass(frozen=True)
class Task:
    """One leaderboard: a metric in its usual region over all items of a split."""

    name: str
    quantity: Quantity
    split: str


def tasks_of(dataset: Dataset, protocol: Protocol) -> list[Task]:
    """The first metrics of the protocol of which more is better and which damage cannot better, each in its usual region.

    Raises:
        InputError: there is none.
    """
    splits = sorted({str(split or _SPLIT) for split in column(dataset, "split")})
    split = _SPLIT if _SPLIT in splits else splits[0]
    usual = usual_quantities([Quantity(metric, region) for metric in protocol.metrics for region in protocol.regions], protocol)
    better = [one for one in usual if one.ranked and one.higher_is_better and not one.of_sets and not one.diagnostic]
    if not better:
        raise InputError(f"{protocol.name!r} has no metric of which more is better, and the Hub's tables know no other")
    return [Task(f"{one.metric}_{one.region}", one, split) for one in better[:MOST_TASKS]]


def eval_yaml(dataset: Dataset, protocol: Protocol, *, description: str) -> bytes:
    """``eval.yaml`` of the dataset's repository."""
    lines = [
        f"name: {_text(dataset.name)}",
        f"description: {_text(description)}",
        f"evaluation_framework: {FRAMEWORK}",
        "tasks:",
    ]
    for task in tasks_of(dataset, protocol):
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

    Tasks that the method ``lacks`` are left out, since who leaves out the hard items would be first there.

    Raises:
        InputError: that is all of them.
    """
    lines: list[str] = []
    tasks, reasons = tasks_of(results.dataset, results.protocol), lacks(results, method)
    for task in tasks:
        if task.name in reasons:
            continue
        value = results.level(_whole(results, task.split), method, task.quantity)
        assert value is not None
        notes = f"{quantity_label(task.quantity)}; protocol {results.protocol.name}, fingerprint {results.fingerprint}"
        # A number that YAML reads as one: never an exponent without a dot.
        digits = repr(value) if "e" not in repr(value) else f"{value:.12f}"
        lines += [
            f"- dataset: {{id: {_text(repository)}, task_id: {task.name}{f', revision: {_text(revision)}' if revision else ''}}}",
            f"  value: {digits}", f'  date: "{date}"', f"  notes: {_text(notes)}",
        ]  # fmt: skip
    if not lines:
        raise InputError(lacks_words(method, reasons))
    return ("\n".join(lines) + "\n").encode()


def lacks(results: Results, method: str) -> dict[str, str]:
    """Task -> why a method has no number of it that may stand beside those of others, which are of all items.

    An item counts unless the metric cannot be measured there: no method has a value, and this one has others.
    """
    found: dict[str, str] = {}
    for task in tasks_of(results.dataset, results.protocol):
        part = _whole(results, task.split)
        values = {name: results.measured(part, name, task.quantity) for name in results.methods}
        predicted = set().union(*(results.measured(part, method, quantity) for quantity in results.quantities))
        owed = set().union(set(part.item_ids) - predicted, *values.values())
        summary = results.summary(part, method, task.quantity)
        if missing := len(owed - values.get(method, set())):
            found[task.name] = f"it has no value of {missing} of {len(owed)} items"
        elif summary.n != len(owed):
            found[task.name] = f"its mean leaves {summary.n_infinite} infinite values of {len(owed)} items out"
        elif summary.mean is None or not math.isfinite(summary.mean):
            found[task.name] = "it has no finite mean"
    return found


def lacks_words(method: str, reasons: Mapping[str, str]) -> str:
    """What ``lacks`` gives as a sentence."""
    return f"{method!r} has no number for the Hub of {'; '.join(f'{name}: {reason}' for name, reason in reasons.items())}"


def results_path(repository: str) -> str:
    """Where the file of ``results_yaml`` lies in the repository of a model."""
    return f".eval_results/{FRAMEWORK}_{repository.replace('/', '_')}.yaml"


def _whole(results: Results, split: str) -> Slice:
    """All items of a split."""
    ids = tuple(row["item_id"] for row in results.dataset.items if (row.get("split") or _SPLIT) == split)
    return results.everything if len(ids) == len(results.sources) else Slice(f"split-{split}", "", ids)


def _text(text: str) -> str:
    """A double-quoted scalar of YAML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(letter if letter.isprintable() else " " for letter in escaped) + '"'


SCHEMA_VERSION = "0.3.0"
Relationship = Literal["first_party", "third_party", "collaborative", "other"]
RELATIONSHIPS = get_args(Relationship)


def every_eval_ever(
    results: Results, method: str, *, organisation: str, relationship: Relationship, repository: str | None, timestamp: int
) -> bytes:
    """All means of one method, over all items and over each slice.

    Args:
        results: of a run under one protocol.
        method: a label of it.
        organisation: who measured.
        relationship: of these people to those who made the method.
        repository: of the dataset on the Hub, OWNER/NAME.
        timestamp: when, in seconds since 1970.

    Raises:
        InputError: the method has no mean, or no such relationship.
    """
    if relationship not in RELATIONSHIPS:
        raise InputError(f"a relationship is one of {', '.join(RELATIONSHIPS)}, not {relationship!r}")
    measured = [
        _result(results, method, part, quantity, mean, repository)
        for part in (results.everything, *results.slices)
        for quantity in results.quantities
        if (mean := results.level(part, method, quantity)) is not None and math.isfinite(mean)
    ]
    if not measured:
        raise InputError(f"{method!r} has no mean to hand on")
    document = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{results.protocol.name}-{own_hash(results.dataset)[:16]}/{method}/{timestamp}",
        "retrieved_timestamp": str(timestamp),
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": organisation,
            "evaluator_relationship": relationship,
        },
        "eval_library": {"name": "inpaintbench", "version": inpaintbench.__version__},
        "model_info": {
            "name": method,
            "id": method,
            "additional_details": {"deployment_type": "self_deployed", "model_availability": "unknown"},
        },
        "evaluation_results": measured,
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _result(
    results: Results, method: str, part: Slice, quantity: Quantity, mean: float, repository: str | None
) -> dict[str, Any]:  # fmt: skip
    """One mean with its metric and how sure it is."""
    summary, leaf = results.summary(part, method, quantity), metric_leaf(quantity.metric)
    low, high = quantity.bounds
    details: dict[str, Any] = {"num_samples": summary.n}
    if summary.standard_error is not None:
        details["standard_error"] = {"value": summary.standard_error, "method": "leaving out one source at a time"}
    if summary.interval_low is not None and summary.interval_high is not None:
        ends = {"lower": summary.interval_low, "upper": summary.interval_high}
        details["confidence_interval"] = {**ends, "confidence_level": LEVEL, "method": INTERVAL}
    return {
        "evaluation_name": f"{results.protocol.name}, {part.name}, {quantity.region}",
        "source_data": {
            "dataset_name": results.dataset.name,
            **({"source_type": "hf_dataset", "hf_repo": repository} if repository else {"source_type": "other"}),
        },
        "metric_config": {
            "lower_is_better": not leaf.higher_is_better,
            "metric_id": f"inpaintbench/{quantity.metric}/{quantity.region}",
            "metric_name": quantity_label(quantity) + exploratory(quantity, results.protocol),
            "metric_unit": leaf.unit or "",
            "score_type": "continuous",
            "min_score": low if math.isfinite(low) else "-Infinity",
            "max_score": high if math.isfinite(high) else "Infinity",
            "evaluation_description": f"protocol {results.protocol.name}, fingerprint {results.fingerprint}",
        },
        "score_details": {"score": mean, "uncertainty": details},
    }
