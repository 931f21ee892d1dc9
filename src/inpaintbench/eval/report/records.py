"""The report as data: every score, every mean, and one JSON of all that the page shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from inpaintbench.eval.comparing.looked_at import looked_at
from inpaintbench.eval.data_files import canonical_bytes, csv_bytes
from inpaintbench.eval.diagnosis.diagnose import diagnose
from inpaintbench.eval.diagnosis.files import effects_csv, plain
from inpaintbench.eval.report.gallery import Exhibit
from inpaintbench.eval.report.overview import manifest_sha256
from inpaintbench.eval.report.significance import leads_of
from inpaintbench.eval.results.cautions import contradictions, protocol_cautions, set_sizes, untold
from inpaintbench.eval.results.quantity import standing, usual_quantities
from inpaintbench.eval.results.tables import Results, in_reading_order, pair_slices
from inpaintbench.eval.scoring.effort import ItemEffort
from inpaintbench.eval.values.statistics import INTERVAL
from inpaintbench.types import Plain, Slice, canonical_json

SCORE_COLUMNS = ("method", "item_id", "metric", "region", "protocol", "fingerprint", "value", "reason", "details")
_OF_ITEM = ("source", "reference")
# How an interval was made, in the column `interval`.
OF_MEANS, OF_SETS = "sources: jackknife, t or bootstrap-t", "sources: jackknife, t"
SUMMARY_COLUMNS = (
    "slice", "method", "metric", "region", "standing", "mean", "standard_error", "interval_low", "interval_high", "interval", "n",
    "n_infinite", "n_missing", "n_sources", "n_vectors", "dimension", "place", "like_best", "reference", "reason",
)  # fmt: skip


def scores_csv(results: Results) -> bytes:
    """One row for each score; None is an empty cell, infinity is ``inf``, details are JSON.

    The last columns are the item's source, by which items cluster, and whether the method is a reference.
    """
    rows = (
        [
            *(canonical_json(dict(score.details)) if name == "details" else getattr(score, name) for name in SCORE_COLUMNS),
            results.sources[score.item_id],
            score.method in results.references,
        ]
        for score in results.scores
    )
    return csv_bytes((*SCORE_COLUMNS, *_OF_ITEM), rows)


def summary_csv(results: Results) -> bytes:
    """One row for each slice, method, metric and region; the last rows take all items."""
    rows = summary_rows(results)
    return csv_bytes(SUMMARY_COLUMNS, [[row[column] for column in SUMMARY_COLUMNS] for row in rows])


def summary_rows(results: Results) -> list[dict[str, Any]]:
    """The rows of ``summary.csv`` with the names of its columns."""
    unexposed = [results.unexposed] if results.unexposed else []
    slices = (*in_reading_order(results.slices), *unexposed, results.everything)
    return [row for slice_ in slices for row in _slice_rows(results, slice_)]


def _slice_rows(results: Results, one: Slice) -> list[dict[str, Any]]:
    rows = []
    for quantity in results.quantities:
        places, best = results.places(one, quantity), results.best(one, quantity)
        for method in results.methods:
            summary = results.summary(one, method, quantity)._asdict()
            summary["n_sources"] = summary.pop("n_clusters")
            summary["n_vectors"], summary["dimension"] = set_sizes(results.slice_score(one, method, quantity))
            how = OF_SETS if quantity.of_sets else OF_MEANS
            summary["interval"] = None if summary["interval_low"] is None else how
            row = {"slice": one.name, "method": method, "metric": quantity.metric, "region": quantity.region}
            row["standing"] = standing(quantity, results.protocol)
            rows.append(
                {
                    **row,
                    **summary,
                    "place": places[method],
                    "like_best": method in best,
                    "reference": method in results.references,
                }
            )
    return rows


def efforts_csv(results: Results) -> bytes:
    """One row for each method and item whose time is known."""
    rows = [[method, *one] for method, effort in results.efforts.items() for one in effort.of_items]
    return csv_bytes(("method", *ItemEffort._fields), rows)


def diagnosis_csv(results: Results) -> bytes:
    """One row for each effect of a factor on a method, or on the difference of two."""
    return effects_csv(diagnose(results).effects, results.protocol)


def report_json(results: Results, exhibits: Sequence[Exhibit], *, title: str) -> bytes:
    """Everything that the page says, as canonical JSON; infinity is the text ``inf``."""
    report: Plain = {
        "format_version": 1,
        "title": title,
        "dataset": results.dataset.name,
        "protocol": results.protocol.name,
        "fingerprint": results.fingerprint,
        "constants": results.protocol.model_dump(mode="json"),
        "versions": dict(results.dataset.versions),
        "items": len(results.sources),
        "sources": len(set(results.sources.values())),
        "methods": list(results.methods),
        "references": list(results.references),
        "no_place": results.aside,
        "slices": [
            {"name": slice_.name, "rule": slice_.rule, "items": len(slice_.item_ids)} for slice_ in results.dataset.slices
        ],
        "left_out": dict(results.dataset.left_out),
        "failures": [
            {
                "method": failure.method,
                "item_id": failure.item_id,
                "reason": failure.reason,
                "missing": [list(q) for q in failure.quantities],
            }
            for failure in results.failures()
        ],
        "usual_regions": {one.metric: one.region for one in usual_quantities(results.quantities, results.protocol)},
        "unmeasured": [{**one._asdict(), "reason": reason} for one, reason in results.unmeasured.items()],
        "efforts": {method: effort.told for method, effort in results.efforts.items()},
        "shown_by_other_inputs": results.exposed._asdict(),
        "interval": INTERVAL,
        "summary": summary_rows(results),
        "difficulty": _difficulty(results),
        "relative_improvement": _improvements(results),
        "significance": _significance(results),
        "primary": list(results.protocol.primary),
        "compared": _compared(results),
        "diagnosis": plain(diagnose(results), results.protocol),
        "diagnostic": {one.metric: one.diagnostic for one in results.quantities if one.diagnostic},
        "contradictions": [row for quantity in results.quantities for row in contradictions(results, quantity)],
        "self_consistency": protocol_cautions(results),
        "floor_caution": [asdict(one) for quantity in results.quantities for one in untold(results, quantity)],
        "gallery": [
            {"item_id": exhibit.choice.item_id, "slices": exhibit.choice.reasons, "labels": exhibit.choice.labels}
            for exhibit in exhibits
        ],
        "dataset_sha256": manifest_sha256(results),
    }
    return canonical_bytes(report)


def _difficulty(results: Results) -> list[dict[str, Any]]:
    rows = []
    for one in in_reading_order(results.slices):
        for quantity in results.quantities:
            summary = results.difficulty(one, quantity)
            values = {"mean": summary.mean, "standard_error": summary.standard_error, "n_methods": summary.n}
            rows.append({"slice": one.name, **quantity._asdict(), **values})
    return rows


def _improvements(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "attribute": pair.attribute,
            "method": method,
            **quantity._asdict(),
            "share": results.improvement(pair, method, quantity),
        }
        for pair in pair_slices(results.slices)
        for quantity in results.quantities
        if quantity.ranked
        for method in results.methods
    ]


def _significance(results: Results) -> list[dict[str, Any]]:
    rows = []
    for quantity in results.quantities:
        leads = leads_of(results, quantity)
        for test in results.pair_tests(quantity):
            lead = leads.get((test.one, test.other))
            ends = {"interval_low": lead and lead.low, "interval_high": lead and lead.high, "p_corrected": lead and lead.p}
            rows.append({**quantity._asdict(), **asdict(test), **ends})
    return rows


def _compared(results: Results) -> list[dict[str, Any]]:
    """Everything that was looked at for a finding, but what stands under ``diagnosis``, as the page tells it."""
    return [
        {
            "kind": effect.kind, **effect.quantity._asdict(), "standing": standing(effect.quantity, results.protocol),
            "one": effect.one, "other": effect.other or None, "difference": effect.value, "interval_low": effect.low,
            "interval_high": effect.high, "p_corrected": effect.p, "told": effect.told, "n": effect.n,
            "n_sources": effect.n_sources,
        }
        for effect in looked_at(results)
        if effect.factor is None
    ]  # fmt: skip
