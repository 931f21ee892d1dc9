"""What the reader sees first beside the findings: what was measured, and what is missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.report.labels import metric_label, quantity_label, region_label
from inpaintbench.eval.report.tables import Results
from inpaintbench.pages import Link, Sentence
from inpaintbench.pages.words import count


def subtitle(results: Results) -> str:
    """What was scored on what."""
    sources = len(set(results.sources.values()))
    return (
        f"{count(len(results.contenders), 'method')}{_beside(results)} on {count(len(results.sources), 'item')} "
        f"from {count(sources, 'source')}, in {count(len(results.slices), 'slice')}."
    )


def _beside(results: Results) -> str:
    return f" beside {count(len(results.references), 'reference')}" if results.references else ""


_PRECISIONS = {"bf16": "bfloat16", "tf32": "TensorFloat-32"}


def precision_note(results: Results) -> str:
    """Says so when networks ran in less than float32, which the marks of the fingerprint tell; else empty."""
    marks = results.fingerprint.split("+")[1:]
    names = " and ".join(_PRECISIONS[mark] for mark in marks if mark in _PRECISIONS)
    if not names:
        return ""
    return f"Networks ran in {names}: scores of learned metrics differ a little from those in float32 and do not mix with them."


def claims_note(results: Results) -> str:
    """Says where there are too few sources for more than means, and how many it takes; else empty."""
    slices = {one.name: results.n_sources(one) for one in (*results.slices, results.everything)}
    few = {name: sources for name, sources in slices.items() if too_few(sources)}
    if not few:
        return ""
    if len(few) == len(slices):
        where = f"The items come from {too_few(max(few.values()))}: this page shows means and claims nothing"
    else:
        named = ", ".join(f"{name} ({sources})" for name, sources in few.items())
        where = (
            f"{count(len(few), 'slice')} of fewer than {ENOUGH_SOURCES} sources, too few for an interval, rank or lead, "
            f"{'shows its' if len(few) == 1 else 'show their'} means alone: {named}"
        )
    return f"{where}."


def hollow_note(results: Results) -> str:
    """What hollow points in plots mean, where there are some; else empty."""
    few = any(too_few(results.n_sources(one)) for one in results.slices)
    return f"Hollow points instead of bars: fewer than {ENOUGH_SOURCES} sources, so no error and no claim." if few else ""


def unmeasured_notes(results: Results) -> list[str]:
    """What has no number at all, by reason, and what is not of some items; commands stand between backticks."""
    by_reason: dict[str, dict[str, list[str]]] = {}
    for quantity, reason in results.unmeasured.items():
        by_reason.setdefault(reason, {}).setdefault(quantity.metric, []).append(quantity.region)
    partly = {quantity.metric for quantity in results.quantities}
    groups = []
    for reason, regions in by_reason.items():
        names = ", ".join(_lost(metric, lost, partly) for metric, lost in regions.items())
        groups.append(f"{names}: {reason.rstrip('.')}")
    lines = [f"Not measured here: {'; '.join(groups)}."] if groups else []
    for quantity, (n_items, reason) in results.inapplicable().items():
        lines.append(f"{quantity_label(quantity)} is not of {n_items} of {count(len(results.sources), 'item')}: {reason}.")
    return lines


def _lost(metric: str, regions: Sequence[str], partly: Collection[str]) -> str:
    where = f" ({', '.join(region_label(region) for region in regions)})" if metric in partly else ""
    return metric_label(metric) + where


def warnings(results: Results) -> list[Sentence]:
    """Slices that were left out, and failures with a link to their reasons; empty when all is there."""
    sentences: list[Sentence] = [(f"{name} left out: {reason}",) for name, reason in _empty_slices(results).items()]
    failed = len({(failure.method, failure.item_id) for failure in results.failures()})
    if failed:
        pairs = f"{failed:,} pair{'' if failed == 1 else 's'} of method and item lack predictions or scores: "
        sentences.append((pairs, Link("#failures", "reasons")))
    return sentences


def _empty_slices(results: Results) -> dict[str, str]:
    empty = {one.name: "it has no items" for one in results.dataset.slices if not one.item_ids}
    return {**empty, **results.dataset.left_out}
