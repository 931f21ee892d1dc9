"""What the reader sees first: what was measured, the plain findings, and what is missing."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from html import escape
from typing import NamedTuple

from inpaintbench.eval.report.labels import method_colours, metric_label, name_label, region_label
from inpaintbench.eval.report.markup import breakable, count, method_name, only_for, percent, slice_name, with_unit
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Results, pair_slices


class Finding(NamedTuple):
    """One card: what was asked, the answer, and what it rests on (HTML)."""

    question: str
    answer: str
    detail: str


def findings(results: Results, quantity: Quantity) -> list[Finding]:
    """Best method, hardest slice, strongest sensitivity: those that the scores of ``quantity`` can answer."""
    found = (_best(results, quantity), _hardest(results, quantity), _most_sensitive(results, quantity))
    return [finding for finding in found if finding is not None]


def finding_cards(results: Results, *, default: Quantity) -> str:
    """The cards of all quantities; those of ``default`` are visible without scripts."""
    return "\n".join(
        f'<div class="cards" {only_for(quantity)}{"" if quantity == default else " hidden"}>'
        + "".join(_card(finding) for finding in [*findings(results, quantity), _coverage(results, quantity)])
        + "</div>"
        for quantity in results.quantities
    )


def _card(finding: Finding) -> str:
    return f'<div class="card"><h3>{finding.question}</h3><p class="answer">{finding.answer}</p><p>{finding.detail}</p></div>'


def _best(results: Results, quantity: Quantity) -> Finding | None:
    """The method with most first places, shared ones included."""
    slices = results.slices or (results.everything,)
    firsts = [[method for method, place in results.places(one, quantity).items() if place == 1] for one in slices]
    contested = sum(bool(names) for names in firsts)
    wins = {method: sum(method in names for names in firsts) for method in results.methods}
    most = max(wins.values())
    if len(results.methods) < 2 or not contested:
        return None
    leaders = [method for method in results.methods if wins[method] == most]
    colours = method_colours(results.methods)
    answer = ", ".join(method_name(method, colours[method]) for method in leaders[:2]) + (" …" if len(leaders) > 2 else "")
    each = "each best" if len(leaders) > 1 else "best"
    slices_words = count(contested, "slice") if results.slices else "1 dataset"
    return Finding("Strongest method", answer, f"{each} in {most} of {slices_words}")


def _hardest(results: Results, quantity: Quantity) -> Finding | None:
    means = {one.name: results.difficulty(one, quantity).mean for one in results.slices if quantity.ranked}
    known = sorted((mean, name) for name, mean in means.items() if mean is not None)
    if len(known) < 2:
        return None
    hardest, easiest = (known[0], known[-1]) if quantity.higher_is_better else (known[-1], known[0])
    detail = f"{slice_name(easiest[1])} is easiest: {with_unit(easiest[0], quantity.metric)}"
    answer = slice_name(hardest[1])
    return Finding("Hardest slice", answer, f"{with_unit(hardest[0], quantity.metric)} over all methods; {detail}")


def _most_sensitive(results: Results, quantity: Quantity) -> Finding | None:
    """The largest relative change, for better or worse, from a low slice to its high one."""
    shares = [
        (share, method, pair.attribute)
        for pair in pair_slices(results.slices)
        for method in results.methods
        if (share := results.improvement(pair, method, quantity)) is not None
    ]
    if not shares:
        return None
    share, method, attribute = max(shares, key=lambda entry: abs(entry[0]))
    name = method_name(method, method_colours(results.methods)[method])
    verb = "better" if share > 0 else "worse"
    words = f"{name} gets {percent(abs(share)).lstrip('+')} {verb}"
    return Finding("Strongest sensitivity", words, f"when {escape(name_label(attribute).lower())} goes from low to high")


def _coverage(results: Results, quantity: Quantity) -> Finding:
    lost = {(failure.method, failure.item_id) for failure in results.failures() if quantity in failure.quantities}
    values = {(method, item): results.value(method, item, quantity) for method in results.methods for item in results.sources}
    # Where a protocol gives a missing prediction an infinite score, it is missing and nothing else.
    infinite = sum(value == math.inf for key, value in values.items() if key not in lost)
    missing = len(lost)
    gaps = f'<a href="#failures">{count(missing, "score")} missing</a>' if missing else "none missing"
    what = escape(f"{metric_label(quantity.metric)} in the {region_label(quantity.region)}")
    detail = f"{what}: {gaps}" + (f", {infinite} infinite" if infinite else "")
    return Finding("Measured", f"{len(values) - missing:,} of {len(values):,}", detail)


def subtitle(results: Results) -> str:
    """One sentence: what was scored on what."""
    sources = len(set(results.sources.values()))
    return (
        f"{count(len(results.methods), 'method')} on {count(len(results.sources), 'item')} from {count(sources, 'source')}, "
        f"in {count(len(results.slices), 'slice')}. Scored by <strong>{escape(results.protocol.name)}</strong> "
        f'<code title="fingerprint of every constant of the protocol">{escape(results.fingerprint)}</code>.'
    )


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
        lines.append(f"{escape(metric_label(quantity.metric))} is not of {of}: {escape(reason)}.")
    return "".join(f'<p class="note unmeasured">{line}</p>' for line in lines)


def _with_commands(text: str) -> str:
    return re.sub(r"`(.+?)`", r"<code>\1</code>", escape(text))


def _lost(metric: str, regions: Sequence[str], partly: Collection[str]) -> str:
    where = f" ({', '.join(region_label(region) for region in regions)})" if metric in partly else ""
    return metric_label(metric) + where


def legend(results: Results) -> str:
    """The methods in their colours."""
    return "".join(method_name(method, colour) for method, colour in method_colours(results.methods).items())


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
