"""The small print: what the metrics are, how intervals and infinite values are made, and every constant."""

from __future__ import annotations

import inspect
import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from inpaintbench import manifest
from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.report.tables import slice_cell
from inpaintbench.eval.results.cautions import LEAD, between_items_notes
from inpaintbench.eval.results.measured import NOT_SCORED
from inpaintbench.eval.results.quantity import metric_label, metric_leaf, metric_title, quantity_label, region_label
from inpaintbench.eval.results.slices import in_reading_order
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.run_folder import NOT_RUN
from inpaintbench.eval.values.statistics import INTERVAL, LEVEL
from inpaintbench.pages import Link, Sentence, Table, render
from inpaintbench.pages.tables import simple
from inpaintbench.pages.words import count
from inpaintbench.types import canonical_json

# The first and the last of the page: what was measured on what, what is missing, and how to make the report again.


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
        names = []
        for metric, lost in regions.items():
            where = f" ({', '.join(map(region_label, lost))})" if metric in partly else ""
            names.append(metric_label(metric) + where)
        groups.append(f"{', '.join(names)}: {reason.rstrip('.')}")
    lines = [f"Not measured here: {'; '.join(groups)}."] if groups else []
    for quantity, (n_items, reason) in results.inapplicable().items():
        lines.append(f"{quantity_label(quantity)} is not of {n_items} of {count(len(results.sources), 'item')}: {reason}.")
    return lines


def unmeasured_summary(results: Results) -> str:
    """The metrics of ``unmeasured_notes`` by name, whose reasons unfold."""
    metrics = dict.fromkeys(quantity.metric for quantity in (*results.unmeasured, *results.inapplicable()))
    return f"Not measured here, or not on all items: {', '.join(map(metric_label, metrics))}"


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
        "SHA-256 of its manifest": manifest.own_hash(results.dataset),
        "Protocol": results.protocol.name,
        "Fingerprint of the protocol": results.fingerprint,
        "Versions that made the dataset": versions or "not stated",
    }


def folders_of(results: Results) -> str:
    """The words of a command that name the dataset's folder and the run's."""
    dataset, run = (word if folder is None else shlex.quote(str(folder.absolute()))
                    for word, folder in (("DATASET", results.root), ("RUN", results.run)))  # fmt: skip
    return f"{dataset} --run {run}"


def commands_of(results: Results) -> list[str]:
    """Commands that predict, score and report with the methods called as they are here."""
    methods: dict[bool, list[str]] = {True: [], False: []}
    for method in results.methods:
        words = _option(results, method)
        methods[words.endswith(_SHOWN)].append(words.removesuffix(_SHOWN))
    protocol = f"--protocol {shlex.quote(results.protocol.name)}"
    folders = folders_of(results)
    calls = [f"{folders} {' '.join(words)}{_SHOWN * shown}" for shown, words in methods.items() if words]
    if not any("--saved" in call for call in calls):
        return [f"inpaintbench eval run {call} {protocol} --report" for call in calls]
    predict = [f"inpaintbench eval run --for predictions {call}" for call in calls]
    return [*predict, *(f"inpaintbench eval {verb} {folders} {protocol}" for verb in ("run --for scores", "report"))]


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
            part = "predictions" if ran else "scores"
            command = f"eval run --for {part} {folders_of(results)} {_option(results, method) if ran else protocol}"
            done = f"{method} was {'run' if ran else 'scored'} on {items - n:,} of {count(items, 'item')}"
            sentences.append(f"{done}; `inpaintbench {command}` continues it.")
    return sentences


# As `scoring.predict` ends the option of a method that was shown a hidden hole.
_SHOWN = " --oracle-mask"


def _option(results: Results, method: str) -> str:
    if words := results.options.get(method):
        return words
    return f"--method {shlex.quote(method)}" if method in METHODS else f"--saved {shlex.quote(method)}=FOLDER"


_INFINITE = {
    "count": "left out of means and counted beside them",
    "keep": "kept: one of them makes the mean infinite",
    "largest_finite": "taken as the largest finite value among the same items",
}


class Definition(NamedTuple):
    """A term with what it means: paragraphs, and lists of entries among them. Code stands between backticks."""

    term: str
    blocks: tuple[str | tuple[str, ...], ...]


def metric_notes(results: Results) -> list[Definition]:
    """The definition of each metric, from its own documentation, and what it does with infinite values."""
    found = []
    for metric in dict.fromkeys(quantity.metric for quantity in results.quantities):
        text = (inspect.getdoc(metric_leaf(metric)) or "").split("\nArgs:")[0].strip()
        blocks: list[str | tuple[str, ...]] = []
        for block in re.split(r"\n\s*\n", text):
            if block.startswith("* "):
                blocks.append(tuple(_inline(entry) for entry in re.split(r"(?:^|\n)\* ", block) if entry))
            else:
                blocks.append(_inline(block))
        scores = (score.value for score in results.scores if score.metric == metric)
        if (ceiling := results.protocol.ceiling_decibels(metric)) is not None:
            blocks.append(f"Nothing is infinite: no value is above {ceiling:g} dB.")
        elif any(value is not None and math.isinf(value) for value in scores):
            blocks.append(f"Infinite values are {_INFINITE[results.protocol.infinite_rule(metric)]}.")
        found.append(Definition(metric_title(metric), tuple(blocks)))
    return found


def _inline(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")


def reading_notes(results: Results) -> Markup:
    """Definitions of mean, interval, rank and the like, with this report's own numbers."""
    return render(
        "eval/report/reading.html", results=results, level=f"{LEVEL:.0%}", interval=INTERVAL[:1].upper() + INTERVAL[1:],
        enough=ENOUGH_SOURCES, lead=LEAD, between=between_items_notes(results),
    )  # fmt: skip


def slice_table(results: Results) -> Table:
    """Every slice with its rule and size, and those left out with their reason."""
    rows = [[slice_cell(part), part.rule, len(part.item_ids)] for part in in_reading_order(results.slices)]
    rows += [[name, f"left out: {reason}", 0] for name, reason in results.dataset.left_out.items()]
    return simple(("Slice", "Rule", "Items"), rows, label="Slices and their rules", numeric=(2,))


def constants_table(results: Results) -> Table:
    """Every constant of the protocol by its path."""
    rows = [list[object](pair) for pair in _flat(results.protocol.model_dump(mode="json")).items()]
    return simple(("Constant", "Value"), rows, label="Constants of the protocol")


def dataset_table(results: Results) -> Table:
    """The dataset's name, its resolved recipe and the versions that made it."""
    dataset = results.dataset
    facts = {"dataset": dataset.name, "recipe": dataset.recipe, "versions": dataset.versions}
    return simple(("Fact", "Value"), [list[object](pair) for pair in _flat(facts).items()], label="Dataset and versions")


def _flat(value: Any, path: str = "") -> dict[str, str]:
    if isinstance(value, Mapping):
        inner = [_flat(entry, f"{path}.{name}" if path else str(name)) for name, entry in value.items()]
        return {key: text for flat in inner for key, text in flat.items()}
    return {path: value if isinstance(value, str) else canonical_json(value)}
