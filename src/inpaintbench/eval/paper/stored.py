"""The scores that a paper's tables are of, as files, and the tables made of these files alone."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, NamedTuple

from inpaintbench import frozen
from inpaintbench.eval.paper.tables import Cost, Float, paper_tables
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.write import scores_csv
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.manifest import own_hash
from inpaintbench.table_files import canonical_bytes
from inpaintbench.types import Dataset, Score, Slice, SliceScore

SCORES, FACTS = "scores.csv", "paper.json"
_FORMAT_VERSION = 1
_NUMBERS = ("value", "standard_error", "interval_low", "interval_high")


class Asked(NamedTuple):
    """What the tables show beside the scores."""

    quantities: Sequence[Quantity]
    """Columns of the first table."""
    efforts: Mapping[str, Effort]
    costs: Mapping[str, Cost]


def stored(results: Results, asked: Asked) -> dict[str, bytes]:
    """``scores.csv``, as beside a report, and ``paper.json``: of the dataset its name and hash, items with their sources, slices;
    who competes; numbers of sets; times. No pixels, and no place of this machine.
    """
    dataset = results.dataset
    sets = [asdict(one) for one in results.slice_scores]
    told = {
        "format_version": _FORMAT_VERSION,
        "dataset": {"name": dataset.name, "version": dataset.version, "manifest_sha256": own_hash(dataset)},
        "protocol": results.protocol.name,
        "quantities": [list(one) for one in asked.quantities],
        "items": [[item_id, source, results.shares[item_id]] for item_id, source in results.sources.items()],
        "slices": [{"name": one.name, "rule": one.rule, "item_ids": list(one.item_ids)} for one in dataset.slices],
        "references": list(results.references),
        "aside": results.aside,
        "efforts": {method: effort.told for method, effort in asked.efforts.items()},
        "costs": {method: cost._asdict() for method, cost in asked.costs.items()},
        "slice_scores": sets,
    }
    return {SCORES: scores_csv(results), FACTS: canonical_bytes(told)}


def rebuilt(files: Mapping[str, bytes]) -> dict[str, Float]:
    """``paper_tables`` of the files that ``stored`` gave.

    Raises:
        KeyError, TypeError, ValueError: they are not such files. InputError: the protocol is not what it was.
    """
    told: dict[str, Any] = json.loads(files[FACTS])
    if told["format_version"] != _FORMAT_VERSION:
        raise ValueError(f"format {told['format_version']!r}, this program reads {_FORMAT_VERSION}")
    items = tuple(
        {"item_id": item_id, "source_id": source, "attributes": {}, frozen.SHOWN: share}
        for item_id, source, share in told["items"]
    )
    slices = tuple(Slice(one["name"], one["rule"], tuple(one["item_ids"])) for one in told["slices"])
    dataset = Dataset(recipe={}, items=items, slices=slices, left_out={}, files={}, versions={}, **told["dataset"])
    efforts = {method: Effort.of(one) for method, one in told["efforts"].items()}
    results = Results(
        dataset, _scores(files[SCORES]), protocol=PROTOCOLS.get(told["protocol"]),
        slice_scores=[SliceScore(**{name: _number(name, value) for name, value in one.items()}) for one in told["slice_scores"]],
        references=told["references"], efforts=efforts, aside=told["aside"],
    )  # fmt: skip
    costs = {method: Cost(**one) for method, one in told["costs"].items()}
    return paper_tables(results, [Quantity(*one) for one in told["quantities"]], efforts, costs)


def _scores(data: bytes) -> list[Score]:
    """The rows of ``scores.csv``. A score of sets has neither value nor reason there, since its vectors stay with the run."""
    names = {one.name for one in fields(Score)}
    rows = []
    for cells in csv.DictReader(io.StringIO(data.decode(), newline="")):
        value, reason = float(cells["value"]) if cells["value"] else None, cells["reason"] or None
        vectors = "with the run" if value is None and reason is None else None
        known = {name: cell for name, cell in cells.items() if name in names}
        rows.append(
            Score(**{**known, "value": value, "reason": reason, "details": json.loads(cells["details"]), "features": vectors})
        )
    return rows


def _number(name: str, value: Any) -> Any:
    """A field of a number of sets; infinity is a text in JSON."""
    return float(value) if name in _NUMBERS and value is not None else value
