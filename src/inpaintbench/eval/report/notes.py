"""The small print: what the metrics are, how intervals and infinite values are made, and every constant."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.eval.results.between_items import LEAD, between_items_notes
from inpaintbench.eval.results.labels import metric_title, slice_label
from inpaintbench.eval.results.quantity import metric_leaf
from inpaintbench.eval.results.tables import Results, in_reading_order, pair_slices, split_level
from inpaintbench.eval.values.statistics import INTERVAL, LEVEL
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.tables import simple
from inpaintbench.pages.words import count
from inpaintbench.types import canonical_json

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
    metrics = dict.fromkeys(quantity.metric for quantity in results.quantities)
    return [
        Definition(metric_title(metric), (*_document(inspect.getdoc(metric_leaf(metric)) or ""), *_of_infinite(results, metric)))
        for metric in metrics
    ]


def _of_infinite(results: Results, metric: str) -> list[str]:
    """Sentence on infinite values, where there are some or could be."""
    ceiling = results.protocol.ceiling_decibels(metric)
    if ceiling is not None:
        return [f"Nothing is infinite: no value is above {ceiling:g} dB."]
    infinite = any(score.metric == metric and score.value is not None and math.isinf(score.value) for score in results.scores)
    return [f"Infinite values are {_INFINITE[results.infinite_rule(metric)]}."] if infinite else []


def _document(text: str) -> list[str | tuple[str, ...]]:
    """A docstring up to its arguments."""
    blocks = re.split(r"\n\s*\n", text.split("\nArgs:")[0].strip())
    return [_entries(block) if block.startswith("* ") else _inline(block) for block in blocks]


def _entries(block: str) -> tuple[str, ...]:
    return tuple(_inline(entry) for entry in re.split(r"(?:^|\n)\* ", block) if entry)


def _inline(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")


def reading_notes(results: Results) -> list[Definition]:
    """Definitions of mean, interval, rank and the like, with this report's own numbers."""
    sources = count(len(set(results.sources.values())), "source")
    by_items = results.protocol.averaging == "frames_then_items"
    entries: tuple[tuple[str, str], ...] = (
        (
            "Mean",
            ("Every item counts the same. " if by_items else "Every frame of every item counts the same. ")
            + "n is the number of items in the mean; infinite and missing ones are counted apart.",
        ),
        (
            f"{LEVEL:.0%} interval",
            f"{INTERVAL[:1].upper()}{INTERVAL[1:]}. Whole sources ({sources} here), since items of one source resemble each "
            "other: clips of one video, prints of one finger.",
        ),
        (
            "Few sources",
            f"Below {ENOUGH_SOURCES} sources there are means and nothing else: no interval, no standard error, no rank, no bold, "
            f"no test, no filled bar. With {ENOUGH_SOURCES - 1} even the clearest difference could be chance at 0.05.",
        ),
        (
            "Bold",
            "The best mean of a column among methods with a value of every item that any method has one of, ties "
            "included. It does not say that the lead is significant: compare the intervals.",
        ),
        (
            "Rank",
            "By the mean; equal means share a place. A method without a value has none. "
            "A metric of which neither more nor less is better ranks nobody.",
        ),
        (
            "Findings",
            "The cards on top state only what the items can tell. A method leads where the paired tests say so. A slice counts "
            f"from {ENOUGH_SOURCES} sources; two slices differ where their intervals do not meet.",
        ),
        ("Difficulty", "Mean over the means of all methods; the error bar is the standard error across methods."),
        *(_references(results)),
    )
    if any(quantity.of_sets for quantity in results.quantities):
        words = (
            "Fréchet distances and the like compare the items of a slice as one set, so no item has a value of its own. With "
            "fewer vectors (N) than dimensions (d) a distance depends on N as much as on the method."
        )
        entries += (("Sets", words),)
    if pair_slices(results.slices):
        words = (
            "(high − low) / low, negated where lower is better: up always means that the method does better on the high slice."
        )
        entries += (("Relative improvement", words),)
    between = [f"{words}: {', '.join(methods)}" for words, methods in between_items_notes(results).items()]
    told = [Definition("Between items", (LEAD, tuple(between)))] if between else []
    return [*(Definition(name, (words,)) for name, words in entries), *told]


def _references(results: Results) -> list[tuple[str, str]]:
    if not results.references:
        return []
    names = " and ".join(results.references)
    words = (
        f"{names}: what is there without filling anything, a floor to see methods against. It comes last, as a dashed line in "
        "plots (at the edge, with its value, where it lies beyond the others' scale), and is in no rank, mean, test or choice."
    )
    return [("Reference", words)]


def slice_table(results: Results) -> Table:
    """Every slice with its rule and size, and those left out with their reason."""
    rows = [
        Row((Cell(slice_label(part.name), tags=_level(part.name)), Cell(part.rule), Cell(len(part.item_ids))))
        for part in in_reading_order(results.slices)
    ]
    rows += [Row((Cell(name), Cell(f"left out: {reason}"), Cell(0))) for name, reason in results.dataset.left_out.items()]
    return Table((Column("Slice"), Column("Rule"), Column("Items", numeric=True)), tuple(rows), label="Slices and their rules")


def _level(name: str) -> tuple[str, ...]:
    level = split_level(name)[1]
    return (level,) if level else ()


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
