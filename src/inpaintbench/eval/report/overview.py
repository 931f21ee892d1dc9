"""The first and the last of the page: what was measured on what, what is missing, and how to make the report again."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Sequence

from inpaintbench import manifest
from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.results.labels import metric_label, quantity_label, region_label
from inpaintbench.eval.results.tables import NOT_SCORED, Results
from inpaintbench.eval.scoring.run_state import NOT_RUN
from inpaintbench.pages import Link, Sentence
from inpaintbench.pages.words import count


def subtitle(results: Results) -> str:
    """Sentence with the numbers of methods, items, sources and slices."""
    sources = len(set(results.sources.values()))
    floors, others = len(results.references), len(results.aside) - len(results.references)
    words = [*([count(floors, "reference")] if floors else []), *([f"{others} without a place"] if others else [])]
    beside = f" beside {' and '.join(words)}" if words else ""
    return (
        f"{count(len(results.contenders), 'method')}{beside} on {count(len(results.sources), 'item')} "
        f"from {count(sources, 'source')}, in {count(len(results.slices), 'slice')}."
    )


_PRECISIONS = {"bf16": "bfloat16", "tf32": "TensorFloat-32"}


def precision_note(results: Results) -> str:
    """Sentence on networks that ran in less than float32, which the marks of the fingerprint tell; else empty."""
    marks = results.fingerprint.split("+")[1:]
    names = " and ".join(_PRECISIONS[mark] for mark in marks if mark in _PRECISIONS)
    if not names:
        return ""
    return f"Networks ran in {names}: scores of learned metrics differ a little from those in float32 and do not mix with them."


def claims_note(results: Results) -> str:
    """Sentence that names slices of too few sources for more than means, with how many it takes; else empty."""
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


def unmeasured_notes(results: Results) -> list[str]:
    """Sentences on quantities without a number, by reason, and on those that some items cannot have; with backticks."""
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


def unmeasured_summary(results: Results) -> str:
    """The metrics of ``unmeasured_notes`` by name, whose reasons unfold."""
    metrics = dict.fromkeys(quantity.metric for quantity in (*results.unmeasured, *results.inapplicable()))
    return f"Not measured here, or not on all items: {', '.join(map(metric_label, metrics))}"


def _lost(metric: str, regions: Sequence[str], partly: Collection[str]) -> str:
    where = f" ({', '.join(region_label(region) for region in regions)})" if metric in partly else ""
    return metric_label(metric) + where


def warnings(results: Results) -> list[Sentence]:
    """Slices that were left out, rules without a value, and failures with a link to their reasons; empty when all is there."""
    empty = {slice_.name: "it has no items" for slice_ in results.dataset.slices if not slice_.item_ids}
    left_out = {**empty, **results.dataset.left_out}
    sentences: list[Sentence] = [(f"{name} left out: {reason}",) for name, reason in left_out.items()]
    for rule in results.dataset.facts.get("selection", {}).get("unasked") or ():
        lacking = f"{rule['missing']:,} of {rule['clips']:,} clips that the items were chosen from"
        sentences.append((f"the rule {rule['rule']!r} had no value on {lacking}: {rule['reason']}",))
    failed = len({(failure.method, failure.item_id) for failure in results.failures()})
    if failed:
        pairs = f"{failed:,} pair{'' if failed == 1 else 's'} of method and item lack predictions or scores: "
        sentences.append((pairs, Link("#failures", "reasons")))
    return sentences


def facts_of(results: Results) -> dict[str, str]:
    """Name -> fact, lines of which may be several."""
    dataset = results.dataset
    versions = "\n".join(f"{name} {version}" for name, version in sorted(dataset.versions.items()))
    return {
        "Dataset": f"{dataset.name} {dataset.version}",
        "SHA-256 of its manifest": manifest_sha256(results),
        "Protocol": results.protocol.name,
        "Fingerprint of the protocol": results.fingerprint,
        "Versions that made the dataset": versions or "not stated",
    }


def manifest_sha256(results: Results) -> str:
    """The hash that the dataset's manifest states of itself."""
    return manifest.own_hash(results.dataset)


def commands_of(results: Results) -> list[str]:
    """Commands that predict, score and report with the methods called as they are here."""
    methods: dict[bool, list[str]] = {True: [], False: []}
    for method in results.methods:
        words = _option(results, method)
        methods[words.endswith(_SHOWN)].append(words.removesuffix(_SHOWN))
    protocol = f"--protocol {shlex.quote(results.protocol.name)}"
    calls = [f"DATASET --run RUN {' '.join(words)}{_SHOWN * shown}" for shown, words in methods.items() if words]
    if not any("--saved" in call for call in calls):
        return [f"inpaintbench eval run {call} {protocol} --report" for call in calls]
    predict = [f"inpaintbench eval predict {call}" for call in calls]
    return [*predict, *(f"inpaintbench eval {verb} DATASET --run RUN {protocol}" for verb in ("score", "report"))]


def unfinished(results: Results) -> list[str]:
    """A sentence for each method that was not run, or not scored, on all items, with the command that goes on."""
    items, protocol = len(results.sources), f"--protocol {shlex.quote(results.protocol.name)}"
    lacking = Counter(
        (failure.method, failure.reason) for failure in results.failures() if failure.quantities == results.quantities
    )
    sentences = []
    for (method, reason), n in lacking.items():
        if reason in (NOT_RUN, NOT_SCORED):
            ran = reason == NOT_RUN
            command = f"eval {'predict' if ran else 'score'} DATASET --run RUN {_option(results, method) if ran else protocol}"
            done = f"{method} was {'run' if ran else 'scored'} on {items - n:,} of {count(items, 'item')}"
            sentences.append(f"{done}; `inpaintbench {command}` continues it.")
    return sentences


# As `scoring.predict` ends the option of a method that was shown a hidden hole.
_SHOWN = " --oracle-mask"


def _option(results: Results, method: str) -> str:
    if words := results.options.get(method):
        return words
    return f"--method {shlex.quote(method)}" if method in METHODS else f"--saved {shlex.quote(method)}=FOLDER"
