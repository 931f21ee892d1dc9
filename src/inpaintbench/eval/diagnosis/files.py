"""A diagnosis as data: one line for each effect, and one record of all of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from inpaintbench.eval.data_files import csv_bytes
from inpaintbench.eval.diagnosis.records import Diagnosis, FactorEffect
from inpaintbench.eval.results.quantity import standing

if TYPE_CHECKING:
    from inpaintbench.eval.protocols.base import Protocol

EFFECT_COLUMNS = (
    "factor", "kind", "label", "step", "low_level", "high_level", "metric", "region", "standing", "method", "other", "value",
    "interval_low", "interval_high", "p_corrected", "told", "n", "n_sources",
)  # fmt: skip


def effect_rows(effects: Iterable[FactorEffect], protocol: Protocol) -> list[dict[str, Any]]:
    """A row for each effect with the names of ``EFFECT_COLUMNS``; ``other`` is None for an effect on a method itself."""
    return [
        {
            "factor": one.factor.name, "kind": one.factor.kind, "label": one.factor.label, "step": one.factor.step,
            "low_level": one.low_level or None, "high_level": one.high_level or None, **one.quantity._asdict(),
            "standing": standing(one.quantity, protocol), "method": one.method, "other": one.other or None, "value": one.value,
            "interval_low": one.low, "interval_high": one.high, "p_corrected": one.p, "told": one.told, "n": one.n,
            "n_sources": one.n_sources,
        }
        for one in effects
    ]  # fmt: skip


def effects_csv(effects: Sequence[FactorEffect], protocol: Protocol) -> bytes:
    """The same as CSV."""
    return csv_bytes(EFFECT_COLUMNS, [[row[name] for name in EFFECT_COLUMNS] for row in effect_rows(effects, protocol)])


def plain(diagnosis: Diagnosis, protocol: Protocol) -> dict[str, Any]:
    """All of a diagnosis but the items of its curves, whose scores stand in a file of their own."""
    return {
        "factors": [factor._asdict() for factor in diagnosis.factors],
        "effects": effect_rows(diagnosis.effects, protocol),
        "curves": [
            {
                "factor": curve.factor.name, **curve.quantity._asdict(), "method": curve.method, "at": curve.at,
                "mean": curve.mean, "interval_low": curve.low, "interval_high": curve.high,
            }
            for curve in diagnosis.curves
        ],
        "together": [
            {
                "factor": one.one.name, "other_factor": one.other.name, **one.quantity._asdict(), "method": one.method,
                "value": one.value, "interval_low": one.value - one.reach, "interval_high": one.value + one.reach, "p": one.p,
                "n_sources": one.n_sources,
            }
            for one in diagnosis.together
        ],
        "explained": [_flat(one) for one in diagnosis.explained],
        "unexplained": [_flat(one) for one in diagnosis.unexplained],
        "left_out": diagnosis.left_out,
    }  # fmt: skip


def _flat(record: Any) -> dict[str, Any]:
    """A record with its quantity as metric and region."""
    fields = record._asdict()
    return {**fields.pop("quantity")._asdict(), **fields}
