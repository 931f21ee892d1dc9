"""What metrics say: one value for each item, method and metric, and which direction is better."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from inpaintbench.errors import InputError
from inpaintbench.eval.alignment.reading import PREFERENCE
from inpaintbench.eval.alignment.tables import Row, read_table
from inpaintbench.eval.metrics import METRICS
from inpaintbench.types import Score

# (item, method) -> value, which may be infinite.
Value = Mapping[tuple[str, str], float]
_YES, _NO = ("true", "1", "yes", "higher"), ("false", "0", "no", "lower")


@dataclass(frozen=True)
class Measured:
    """The values of all metrics; a metric in another region than the whole frame is called ``psnr/hole``."""

    values: Mapping[str, Value]
    higher_is_better: Mapping[str, bool]
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    """Metrics without any value or direction -> why."""


def read_scores(path: Path, *, better: Mapping[str, bool] | None = None) -> Measured:
    """Scores from a ``.csv``, ``.jsonl`` or ``.parquet`` file with the columns ``item``, ``method``, ``metric`` and ``value``.

    ``region`` and ``higher_is_better`` may be there too; the columns of a run's own table (``item_id``) are taken as well. An
    empty value is a missing one.

    Args:
        path: of the file.
        better: metric -> whether higher is better; wins over the file and the metric's own direction.

    Raises:
        InputError: not readable, a line without what is needed, two values for one item and method, or a metric whose
            direction nobody says.
    """
    values: dict[str, dict[tuple[str, str], float]] = {}
    told = {}
    for row in read_table(path):
        name = measure_name(row.needed("metric"), row.first("region") or "frame")
        key = (row.needed("item", "item_id", "group"), row.needed("method", "model"))
        column = values.setdefault(name, {})
        if key in column:
            raise InputError(f"{row.where}: a second value of {name} for method {key[1]!r} on item {key[0]!r}")
        value = _number(row)
        if value is not None:
            column[key] = value
        stated = row.first("higher_is_better")
        if stated is not None:
            told[name] = _direction(row, stated)
    if not any(values.values()):
        raise InputError(f"{str(path)!r} holds no scores")
    return _measured(values, {**told, **(better or {})}, {name: "no item has a value" for name, of in values.items() if not of})


def measured_of(scores: Iterable[Score], *, better: Mapping[str, bool] | None = None) -> Measured:
    """The same from the rows of a run; what people preferred, and metrics that compare sets of items, are left out."""
    values: dict[str, dict[tuple[str, str], float]] = {}
    reasons: dict[str, str] = {}
    for row in scores:
        if row.metric == PREFERENCE:
            continue
        name = measure_name(row.metric, row.region)
        column = values.setdefault(name, {})
        if row.value is not None:
            column[row.item_id, row.method] = row.value
        elif row.features is not None:
            reasons.setdefault(name, "it compares sets of items, so that a single one has no value")
        else:
            reasons.setdefault(name, row.reason or "no reason given")
    return _measured(values, better or {}, {name: reasons[name] for name, of in values.items() if not of})


def measure_name(metric: str, region: str) -> str:
    """``psnr`` over the whole frame, ``psnr/hole`` elsewhere."""
    return metric if region == "frame" else f"{metric}/{region}"


def _measured(
    values: Mapping[str, Mapping[tuple[str, str], float]], better: Mapping[str, bool], unmeasured: Mapping[str, str]
) -> Measured:
    lost, directions = dict(unmeasured), {}
    for name, column in values.items():
        metric = name.partition("/")[0]
        leaf = METRICS.get(metric) if metric in METRICS else None
        if not column:
            continue
        if name in better or metric in better:
            directions[name] = better.get(name, better.get(metric, True))
        elif leaf is None:
            raise InputError(f"nobody says whether more of {name!r} is better; add --better {name}=higher or {name}=lower")
        elif not leaf.ranked:
            lost[name] = "neither more nor less of it is better"
        else:
            directions[name] = bool(leaf.higher_is_better)
    return Measured({name: values[name] for name in directions}, directions, lost)


def _number(row: Row) -> float | None:
    told = row.first("value")
    if told is None:
        return None
    try:
        value = float(told)
    except ValueError as error:
        raise InputError(f"{row.where}: value is {told!r}, not a number") from error
    if math.isnan(value):
        raise InputError(f"{row.where}: value is NaN; leave a missing value empty")
    return value


def _direction(row: Row, stated: str) -> bool:
    if stated.lower() not in (*_YES, *_NO):
        raise InputError(f"{row.where}: higher_is_better is {stated!r}, choose true or false")
    return stated.lower() in _YES
