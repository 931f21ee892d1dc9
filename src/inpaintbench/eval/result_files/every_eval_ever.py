"""One JSON a method in the schema of Every Eval Ever, version 0.3.0, which carries direction, bounds and intervals.

Source: the schema `eval.schema.json` of that project, https://github.com/evaleval/every_eval_ever.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Literal, get_args

import inpaintbench
from inpaintbench.errors import InputError
from inpaintbench.eval.results.quantity import Quantity, exploratory, metric_leaf, quantity_label
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.values.statistics import INTERVAL, LEVEL
from inpaintbench.manifest import own_hash
from inpaintbench.types import Slice

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
    measured = list(_results(results, method, repository))
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


def _results(results: Results, method: str, repository: str | None) -> Iterator[dict[str, Any]]:
    for part in (results.everything, *results.slices):
        for quantity in results.quantities:
            mean = results.level(part, method, quantity)
            if mean is not None and math.isfinite(mean):
                yield _result(results, method, part, quantity, mean=mean, repository=repository)


def _result(
    results: Results, method: str, part: Slice, quantity: Quantity, *, mean: float, repository: str | None
) -> dict[str, Any]:
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
