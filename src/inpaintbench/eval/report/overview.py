"""What the reader sees first beside the findings: what was measured, and what is missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import escape

from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.report.labels import method_colours, metric_label, quantity_label, region_label
from inpaintbench.eval.report.markup import breakable, count, named_method
from inpaintbench.eval.report.tables import Results


def subtitle(results: Results) -> str:
    """One sentence: what was scored on what."""
    sources = len(set(results.sources.values()))
    return (
        f"{count(len(results.contenders), 'method')}{_beside(results)} on {count(len(results.sources), 'item')} "
        f"from {count(sources, 'source')}, "
        f"in {count(len(results.slices), 'slice')}. Scored by <strong>{escape(results.protocol.name)}</strong> "
        f'<code title="fingerprint of every constant of the protocol">{escape(results.fingerprint)}</code>.'
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
    return (
        f'<p class="note marks">Networks ran in <strong>{escape(names)}</strong>: scores of learned metrics differ a little '
        "from those in float32 and do not mix with them.</p>"
    )


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
    return f'<p class="note few">{escape(where)}.</p>'


def hollow_note(results: Results) -> str:
    """What hollow points in plots mean, where there are some; else empty."""
    few = any(too_few(results.n_sources(one)) for one in results.slices)
    return f"Hollow points instead of bars: fewer than {ENOUGH_SOURCES} sources, so no error and no claim." if few else ""


def unmeasured_note(results: Results) -> str:
    """One line that names what has no number at all, by reason; empty when all was measured."""
    by_reason: dict[str, dict[str, list[str]]] = {}
    for quantity, reason in results.unmeasured.items():
        by_reason.setdefault(reason, {}).setdefault(quantity.metric, []).append(quantity.region)
    partly = {quantity.metric for quantity in results.quantities}
    groups = []
    for reason, found in by_reason.items():
        names = ", ".join(_lost(metric, regions, partly) for metric, regions in found.items())
        groups.append(f"{escape(names)}: {_with_commands(reason.rstrip('.'))}")
    lines = [f"Not measured here: {'; '.join(groups)}."] if groups else []
    for quantity, (count_of_items, reason) in results.inapplicable().items():
        of = f"{count_of_items} of {count(len(results.sources), 'item')}"
        lines.append(f"{escape(quantity_label(quantity))} is not of {of}: {escape(reason)}.")
    return "".join(f'<p class="note unmeasured">{line}</p>' for line in lines)


def _with_commands(text: str) -> str:
    return re.sub(r"`(.+?)`", r"<code>\1</code>", escape(text))


def _lost(metric: str, regions: Sequence[str], partly: Collection[str]) -> str:
    where = f" ({', '.join(region_label(region) for region in regions)})" if metric in partly else ""
    return metric_label(metric) + where


def legend(results: Results) -> str:
    """The methods in their colours."""
    return "".join(
        named_method(method, colour, reference=method in results.references)
        for method, colour in method_colours(results.methods).items()
    )


def warnings(results: Results) -> str:
    """Slices that were left out and failures, as short sentences with links; empty when all is there."""
    left_out = [
        f"<li><b>{breakable(name)}</b> left out: {escape(reason)}</li>" for name, reason in _empty_slices(results).items()
    ]
    failed = len({(failure.method, failure.item_id) for failure in results.failures()})
    if failed:
        pairs = "pair" if failed == 1 else "pairs"
        what = f"<b>{failed} {pairs}</b> of method and item lack predictions or scores"
        left_out.append(f'<li>{what}: <a href="#failures">reasons</a></li>')
    return f'<ul class="warnings">{"".join(left_out)}</ul>' if left_out else ""


def _empty_slices(results: Results) -> dict[str, str]:
    empty = {one.name: "it has no items" for one in results.dataset.slices if not one.item_ids}
    return {**empty, **results.dataset.left_out}
